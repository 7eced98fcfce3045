// The images that a plan stores channels last, on a fake device whose traits ask for that.
#include <functional>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>

#include "jit/library/conv2d.h"
#include "src/runtime/explain/observe.h"

using namespace sinter;

namespace {

const Device device = Device::null();

/// Library ops and launches of a program's plans on a device that prefers channels last.
class Plans : public runtime::TraceObserver {
 public:
  explicit Plans(const std::function<void()>& program) {
    device.sync();
    runtime::add_observer(*this);
    program();
    device.sync();
    runtime::remove_observer(*this);
  }

  void runs(const runtime::TraceRun& run) override {
    ir::DeviceTraits traits = run.traits;
    launches_plain += static_cast<int>(plan::make_plan(run.trace, traits, {}).launches.size());
    traits.channels_last = true;
    const plan::Plan plan = plan::make_plan(run.trace, traits, {});
    launches += static_cast<int>(plan.launches.size());
    for (const plan::Launch& launch : plan.launches) {
      const auto* op = std::get_if<library::LibraryOpRef>(&launch.what);
      if (!op) continue;
      if (const auto* convolution = dynamic_cast<const library::Conv2dOp*>(op->get()))
        convolutions.push_back(*convolution);
    }
    for (const ir::Kernel& kernel : plan.kernels)
      for (const ir::IndexMap& map : kernel.maps) divided += map.steps.size() > 1 ? 1 : 0;
    for (const plan::Placement& placement : plan.placements) strides.push_back(placement.layout.strides);
  }

  std::vector<library::Conv2dOp> convolutions;
  std::vector<Dims> strides;  // of results that are still held
  int launches = 0, launches_plain = 0;
  int divided = 0;  // indices that kernels find by dividing, since loops are in another order than memory
};

AnyTensor blank(const Shape& shape, const Device& on = device) {
  return AnyTensor::full(shape, 0.5, DType::f32, on);
}
AnyTensor positive(const AnyTensor& x) { return AnyTensor::maximum(x, 0.0); }
/// Every second element of every second row, as a mean of blocks.
AnyTensor pooled(const AnyTensor& x) {
  const Shape& s = x.shape();
  return x.reshape({s[0], s[1], s[2] / 2, 2, s[3] / 2, 2}).mean({3, 5}).squeeze({3, 5});
}

}  // namespace

TEST_CASE("between convolutions images lie with their channels last, and nothing is copied") {
  const AnyTensor x = blank({2, 8, 8, 8}), w = blank({16, 8, 3, 3}), v = blank({8, 16, 3, 3});
  AnyTensor y;
  const Plans plans([&] {
    y = positive(positive(x.conv2d(w, {.padding = {1, 1}})).conv2d(v, {.padding = {1, 1}})).sum({0});
  });
  REQUIRE(plans.convolutions.size() == 2);
  CHECK_FALSE(plans.convolutions[0].x_last);
  CHECK(plans.convolutions[0].y_last);
  CHECK(plans.convolutions[1].x_last);
  CHECK_FALSE(plans.convolutions[1].y_last);  // it would save only one convolution a transpose
  CHECK(plans.launches == plans.launches_plain);
}

TEST_CASE("pooling reads and the gradients of convolutions write them so") {
  const Device training = device.autodiff();
  const AnyTensor x = blank({2, 8, 8, 8}), w = blank({16, 8, 3, 3}, training).require_grad(),
                  v = blank({8, 16, 3, 3}, training).require_grad();
  Gradients gradients;
  const Plans plans([&] {
    const AnyTensor y = pooled(positive(x.conv2d(w, {.padding = {1, 1}})));
    const AnyTensor z = positive(y.conv2d(v, {.padding = {1, 1}}));
    gradients = z.sum(z.all_axes()).reshape({}).backward();
  });
  // Both forward convolutions, the gradient of the pooled image, and those of both weights.
  REQUIRE(plans.convolutions.size() == 5);
  for (const library::Conv2dOp& op : plans.convolutions) {
    CAPTURE(static_cast<int>(op.direction));
    if (op.direction == library::Conv2dOp::Direction::BackwardInput) CHECK(op.y_last);
    if (op.direction == library::Conv2dOp::Direction::BackwardWeight && op.c_in == 16) CHECK(op.y_last);
  }
  CHECK(plans.launches == plans.launches_plain);
}

