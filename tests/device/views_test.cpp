// Views, reductions, indexed reads and products against values computed by hand or by plain loops. Runs on
// Device::best().
#include <doctest/doctest.h>

#include <sinter/tensor.h>

using namespace sinter;

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;
using Bools = std::vector<bool>;

Device device() { return Device::best(); }

/// 0, 1, 2, ... in the given shape.
template <std::size_t Rank>
Tensor<Rank, Int> counting(const Sizes<Rank>& sizes) {
  const Shape& shape = sizes;
  return Tensor<1, Int>::arange(0, shape.numel(), device()).template reshape_as<Rank>(shape);
}
template <std::size_t Rank>
Tensor<Rank> floats(const Sizes<Rank>& sizes) {
  return counting<Rank>(sizes).to_float();
}

template <std::size_t Rank>
Ints values(const Tensor<Rank, Int>& x) {
  return x.template to_vector<std::int64_t>();
}
template <std::size_t Rank>
Floats values(const Tensor<Rank>& x) {
  return x.template to_vector<float>();
}

}  // namespace

TEST_CASE("reshape") {
  const auto x = counting<2>({2, 3});
  CHECK(x.reshape({3, -1}).shape() == Shape{3, 2});
  CHECK(x.reshape({6}).shape() == Shape{6});
  CHECK(x.flatten().shape() == Shape{6});
  CHECK(counting<4>({2, 3, 4, 5}).flatten<2>().shape() == Shape{2, 60});
  CHECK(values(x.t().reshape({6})) == Ints{0, 3, 1, 4, 2, 5});
  CHECK(x.slice({s(0, 1), s(1, 2)}).reshape({}).item() == 1);
  CHECK(x.unsqueeze(1).shape() == Shape{2, 1, 3});
  CHECK(x.unsqueeze(-1).shape() == Shape{2, 3, 1});
  CHECK(counting<4>({1, 3, 1, 2}).squeeze({0, -2}).shape() == Shape{3, 2});
}

TEST_CASE("a view that changes nothing records nothing") {
  const auto x = counting<2>({2, 3});
  device().sync();
  device().reset_statistics();
  const auto y =
      x.reshape({2, 3}).permute({0, 1}).transpose(1, 1).expand({2, 3}).slice({all, s(0, 3)}).narrow(0, 0, 2);
  const auto z = y.pad({0, 0}, {0, 0}, 1).cast(DType::i64).flip({}).sum(Axes{});
  CHECK(z.dynamic().value().get() == x.dynamic().value().get());
  CHECK(device().statistics().ops_recorded == 0);
}

TEST_CASE("permute and transpose") {
  const auto x = counting<3>({2, 3, 4});
  const auto y = x.permute({2, 0, 1});
  CHECK(y.shape() == Shape{4, 2, 3});
  const Ints got = values(y);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k)
        REQUIRE(got[static_cast<std::size_t>(i * 6 + j * 3 + k)] == j * 12 + k * 4 + i);
  CHECK(values(counting<2>({2, 3}).t()) == Ints{0, 3, 1, 4, 2, 5});
  CHECK(values(x.permute({2, 0, 1}).permute({1, 2, 0})) == values(x));
}

TEST_CASE("expand") {
  const auto x = counting<2>({2, 1});
  CHECK(values(x.expand({2, 3})) == Ints{0, 0, 0, 1, 1, 1});
  CHECK(values(x.expand({-1, 2})) == Ints{0, 0, 1, 1});
  CHECK(values(counting<1>({2}).expand({2, 2})) == Ints{0, 1, 0, 1});
}

