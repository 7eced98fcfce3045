// An index out of range is told to whoever reads what came of it, each time, and to nobody else.
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using Indices = Tensor<1, Int>;

Tensor<1> table(const Device& device) { return Tensor<1>::from_data({10, 20, 30}, device); }
Indices good(const Device& device) { return Indices::from_data({2, 0}, device); }
Indices bad(const Device& device) { return Indices::from_data({1, 3}, device); }

template <class T>
void check_told(const T& tensor) {
  for (int twice = 0; twice < 2; ++twice)
    CHECK_THROWS_WITH_AS(tensor.template to_vector<float>(),
                         doctest::Contains("[index_select] an index was out of range"), ShapeError);
}

/// Of an operation on three rows: its name, what it may read, the line.
template <class F>
void check_message(const char* op, const F& read) {
  const std::string want = std::string("[") + op + "] an index was out of range 0 to 2 (";
  CAPTURE(want);
  CHECK_THROWS_WITH_AS(read(), doctest::Contains(want.c_str()), ShapeError);
  CHECK_THROWS_WITH_AS(read(), doctest::Contains("faults_test.cpp:"), ShapeError);
}

void check(const Tensor<1>& tensor, const std::vector<float>& expected) {
  CHECK(tensor.to_vector<float>() == expected);
}

}  // namespace

TEST_CASE("the operation is named, and what it may read") {
  const Device device = test_device();
  const Tensor<1> t = Tensor<1>::from_data({1, 2, 3}, device);
  const Indices at = Indices::from_data({3}, device);
  check_message("index_select", [&] { t.index_select(0, at).to_vector<float>(); });
  check_message("gather", [&] { t.gather(0, at).to_vector<float>(); });
  check_message("take", [&] { take(t, at).to_vector<float>(); });
  check_message("index", [&] { std::as_const(t)(at).to_vector<float>(); });
  check_message("scatter_add", [&] { t.scatter_add(0, at, t.narrow(0, 0, 1)).to_vector<float>(); });
  const AnyTensor coordinates = at.unsqueeze(1).dynamic();
  CHECK_THROWS_WITH_AS(Tensor<1>(gather_nd(t.dynamic(), coordinates)).to_vector<float>(),
                       doctest::Contains("[gather_nd] an index was out of range ("), ShapeError);
}

TEST_CASE("gradients of a read that was out of range are told, those of nothing have no index to tell of") {
  const Device device = test_device();
  for (const std::int64_t count : {2, 3000}) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(count), 77);
    rows[0] = 0;
    const Tensor<2> table = Tensor<2>::ones({3, 2}, device.autodiff()).require_grad();
    const Gradients gradients =
        table.index_select(0, Indices::from_data(rows, {count}, device)).sum().backward();
    CHECK_THROWS_WITH_AS(gradients.get(table)->to_vector<float>(),
                         doctest::Contains("[gather] an index was out of range 0 to 2"), ShapeError);
  }
  // No index has been read, whatever lies where the first one would be.
  const AnyTensor none = AnyTensor::from_bytes({}, Shape{0}, DType::i64, device);
  const AnyTensor x = AnyTensor::full({1, 4}, 0, DType::f32, device.autodiff()).require_grad();
  const AnyTensor seed = AnyTensor::from_bytes({}, Shape{0, 2}, DType::f32, device);
  const Index at[] = {Index(none), Index(s(1, 3))};
  const AnyTensor y = index(x, at);
  const AnyTensor gradient = sinter::gradient(y, x, {.seed = seed, .differentiable = false});
  CHECK(Tensor<2>(y).to_vector<float>().empty());
  CHECK(Tensor<2>(gradient).to_vector<float>() == std::vector<float>(4, 0.0f));
}

TEST_CASE("two lookups of one table in one kernel: only what came of the wrong one is told") {
  const Device device = test_device();
  const Tensor<1> t = table(device);
  const Tensor<1> right = t.index_select(0, good(device)) * 2.0, wrong = t.index_select(0, bad(device)) * 2.0;
  const Tensor<1> mixed = right + wrong, beside = t + 1.0;
  device.sync();  // tells nobody
  check(right, {60, 20});
  check_told(wrong);
  check_told(mixed);
  check(beside, {11, 21, 31});
  check(t, {10, 20, 30});
}

