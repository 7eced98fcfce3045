// Kernels are generic in sizes: another batch size is another plan of the same kernels.
#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/runtime/explain/observe.h"

using namespace sinter;

namespace {

const Device plain = Device::null(), device = plain.autodiff();

/// Collects the texts of all kernels planned during its lifetime.
class Kernels : public runtime::TraceObserver {
 public:
  Kernels() { add_observer(*this); }
  ~Kernels() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    for (const ir::Kernel& kernel : run.plan.kernels) {
      texts.insert(ir::to_string(kernel));
      wide |= kernel.wide;
    }
  }
  std::set<std::string> texts;
  bool wide = false;
};

struct Model {
  nn::Conv2d conv;
  nn::Dropout dropout;
  nn::Linear hidden, out;
  Tensor<2> forward(const Tensor<4>& x) const {
    auto y = relu(dropout.forward(conv.forward(x))).flatten<2>();
    auto z = gelu(hidden.forward(y));
    z = (z - z.mean(1)) * (z.square().mean(1) + 1e-5).rsqrt();
    return out.forward(z);
  }
};

}  // namespace

namespace {

struct Divisions : runtime::TraceObserver {
  Divisions() { add_observer(*this); }
  ~Divisions() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    for (const ir::Kernel& kernel : run.plan.kernels) {
      most = std::max(most, ir::divisions(kernel));
      ++kernels;
    }
  }
  std::size_t most = 0, kernels = 0;
};

}  // namespace

TEST_CASE(
    "a kernel splits so many indices that it compiles in a second, and one operation as many as it needs") {
  // The elements of (a, 2, b), backwards by dims, for all a and b that there are: each has its own divisors.
  constexpr std::int64_t kElements = 55440;
  const auto x = Tensor<1>::zeros({kElements}, device);
  x.sync();
  Divisions divisions;
  AnyTensor sum;
  for (std::int64_t a = 2; a < kElements / 2; ++a) {
    if (kElements % (2 * a) != 0) continue;
    const AnyTensor turned = x.dynamic().reshape({a, 2, kElements / 2 / a}).permute({2, 1, 0});
    const AnyTensor part = turned.reshape({kElements}).narrow(0, 1, 500);
    sum = sum.defined() ? AnyTensor::add(sum, part) : part;
  }
  sum.sync();
  CHECK(divisions.most > 64);
  CHECK(divisions.most <= 128);
  CHECK(divisions.kernels < 12);
}

TEST_CASE("what is laid back over an image, each window behind reshapes, divides next to never") {
  const auto x = Tensor<4>::zeros({2, 3, 31, 31}, device).require_grad();
  x.sync();
  {  // 25 frames by plain ops, all in one kernel
    Divisions divisions;
    const AnyTensor pooled = x.dynamic().windows(2, 5, 2).windows(3, 5, 2).max({4, 5});
    Gradients gradients = AnyTensor::mul(pooled, pooled).sum({0, 1, 2, 3, 4, 5}).reshape({}).backward();
    gradients.remove(x.dynamic()).value().sync();
    CHECK(divisions.most <= 4);
  }
  {  // a max pool: rows and columns are divided by the stride, once each, whatever windows there are
    Divisions divisions;
    const nn::MaxPool2d pool{.kernel = {3, 3}, .stride = {{2, 2}}, .padding = {1, 1}};
    Gradients gradients = pool.forward(x).square().sum().backward();
    gradients.remove(x).value().sync();
    CHECK(divisions.most == 2);
  }
}

TEST_CASE("a variance in one pass takes the same kernels at another batch size") {
  // The number of elements is a constant of the plan, and the kernel's argument.
  const auto batch_norm = [](std::int64_t batch) {
    const auto x = Tensor<4>::zeros({batch, 32, 48, 48}, plain);
    x.sync();
    Kernels kernels;
    const auto centred = x - x.mean({0, 2, 3});
    const auto y = centred * (centred.square().mean({0, 2, 3}) + 1e-5).rsqrt();
    y.sync();
    return kernels.texts;
  };
  const std::set<std::string> usual = batch_norm(32);
  CHECK(std::any_of(usual.begin(), usual.end(), [](const std::string& text) {
    return text.find("squared_deviations") != std::string::npos;
  }));
  CHECK(batch_norm(48) == usual);
  CHECK(batch_norm(49) == usual);
}

