// Products with weights of few bits. Where few rows meet such a weight, devices with tensor cores compute it
// in the kernel that multiplies; all others store it first.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/ir/traits.h"
#include "src/runtime/device_core.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr QuantScheme kSchemes[] = {QuantScheme::int8, QuantScheme::int4, QuantScheme::nf4, QuantScheme::fp8};

/// What the codes stand for, as the host says.
AnyTensor numbers_of(QuantizedTensor q) {
  const Device host = Device::host();
  if (q.codes.defined()) q.codes = Buffer<2, Int>(q.codes.dynamic().to_device(host));
  if (q.numbers.defined()) q.numbers = Buffer<2>(q.numbers.dynamic().to_device(host));
  if (q.scales.defined()) q.scales = Buffer<2>(q.scales.dynamic().to_device(host));
  if (QuantizedScales& of = q.quantized_scales; of.codes.defined())
    of = {Buffer<2, Int>(of.codes.dynamic().to_device(host)), Buffer<1>(of.scales.dynamic().to_device(host)),
          Buffer<0>(of.mean.dynamic().to_device(host))};
  return dequantize(q).cast(DType::f32);
}

/// x times the transposed weight, with what the planner makes of it, against sums in double precision of the
/// numbers that the codes stand for.
void check_product(std::int64_t rows, std::int64_t outputs, std::int64_t depth, const QuantOptions& options,
                   DType dtype) {
  const Device device = test_device();
  CAPTURE(rows);
  CAPTURE(outputs);
  CAPTURE(depth);
  CAPTURE(name_of(options.scheme));
  CAPTURE(static_cast<int>(options.granularity));
  CAPTURE(name_of(dtype));
  const auto x = Tensor<2>::randn({rows, depth}, device).cast(dtype);
  const auto weight = Tensor<2>::randn({outputs, depth}, device).cast(dtype);
  const QuantizedTensor q = quantize(weight, options);
  const std::vector<float> a = values_of(x.dynamic().cast(DType::f32)), b = values_of(numbers_of(q));
  const AnyTensor product = x.dynamic().matmul(dequantize(q).transpose(0, 1));
  const std::vector<float> c = values_of(product.cast(DType::f32));
  REQUIRE(product.shape() == Shape{rows, outputs});
  const double unit = dtype == DType::f32 ? 0x1p-22 : dtype == DType::f16 ? 0x1p-10 : 0x1p-7;
  bool is_right = true;
  for (std::int64_t m = 0; m < rows; ++m)
    for (std::int64_t n = 0; n < outputs; ++n) {
      double sum = 0, size = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const double term = static_cast<double>(a[static_cast<std::size_t>(m * depth + k)]) *
                            static_cast<double>(b[static_cast<std::size_t>(n * depth + k)]);
        sum += term, size += std::abs(term);
      }
      const double found = c[static_cast<std::size_t>(m * outputs + n)];
      is_right &= std::abs(found - sum) <= unit * std::abs(sum) + 0x1p-20 * size;
    }
  CHECK(is_right);
}

std::vector<DType> halves() {
  std::vector<DType> dtypes;
  for (const DType dtype : {DType::bf16, DType::f16})
    if (has_dtype(test_device(), dtype)) dtypes.push_back(dtype);
  if (compiles_slowly(test_device()) && dtypes.size() > 1) dtypes.resize(1);
  return dtypes;
}

}  // namespace

TEST_CASE("products of a few rows with weights of each scheme") {
  test_device().seed(1);
  for (const DType dtype : halves())
    for (const QuantScheme scheme : kSchemes)
      for (const QuantGranularity granularity :
           {QuantGranularity::tensor, QuantGranularity::channel, QuantGranularity::block})
        for (const std::int64_t rows : {1, 5, 16}) {
          if (granularity == QuantGranularity::tensor && rows != 5) continue;
          check_product(rows, 40, 256, {.scheme = scheme, .granularity = granularity}, dtype);
        }
}

TEST_CASE("weights whose rows end within a vector, a block or a byte, or are shorter than these") {
  test_device().seed(2);
  const DType dtype = halves().front();
  for (const std::int64_t depth : {1, 7, 15, 24, 72, 130, 136, 1000})
    for (const QuantScheme scheme : {QuantScheme::int8, QuantScheme::int4})
      for (const std::int64_t rows : {1, 3})
        check_product(rows, 19, depth, {.scheme = scheme, .block = 16}, dtype);
}

