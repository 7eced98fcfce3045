// Which tensors get gradients, which values history holds and releases, long histories, other threads.
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/functions/activation.h>

#include "src/trace/value.h"

using namespace sinter;

namespace {

const Device& device() {
  static const Device host = Device::host().autodiff();
  return host;
}

}  // namespace

TEST_CASE("ties: the largest elements share, relu has no slope at 0") {
  const auto x = Tensor<1>::from_data({2, 5, 5, 1}, device()).require_grad();
  CHECK(x.max().backward().get(x)->to_vector<float>() == std::vector<float>{0, 0.5, 0.5, 0});
  const auto y = Tensor<1>::from_data({-1, 0, 1}, device()).require_grad();
  CHECK(relu(y).sum().backward().get(y)->to_vector<float>() == std::vector<float>{0, 0, 1});
  CHECK(maximum(y, y).sum().backward().get(y)->to_vector<float>() == std::vector<float>{1, 1, 1});
}

TEST_CASE("what takes part in gradients and what does not") {
  const auto x = Tensor<1>::from_data({3, 4}, device()).require_grad();
  const auto unused = Tensor<1>::ones({2}, device()).require_grad();
  const auto constant = Tensor<1>::ones({2}, device());
  CHECK(x.requires_grad());
  CHECK((x * constant).requires_grad());
  CHECK_FALSE((constant * 2).requires_grad());
  CHECK_FALSE(x.detach().requires_grad());
  CHECK(x.detach().device().is_autodiff());
  CHECK_FALSE(x.inner().device().is_autodiff());
  CHECK(x.floor().requires_grad());  // with a gradient of zeros
  CHECK_FALSE((x > 1).dynamic().requires_grad());
  CHECK_FALSE(x.to_int().requires_grad());
  CHECK_FALSE(x.to_int().to_float().requires_grad());
  CHECK((x + x.inner()).requires_grad());

  Gradients gradients = (x * x.detach() * constant).sum().backward();
  CHECK(gradients.size() == 1);
  CHECK_FALSE(gradients.get(unused).has_value());
  CHECK_FALSE(gradients.get(constant).has_value());
  const Tensor<1> gradient = *gradients.get(x);
  CHECK_FALSE(gradient.device().is_autodiff());
  CHECK(gradient.to_vector<float>() == std::vector<float>{3, 4});

  CHECK(gradients.remove(x).has_value());
  CHECK_FALSE(gradients.get(x).has_value());
  CHECK(gradients.size() == 0);
  gradients.set(unused, Tensor<1>::ones({2}, device()));
  gradients.set(x, gradient);
  CHECK(gradients.size() == 2);
  CHECK(gradients.get(x)->to_vector<float>() == std::vector<float>{3, 4});
}

TEST_CASE("the gradient of a leaf itself, and of a cast") {
  const auto x = Tensor<0>::full({}, 3, device()).require_grad();
  CHECK(x.backward().get(x)->item() == 1);
  CHECK(x.backward().get(x)->item() == 1);  // a leaf has no history to use up
  CHECK((x.cast(DType::f64) * 2).backward().get(x)->dtype() == DType::f32);
}

TEST_CASE("saved values are gone after backward, though the loss lives") {
  const auto x = Tensor<1>::from_data({1, 2}, device()).require_grad();
  const auto middle = x.exp();
  const auto loss = (middle * middle).sum();
  trace::Value* value = middle.dynamic().value().get();
  CHECK(value->owners() == 4);  // the handle, exp's result, both operands of the product
  loss.backward();
  CHECK(value->owners() == 1);
  CHECK(loss.item() == doctest::Approx(std::exp(2.0) + std::exp(4.0)));
}

TEST_CASE("only what a rule needs is saved") {
  const auto x = Tensor<1>::from_data({1, 2}, device()).require_grad();
  const auto constant = Tensor<1>::from_data({5, 6}, device());
  const auto y = x * constant;  // saves the constant, not x
  CHECK(x.dynamic().value()->owners() == 1);
  CHECK(constant.dynamic().value()->owners() == 2);
  const auto z = y + 1;  // saves nothing
  CHECK(y.dynamic().value()->owners() == 1);
}

TEST_CASE("a long history neither overflows the stack when it is used nor when it is dropped") {
  const auto x = Tensor<0>::full({}, 1, device()).require_grad();
  const auto chain = [&] {
    auto y = x + 0;
    for (int i = 0; i < 100000; ++i) y = y + 1e-3;
    return y;
  };
  CHECK(chain().backward().get(x)->item() == 1);
  auto dropped = chain();
  CHECK_NOTHROW(dropped = x);
}

TEST_CASE("a handle dropped in another thread, gradients used in another thread") {
  auto x = Tensor<1>::from_data({1, 2}, device()).require_grad();
  auto loss = (x * x).sum();
  Gradients gradients = loss.backward();
  std::vector<float> got;
  std::thread([&, loss = std::move(loss), gradients = std::move(gradients)] {
    got = gradients.get(x)->to_vector<float>();
  }).join();
  CHECK(got == std::vector<float>{2, 4});
}
