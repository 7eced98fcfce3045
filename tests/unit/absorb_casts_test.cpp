// The casts that products of library ops take in, on a fake device whose traits ask for that.
#include <functional>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/library/conv2d.h"
#include "jit/library/matmul.h"
#include "src/runtime/explain/observe.h"

using namespace sinter;

namespace {

const Device device = Device::null();
constexpr DType kBf16 = DType::bf16, kF32 = DType::f32, kI8 = DType::i8;

/// Products and launches of a program's plans on a device without tensor cores that multiplies 16-bit floats.
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
    traits.tensor_cores = {};
    launches_plain += static_cast<int>(plan::make_plan(run.trace, traits, {}).launches.size());
    traits.narrow_products = true;
    const plan::Plan plan = plan::make_plan(run.trace, traits, {});
    launches += static_cast<int>(plan.launches.size());
    for (const plan::Launch& launch : plan.launches)
      if (const auto* op = std::get_if<library::LibraryOpRef>(&launch.what)) {
        const auto& product = dynamic_cast<const library::ProductOp&>(**op);
        CHECK(product.dtype == kF32);
        dtypes.push_back({product.stored_dtype(0), product.stored_dtype(1), product.stored_dtype(2)});
      }
  }

  std::vector<std::vector<DType>> dtypes;  // of each product: operands, result
  int launches = 0, launches_plain = 0;
};

Tensor<2> blank(std::int64_t rows, std::int64_t columns, DType dtype, const Device& on = device) {
  return Tensor<2>::full({rows, columns}, 0.5, on, dtype);
}

using Products = std::vector<std::vector<DType>>;

}  // namespace

TEST_CASE("a product of 16-bit floats is one launch") {
  const auto a = blank(4, 8, kBf16), b = blank(8, 16, kBf16);
  Tensor<2> c;
  const Plans plans([&] { c = a.matmul(b); });
  CHECK(plans.dtypes == Products{{kBf16, kBf16, kBf16}});
  CHECK(plans.launches == 1);
  CHECK(plans.launches_plain == 3);  // with the casts in front, and the one behind
}

TEST_CASE("a transposed operand is read as it lies, and products hand each other 16 bits") {
  const auto a = blank(4, 8, kBf16), b = blank(16, 8, kBf16), c = blank(16, 2, kBf16);
  Tensor<2> d;
  const Plans plans([&] { d = a.matmul(b.transpose(0, 1)).matmul(c); });
  CHECK(plans.dtypes == Products{{kBf16, kBf16, kBf16}, {kBf16, kBf16, kBf16}});
  CHECK(plans.launches == 2);
}

TEST_CASE("one operand of 16 bits, and results that are read in f32") {
  const auto x = blank(4, 8, kF32), w = blank(8, 16, kBf16), y = blank(4, 8, kBf16);
  Tensor<2> c, d, e;
  const Plans plans([&] {
    c = x.matmul(w.cast(kF32));
    d = y.cast(kF32).matmul(w.cast(kF32));
  });
  CHECK(plans.dtypes == Products{{kF32, kBf16, kF32}, {kBf16, kBf16, kF32}});
  CHECK(plans.launches == 2);
  const Plans both([&] {
    const Tensor<2> product = y.cast(kF32).matmul(w.cast(kF32));
    d = product;
    e = product.cast(kBf16);
  });
  CHECK(both.dtypes == Products{{kBf16, kBf16, kF32}});
  const Plans wide([&] { c = x.matmul(x.transpose(0, 1)).cast(kBf16); });
  CHECK(wide.dtypes == Products{{kF32, kF32, kF32}});
}

TEST_CASE("matrix products take i8, and convolutions do not") {
  const auto bytes = [](const Shape& shape) { return AnyTensor::full(shape, 1, kI8, device); };
  const AnyTensor x = bytes({4, 8}), w = bytes({16, 8}), y = blank(4, 8, kF32).dynamic();
  AnyTensor c, d;
  const Plans plans([&] {
    c = x.cast(kF32).matmul(w.cast(kF32).transpose(0, 1));
    d = y.matmul(w.transpose(0, 1).cast(kF32));
  });
  CHECK(plans.dtypes == Products{{kI8, kI8, kF32}, {kF32, kI8, kF32}});
  CHECK(plans.launches == 2);
  const Plans rounded([&] { c = x.cast(kF32).matmul(w.cast(kF32).transpose(0, 1)).cast(kBf16); });
  CHECK(rounded.dtypes == Products{{kI8, kI8, kBf16}});
  const AnyTensor image = bytes({2, 8, 6, 6}), filter = bytes({16, 8, 3, 3});
  const Plans convolved([&] { d = image.cast(kF32).conv2d(filter.cast(kF32), {}); });
  CHECK(convolved.dtypes == Products{{kF32, kF32, kF32}});
}

TEST_CASE("the three products of a linear layer under Autocast") {
  const Device training = device.autodiff();
  const auto x = blank(4, 8, kF32, training).require_grad(), w = blank(8, 16, kF32, training).require_grad();
  Gradients gradients;
  const Plans plans([&] {
    const Autocast mixed;
    gradients = x.matmul(w).tanh().sum().backward();
  });
  CHECK(plans.dtypes == Products(3, {kBf16, kBf16, kBf16}));
  CHECK(plans.launches < plans.launches_plain);
}

TEST_CASE("convolutions and their gradients under Autocast") {
  const Device training = device.autodiff();
  const auto x = Tensor<4>::full({2, 8, 6, 6}, 0.5, training).require_grad(),
             w = Tensor<4>::full({16, 8, 3, 3}, 0.5, training).require_grad();
  Gradients gradients;
  const Plans plans([&] {
    const Autocast mixed;
    gradients = x.conv2d(w).tanh().sum().backward();
  });
  CHECK(plans.dtypes == Products(3, {kBf16, kBf16, kBf16}));
}
