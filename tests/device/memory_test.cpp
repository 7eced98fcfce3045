// Ownership of memory: in-place writes, values that must survive, and memory that is released. With handles
// held, dropped late, moved to other threads, and with errors in between.
#include <atomic>
#include <cmath>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/any_tensor.h>

#include "src/base/env.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

constexpr std::int64_t kCount = 10000;
constexpr std::uint64_t kBytes = kCount * sizeof(float);

/// 0, 1, 2, ...
A counting(const Device& device, std::int64_t count = kCount) {
  std::vector<float> data(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  return A::from_bytes(std::as_bytes(std::span(data)), {count}, DType::f32, device);
}

std::vector<float> read(const A& x) {
  std::vector<float> values(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

/// True iff element i is scale * (start + step * i) + shift for all i.
bool is_line(const A& x, double scale, double shift, double start = 0, double step = 1) {
  const std::vector<float> values = read(x);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != static_cast<float>(scale * (start + step * static_cast<double>(i)) + shift))
      return false;
  return true;
}

A doubled_plus_one(const A& x) { return A::add(A::mul(x, 2), 1); }

std::size_t bytes_in_use(const Device& device) {
  device.sync();
  return device.statistics().bytes_in_use;
}

std::uint64_t in_place(const Device& device) { return device.statistics().bytes_in_place; }

/// True iff fusion is on. Without it, the first operation of a chain allocates memory, and the planner cannot
/// avoid that.
bool fuses() { return base::environment().fusion; }

}  // namespace

TEST_CASE("x = x * 2 + 1 is written over x") {
  const Device device = test_device();
  A x = counting(device);
  const std::size_t before = bytes_in_use(device);
  const std::uint64_t written = in_place(device);
  for (int i = 0; i < 3; ++i) {
    x = doubled_plus_one(x);
    device.flush();
    CHECK(bytes_in_use(device) == before);
  }
  if (fuses()) CHECK(in_place(device) - written == 3 * kBytes);
  CHECK(is_line(x, 8, 7));
}

TEST_CASE("what a second handle shows stays") {
  const Device device = test_device();
  A x = counting(device);
  const A other = x;
  const std::uint64_t written = in_place(device);
  x = doubled_plus_one(x);
  device.flush();
  CHECK(in_place(device) == written);
  CHECK(is_line(other, 1, 0));
  CHECK(is_line(x, 2, 1));
}

TEST_CASE("what a view shows stays") {
  const Device device = test_device();
  const std::vector<Range> back = {{{}, {}, -2}};
  for (bool first_flushed : {false, true}) {
    A x = counting(device);
    A view = x.slice(back);
    if (first_flushed) device.flush();  // now the view is a value of its own, over the same memory
    const std::uint64_t written = in_place(device);
    x = doubled_plus_one(x);
    device.flush();
    CHECK(in_place(device) == written);
    CHECK(is_line(view, 1, 0, kCount - 1, -2));
    CHECK(is_line(x, 2, 1));
  }
}

TEST_CASE("a view keeps the memory of a tensor that is gone, and may be written to by nobody") {
  const Device device = test_device();
  const std::size_t before = bytes_in_use(device);
  {
    A x = counting(device), y = x.reshape({100, 100}), z = x.narrow(0, 1, 100);
    device.flush();
    x = {};
    y = A::add(y, 1);  // y dies, but z is a view of the same memory
    device.flush();
    CHECK(is_line(z, 1, 1));
    CHECK(is_line(y, 1, 1));
    z = A::mul(z, 2);
    device.flush();
    CHECK(is_line(z, 2, 2));
  }
  CHECK(bytes_in_use(device) == before);
}

TEST_CASE("two views of one memory that die together are not written over each other") {
  const Device device = test_device();
  A x = counting(device), low = x.narrow(0, 0, kCount / 2), high = x.narrow(0, kCount / 2, kCount / 2),
    whole = x.reshape({kCount});
  device.flush();
  x = whole = {};
  A sum = A::add(low, high.flip(0));
  A difference = A::sub(high, low);
  low = high = {};
  device.flush();
  CHECK(is_line(sum, 0, kCount - 1));
  CHECK(is_line(difference, 0, kCount / 2));
}

TEST_CASE("an input that is read elsewhere in the trace is not overwritten too early") {
  const Device device = test_device();
  A x = counting(device);
  A y = doubled_plus_one(x);
  A turned = A::add(x.flip(0), 0.5), total = x.sum(0);
  x = {};
  device.flush();
  CHECK(is_line(y, 2, 1));
  CHECK(is_line(turned, 1, 0.5, kCount - 1, -1));
  CHECK(read(total)[0] == doctest::Approx(kCount * (kCount - 1) / 2.0));
}

TEST_CASE("a temporary that one step reads twice is given back once") {
  const Device device = test_device();
  const A x = counting(device, 12).reshape({3, 4}), y = counting(device, 12).reshape({4, 3});
  A products;
  {
    const A a = A::full({3, 4}, 0.5, DType::f32, device);
    products = a.matmul(a.transpose(0, 1));  // the same memory on both sides
  }
  // Two temporaries that are alive at the same time.
  const A sums = A::sub(A::mul(x.sum(1), 100), y.sum(0).reshape({3, 1}));
  CHECK(read(products) == std::vector<float>(9, 1));
  CHECK(read(sums) == std::vector<float>{600 - 18, 2200 - 22, 3800 - 26});
}

TEST_CASE("of two results only one takes the input's place") {
  const Device device = test_device();
  A x = counting(device);
  A a = A::add(x, 1), b = A::mul(x, 3);
  x = {};
  device.flush();
  CHECK(is_line(a, 1, 1));
  CHECK(is_line(b, 3, 0));
}

TEST_CASE("handles dropped before and after the flush") {
  const Device device = test_device();
  const std::size_t before = bytes_in_use(device);
  A x = counting(device), late = x;
  A y = doubled_plus_one(x);
  x = {};
  const std::uint64_t written = in_place(device);
  device.flush();
  CHECK(in_place(device) == written);
  CHECK(bytes_in_use(device) - before >= 2 * kBytes);
  late = {};
  // One tensor is left; allocations may be somewhat larger.
  CHECK(bytes_in_use(device) - before < 2 * kBytes);
  CHECK(is_line(y, 2, 1));
  {
    A dropped = A::add(y, 1);  // never read
  }
  y = {};
  CHECK(bytes_in_use(device) == before);
}

TEST_CASE("what nobody needs is not computed and takes no memory") {
  const Device device = test_device();
  A x = counting(device);
  const Statistics before = device.statistics();
  for (int i = 0; i < 10; ++i) A dropped = doubled_plus_one(x).exp();
  device.flush();
  CHECK(device.statistics().launches == before.launches);
}

TEST_CASE("a pending value is computed for another thread") {
  const Device device = test_device();
  A x = counting(device);
  A y = doubled_plus_one(x);  // recorded here, not flushed
  A z;
  bool right = false;
  std::thread other([&] {
    z = A::mul(y, 10);
    right = is_line(z, 20, 10);
    y = {};  // dropped there
  });
  other.join();
  CHECK(right);
  CHECK(is_line(z, 20, 10));
  CHECK(is_line(x, 1, 0));
}

TEST_CASE("what a thread recorded outlives the thread") {
  const Device device = test_device();
  A result;
  std::thread([&] { result = doubled_plus_one(counting(device)); }).join();
  CHECK(is_line(result, 2, 1));
}

TEST_CASE("an input that another thread's recording needs is not overwritten") {
  const Device device = test_device();
  A x = counting(device);
  A there;
  std::atomic<int> stage{0};
  std::thread other([&] {
    A mine = x;
    there = A::mul(mine, 3);  // pending there
    mine = {};
    stage = 1;
    while (stage != 2) std::this_thread::yield();
    device.flush();
  });
  while (stage != 1) std::this_thread::yield();
  x = doubled_plus_one(x);
  x.sync();  // flushes this thread's recording only
  stage = 2;
  other.join();
  CHECK(is_line(x, 2, 1));
  CHECK(is_line(there, 3, 0));
}

TEST_CASE("many threads share, pass on and drop handles") {
  const Device device = test_device();
  const std::size_t before = bytes_in_use(device);
  {
    const int rounds = compiles_slowly(device) ? 10 : 100;
    std::mutex mutex;
    A shared = counting(device, 1000);
    double scale = 1, shift = 0;  // expected values of `shared`
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int round = 0; round < rounds; ++round) {
          A mine;
          double a, b;
          {
            std::lock_guard lock(mutex);
            mine = shared;
            a = scale, b = shift;
            if ((round + t) % 3 == 0) {  // x = -x + 1, while others hold the old one
              shared = A::add(shared.neg(), 1);
              scale = -scale;
              shift = 1 - shift;
            }
          }
          A result = A::sub(A::mul(mine, 2), 3);
          if (round % 2) mine = {};
          if (!is_line(result, 2 * a, 2 * b - 3)) ++wrong;
          if (mine.defined() && !is_line(mine, a, b)) ++wrong;
        }
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(is_line(shared, scale, shift));
  }
  CHECK(bytes_in_use(device) == before);
}

