// The Sequences of bench/peers_models.py.
#include "recurrent.h"

#include <cstdint>
#include <utility>

#include <sinter/sinter.h>

#include "training.h"

namespace bench {
namespace {

namespace sn = sinter;
using sn::Tensor;

constexpr std::int64_t kBatch = 64, kLength = 128, kWidth = 512, kClasses = 10;

struct Sequences {
  sn::nn::Lstm lstm;
  sn::nn::Linear head;

  Tensor<2> forward(const Tensor<3>& x) const {
    return head.forward(lstm.forward(x).output.narrow(1, kLength - 1, 1).reshape({kBatch, kWidth}));
  }
};

}  // namespace

std::function<void()> lstm_step(const sn::Device& plain, std::optional<sn::DType> autocast) {
  const sn::Device device = plain.autodiff();
  Sequences model{sn::nn::LstmConfig{.d_in = kWidth, .d_hidden = kWidth, .layers = 2}.init(device),
                  sn::nn::LinearConfig{.d_in = kWidth, .d_out = kClasses}.init(device)};
  const auto x = Tensor<3>::randn({kBatch, kLength, kWidth}, device);
  const auto y = (Tensor<1>::rand({kBatch}, device) * static_cast<double>(kClasses)).floor().to_int();
  x.sync(), y.sync();
  return training_step(std::move(model), sn::optim::AdamWConfig{}.init(), 1e-3, autocast,
                       [=](const Sequences& net) { return sn::nn::cross_entropy(net.forward(x), y); });
}

}  // namespace bench
