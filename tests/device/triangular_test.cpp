// Systems with triangular matrices of any layout, on devices that have a routine for them and on others.
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/library/decomposition.h"
#include "tests/support/matrices.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

/// Contiguous, in memory of its own.
AnyTensor stored(const AnyTensor& x) {
  const AnyTensor copy = x * 1.0;
  copy.sync();
  return copy;
}

/// X of systems whose other triangle is NaN, beside that of the host.
void check_triangular(const AnyTensor& a, const AnyTensor& b) {
  CAPTURE(to_string(a.shape()));
  CAPTURE(to_string(b.shape()));
  const std::int64_t n = a.shape().back();
  const AnyTensor above = AnyTensor::triu_mask(n, n, 1, test_device());
  for (const bool upper : {false, true}) {
    CAPTURE(upper);
    const AnyTensor whole = a.mask_fill(upper ? t(above) : above, std::nan(""));
    const AnyTensor want = linalg::triangular_solve(on_host(whole), on_host(b), upper);
    check_alike(linalg::triangular_solve(whole, b, upper), want, bound(n));
    // By columns, and with gaps between lines.
    const AnyTensor across = t(stored(t(whole)));
    check_alike(linalg::triangular_solve(across, b, upper), want, bound(n));
    const AnyTensor larger = stored(AnyTensor::cat(std::vector{whole, whole}, -1));
    check_alike(linalg::triangular_solve(larger.narrow(-1, n, n), b, upper), want, bound(n));
    check_alike(linalg::triangular_solve(t(larger.narrow(-1, n, n)), t(stored(t(b))), !upper),
                linalg::triangular_solve(on_host(t(whole)), on_host(b), !upper), bound(n));
  }
}

std::size_t launches_of(const std::function<void()>& action) {
  std::size_t count = 0;
  for (const auto& trace : explain(action).traces) count += trace.launches.size();
  return count;
}

}  // namespace

TEST_CASE("triangular systems, however their matrices lie") {
  for (const DType dtype : dtypes()) {
    CAPTURE(name_of(dtype));
    for (const std::int64_t batch : {1, 3, 9})
      for (const std::int64_t n : {1, 2, 33, 65})
        for (const std::int64_t k : {1, 5})
          check_triangular(regular({batch, n, n}, dtype), numbers({batch, n, k}, dtype, 1));
  }
  check_triangular(regular({4, 4}, DType::f32), numbers({4, 3}, DType::f32, 1));
  check_triangular(regular({2, 3, 4, 4}, DType::f32), numbers({2, 3, 4, 3}, DType::f32, 1));
  check_triangular(regular({1, 2, 2}, DType::f32).expand({8200, 2, 2}), numbers({8200, 2, 3}, DType::f32, 1));
  // One matrix for many right-hand sides, and the other way round.
  for (const std::int64_t batch : {3, 12}) {
    const AnyTensor a = regular({70, 70}, DType::f32), b = numbers({batch, 70, 2}, DType::f32, 1);
    check_alike(linalg::triangular_solve(a, b, true), linalg::triangular_solve(on_host(a), on_host(b), true),
                bound(70));
    const AnyTensor many = regular({batch, 70, 70}, DType::f32);
    check_alike(linalg::triangular_solve(many, b.select(0, 0), false),
                linalg::triangular_solve(on_host(many), on_host(b.select(0, 0)), false), bound(70));
  }
}

TEST_CASE("a triangular matrix is read where it lies") {
  if (!test_device().core().computes(library::decomposition(library::Decomposition::SolveLower))) return;
  const AnyTensor a = regular({3, 20, 20}, DType::f32), b = numbers({3, 20, 4}, DType::f32, 1);
  test_device().sync();
  const auto solve = [&](const AnyTensor& matrix) {
    return launches_of([&] { linalg::triangular_solve(matrix, b, false).sync(); });
  };
  const std::size_t launches = solve(a);
  CHECK(solve(t(a)) == launches);
  CHECK(solve(a.narrow(0, 1, 1).expand({3, 20, 20})) == launches);
}

}  // namespace sinter::testing
