// Gradients of images that are sampled by grids. Values, and gradients of small ones, are among the cases
// (tests/cases).
#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_data.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

AnyTensor random(const Shape& shape, std::uint64_t seed, const Device& device) {
  TestData data(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (float& value : values) value = static_cast<float>(data.integer(-100, 100)) / 80.0f;  // beyond 1, too
  return tensor_of(values, shape, device);
}

}  // namespace

TEST_CASE("an infinite gradient of a point outside reaches no element") {
  const Device device = test_device().autodiff();
  const AnyTensor x = tensor_of({1, 2, 3, 4}, {1, 1, 2, 2}, device).require_grad();
  const AnyTensor grid = tensor_of({0.1f, 0.2f, 5, 5}, {1, 1, 2, 2}, device);
  // The second point is 0, where the square root rises without limit.
  const std::vector<float> found = values_of(*x.grid_sample_2d(grid).sqrt().sum().backward().get(x));
  check_close(found, {0.0346307f, 0.0519460f, 0.0808049f, 0.1212073f}, 1e-4);
}

TEST_CASE("a sampled image is linear in the image: the gradient of its gradient samples, too") {
  const Device device = test_device().autodiff();
  for (const OutsideImage outside : {OutsideImage::Zeros, OutsideImage::Border})
    for (const std::int64_t side : {3, 24, 40}) {  // more points than elements, by far
      const AnyTensor x = random({2, 3, 8, 7}, 1, device).require_grad(),
                      grid = random({2, side, side, 2}, 2, device),
                      weight = random({2, 3, side, side}, 3, device).require_grad(),
                      v = random({2, 3, 8, 7}, 4, device);
      const auto sampled = [&](const AnyTensor& image) {
        return image.grid_sample_2d(grid, Interpolation::Linear, outside);
      };
      const Gradients first = AnyTensor::mul(sampled(x), weight).sum().backward({.differentiable = true});
      const AnyTensor of_x = *first.get(x);
      // <S^T w, v> = <w, S v>
      check_close(values_of(*AnyTensor::mul(of_x, v).sum().backward().get(weight)), values_of(sampled(v)),
                  1e-5);
    }
}

}  // namespace sinter::testing
