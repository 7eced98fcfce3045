// Kernels are generic in sizes and scalars: a new batch size or a new scalar plans, at most, and compiles
// nothing.
#include <doctest/doctest.h>

#include <sinter/sinter.h>

using namespace sinter;

namespace {

/// Number of kernels compiled or loaded from disk so far.
std::uint64_t kernels(const Device& device) {
  const Statistics counts = device.statistics();
  return counts.kernels_compiled + counts.kernels_from_memory + counts.kernels_from_disk;
}

Tensor<2> work(const Tensor<2>& x, const Tensor<1>& weight, double scale) {
  const Tensor<2> y = softmax(gelu(x * scale) * weight.unsqueeze(0), 1);
  return y + y.mean(0) - x.narrow(1, 0, 1);
}

}  // namespace

TEST_CASE("a new batch size and a new scalar compile nothing") {
  const Device device = Device::best();
  const Tensor<1> weight = Tensor<1>::randn({33}, device);
  work(Tensor<2>::randn({5, 33}, device), weight, 0.5).sync();
  device.sync();
  const std::uint64_t before = kernels(device);
  for (const std::int64_t batch : {7, 12, 64}) {
    const Tensor<2> x = Tensor<2>::randn({batch, 33}, device);
    const Tensor<2> y = work(x, weight, 0.1 * static_cast<double>(batch));
    CHECK(y.to_vector<float>().size() == static_cast<std::size_t>(batch) * 33);
  }
  CHECK(kernels(device) == before);
}

TEST_CASE("the same program with other scalars finds its plan") {
  const Device device = Device::best();
  const Tensor<2> x = Tensor<2>::randn({4, 9}, device);
  x.sync();
  auto run = [&](double scale) { return (x * scale + 1.0).sum(1).to_vector<float>(); };
  const auto first = run(1.0);
  const ForbidCompilation guard;
  const auto doubled = run(2.0);
  for (std::size_t i = 0; i < first.size(); ++i)
    CHECK(doubled[i] - 9 == doctest::Approx(2 * (first[i] - 9)).epsilon(1e-4));
}

TEST_CASE("few results over long rows: what is done with them reads its own row") {
  // The guide's gradient of a bias and the optimizer's step on it are such a kernel: sums over all dims but
  // one, then work with an operand that has one element per sum.
  const Device device = Device::best();
  constexpr std::int64_t kBatch = 64, kChannels = 8, kPixels = 676;
  const Tensor<3> x = Tensor<3>::rand({kBatch, kChannels, kPixels}, device);
  const Tensor<3> bias = Tensor<3>::randn({1, kChannels, 1}, device);
  const std::vector<float> elements = x.to_vector<float>(), biases = bias.to_vector<float>();
  for (int round = 0; round < 3; ++round) {
    const Tensor<3> doubled = where(x < 0.5, x, x * 3.0);  // held: the same kernel stores it
    const Tensor<3> mean = doubled.mean({0, 2});
    const Tensor<3> result = bias - mean * mean;
    const std::vector<float> got = result.to_vector<float>();
    for (std::int64_t c = 0; c < kChannels; ++c) {
      double sum = 0;
      for (std::int64_t n = 0; n < kBatch; ++n)
        for (std::int64_t p = 0; p < kPixels; ++p) {
          const double e = elements[static_cast<std::size_t>((n * kChannels + c) * kPixels + p)];
          sum += e < 0.5 ? e : 3 * e;
        }
      const double expected = sum / (kBatch * kPixels);
      CHECK(got[static_cast<std::size_t>(c)] ==
            doctest::Approx(biases[static_cast<std::size_t>(c)] - expected * expected).epsilon(1e-4));
    }
  }
}
