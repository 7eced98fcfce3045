// Many threads on one device, and several devices in one process: each thread gets the values of its own
// program, whatever the others do. SINTER_TEST_ROUNDS sets the number of rounds.
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/any_tensor.h>
#include <sinter/error.h>

#include "tests/support/setting.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

int rounds(const Device& device, int usual) {
  return static_cast<int>(setting("SINTER_TEST_ROUNDS", compiles_slowly(device) ? usual / 10 : usual));
}

/// Integers, so that every order of sums is exact: element i is (i * step + salt) % 11 - 5.
std::vector<float> pattern(std::int64_t count, int step, int salt) {
  std::vector<float> data(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>((static_cast<int>(i % 1000) * step + salt) % 11 - 5);
  return data;
}

A tensor(const std::vector<float>& data, const Device& device) {
  return A::from_bytes(std::as_bytes(std::span(data)), {static_cast<std::int64_t>(data.size())}, DType::f32,
                       device);
}

std::vector<float> read(const A& x) {
  std::vector<float> values(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

/// A tensor and its expected values.
struct Known {
  A tensor;
  std::vector<float> values;
  bool is_right() const { return read(tensor) == values; }
};

Known uploaded(std::int64_t count, int salt, const Device& device) {
  std::vector<float> data = pattern(count, 3, salt);
  A made = tensor(data, device);
  return {made, std::move(data)};
}

/// x * scale + shift, of which there are few kernels.
Known changed(Known x, float scale, float shift) {
  x.tensor = A::add(A::mul(x.tensor, scale), shift);
  for (float& value : x.values) value = value * scale + shift;
  return x;
}

/// A different program for each seed: uploads of all sizes, updates, sums, values dropped unread.
bool random_program(const Device& device, unsigned seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Known> live;
  const std::int64_t sizes[] = {1, 5, 1000, 1024, 70'000, 300'000};
  for (int step = 0; step < steps; ++step) {
    if (live.size() < 2 || random() % 4 == 0)
      live.push_back(uploaded(sizes[random() % 6], static_cast<int>(random() % 11), device));
    Known& one = live[random() % live.size()];
    switch (random() % 6) {
      case 0: one = changed(std::move(one), -1, 1); break;
      case 1: live.push_back(changed(one, 2, 0)); break;
      case 2: live.erase(live.begin() + static_cast<std::ptrdiff_t>(random() % live.size())); break;
      case 3: {
        double sum = 0;
        for (float value : one.values) sum += value;
        if (std::abs(sum) < (1 << 24) && read(one.tensor.sum({0}))[0] != static_cast<float>(sum))
          return false;
        break;
      }
      case 4:
        if (!one.is_right()) return false;
        break;
      default: device.flush();
    }
    // Numbers stay small enough to be exact.
    for (Known& known : live)
      if (!known.values.empty() && std::abs(known.values[0]) > 1000) known = uploaded(1000, 1, device);
    if (live.size() > 8) live.erase(live.begin());
  }
  for (const Known& known : live)
    if (!known.is_right()) return false;
  return true;
}

/// Passes values from one thread to another.
class Channel {
 public:
  void put(Known value) {
    std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    filled_.notify_one();
  }
  Known take() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return !values_.empty(); });
    Known value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Known> values_;
};

template <class F>
void in_threads(int count, F body) {
  std::vector<std::thread> threads;
  std::vector<std::string> failures(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      try {
        body(t);
      } catch (const std::exception& error) {
        failures[static_cast<std::size_t>(t)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) CHECK(failure == "");
}

}  // namespace

TEST_CASE("each thread runs a program of its own") {
  const Device device = test_device();
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    if (!random_program(device, static_cast<unsigned>(t + 1), rounds(device, 200))) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("values go from thread to thread") {
  const Device device = test_device();
  constexpr int kThreads = 4;
  const int count = rounds(device, 60);
  std::vector<Channel> channels(kThreads);
  std::atomic<int> wrong{0};
  in_threads(kThreads, [&](int t) {
    // Each thread inserts values, changes passing ones, and removes those that have come full circle.
    for (int i = 0; i < count; ++i) {
      Known value = uploaded(i % 3 ? 1000 : 70'000, t + i, device);
      if (i % 2) device.flush();
      channels[static_cast<std::size_t>((t + 1) % kThreads)].put(std::move(value));
      value = changed(channels[static_cast<std::size_t>(t)].take(), -1, static_cast<float>(t));
      if (i % 5 == 0 && !value.is_right()) ++wrong;
      if (i % 3 == 0) device.flush();
      channels[static_cast<std::size_t>((t + 1) % kThreads)].put(std::move(value));
      value = channels[static_cast<std::size_t>(t)].take();
      if (!value.is_right()) ++wrong;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("two threads read at once, small values and large ones") {
  const Device device = test_device();
  const Known large = changed(uploaded(3'000'000, 2, device), 2, 1);
  const Known small = changed(uploaded(7, 3, device), 2, 1);
  device.flush();
  std::atomic<int> wrong{0};
  in_threads(4, [&](int t) {
    for (int i = 0; i < rounds(device, 20); ++i)
      if (!(t % 2 ? small : large).is_right()) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("batches are uploaded while another thread computes and reads") {
  const Device device = test_device();
  Channel channel;
  const int count = rounds(device, 100);
  std::atomic<int> wrong{0};
  in_threads(2, [&](int t) {
    if (t == 0) {
      for (int i = 0; i < count; ++i) channel.put(uploaded(i % 10 ? 300'000 : 3'000'000, i, device));
      return;
    }
    A total = A::full({1}, 0, DType::f32, device);
    double expected = 0;
    for (int i = 0; i < count; ++i) {
      const Known batch = channel.take();
      total = A::add(A::mul(total, 0.5), batch.tensor.slice(std::vector<Range>{Range(0, 8)}).sum({0}));
      double sum = 0;
      for (int k = 0; k < 8; ++k) sum += batch.values[static_cast<std::size_t>(k)];
      expected = static_cast<float>(static_cast<float>(expected * 0.5) + sum);
      device.flush();
      if (i % 7 == 0 && std::abs(read(total)[0] - expected) > 1e-3) ++wrong;
    }
    if (std::abs(read(total)[0] - expected) > 1e-3) ++wrong;
  });
  CHECK(wrong == 0);
}

TEST_CASE("an index out of range is told to the thread that reads what came of it") {
  const Device device = test_device();
  const Known x = changed(uploaded(1000, 1, device), 1, 1);
  CHECK(x.is_right());
  std::atomic<int> wrong{0}, told{0};
  in_threads(2, [&](int t) {
    const std::vector<std::int64_t> places = {0, t == 0 ? 1000 : 999};
    for (int i = 0; i < rounds(device, 30); ++i) {
      if (t == 0) {
        const A index = A::from_bytes(std::as_bytes(std::span(places)), {2}, DType::i64, device);
        try {
          read(x.tensor.index_select(0, index));
        } catch (const ShapeError&) {
          ++told;
        }
      } else {
        try {
          if (!changed(x, 2, 3).is_right()) ++wrong;
        } catch (const ShapeError&) {
          ++told;  // the first read reports faults of earlier work
        }
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(told == rounds(device, 30));
}

TEST_CASE("devices in one process do not disturb each other") {
  std::vector<Device> devices = Device::all();
  if (const Device own = test_device(); own.name() == "oracle") devices = {own, Device::host()};
  for (const Device& device : devices) MESSAGE(device.name() << ": " << device.description());
  std::vector<std::size_t> in_use;
  for (const Device& device : devices) {
    device.sync();
    in_use.push_back(device.statistics().bytes_in_use);
  }
  std::atomic<int> wrong{0};
  in_threads(static_cast<int>(devices.size()) * 2, [&](int t) {
    const Device& device = devices[static_cast<std::size_t>(t) % devices.size()];
    if (!random_program(device, static_cast<unsigned>(100 + t), rounds(device, 100))) ++wrong;
  });
  CHECK(wrong == 0);
  // One thread that alternates between the devices.
  for (int i = 0; i < 3; ++i)
    for (const Device& device : devices) {
      const Known value = changed(uploaded(1000, i, device), 2, 1);
      const Known elsewhere = changed({tensor(read(value.tensor), Device::host()), value.values}, 2, 1);
      CHECK(elsewhere.is_right());
    }
  for (std::size_t d = 0; d < devices.size(); ++d) {
    devices[d].sync();
    CHECK(devices[d].statistics().bytes_in_use == in_use[d]);
  }
}

TEST_CASE("memory that is kept is given back when asked for") {
  const Device device = test_device();
  if (device.name() == "oracle") return;  // caches no memory
  const Known kept = uploaded(70'000, 1, device);
  CHECK(uploaded(20'000'000, 1, device).is_right());
  const Statistics before = device.statistics();
  CHECK(before.bytes_reserved >= before.bytes_in_use + 20'000'000 * sizeof(float));
  const std::size_t freed = device.trim_memory();
  const Statistics after = device.statistics();
  CHECK(before.bytes_reserved - after.bytes_reserved == freed);
  CHECK(after.bytes_in_use == before.bytes_in_use);
  CHECK(freed >= 20'000'000 * sizeof(float));
  CHECK(kept.is_right());
  CHECK(changed(kept, 2, 1).is_right());
}

}  // namespace sinter::testing
