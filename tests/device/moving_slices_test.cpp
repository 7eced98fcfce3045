// Slices of data in memory: where they start is no part of a plan.
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using Numbers = std::vector<float>;

/// A slice of two dims: start, step, count of each.
struct Place {
  std::int64_t start[2], step[2], count[2];
};

/// `columns` wide data of small numbers, and what a slice of it has.
struct Data {
  Data(std::int64_t rows, std::int64_t columns, const Device& device)
      : columns(columns), numbers(rows * columns) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>((i * 7 + i / 11) % 23) - 11;
    tensor = Tensor<2>::from_data(numbers, {rows, columns}, device) + 0.0;
    device.flush();
  }
  Tensor<2> slice(const Place& at) const {
    const auto range = [&](int d) {
      const std::int64_t stop = at.start[d] + at.step[d] * (at.count[d] - 1) + (at.step[d] < 0 ? -1 : 1);
      return Range{at.start[d], stop < 0 ? std::nullopt : std::optional(stop), at.step[d]};
    };
    return tensor.slice({range(0), range(1)});
  }
  /// The same numbers, in a tensor of their own that is no slice.
  Tensor<2> copy(const Place& at) const {
    Numbers part;
    for (std::int64_t i = 0; i < at.count[0]; ++i)
      for (std::int64_t j = 0; j < at.count[1]; ++j)
        part.push_back(numbers[static_cast<std::size_t>((at.start[0] + i * at.step[0]) * columns +
                                                        at.start[1] + j * at.step[1])]);
    return Tensor<2>::from_data(part, {at.count[0], at.count[1]}, tensor.device());
  }

  std::int64_t columns;
  Numbers numbers;
  Tensor<2> tensor;
};

std::uint64_t plans(const Device& device) { return device.statistics().plans_built; }

}  // namespace

TEST_CASE("batches taken from data in memory share a plan") {
  const Device device = test_device();
  const Data data(3200, 64, device);
  const auto labels = Tensor<1, Int>::arange(0, 3200, device) + 0;
  device.flush();
  std::uint64_t start = 0;
  for (int i = 0; i < 100; ++i) {
    const auto loss = (data.tensor.narrow(0, i * 32, 32) * 2.0).sum(1) +
                      labels.narrow(0, i * 32, 32).to_float().unsqueeze(1);
    Numbers expected;
    for (int k = 0; k < 32; ++k) {
      float sum = static_cast<float>(i * 32 + k);
      for (int c = 0; c < 64; ++c) sum += 2 * data.numbers[static_cast<std::size_t>((i * 32 + k) * 64 + c)];
      expected.push_back(sum);
    }
    CHECK(loss.to_vector<float>() == expected);
    if (i == 0) start = plans(device);
  }
  CHECK(plans(device) == start);

  // Rows of 12 bytes: some start where whole vectors can be read, others do not.
  const Data odd(500, 3, device);
  const std::uint64_t before = plans(device);
  for (int i = 0; i < 100; ++i) {
    const Place at{{i * 5, 0}, {1, 1}, {5, 3}};
    CHECK((odd.slice(at) + 1.0).to_vector<float>() == (odd.copy(at) + 1.0).to_vector<float>());
  }
  CHECK(plans(device) - before <= 64 + 2);
}