TEST_CASE("more rows than are few, more tiles than workgroups, a single output, f32") {
  test_device().seed(3);
  const DType dtype = halves().front();
  for (const std::int64_t rows : {2, 8, 9, 17, 70})
    check_product(rows, 48, 320, {.scheme = QuantScheme::int8}, dtype);
  check_product(4, 4300, 128, {.scheme = QuantScheme::int8, .granularity = QuantGranularity::channel}, dtype);
  check_product(3, 1, 512, {.scheme = QuantScheme::int8}, dtype);
  check_product(1, 1, 512, {.scheme = QuantScheme::int8}, dtype);
  for (const std::int64_t rows : {1, 4}) {
    check_product(rows, 40, 256, {.scheme = QuantScheme::nf4}, DType::f32);
    check_product(rows, 40, 256, {.scheme = QuantScheme::int8, .double_quantization = true}, dtype);
  }
}

TEST_CASE("codes of more than 2^31 bytes, where there is room") {
  const Device device = test_device();
  const ir::DeviceTraits& traits = device.core().traits();
  if (traits.is_cpu || traits.memory_bytes < std::size_t{32} << 30) return;
  const std::int64_t outputs = 32776, depth = 65536, period = 100;
  REQUIRE(outputs * depth > std::int64_t{1} << 31);
  // Devices that store the weight may have no buffer for it.
  const std::size_t weight_bytes = static_cast<std::size_t>(2 * outputs * depth);
  if (traits.most_buffer_bytes > 0 && traits.most_buffer_bytes < weight_bytes) return;
  const AnyTensor numbers = AnyTensor::remainder(AnyTensor::arange(0, outputs, 1, device), period);
  const AnyTensor codes =
      AnyTensor::mul(numbers.cast(DType::i8).reshape({outputs, 1}).expand({outputs, depth}), 1);
  codes.sync();
  for (const std::int64_t rows : {1, 4}) {
    const AnyTensor x = AnyTensor::full(Shape{rows, depth}, 1, DType::bf16, device);
    const AnyTensor scale = AnyTensor::full(Shape{outputs, 1}, 0.5, DType::f32, device);
    scale.sync();
    const AnyTensor w = AnyTensor::mul(codes.cast(DType::f32), scale).cast(DType::bf16);
    const std::vector<float> found = values_of(x.matmul(w.transpose(0, 1)).cast(DType::f32));
    bool is_right = true;
    for (std::size_t i = 0; i < found.size(); ++i)
      is_right &=
          found[i] == 0.5f * static_cast<float>(depth * (static_cast<std::int64_t>(i) % outputs % period));
    CHECK(is_right);
  }
}

TEST_CASE("a weight that two products read, and one that somebody holds") {
  const Device device = test_device();
  device.seed(4);
  const DType dtype = halves().front();
  const auto x = Tensor<2>::randn({4, 192}, device).cast(dtype);
  const QuantizedTensor q =
      quantize(Tensor<2>::randn({64, 192}, device).cast(dtype), {.scheme = QuantScheme::int8});
  const AnyTensor alone = x.dynamic().matmul(dequantize(q).transpose(0, 1));
  const std::vector<float> expected = values_of(alone.cast(DType::f32));
  const AnyTensor held = dequantize(q), shared = dequantize(q);
  const AnyTensor with_held = x.dynamic().matmul(held.transpose(0, 1)),
                  first = x.dynamic().matmul(shared.transpose(0, 1)),
                  second = AnyTensor::mul(x.dynamic(), 2.0).matmul(shared.transpose(0, 1));
  CHECK(values_of(with_held.cast(DType::f32)) == expected);
  CHECK(values_of(first.cast(DType::f32)) == expected);
  CHECK(values_of(AnyTensor::mul(second, 0.5).cast(DType::f32)) == expected);
  CHECK(values_of(held.cast(DType::f32)) == values_of(dequantize(q).cast(DType::f32)));
}

}  // namespace sinter::testing
