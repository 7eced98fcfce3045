// Concatenations whose pieces are stored in their places.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

using namespace sinter;

namespace {

std::vector<float> numbers(std::size_t count, int step) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<float>(static_cast<int>(i) * step % 13 - 6) / 16;
  return all;
}

}  // namespace

TEST_CASE("states of a recurrent network that are joined are what each of them is") {
  // Rows that are pieces of 256 bytes, and such as begin between vectors.
  for (const auto& [batch, width] : {std::pair<std::size_t, std::size_t>{4, 16}, {1, 64}, {3, 5}}) {
    CAPTURE(batch);
    CAPTURE(width);
    constexpr std::size_t kSteps = 19;
    const Device device = Device::best();
    const Shape of_state{static_cast<std::int64_t>(batch), static_cast<std::int64_t>(width)};
    const std::vector<float> weights = numbers(width * width, 5), inputs = numbers(batch * width, 3);
    const auto weight = Tensor<2>::from_data(weights, {of_state[1], of_state[1]}, device);
    const auto x = Tensor<2>::from_data(inputs, of_state, device);
    std::vector<double> want, state(inputs.begin(), inputs.end());
    for (std::size_t s = 0; s < kSteps; ++s) {
      std::vector<double> next(batch * width);
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t j = 0; j < width; ++j) {
          double sum = inputs[b * width + j];
          for (std::size_t k = 0; k < width; ++k)
            sum += 0.25 * state[b * width + k] * static_cast<double>(weights[k * width + j]);
          next[b * width + j] = std::tanh(sum);
        }
      state = next;
      want.insert(want.end(), state.begin(), state.end());
    }
    // Twice: the second run replays a plan.
    for (int run = 0; run < 2; ++run) {
      std::vector<Tensor<2>> states;
      for (std::size_t s = 0; s < kSteps; ++s)
        states.push_back(((s == 0 ? x : states.back()).matmul(weight) * 0.25 + x).tanh());
      const Tensor<2> whole = Tensor<2>::cat(states, 0), last = states.back();
      const Tensor<2> doubled = whole * 2.0, sums = whole.matmul(weight).sum(1);
      states.clear();
      const std::vector<float> joined = whole.to_vector<float>(), twice = doubled.to_vector<float>(),
                               end = last.to_vector<float>(), rows = sums.to_vector<float>();
      REQUIRE(joined.size() == want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        CHECK(joined[i] == doctest::Approx(want[i]).epsilon(1e-4));
        CHECK(twice[i] == 2 * joined[i]);
      }
      for (std::size_t i = 0; i < end.size(); ++i) CHECK(end[i] == joined[want.size() - end.size() + i]);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        double sum = 0;
        for (std::size_t k = 0; k < width; ++k)
          for (std::size_t j = 0; j < width; ++j)
            sum += want[r * width + k] * static_cast<double>(weights[k * width + j]);
        CHECK(rows[r] == doctest::Approx(sum).epsilon(1e-3).scale(1));
      }
    }
  }
}

TEST_CASE("slices of one piece of each concatenation that a stack is made of") {
  // Pieces that begin between vectors, so that the concatenations are computed where they are needed.
  constexpr std::int64_t kRows = 3, kWidth = 5;
  constexpr std::size_t kSteps = 9;
  const Device device = Device::best();
  const auto x = Tensor<2>::from_data(numbers(kRows * kWidth, 3), {kRows, kWidth}, device),
             weight = Tensor<2>::from_data(numbers(kWidth * kWidth, 5), {kWidth, kWidth}, device);
  const auto states_of = [&](double factor) {
    std::vector<Tensor<2>> states;
    for (std::size_t s = 0; s < kSteps; ++s)
      states.push_back(((s == 0 ? x : states.back()).matmul(weight) * factor + x).tanh());
    return states;
  };
  std::vector<std::vector<float>> a, b;
  for (const Tensor<2>& state : states_of(1)) a.push_back(state.to_vector<float>());
  for (const Tensor<2>& state : states_of(2)) b.push_back(state.to_vector<float>());
  std::vector<Tensor<3>> parts;
  {
    const Tensor<2> all_a = Tensor<2>::cat(states_of(1), 0), all_b = Tensor<2>::cat(states_of(2), 0);
    const std::vector<Tensor<2>> both{all_a * all_b, all_a - all_b};
    const Tensor<3> stacked = Tensor<2>::stack(both, 1);
    for (std::size_t s = 0; s < kSteps; ++s)
      parts.push_back(stacked.narrow(0, static_cast<std::int64_t>(s) * kRows, kRows).exp());
  }
  for (std::size_t s = 0; s < kSteps; ++s) {
    CAPTURE(s);
    const std::vector<float> found = parts[s].to_vector<float>();
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::size_t row = i / (2 * kWidth), which = i / kWidth % 2, at = row * kWidth + i % kWidth;
      const double left = a[s][at], right = b[s][at];
      CHECK(found[i] == doctest::Approx(std::exp(which == 0 ? left * right : left - right)).epsilon(1e-5));
    }
  }
}