TEST_CASE("slice, narrow, select, flip") {
  const auto x = counting<2>({3, 4});
  CHECK(values(x.slice({s(1, 3)})) == Ints{4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(values(x.slice({all, s(0, 4, 2)})) == Ints{0, 2, 4, 6, 8, 10});
  CHECK(values(x.slice({s_from(-1), s(-2, -1)})) == Ints{10});
  CHECK(values(x.slice({s_from(-1, -1), s(0, 1)})) == Ints{8, 4, 0});
  CHECK(values(x.slice({s(2, 0, -1), s(0, 1)})) == Ints{8, 4});
  CHECK(values(x.slice({s(2, 1)})).empty());
  CHECK(values(x.narrow(1, 1, 2)) == Ints{1, 2, 5, 6, 9, 10});
  CHECK(values(x.select(0, 1)) == Ints{4, 5, 6, 7});
  CHECK(values(x.select(-1, -1)) == Ints{3, 7, 11});
  CHECK(values(x.flip(1)) == Ints{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8});
  CHECK(values(x.flip({0, 1})) == Ints{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(values(x.flip(0).slice({s(0, 1)}).t().reshape({4})) == Ints{8, 9, 10, 11});
}

TEST_CASE("pad, place, windows") {
  const auto x = counting<2>({2, 2}) + 1;
  CHECK(values(x.pad({1, 0}, {0, 1}, -1)) == Ints{-1, -1, -1, 1, 2, -1, 3, 4, -1});
  const AnyTensor placed = x.dynamic().place(Shape{3, 4}, {0, 3}, {2, -2}, 0);
  CHECK(values(Tensor<2, Int>(placed)) == Ints{0, 2, 0, 1, 0, 0, 0, 0, 0, 4, 0, 3});
  const auto w = counting<1>({7}).windows(0, 3, 2);
  CHECK(w.shape() == Shape{3, 3});
  CHECK(values(w) == Ints{0, 1, 2, 2, 3, 4, 4, 5, 6});
  CHECK(values(counting<2>({4, 2}).windows(0, 2, 2).sum(-1)) == Ints{2, 4, 10, 12});
}

TEST_CASE("views of views of computed values") {
  const auto x = counting<3>({2, 3, 4}) * 2;
  const auto y = x.permute({1, 2, 0}).slice({s_from(1), s(0, 4, 3)}).flip(2).reshape({4, 2}) + 1;
  // y[a * 2 + b, c] = 2 * (12 * (1 - c) + 4 * (1 + a) + 3 * b) + 1
  Ints expected;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 2; ++c) expected.push_back(2 * (12 * (1 - c) + 4 * (1 + a) + 3 * b) + 1);
  CHECK(values(y) == expected);
}

TEST_CASE("reductions") {
  const auto x = floats<2>({2, 3});
  CHECK(values(x.sum(0)) == Floats{3, 5, 7});
  CHECK(values(x.sum(-1)) == Floats{3, 12});
  CHECK(x.sum(0).shape() == Shape{1, 3});
  CHECK(values(x.sum({0, 1})) == Floats{15});
  CHECK(x.sum().item() == 15);
  CHECK(values(x.mean(1)) == Floats{1, 4});
  CHECK(x.mean().item() == 2.5);
  CHECK(values((x + 1).prod(1)) == Floats{6, 120});
  CHECK(values(x.max(0)) == Floats{3, 4, 5});
  CHECK(x.min().item() == 0);
  CHECK(values(counting<2>({2, 3}).max(1)) == Ints{2, 5});
  CHECK(counting<2>({2, 3}).sum().item() == 15);
  CHECK(floats<3>({2, 3, 4}).sum({0, 2}).shape() == Shape{1, 3, 1});
  CHECK(values(floats<3>({2, 3, 4}).sum({0, 2})) == Floats{60, 92, 124});
  const auto mask = x > 2;
  CHECK(any(mask).item());
  CHECK_FALSE(mask.all().item());
  CHECK(mask.any(1).to_vector<bool>() == Bools{false, true});
  CHECK(mask.all(1).to_vector<bool>() == Bools{false, true});
}

TEST_CASE("argmax and argmin give the first") {
  const auto x = Tensor<2>::from_data({{1, 5, 5}, {2, -1, -1}}, device());
  CHECK(values(x.argmax(1)) == Ints{1, 0});
  CHECK(values(x.argmin(1)) == Ints{0, 1});
  CHECK(values(x.argmax(0)) == Ints{1, 0, 0});
  CHECK(values(x.to_int().argmax(1)) == Ints{1, 0});
}

TEST_CASE("gather and index_select") {
  const auto x = counting<2>({3, 4});
  const auto index = Tensor<2, Int>::from_data({{3, 0}, {1, 1}}, device());
  CHECK(values(x.gather(1, index)) == Ints{3, 0, 5, 5});
  CHECK(values(x.gather(0, index.slice({s(1, 2)}))) == Ints{4, 5});
  CHECK(values(x.index_select(0, Tensor<1, Int>::from_data({2, 0, 2}, device()))) ==
        Ints{8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
  CHECK(values(x.index_select(1, Tensor<1, Int>::from_data({1}, device(), DType::i32))) == Ints{1, 5, 9});
}

TEST_CASE("an index that is out of range is an error when the result is read") {
  const auto x = floats<2>({3, 4});
  for (std::int64_t bad : {-1, 3}) {
    const auto y = x.index_select(0, Tensor<1, Int>::full({1}, bad, device()));
    CHECK_THROWS_AS(y.to_vector<float>(), ShapeError);
  }
}

TEST_CASE("matmul") {
  const auto a = floats<2>({2, 3}), b = floats<2>({3, 2});
  CHECK(values(a.matmul(b)) == Floats{10, 13, 28, 40});
  CHECK(values(matmul(b.t(), a.t())) == Floats{10, 28, 13, 40});
  const auto batch = floats<3>({2, 2, 3});
  CHECK(values(batch.matmul(b)) == Floats{10, 13, 28, 40, 46, 67, 64, 94});
  CHECK(values(batch.matmul(b.unsqueeze(0))) == Floats{10, 13, 28, 40, 46, 67, 64, 94});
  CHECK(values(a.matmul(batch.permute({0, 2, 1}))) == Floats{5, 14, 14, 50, 23, 32, 86, 122});
}

TEST_CASE("conv2d against plain loops") {
  const Conv2dOptions options{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2};
  const std::int64_t n = 2, c = 4, h = 5, w = 6, out = 6, kh = 3, kw = 2;
  const auto x = (floats<4>({n, c, h, w}) % 7) - 3, weight = (floats<4>({out, c / 2, kh, kw}) % 5) - 2;
  const auto y = x.conv2d(weight, options);
  const std::int64_t oh = 3, ow = 8;
  REQUIRE(y.shape() == Shape{n, out, oh, ow});
  const Floats xs = values(x), ws = values(weight), ys = values(y);
  for (std::int64_t b = 0; b < n; ++b)
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t i = 0; i < oh; ++i)
        for (std::int64_t j = 0; j < ow; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < c / 2; ++k)
            for (std::int64_t p = 0; p < kh; ++p)
              for (std::int64_t q = 0; q < kw; ++q) {
                const std::int64_t row = i * 2 + p - 1, column = j + q * 2 - 2, channel = o / 3 * 2 + k;
                if (row < 0 || row >= h || column < 0 || column >= w) continue;
                sum += xs[static_cast<std::size_t>(((b * c + channel) * h + row) * w + column)] *
                       ws[static_cast<std::size_t>(((o * (c / 2) + k) * kh + p) * kw + q)];
              }
          REQUIRE(ys[static_cast<std::size_t>(((b * out + o) * oh + i) * ow + j)] == doctest::Approx(sum));
        }
}

TEST_CASE("empty dimensions") {
  const auto x = Tensor<2>::zeros({0, 3}, device());
  CHECK(values(x + 1).empty());
  CHECK(values(x.sum(0)) == Floats{0, 0, 0});
  CHECK(values(x.prod(0)) == Floats{1, 1, 1});
  CHECK(x.sum().item() == 0);
  CHECK(values(x.t().reshape({0})).empty());
  CHECK(values(x.pad({1, 0}, {0, 0}, 4)) == Floats{4, 4, 4});
  CHECK(values(Tensor<2>::ones({2, 0}, device()).matmul(x)) == Floats{0, 0, 0, 0, 0, 0});
  CHECK(values(x.matmul(Tensor<2>::ones({3, 2}, device()))).empty());
  CHECK(values(x.flip(0).expand({2, 0, 3})).empty());
  CHECK(values(Tensor<2>::ones({2, 3}, device()).index_select(0, Tensor<1, Int>::arange(0, 0, device())))
            .empty());
}

TEST_CASE("elements of filters change places with their channels") {
  for (const std::int64_t channels : {16, 24, 17, 64})
    for (const std::int64_t elements : {1, 2, 9, 15}) {
      CAPTURE(channels);
      CAPTURE(elements);
      const auto x = floats<3>({3, channels, elements});
      x.sync();
      Floats turned, flipped;
      for (std::int64_t n = 0; n < 3; ++n)
        for (std::int64_t e = 0; e < elements; ++e)
          for (std::int64_t c = 0; c < channels; ++c) {
            turned.push_back(static_cast<float>((n * channels + c) * elements + e) + 1.0f);
            flipped.push_back(static_cast<float>((n * channels + c) * elements + elements - 1 - e) * 2.0f);
          }
      CHECK(values(x.transpose(1, 2) + 1.0) == turned);
      CHECK(values(x.flip(2).transpose(1, 2) * 2.0) == flipped);
    }
}
