// Kernels are generic in sizes and scalars: a new batch size or a new scalar plans, at most, and compiles
// nothing.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/ir/traits.h"
#include "src/base/env.h"
#include "tests/support/test_device.h"

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

/// Memory of this machine that is free, in bytes; 0: unknown.
std::size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (word == "MemAvailable:") {
      std::size_t kilobytes = 0;
      file >> kilobytes;
      return kilobytes << 10;
    }
  return 0;
}

AnyTensor indices(const std::vector<std::int64_t>& numbers, DType dtype, const Device& device) {
  const Shape shape{static_cast<std::int64_t>(numbers.size())};
  return AnyTensor::from_bytes(std::as_bytes(std::span(numbers)), shape, DType::i64, device).cast(dtype);
}

std::vector<std::byte> bytes_of(const AnyTensor& x) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(x.numel()) * size_of(x.dtype()));
  x.read_bytes(bytes);
  return bytes;
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

TEST_CASE("indices count in tables of more rows than 2^31") {
  const Device device = testing::test_device();
  constexpr std::int64_t k31 = std::int64_t{1} << 31;
  for (const std::int64_t rows : {k31, k31 + 9, 2 * k31 + 2}) {
    // One row, seen as many.
    const std::vector<float> row{1, 2, 3};
    const AnyTensor table =
        AnyTensor::from_bytes(std::as_bytes(std::span(row)), {1, 3}, DType::f32, device).expand({rows, 3});
    for (const DType dtype : {DType::i32, DType::i64}) {
      std::vector<std::int64_t> good{0, 5, 1000, k31 - 1};
      if (dtype == DType::i64) good.push_back(rows - 1);
      const AnyTensor read = table.index_select(0, indices(good, dtype, device));
      std::vector<float> want;
      for (std::size_t i = 0; i < good.size(); ++i) want.insert(want.end(), row.begin(), row.end());
      const std::span<const std::byte> bytes = std::as_bytes(std::span(want));
      CHECK(bytes_of(read) == std::vector<std::byte>(bytes.begin(), bytes.end()));
      good.push_back(dtype == DType::i64 ? rows : -1);
      CHECK_THROWS_AS(bytes_of(table.index_select(0, indices(good, dtype, device))), ShapeError);
    }
  }
}

TEST_CASE("reductions over more than 2^31 elements") {
  const Device device = testing::test_device();
  if (testing::compiles_slowly(device)) return;  // a processor that plays a GPU would take a minute
  constexpr std::int64_t kMany = (std::int64_t{1} << 31) + 77;
  const auto number = [&](const AnyTensor& x) {
    std::int64_t value = 0;
    std::memcpy(&value, bytes_of(x).data(), sizeof value);
    return value;
  };
  const AnyTensor one = AnyTensor::full({1}, 1, DType::i64, device);
  one.sync();
  CHECK(number(one.expand({kMany}).sum({0})) == kMany);
  if (!base::environment().fusion) return;  // 16 GiB of elements would be stored
  // Read when nobody holds the elements any more, so that they are not stored.
  const AnyTensor largest = AnyTensor::arange(0, kMany, 1, device).max({0});
  CHECK(number(largest) == kMany - 1);
}

TEST_CASE("rows of a table of more than 2^31 bytes") {
  const Device device = testing::test_device();
  constexpr std::int64_t kRows = 2'200'000, kRow = 1024;
  constexpr std::size_t kBytes = static_cast<std::size_t>(kRows * kRow);
  const ir::DeviceTraits& traits = device.core().traits();
  const bool fits = available_memory() > std::size_t{8} << 30 &&
                    (traits.memory_bytes == 0 || traits.memory_bytes > 3 * kBytes) &&
                    (traits.most_buffer_bytes == 0 || traits.most_buffer_bytes > kBytes);
  if (!fits || testing::compiles_slowly(device)) {
    MESSAGE("not checked: too little memory for a table of " << kBytes << " bytes");
    return;
  }
  // Pages that nobody writes cost nothing here.
  const std::unique_ptr<std::byte, void (*)(void*)> data(static_cast<std::byte*>(std::calloc(kBytes, 1)),
                                                         std::free);
  REQUIRE(data != nullptr);
  const std::vector<std::int64_t> rows{kRows - 1, 0, 2'097'151, 2'097'152, 1'048'576, 2'000'003};
  std::vector<std::byte> want;
  for (const std::int64_t row : rows) {
    std::byte* to = data.get() + row * kRow;
    for (std::int64_t i = 0; i < kRow; ++i) to[i] = static_cast<std::byte>((row * 31 + i * 7) % 251);
    want.insert(want.end(), to, to + kRow);
  }
  const AnyTensor table =
      AnyTensor::from_bytes(std::span<const std::byte>(data.get(), kBytes), {kRows, kRow}, DType::u8, device);
  for (const DType dtype : {DType::i32, DType::i64}) {
    CHECK(bytes_of(table.index_select(0, indices(rows, dtype, device))) == want);
    CHECK_THROWS_AS(bytes_of(table.index_select(0, indices({5, kRows}, dtype, device))), ShapeError);
  }
  // The last columns of the last rows, by an index of each element.
  const Range ranges[] = {{kRows - 3, kRows, 1}};
  const AnyTensor last = table.slice(ranges);
  const AnyTensor picked = last.gather(1, indices({1023, 1022, 1021}, DType::i64, device).reshape({3, 1}));
  CHECK(bytes_of(picked)[2] == want[1021]);
}