TEST_CASE("pools by windows that overlap read and write them so") {
  const AnyTensor x = blank({2, 8, 9, 9}), w = blank({16, 8, 3, 3}), v = blank({8, 16, 3, 3});
  const nn::MaxPool2d pool{.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}};
  AnyTensor y;
  const auto program = [&](const auto& pooled) {
    return [&] { y = pooled(positive(x.conv2d(w, {.padding = {1, 1}}))).conv2d(v, {}).sum({0}); };
  };
  const Plans greatest(
      program([&](const AnyTensor& image) { return pool.forward(Tensor<4>(image)).dynamic(); }));
  const Plans mean(program([&](const AnyTensor& image) {
    const nn::AvgPool2d average{.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}};
    return average.forward(Tensor<4>(image)).dynamic();
  }));
  for (const Plans* plans : {&greatest, &mean}) {
    REQUIRE(plans->convolutions.size() == 2);
    CHECK(plans->convolutions[0].y_last);
    CHECK(plans->convolutions[1].x_last);
    CHECK(plans->launches <= plans->launches_plain);
    CHECK(plans->divided == 0);
  }
}

TEST_CASE("a picture lies as it came, and what the first convolution makes of it does not") {
  const Device training = device.autodiff();
  const AnyTensor x = blank({2, 3, 8, 8}), w = blank({16, 3, 3, 3}, training).require_grad(),
                  v = blank({16, 16, 3, 3}, training).require_grad();
  Gradients gradients;
  const Plans plans([&] {
    const AnyTensor y = positive(x.conv2d(w, {.padding = {1, 1}}));
    const AnyTensor z = positive(y.conv2d(v, {.padding = {1, 1}}));
    gradients = z.sum(z.all_axes()).reshape({}).backward();
  });
  REQUIRE(plans.convolutions.size() == 5);
  for (const library::Conv2dOp& op : plans.convolutions) {
    CAPTURE(op.describe());
    CHECK(op.x_last == (op.c_in == 16));
    if (op.c_in == 3) CHECK(op.y_last);
  }
  CHECK(plans.launches == plans.launches_plain);
}

TEST_CASE("images that nothing is won for lie in order") {
  const AnyTensor x = blank({2, 8, 8, 8}), w = blank({8, 8, 3, 3});
  auto none_last = [](const Plans& plans, std::size_t count) {
    REQUIRE(plans.convolutions.size() == count);
    for (const library::Conv2dOp& op : plans.convolutions) {
      CHECK_FALSE(op.x_last);
      CHECK_FALSE(op.y_last);
    }
    for (const Dims& strides : plans.strides) CHECK(strides[strides.rank() - 1] == 1);
  };
  AnyTensor y;
  none_last(Plans([&] { y = positive(x.conv2d(w, {})); }), 1);
  // Random numbers are generated in the order of the dims.
  none_last(Plans([&] {
              const AnyTensor a = x.conv2d(w, {});
              const AnyTensor mask = AnyTensor::less(AnyTensor::uniform(a.shape(), 0, 1, device), 0.5);
              y = AnyTensor::where(mask, a, 0.0).conv2d(w, {});
            }),
            2);
  // Too few channels.
  const AnyTensor narrow = blank({2, 8, 3, 3}), wide = blank({8, 2, 3, 3});
  none_last(Plans([&] { y = x.conv2d(narrow, {}).conv2d(wide, {}); }), 2);
  const AnyTensor x64 = x.cast(DType::f64), w64 = w.cast(DType::f64);
  none_last(Plans([&] { y = x64.conv2d(w64, {}).conv2d(w64, {}); }), 2);
}

TEST_CASE("what is held of them keeps its shape") {
  const AnyTensor x = blank({2, 8, 8, 8}), w = blank({8, 8, 3, 3});
  AnyTensor y, z;
  const Plans plans([&] {
    y = x.conv2d(w, {});
    z = y.conv2d(w, {});
  });
  REQUIRE(plans.strides.size() == 2);
  bool found = false;
  for (const Dims& strides : plans.strides) found |= strides[1] == 1 && strides[3] == 8 && strides[2] == 48;
  CHECK(found);
}
