// Chains of convolutions: values, gradients and results of a plan are right in any image layout.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>

#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

std::vector<float> ramp(std::int64_t count, int step) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>((static_cast<int>(i) * step + step / 2) % 17 - 8) / 16.0f;
  return values;
}

AnyTensor leaf(const Shape& shape, DType dtype, const Device& device, int step) {
  const std::vector<float> values = ramp(shape.numel(), step);
  if (dtype == DType::f32) return tensor_of(values, shape, device).require_grad();
  const std::vector<double> exact(values.begin(), values.end());
  return AnyTensor::from_bytes(std::as_bytes(std::span(exact)), shape, dtype, device).require_grad();
}

/// A loss, and the tensors whose gradients are compared.
struct Loss {
  AnyTensor loss;
  std::vector<AnyTensor> leaves;
};

/// Gradients in f32 match those in f64, for which the planner chooses no layout.
void check_gradients(const std::function<Loss(const Device&, DType)>& make, double tolerance = 2e-4) {
  const Device device = test_device().autodiff(), exact = Device::host().autodiff();
  auto gradients = [&](const Device& on, DType dtype) {
    const Loss made = make(on, dtype);
    const Gradients found = made.loss.backward();
    std::vector<std::vector<float>> values{values_of(made.loss.cast(DType::f32))};
    for (const AnyTensor& x : made.leaves) values.push_back(values_of(found.get(x)->cast(DType::f32)));
    return values;
  };
  const auto found = gradients(device, DType::f32), expected = gradients(exact, DType::f64);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    check_close(found[i], expected[i], tolerance);
  }
}

AnyTensor positive(const AnyTensor& x) { return AnyTensor::maximum(x, 0.0); }
AnyTensor mean_of(const AnyTensor& x) { return x.mean(x.all_axes()).reshape({}); }

}  // namespace

TEST_CASE("gradients of a chain of convolutions with biases and pooling between them") {
  check_gradients([](const Device& device, DType dtype) {
    const AnyTensor x = leaf({3, 4, 12, 10}, dtype, device, 5), a = leaf({8, 4, 3, 3}, dtype, device, 7),
                    b = leaf({1, 8, 1, 1}, dtype, device, 3), c = leaf({5, 8, 3, 3}, dtype, device, 11),
                    d = leaf({6, 5, 1, 1}, dtype, device, 13);
    AnyTensor y = positive(AnyTensor::add(x.conv2d(a, {.padding = {1, 1}}), b));
    y = y.reshape({3, 8, 6, 2, 5, 2}).mean({3, 5}).squeeze({3, 5});
    y = positive(y.conv2d(c, {.stride = {2, 1}, .padding = {1, 1}})).conv2d(d, {});
    return Loss{mean_of(AnyTensor::mul(y, y)), {x, a, b, c, d}};
  });
}

TEST_CASE("gradients of convolutions beside a shortcut, normalised over the batch") {
  check_gradients([](const Device& device, DType dtype) {
    const AnyTensor x = leaf({4, 8, 6, 7}, dtype, device, 5), a = leaf({8, 8, 3, 3}, dtype, device, 7),
                    b = leaf({8, 8, 3, 3}, dtype, device, 3), scale = leaf({1, 8, 1, 1}, dtype, device, 11);
    AnyTensor y = x.conv2d(a, {.padding = {1, 1}});
    const AnyTensor centred = AnyTensor::sub(y, y.mean({0, 2, 3}));
    const AnyTensor variance = AnyTensor::mul(centred, centred).mean({0, 2, 3});
    y = positive(AnyTensor::mul(AnyTensor::mul(centred, AnyTensor::add(variance, 1e-3).rsqrt()), scale));
    y = positive(AnyTensor::add(y.conv2d(b, {.padding = {1, 1}}), x));
    return Loss{mean_of(AnyTensor::mul(y, y)), {x, a, b, scale}};
  });
}

TEST_CASE("groups, few channels and convolutions in a row take what the others give") {
  check_gradients([](const Device& device, DType dtype) {
    const AnyTensor x = leaf({2, 1, 9, 9}, dtype, device, 5), a = leaf({8, 1, 3, 3}, dtype, device, 7),
                    b = leaf({8, 4, 3, 3}, dtype, device, 3), c = leaf({4, 8, 2, 2}, dtype, device, 11),
                    d = leaf({2, 4, 1, 1}, dtype, device, 9);
    const AnyTensor y = x.conv2d(a, {})
                            .conv2d(b, {.padding = {1, 1}, .groups = 2})
                            .conv2d(c, {.dilation = {2, 1}})
                            .conv2d(d, {});
    return Loss{mean_of(AnyTensor::mul(y, y)), {x, a, b, c, d}};
  });
}