TEST_CASE("what is done with slices is right wherever they start") {
  const Device device = test_device();
  const Data data(96, 80, device), other(70, 70, device);
  std::mt19937 random(1);
  using T = Tensor<2>;
  const std::vector<std::function<T(T, T, T)>> programs = {
      [](T a, T b, T) { return a * 2.0 - b; },
      [](T a, T b, T) { return a.matmul(b.t()); },
      [](T a, T b, T c) {
        return T::cat({a, c, b}, 0).sum(1);
      },
      [](T a, T, T c) {
        return a.t().reshape({a.shape()[0], a.shape()[1]}) + c.flip({0, 1});
      },
      [](T a, T b, T) {
        return a.narrow(0, 1, 2).narrow(1, 2, 3) * b.flip({0}).narrow(0, 0, 2).narrow(1, 1, 3);
      },
      [](T a, T b, T c) {
        return a.slice_assign({s(1, 3), s(0, 2)}, b.narrow(0, 0, 2).narrow(1, 0, 2)) + c;
      },
      [](T a, T b, T) { return a.cast(DType::f16).cast(DType::f32) * 2.0 + b.max(1); },
      [](T a, T b, T) {  // held across a flush: views in memory, sliced again
        const T v = a.narrow(0, 1, 3), w = b.t();
        a.device().flush();
        return v.narrow(1, 1, 2).matmul(w.narrow(0, 2, 2));
      },
      [](T a, T b, T) {  // dies, and may be written over
        T x = a.narrow(0, 0, 2);
        a.device().flush();
        a = T();
        x = x + 1.0;
        x.device().flush();
        return x * b.narrow(0, 1, 2);
      },
  };
  for (std::size_t p = 0; p < programs.size(); ++p) {
    const std::int64_t rows = 4, columns = 5 + static_cast<std::int64_t>(p) % 3;
    for (int shape = 0; shape < 3; ++shape) {
      const std::int64_t steps[3][2] = {{1, 1}, {-1, 2}, {3, -2}};
      const auto place = [&](std::int64_t most_rows, std::int64_t most_columns) {
        Place at{{0, 0}, {steps[shape][0], steps[shape][1]}, {rows, columns}};
        const std::int64_t most[2] = {most_rows, most_columns};
        for (int d = 0; d < 2; ++d) {
          const std::int64_t span = std::abs(at.step[d]) * (at.count[d] - 1) + 1;
          at.start[d] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most[d] - span + 1));
          if (at.step[d] < 0) at.start[d] += span - 1;
        }
        return at;
      };
      for (int i = 0; i < 12; ++i) {
        const Place a = place(96, 80), b = place(96, 80), c = place(70, 70);
        CAPTURE(p);
        CAPTURE(shape);
        CAPTURE(i);
        const auto got = programs[p](data.slice(a), data.slice(b), other.slice(c)).to_vector<float>();
        CHECK(got == programs[p](data.copy(a), data.copy(b), other.copy(c)).to_vector<float>());
        // One slice of each: nothing but where it begins.
        const auto alone = programs[p](data.slice(a), data.slice(a), other.slice(c)).to_vector<float>();
        CHECK(alone == programs[p](data.copy(a), data.copy(a), other.copy(c)).to_vector<float>());
      }
    }
  }
  // Nothing wrote into the data.
  CHECK(data.tensor.reshape({96 * 80}).to_vector<float>() == data.numbers);
}

TEST_CASE("a slice that is all that is left of its data is right") {
  const Device device = test_device();
  for (int i = 0; i < 40; ++i) {
    Tensor<1> x = Tensor<1, Int>::arange(0, 1000, device).to_float() * 1.0;
    device.flush();
    Tensor<1> part = x.narrow(0, 10 + i * 7, 20);
    x = Tensor<1>();
    part = part * 2.0 + 1.0;
    Numbers expected;
    for (int k = 0; k < 20; ++k) expected.push_back(2.0f * static_cast<float>(10 + i * 7 + k) + 1);
    CHECK(part.to_vector<float>() == expected);
  }
}

TEST_CASE("a slice that dies is not written over: its result would keep all of the data's memory") {
  const Device device = test_device();
  Tensor<1> x = Tensor<1>::full({4096}, 2.0, device) + 1.0;
  Tensor<1> part = x.narrow(0, 1024, 512);
  device.flush();  // both in one trace: the slice is a view of x
  x = Tensor<1>();
  const std::uint64_t before = device.statistics().bytes_in_place;
  part = part * 2.0;
  device.flush();
  CHECK(device.statistics().bytes_in_place == before);
  CHECK(part.to_vector<float>() == Numbers(512, 6));
}

TEST_CASE("a view that walks back begins at its last element") {
  const Device device = test_device();
  const Tensor<1> x = Tensor<1, Int>::arange(0, 5000, device).to_float() * 1.0;
  const Tensor<1> back = x.narrow(0, 1000, 3000).flip({0});
  device.flush();
  const auto got = (back + 0.5).to_vector<float>();
  for (std::size_t k = 0; k < 3000; k += 499) CHECK(got[k] == 3999.5f - static_cast<float>(k));
}

TEST_CASE("slices that two ops of a trace take, and data that is read as a whole, too") {
  const Device device = test_device();
  const Data data(64, 64, device);
  for (int i = 0; i < 20; ++i) {
    const auto x = data.tensor.narrow(0, i, 8), y = data.tensor.narrow(0, i * 2, 8);  // apart by i rows
    const Place at_x{{i, 0}, {1, 1}, {8, 64}}, at_y{{i * 2, 0}, {1, 1}, {8, 64}};
    const auto sum = data.tensor.sum();
    CHECK((x - y).to_vector<float>() == (data.copy(at_x) - data.copy(at_y)).to_vector<float>());
    CHECK((x * sum).to_vector<float>() == (data.copy(at_x) * sum).to_vector<float>());
  }
}

}  // namespace sinter::testing