namespace {

/// Numbers that differ from piece to piece.
std::vector<float> piece_numbers(const Shape& shape, std::size_t piece) {
  std::vector<float> all(static_cast<std::size_t>(shape.numel()));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>((i * 7 + piece * 31) % 1009) - 500 + static_cast<float>(piece) * 4096;
  return all;
}

/// What pieces (rows, sizes[k], columns) give one behind the other along dim 1.
std::vector<float> joined_numbers(const std::vector<std::vector<float>>& pieces,
                                  const std::vector<std::int64_t>& sizes, std::int64_t rows,
                                  std::int64_t columns) {
  std::vector<float> all;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const auto from = pieces[k].begin() + row * sizes[k] * columns;
      all.insert(all.end(), from, from + sizes[k] * columns);
    }
  return all;
}

}  // namespace

TEST_CASE("long lists of pieces, large or small, are put beside each other") {
  const Device device = Device::best();
  // Of a piece: small ones are joined in groups, large ones by a kernel for some of them at a time.
  for (const std::int64_t columns : {1, 5, 64, 4096})
    for (const std::int64_t rows : {1, 3})
      for (const std::size_t count : {3, 4, 5, 9, 17, 40}) {
        CAPTURE(columns);
        CAPTURE(rows);
        CAPTURE(count);
        std::vector<std::vector<float>> values;
        std::vector<std::int64_t> sizes;
        std::vector<Tensor<3>> pieces, doubled;
        for (std::size_t k = 0; k < count; ++k) {
          sizes.push_back(k % 3 == 1 ? 2 : 1);
          values.push_back(piece_numbers({rows, sizes.back(), columns}, k));
          pieces.push_back(Tensor<3>::from_data(values.back(), {rows, sizes.back(), columns}, device));
          doubled.push_back(pieces.back() * 2.0);
        }
        const std::vector<float> want = joined_numbers(values, sizes, rows, columns);
        const auto is_times = [&](const Tensor<3>& given, float factor) {
          const std::vector<float> have = given.to_vector<float>();
          return have.size() == want.size() && std::equal(have.begin(), have.end(), want.begin(),
                                                          [&](float a, float b) { return a == factor * b; });
        };
        // Twice: the second run replays a plan. What is joined is a result, with others beside it or not, or
        // on its way into one.
        for (int run = 0; run < 2; ++run) {
          const Tensor<3> whole = Tensor<3>::cat(pieces, 1);
          CHECK(is_times(whole, 1));
          const Tensor<3> of_computed = Tensor<3>::cat(doubled, 1), again = of_computed * 2.0;
          CHECK(is_times(of_computed, 2));
          CHECK(is_times(again, 4));
          CHECK(is_times(Tensor<3>::cat(pieces, 1) * 3.0, 3));
          const Tensor<3> seen = pieces.back() + 1.0, part = Tensor<3>::cat(pieces, 1);
          CHECK(is_times(part, 1));
          CHECK(seen.to_vector<float>()[0] == values.back()[0] + 1);
        }
      }
}

TEST_CASE(
    "tensors in memory are put one behind the other: some empty, one twice, views, every size of element") {
  const Device device = Device::best();
  const auto values_of = [](const AnyTensor& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.numel()));
    tensor.cast(DType::f32).read_bytes(std::as_writable_bytes(std::span(values)));
    return values;
  };
  for (const DType dtype : {DType::f32, DType::bf16, DType::u8})
    for (const std::int64_t rows : {64, 63, 1, 0})
      for (const int kind : {0, 1, 2}) {
        std::vector<AnyTensor> pieces;
        std::vector<float> want;
        for (int i = 0; i < 12; ++i) {
          const std::int64_t own = kind == 2 ? 80 : i == 3 ? 0 : i == 5 ? 2 * rows : rows;
          const std::vector<float> values = numbers(static_cast<std::size_t>(own * 80), i + 2);
          const AnyTensor given =
              AnyTensor::from_bytes(std::as_bytes(std::span(values)), {own, 80}, DType::f32, device);
          AnyTensor piece = AnyTensor::mul(given, 16).abs().cast(dtype);
          piece.sync();
          if (kind == 1 && i > 0) piece = pieces[0];
          if (kind == 2 && i % 3 == 1) piece = piece.narrow(0, i, rows);
          if (kind == 2 && i % 3 == 2) piece = piece.transpose(0, 1);
          const std::vector<float> its = values_of(piece);
          want.insert(want.end(), its.begin(), its.end());
          pieces.push_back(std::move(piece));
        }
        INFO(name_of(dtype) << ", " << rows << " rows, " << kind);
        const AnyTensor whole = cat(pieces, 0);
        whole.sync();
        CHECK(values_of(whole) == want);
      }
}

TEST_CASE("gradients of a long list go back to each piece") {
  const Device device = Device::best().autodiff();
  for (const std::int64_t columns : {3, 2048}) {
    std::vector<Tensor<2>> pieces;
    for (std::size_t k = 0; k < 21; ++k)
      pieces.push_back(
          Tensor<2>::from_data(piece_numbers({2, columns}, k), {2, columns}, device).require_grad());
    const Tensor<3> all = Tensor<3>(AnyTensor::stack(
        [&] {
          std::vector<AnyTensor> given;
          for (const Tensor<2>& piece : pieces) given.push_back(piece.dynamic());
          return given;
        }(),
        1));
    const Gradients gradients = (all * all * 0.5).sum().backward();
    for (std::size_t k = 0; k < pieces.size(); ++k)
      CHECK(gradients.get(pieces[k])->to_vector<float>() == piece_numbers({2, columns}, k));
  }
}
