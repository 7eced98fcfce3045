// Gradients of composed functions, and the gradients of those, against central differences.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/functions/activation.h>
#include <sinter/nn/sequence_loss.h>

#include "tests/support/differences.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using V = const std::vector<A>&;

}  // namespace

TEST_CASE("gradients of composed functions") {
  const Inputs rows{numbers({3, 4})};
  const auto check = [&](const std::string& what, const Inputs& inputs, const testing::TensorFunction& f) {
    CAPTURE(what);
    check_gradients(inputs, f);
    check_second_gradients(inputs, f);
  };
  check("softmax", rows, [](V x) { return softmax(x[0], 1); });
  check("log_softmax", rows, [](V x) { return log_softmax(x[0], 0); });
  check("gelu", rows, [](V x) { return gelu(x[0]); });
  check("gelu_tanh", rows, [](V x) { return gelu_tanh(x[0]); });
  check("silu", rows, [](V x) { return silu(x[0]); });
  check("softplus", {{{3}, {-1, 0, 2}}}, [](V x) { return softplus(x[0]); });
  check("leaky_relu", rows, [](V x) { return leaky_relu(x[0], 0.2); });
  check("layer norm", rows, [](V x) {
    const A centered = A::sub(x[0], x[0].mean(1));
    return A::mul(centered, A::add(centered.square().mean(1), 1e-5).rsqrt());
  });
  check("two layers", {numbers({3, 2}), numbers({2, 5}), numbers({5}), numbers({5, 2})},
        [](V x) { return A::add(x[0].matmul(x[1]), x[2]).tanh().matmul(x[3]); });
  check("cross entropy", rows, [](V x) {
    return log_softmax(x[0], 1).gather(1, long_index({1, 3, 0}, {3, 1})).mean({0, 1}).neg();
  });
  check("one leaf used many times", rows, [](V x) {
    const A y = x[0].sigmoid();
    return A::add(A::mul(y, x[0]), A::sub(y, A::mul(y.exp(), y)));
  });
}

TEST_CASE("gradients of losses of sequences") {
  // Two sequences: one that fills its tensors, and one that has a frame and a label fewer.
  const Tensor<2, Int> targets(long_index({1, 2, 2, 0}, {2, 2}));
  const Tensor<1, Int> labels(long_index({2, 1}, {2})), frames(long_index({3, 2}, {2}));
  const auto check = [](const Input& input, const testing::TensorFunction& f) {
    check_gradients({input}, f);
    check_second_gradients({input}, f);
  };
  check(numbers({2, 3, 3, 4}), [&](V x) {
    return nn::rnnt<nn::Reduction::none>(Tensor<4>(x[0]), targets, frames, labels, {.blank = 3}).dynamic();
  });
  check(numbers({3, 2, 4}), [&](V x) {
    const auto logarithms = log_softmax(Tensor<3>(x[0]), 2);
    return nn::ctc<nn::Reduction::none>(logarithms, targets, frames, labels, {.blank = 3}).dynamic();
  });
}
