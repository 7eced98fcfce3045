// What became of a stretch of program: a softmax, and a training step, planned and not run. docs/explain.md
// walks through it.
#include <iostream>

#include <sinter/sinter.h>

namespace sn = sinter;

int main(int argc, char** argv) {
  // Plans like a GPU and runs nothing: no memory is used, whatever the sizes.
  const sn::Device device = sn::Device::null().autodiff();
  const auto scores = sn::Tensor<2>::zeros({4096, 1024}, device);
  const auto x = sn::Tensor<2>::zeros({256, 784}, device);
  const auto y = sn::Tensor<1, sn::Int>::zeros({256}, device);

  // What the function returns counts as seen by somebody, so it is computed.
  const sn::Report softmax = sn::explain([&] {
    const auto e = (scores - scores.max(1)).exp();
    return e / e.sum(1);
  });
  std::cout << softmax.to_text() << "\n";

  auto model = sn::nn::LinearConfig{.d_in = 784, .d_out = 10}.init(device);
  auto sgd = sn::optim::SgdConfig{}.init();
  const sn::Report training = sn::explain([&] {
    for (int step = 0; step < 3; ++step) {
      const auto loss = sn::nn::cross_entropy(model.forward(x), y);
      sgd.step(0.1, model, loss.backward());
    }
  });
  std::cout << training.to_text() << "\n";

  // The same as data, for tests that hold a program to its number of launches, and as a picture.
  for (const sn::ReportLaunch& launch : training.traces.back().launches)
    std::cout << "launch of " << launch.ops.size() << ": " << launch.in_place_bytes << " bytes in place\n";
  if (argc > 1) training.save(argv[1]);
}