TEST_CASE("an exception between record and flush leaves nothing behind") {
  const Device device = test_device();
  A x = counting(device);
  const std::size_t before = bytes_in_use(device);
  A kept;
  try {
    A y = doubled_plus_one(x);
    kept = A::add(y, 1);
    A z = A::mul(y, counting(device));
    throw std::runtime_error("the caller's own");
  } catch (const std::runtime_error&) {
  }
  CHECK_THROWS_AS(A::add(x, counting(device, 3)), ShapeError);
  CHECK(is_line(kept, 2, 2));
  CHECK(is_line(x, 1, 0));
  kept = {};
  CHECK(bytes_in_use(device) == before);
}

TEST_CASE("a trace that fails tells whoever needs its values, and nobody else") {
  const Device device = test_device();
  A x = counting(device);
  x = doubled_plus_one(x);
  device.flush();
  A lost, before = A::add(x, 5);
  before.sync();
  {
    ForbidCompilation forbid;
    lost = A::sub(A::div(x, 1.25).sigmoid().cos(),
                  x.reshape({kCount / 10, 10}).permute({1, 0}).reshape({kCount}));
    CHECK_THROWS_AS(lost.sync(), Error);
    CHECK_THROWS_AS(read(lost), Error);
    // The error affects neither earlier values nor later ones.
    CHECK(is_line(x, 2, 1));
    CHECK(is_line(before, 2, 6));
    CHECK(is_line(A::add(x, 5), 2, 6));
  }
  CHECK(is_line(A::mul(x, 2), 4, 2));
  // What could not be had is had once it can.
  CHECK_NOTHROW(read(lost));
}

