// Matrices for tests of decompositions, and how they are compared.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"

namespace sinter::testing {

/// Numbers in [-1, 1] that differ, and do not repeat in a pattern of any row.
inline AnyTensor numbers(const Shape& shape, DType dtype, int salt = 0) {
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  std::uint64_t state = 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(salt);
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(static_cast<std::int32_t>(state >> 32)) / 0x1p31;
  }
  return AnyTensor::from_bytes(std::as_bytes(std::span(values)), shape, DType::f64, Device::host())
      .cast(dtype)
      .to_device(test_device());
}

inline AnyTensor t(const AnyTensor& x) { return x.transpose(-2, -1); }
inline AnyTensor unit(std::int64_t n, DType dtype) { return eye(n, n, dtype, test_device()); }
/// Symmetric and positive definite, its eigenvalues at least 1.
inline AnyTensor definite(const AnyTensor& x) {
  return x.matmul(t(x)) + unit(x.shape()[x.rank() - 2], x.dtype());
}
/// Rows and columns far from singular.
inline AnyTensor regular(const Shape& shape, DType dtype) {
  return numbers(shape, dtype) +
         unit(shape.back(), dtype) * (2.0 * std::sqrt(1.0 + static_cast<double>(shape.back())));
}

/// Within `units` of a dtype's last place of the largest element.
inline void check_alike(const AnyTensor& found, const AnyTensor& want, double units) {
  REQUIRE(found.shape() == want.shape());
  REQUIRE(found.dtype() == want.dtype());
  const auto on_host = [](const AnyTensor& x) {
    const AnyTensor wide = x.to_device(Device::host()).cast(DType::f64);
    std::vector<double> values(static_cast<std::size_t>(wide.numel()));
    wide.read_bytes(std::as_writable_bytes(std::span(values)));
    return values;
  };
  const std::vector<double> a = on_host(found), b = on_host(want);
  double largest = 1;
  for (const double value : b) largest = std::max(largest, std::abs(value));
  const double most = units * largest * (want.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    REQUIRE(std::abs(a[i] - b[i]) <= most);
  }
}

inline std::vector<DType> dtypes() {
  std::vector<DType> all = {DType::f32};
  if (has_dtype(test_device(), DType::f64)) all.push_back(DType::f64);
  return all;
}

inline double bound(std::int64_t n) { return 64 + 16 * static_cast<double>(n); }

inline AnyTensor on_host(const AnyTensor& x) { return x.to_device(Device::host()); }

}  // namespace sinter::testing