TEST_CASE("an unrelated value is read first, and later work goes on") {
  const Device device = test_device();
  const Tensor<1> t = table(device);
  const Tensor<1> wrong = t.index_select(0, bad(device));
  device.flush();
  const Tensor<1> y = t * 3.0;
  check(y, {30, 60, 90});
  device.flush();
  check_told(wrong);
  check(y - t, {20, 40, 60});
}

TEST_CASE("what is computed later of a wrong value is wrong, through any number of runs") {
  const Device device = test_device();
  const Tensor<1> t = table(device);
  Tensor<1> wrong = t.index_select(0, bad(device)), right = t.index_select(0, good(device));
  for (int run = 0; run < 40; ++run) {
    try {
      // On the host the fault is known by now, and is told when the op is recorded.
      wrong = wrong * 0.5 + right;
    } catch (const ShapeError&) {
    }
    right = right * 0.5 + 1.0;
    device.flush();
  }
  CHECK(right.to_vector<float>()[0] < 3);
  check_told(wrong);
  try {
    check_told(wrong + t.slice({Range(0, 2)}));
  } catch (const ShapeError&) {
  }
}

TEST_CASE("a fault of each of many runs is told of its own values") {
  const Device device = test_device();
  const Tensor<1> t = table(device);
  std::vector<Tensor<1>> values;
  for (int run = 0; run < 300; ++run) {
    values.push_back(t.index_select(0, run % 3 == 1 ? bad(device) : good(device)) + 1.0);
    if (run % 2 == 0) device.flush();
  }
  for (std::size_t i = values.size(); i-- > 0;) {
    if (i % 3 == 1)
      check_told(values[i]);
    else
      check(values[i], {31, 11});
  }
}

TEST_CASE("an index outside of a dimension of size 0, of negative numbers, and under a mask") {
  const Device device = test_device();
  const Tensor<1> empty = Tensor<1>::zeros({0}, device);
  check_told(empty.index_select(0, good(device)));
  check(empty.index_select(0, Indices::zeros({0}, device)), {});
  const Tensor<1> t = table(device);
  check_told(t.index_select(0, Indices::from_data({-4, 0}, device)));
  const Tensor<1> twice =
      Tensor<1>(AnyTensor::cat(std::vector<AnyTensor>{t.index_select(0, good(device)).dynamic(),
                                                      t.index_select(0, bad(device)).dynamic()},
                               0));
  check_told(twice);
}

TEST_CASE("gradients and a step: a wrong index in a batch spoils what it trains, and says so") {
  const Device device = test_device().autodiff();
  Tensor<1> w = Tensor<1>::from_data({1, 2, 3}, device).require_grad();
  const Tensor<1> other = Tensor<1>::from_data({1, 2, 3}, device);
  auto sgd = optim::SgdConfig{}.init();
  const auto loss = (w.index_select(0, bad(device)) * 2.0).sum();
  sgd.step(0.1, w, loss.backward());
  CHECK_THROWS_AS(loss.item(), ShapeError);
  check(other, {1, 2, 3});
}

TEST_CASE("several threads: each is told of its own") {
  const Device device = test_device();
  const Tensor<1> t = table(device);
  t.sync();
  std::vector<std::string> failures(3);
  std::vector<std::thread> threads;
  for (std::size_t n = 0; n < 3; ++n)
    threads.emplace_back([&, n] {
      for (int i = 0; i < 20; ++i) {
        bool told = false;
        try {
          const Tensor<1> got = t.index_select(0, n == 1 ? bad(device) : good(device)) + 1.0;
          if (got.to_vector<float>() != std::vector<float>{31, 11}) failures[n] = "other values";
        } catch (const ShapeError&) {
          told = true;
        }
        if (told != (n == 1)) failures[n] = told ? "was told of another's" : "was not told";
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) CHECK(failure == "");
}

}  // namespace sinter::testing