TEST_CASE("a position outside of its dimension spoils no other value") {
  const Device device = test_device();
  const A x = counting(device);
  const A y = doubled_plus_one(x);
  std::vector<std::int64_t> places = {0, kCount};
  const A index = A::from_bytes(std::as_bytes(std::span(places)), {2}, DType::i64, device);
  const A wrong = x.index_select(0, index);
  CHECK_THROWS_AS(read(wrong), ShapeError);
  CHECK(is_line(y, 2, 1));
  CHECK(is_line(A::add(y, 1), 2, 2));
}

TEST_CASE("a program that never reads does not grow") {
  const Device device = test_device();
  A x = counting(device);
  const std::size_t before = bytes_in_use(device);
  const Statistics start = device.statistics();
  const int ops = static_cast<int>(2 * base::environment().trace_limit + 1000);
  for (int i = 0; i < ops / 2; ++i) x = A::sub(A::mul(x, -1), 1);  // x, -x - 1, x, ...
  const Statistics end = device.statistics();
  CHECK(end.traces - start.traces >= 2);
  CHECK(end.ops_recorded - start.ops_recorded == static_cast<std::uint64_t>(ops / 2 * 2));
  CHECK(is_line(x, ops / 2 % 2 ? -1 : 1, ops / 2 % 2 ? -1 : 0));
  CHECK(bytes_in_use(device) == before);
  CHECK(device.statistics().peak_bytes_in_use < start.peak_bytes_in_use + 3 * before);
}

TEST_CASE("values of all sizes, also none, come and go") {
  const Device device = test_device();
  const std::size_t before = bytes_in_use(device);
  for (int round = 0; round < 3; ++round)
    for (std::int64_t count : {0, 1, 3, 64, 1000, 100000}) {
      A x = counting(device, count);
      const A y = A::add(x, 1);
      x = A::mul(y, x);
      CHECK(is_line(y, 1, 1));
      CHECK(x.numel() == count);
    }
  CHECK(bytes_in_use(device) == before);
}

}  // namespace sinter::testing