TEST_CASE("more points than 32 bits count make a kernel wide, also where all of them read one element") {
  const auto is_wide = [](std::int64_t rows, std::int64_t columns) {
    const auto x = Tensor<2>::zeros({1, 1}, plain);
    x.sync();
    Kernels kernels;
    const auto sums = x.expand({rows, columns}).exp().sum(1);
    sums.sync();
    return kernels.wide;
  };
  CHECK(is_wide(65536, 65537));
  CHECK(!is_wide(32768, 32768));
}

TEST_CASE("a training step at another batch size takes the same kernels") {
  Model model{nn::Conv2dConfig{.channels = {1, 4}, .kernel = {3, 3}}.init(device),
              {.probability = 0.25, .training = true},
              nn::LinearConfig{.d_in = 4 * 26 * 26, .d_out = 64}.init(device),
              nn::LinearConfig{.d_in = 64, .d_out = 10}.init(device)};
  auto adam = optim::AdamConfig{}.init();
  auto step = [&](std::int64_t batch) {
    const auto x = Tensor<4>::from_data(std::vector<float>(static_cast<std::size_t>(batch * 784)),
                                        {batch, 1, 28, 28}, device);
    const auto y =
        Tensor<1, Int>::from_data(std::vector<std::int64_t>(static_cast<std::size_t>(batch)), {batch}, plain);
    Kernels kernels;
    const auto loss = nn::cross_entropy(model.forward(x), y);
    auto gradients = loss.backward();
    adam.step(1e-3, model, std::move(gradients));
    loss.sync();
    return kernels.texts;
  };
  for (int i = 0; i < 3; ++i) step(64);
  const std::set<std::string> usual = step(64);
  for (std::int64_t batch : {63, 32, 128, 17, 96, 256}) {
    const std::set<std::string> other = step(batch);
    for (const std::string& text : other)
      CHECK_MESSAGE(usual.contains(text), "batch " << batch << " needs\n" << text);
  }
  plain.reset_statistics();
  for (std::int64_t batch : {64, 63, 64, 17, 64}) step(batch);
  CHECK_MESSAGE(plain.statistics().plans_built == 0, "sizes that came before have their plans");
}

TEST_CASE("positions in a table of more than 2^31 elements have 64 bits") {
  const auto kernel_of = [](std::int64_t rows) {
    const auto table = Tensor<2>::zeros({rows, 1024}, plain);
    const auto index = Tensor<1, Int>::arange(0, 8, 1, plain);
    table.sync();
    index.sync();
    Kernels kernels;
    table.index_select(0, index).sync();
    REQUIRE(kernels.texts.size() == 1);
    return *kernels.texts.begin();
  };
  CHECK(kernel_of(2'000'000).find(" wide") == std::string::npos);
  CHECK(kernel_of(2'200'000).find(" wide") != std::string::npos);
}

TEST_CASE("more than 2^31 positions of one element have 64 bits") {
  // Neither a size nor a stride is large, and all of it lies in four bytes.
  const auto one = Tensor<2>::from_data({{1}}, plain);
  const auto is_wide = [&](std::int64_t rows, std::int64_t columns) {
    Kernels kernels;
    (one.expand({rows, columns}) * 2.0).sum().sync();
    return std::any_of(kernels.texts.begin(), kernels.texts.end(),
                       [](const std::string& text) { return text.find("wide") != std::string::npos; });
  };
  CHECK(is_wide(60'000, 60'000));
  CHECK_FALSE(is_wide(600, 600));
}
