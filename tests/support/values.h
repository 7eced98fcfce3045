// Converts between tensors and vectors of numbers, and compares them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/any_tensor.h>

inline sinter::AnyTensor tensor_of(const std::vector<float>& values, const sinter::Shape& shape,
                                   const sinter::Device& device) {
  return sinter::AnyTensor::from_bytes(std::as_bytes(std::span(values)), shape, sinter::DType::f32, device);
}

template <class T = float>
std::vector<T> values_of(const sinter::AnyTensor& tensor) {
  REQUIRE(tensor.dtype() == sinter::dtype_of<T>);
  std::vector<T> values(static_cast<std::size_t>(tensor.numel()));
  tensor.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

/// Checks every element to a relative (or, below 1, absolute) tolerance.
inline void check_close(const std::vector<float>& found, const std::vector<float>& expected,
                        double tolerance = 1e-5) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CAPTURE(found[i]);
    CAPTURE(expected[i]);
    // Written so that NaN fails.
    CHECK(std::abs(found[i] - expected[i]) <= tolerance * std::max(1.0f, std::abs(expected[i])));
  }
}

inline void check_close(const sinter::AnyTensor& found, const std::vector<float>& expected,
                        double tolerance = 1e-5) {
  check_close(values_of(found), expected, tolerance);
}