TEST_CASE("gradients of a picture's first convolutions, and of last ones that make few channels") {
  for (const std::int64_t colours : {1, 3})
    check_gradients([&](const Device& device, DType dtype) {
      const AnyTensor x = leaf({3, colours, 9, 7}, dtype, device, 5),
                      w = leaf({5, colours, 3, 3}, dtype, device, 7),
                      v = leaf({19, 5, 3, 3}, dtype, device, 3),
                      u = leaf({colours, 19, 3, 3}, dtype, device, 11);
      const AnyTensor a = positive(x.conv2d(w, {.padding = {1, 1}}));
      const AnyTensor b = positive(a.conv2d(v, {.padding = {1, 1}}));
      return Loss{mean_of(AnyTensor::mul(b.conv2d(u, {.padding = {1, 1}}), x)), {x, w, v, u}};
    });
}

// Of so many points more than are unfolded at a time.
TEST_CASE("the first convolutions of a large picture") {
  check_gradients([](const Device& device, DType dtype) {
    const AnyTensor x = leaf({2, 3, 61, 53}, dtype, device, 5), w = leaf({5, 3, 3, 3}, dtype, device, 7),
                    v = leaf({6, 5, 3, 3}, dtype, device, 3), u = leaf({5, 6, 1, 1}, dtype, device, 9);
    const AnyTensor a = positive(x.conv2d(w, {.padding = {1, 1}}));
    const AnyTensor b = positive(a.conv2d(v, {.padding = {1, 1}})).conv2d(u, {});
    return Loss{mean_of(AnyTensor::mul(b, a)), {x, w, v, u}};
  });
}

TEST_CASE("images that leave a plan are seen by later ones as if they lay in order") {
  const Device device = test_device();
  // Which steps' results are still held, and where a plan ends, by the bits of `which`.
  for (int which = 0; which < 32; ++which) {
    ProgramBuilder b;
    const int x = b.input({2, 4, 6, 5}, DType::f32), w = b.input({8, 4, 3, 3}, DType::f32),
              v = b.input({4, 8, 3, 3}, DType::f32);
    const int first = b.conv2d(x, w, {.padding = {1, 1}});
    const int active = b.binary(Op::Maximum, {first}, {-1, 0.0});
    const int second = b.conv2d(active, v, {.padding = {1, 1}});
    if (which & 1) b.drop(first);
    if (which & 2) b.drop(active);
    const int sum = b.binary(Op::Add, {second}, {x});
    if (which & 4) b.flush();
    const int third = b.conv2d(sum, w, {.stride = {2, 1}});
    if (which & 8) b.drop(sum);
    if (which & 16) b.flush();
    const int turned = b.permute(third, {0, 2, 3, 1});
    b.reshape(turned, {-1});
    b.slice(third, {{0, 2, 1}, {1, 8, 2}, {0, 2, 1}, {2, 3, 1}});
    b.reduce(Op::Sum, third, {0, 2, 3});
    b.binary(Op::Mul, {third}, {-1, 2.0});
    b.reshape(second, {2, 120});
    b.conv2d(b.permute(turned, {0, 3, 1, 2}), v, {.padding = {1, 1}});
    b.expect(device, "held by " + std::to_string(which));
  }
}

TEST_CASE("random chains of convolutions") {
  const Device device = test_device();
  std::uint64_t state = 1;
  auto random = [&](int below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state >> 33) % static_cast<std::uint64_t>(below));
  };
  const int programs = compiles_slowly(device) ? 8 : 60;
  for (int i = 0; i < programs; ++i) {
    ProgramBuilder b;
    std::int64_t n = 1 + random(3), c = 1 + random(9), h = 5 + random(4), w = 5 + random(4);
    int x = b.input({n, c, h, w}, DType::f32);
    const int layers = 2 + random(3);
    for (int layer = 0; layer < layers; ++layer) {
      const std::int64_t out = 1 + random(12), k = 1 + 2 * random(2), pad = k / 2;
      const Conv2dOptions options{.stride = {1 + (h > 3 ? random(2) : 0), 1}, .padding = {pad, pad}};
      const int y = b.conv2d(x, b.input({out, c, k, k}, DType::f32), options);
      h = (h + 2 * pad - k) / options.stride[0] + 1;
      if (random(2)) b.drop(x);
      x = y;
      c = out;
      switch (random(6)) {
        case 0: x = b.binary(Op::Maximum, {x}, {-1, 0.0}); break;
        case 1:
          x = b.binary(Op::Add, {x}, {b.expand(b.input({1, c, 1, 1}, DType::f32), {n, c, h, w})});
          break;
        case 2: x = b.binary(Op::Sub, {x}, {b.expand(b.mean(x, {0, 2, 3}), {n, c, h, w})}); break;
        case 3: x = b.flip(b.binary(Op::Mul, {x}, {-1, 0.5}), {3}); break;
        case 4: x = b.cast(b.cast(x, DType::f32), DType::f32); break;
        default: break;
      }
      if (random(4) == 0) b.flush();
    }
    b.expect(device, "chain " + std::to_string(i));
  }
}
