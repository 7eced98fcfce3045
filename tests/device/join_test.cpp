// Concatenations whose pieces are stored in their places.
#include <cmath>
#include <cstdint>
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
