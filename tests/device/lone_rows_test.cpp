// One token at a time: attention of few queries over caches of any length, and products of few rows with a
// norm in front of them, against the same in double precision.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/sinter.h>

#include "tests/support/test_device.h"

using namespace sinter;

namespace {

std::vector<double> values(const AnyTensor& x) {
  const AnyTensor wide = x.to_device(Device::host()).cast(DType::f64);
  std::vector<double> all(static_cast<std::size_t>(wide.numel()));
  wide.read_bytes(std::as_writable_bytes(std::span(all)));
  return all;
}

double tolerance_of(DType dtype) { return dtype == DType::f32 ? 3e-5 : dtype == DType::f16 ? 4e-3 : 2e-2; }

void check_near(const std::vector<double>& found, const std::vector<double>& expected, DType dtype) {
  REQUIRE(found.size() == expected.size());
  double scale = 0.5, worst = 0;
  for (const double x : expected) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK_FALSE(std::isnan(found[i]));
    worst = std::max(worst, std::abs(found[i] - expected[i]));
  }
  CHECK(worst <= tolerance_of(dtype) * scale);
}

enum class Mask { Causal, Number, None };

/// What a program would write: the library's function, or plain operations with a number in place of what is
/// not seen.
Tensor<4> attend(const Tensor<4>& q, const Tensor<4>& k, const Tensor<4>& v, std::int64_t position,
                 Mask mask) {
  const std::int64_t keys = k.shape()[2];
  const double scale = 1 / std::sqrt(static_cast<double>(q.shape()[3]));
  if (mask == Mask::Causal)
    return nn::scaled_dot_product_attention(q, k, v, {.causal = true, .offset = position});
  const auto scores = q.matmul(k.t()) * scale;
  if (mask == Mask::None) return softmax(scores, 3).matmul(v);
  const auto seen = Tensor<1, Int>::arange(0, keys, q.device()) <= position;
  return softmax(where(seen.reshape({1, 1, 1, keys}), scores, -1e4), 3).matmul(v);
}

struct Case {
  std::int64_t batch, heads, queries, keys, size;
  DType dtype;
};

void check_attention(const Device& device, const Case& s) {
  const Device host = Device::host();
  const auto draw = [&](std::int64_t length) {
    return Tensor<4>::randn({s.batch, s.heads, length, s.size}, host).cast(s.dtype);
  };
  const auto q = draw(s.queries), k = draw(s.keys), v = draw(s.keys);
  const auto on_device = [&](const Tensor<4>& x) { return x.to_device(device); };
  const auto dq = on_device(q), dk = on_device(k), dv = on_device(v);
  for (const Mask mask : {Mask::Causal, Mask::Number, Mask::None})
    for (const std::int64_t position : {std::int64_t{0}, std::int64_t{1}, s.keys / 3, s.keys - s.queries}) {
      CAPTURE(static_cast<int>(mask));
      CAPTURE(position);
      const std::vector<double> found = values(attend(dq, dk, dv, position, mask).dynamic());
      check_near(
          found,
          values(
              attend(q.cast(DType::f64), k.cast(DType::f64), v.cast(DType::f64), position, mask).dynamic()),
          s.dtype);
      const std::vector<double> again = values(attend(dq, dk, dv, position, mask).dynamic());
      CHECK(std::memcmp(found.data(), again.data(), found.size() * sizeof(double)) == 0);
    }
}

}  // namespace

TEST_CASE(
    "attention of few queries is that of double precision, at any position, and has the same bits twice") {
  const Device device = testing::test_device();
  for (const Case& s : {Case{1, 3, 1, 300, 64, DType::bf16}, Case{2, 2, 1, 17, 128, DType::f16},
                        Case{1, 2, 4, 77, 80, DType::bf16}, Case{1, 2, 1, 130, 36, DType::f32},
                        Case{1, 1, 15, 40, 8, DType::f32}}) {
    CAPTURE(s.keys);
    check_attention(device, s);
  }
}

TEST_CASE("several workgroups share many keys") {
  const Device device = testing::test_device();
  check_attention(device, {1, 1, 1, 1500, 64, DType::bf16});
}

TEST_CASE("queries that see nothing give 0, and NaN stays") {
  const Device device = testing::test_device();
  const auto q = Tensor<4>::ones({1, 1, 2, 8}, device), k = Tensor<4>::ones({1, 1, 40, 8}, device);
  const auto nothing = Tensor<4, Bool>::full({1, 1, 2, 40}, false, device);
  for (const double x : values(nn::scaled_dot_product_attention(q, k, k, {.mask = nothing}).dynamic()))
    CHECK(x == 0);
  const auto hole = k.slice_assign({all, all, s(39, 40)}, Tensor<4>::full({1, 1, 1, 8}, NAN, device));
  for (const double x : values(nn::scaled_dot_product_attention(q, hole, k).dynamic())) CHECK(std::isnan(x));
  // What is not seen may be anything.
  for (const double x :
       values(nn::scaled_dot_product_attention(q, hole, k, {.causal = true, .offset = 3}).dynamic()))
    CHECK(x == doctest::Approx(1));
}

TEST_CASE("products of few rows with a norm in front and a gelu behind are those of double precision") {
  const Device device = testing::test_device(), host = Device::host();
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32})
    for (const std::int64_t rows : {1, 2, 5})
      for (const std::int64_t depth : {1, 24, 770})
        for (const std::int64_t columns : {1, 33, 128}) {
          CAPTURE(rows);
          CAPTURE(depth);
          CAPTURE(columns);
          const auto x = (Tensor<2>::randn({rows, depth}, host) + 1.0).cast(dtype),
                     w = (Tensor<2>::randn({columns, depth}, host) / std::sqrt(static_cast<double>(depth)))
                             .cast(dtype),
                     gain = Tensor<2>::randn({1, depth}, host).cast(dtype),
                     bias = Tensor<2>::randn({1, columns}, host).cast(dtype);
          const auto compute = [](const Tensor<2>& x, const Tensor<2>& w, const Tensor<2>& gain,
                                  const Tensor<2>& bias, bool norm) {
            const auto centred = x - x.mean(1);
            const auto y = norm ? centred * (centred.square().mean(1) + 1e-5).rsqrt() * gain : x;
            return gelu_tanh(y.matmul(w.t()) + bias);
          };
          for (const bool norm : {false, true}) {
            const auto found = compute(x.to_device(device), w.to_device(device), gain.to_device(device),
                                       bias.to_device(device), norm);
            const auto expected = compute(x.cast(DType::f64), w.cast(DType::f64), gain.cast(DType::f64),
                                          bias.cast(DType::f64), norm);
            check_near(values(found.dynamic()), values(expected.dynamic()), dtype);
          }
        }
}
