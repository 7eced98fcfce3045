// Weights in 8 or 4 bits, and low-rank matrices that learn beside them. docs/quantization.md walks through
// it.
#include <cstdint>
#include <iostream>
#include <string>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct Net {
  sn::nn::Linear hidden, out;
  sn::Tensor<2> forward(const sn::Tensor<2>& x) const { return out.forward(sn::gelu(hidden.forward(x))); }
};

std::size_t bytes_of(const auto& module) {
  std::size_t bytes = 0;
  sn::visit_state(module, [&](const std::string&, const auto& state) {
    bytes += static_cast<std::size_t>(state.shape().numel()) * sn::size_of(state.dynamic().dtype());
  });
  return bytes;
}

}  // namespace

void schemes(const sn::Device& device) {
  const auto weight = sn::Tensor<2>::randn({256, 512}, device.inner()) * 0.05;
  for (const auto scheme : {sn::QuantScheme::int8, sn::QuantScheme::int4, sn::QuantScheme::nf4})
    for (const bool twice : {false, true}) {
      const auto small = sn::quantize(weight, {.scheme = scheme, .double_quantization = twice});
      const auto error = sn::Tensor<2>(sn::dequantize(small)) - weight;
      std::cout << name_of(scheme) << ": " << 8.0 * bytes_of(small) / (256 * 512) << " bits a number, error "
                << static_cast<int>(1000 * (error.std() / weight.std()).item() + 0.5) / 10.0 << " %\n";
    }
}

void fine_tune(const sn::Device& device) {
  Net net{.hidden = sn::nn::LinearConfig{.d_in = 64, .d_out = 256}.init(device),
          .out = sn::nn::LinearConfig{.d_in = 256, .d_out = 1}.init(device)};
  const std::size_t before = bytes_of(net);
  net = sn::nn::quantize(std::move(net), {"hidden"});
  net = sn::nn::add_lora(std::move(net), {"hidden"}, {.rank = 2});
  std::cout << sn::describe(net) << "bytes: " << before << ", then " << bytes_of(net) << "\n";

  const auto x = sn::Tensor<2>::randn({128, 64}, device.inner());
  const auto y = x.narrow(1, 0, 1) * x.narrow(1, 1, 1);
  const auto loss_of = [&](const Net& of) { return sn::nn::mse(of.forward(x), y); };
  const double start = loss_of(net).item();
  auto adam = sn::optim::AdamConfig{}.init();
  for (int step = 0; step < 100; ++step) adam.step(1e-2, net, loss_of(net).backward());
  std::cout << "learned " << (loss_of(net).item() < 0.5 * start ? "something" : "nothing") << "\n";
  const sn::record::Record record = sn::record::to_record(net);
  for (const auto& [path, entry] : record.entries())
    std::cout << path << " " << name_of(entry.dtype) << " " << to_string(entry.shape) << "\n";
}

int main() {
  const auto device = sn::Device::best().autodiff();
  device.seed(1);
  schemes(device);
  fine_tune(device);
}
