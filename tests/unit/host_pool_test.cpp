// The host's memory pool and thread pool.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/host/memory_pool.h"
#include "src/runtime/host/threads/thread_pool.h"

using sinter::runtime::MemoryPool;
using sinter::runtime::ThreadPool;

TEST_CASE("sizes are rounded up by at most a quarter") {
  CHECK(MemoryPool::rounded(0) == 64);
  CHECK(MemoryPool::rounded(64) == 64);
  CHECK(MemoryPool::rounded(65) == 128);
  for (std::size_t bytes = 1; bytes < 5'000'000; bytes += 1 + bytes / 7) {
    const std::size_t rounded = MemoryPool::rounded(bytes);
    CHECK(rounded >= bytes);
    CHECK(rounded <= bytes + bytes / 4 + 64);
    CHECK(rounded % 64 == 0);
    CHECK(MemoryPool::rounded(rounded) == rounded);
  }
}

TEST_CASE("freed blocks are handed out again") {
  MemoryPool pool;
  std::byte* first = pool.allocate(1000);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  pool.release(first, 1000);
  CHECK(pool.statistics().in_use == 0);
  CHECK(pool.statistics().reserved >= 1000);
  CHECK(pool.allocate(990) == first);
  CHECK(pool.statistics().in_use == MemoryPool::rounded(1000));
  std::byte* second = pool.allocate(1000);
  CHECK(second != first);
  pool.release(first, 990);
  pool.release(second, 1000);
  CHECK(pool.statistics().peak_in_use == 2 * MemoryPool::rounded(1000));
  pool.trim();
  CHECK(pool.statistics().reserved == 0);
}

TEST_CASE("what is not in use does not grow without bound") {
  MemoryPool pool;
  constexpr std::size_t kMost = std::size_t{1} << 30;
  for (std::size_t bytes = std::size_t{1} << 20; bytes < (std::size_t{120} << 20);
       bytes += std::size_t{5} << 20)
    pool.release(pool.allocate(bytes), bytes);
  CHECK(pool.statistics().reserved < kMost);
}

TEST_CASE("asking for too much is an error") {
  MemoryPool pool;
  CHECK_THROWS_AS(pool.allocate(std::size_t{1} << 60), sinter::DeviceError);
  CHECK(pool.statistics().in_use == 0);
}

TEST_CASE("blocks may be released by any thread") {
  MemoryPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&pool] {
      for (std::size_t i = 0; i < 2000; ++i) {
        std::byte* block = pool.allocate(64 + i % 300);
        block[0] = std::byte{1};
        pool.release(block, 64 + i % 300);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(pool.statistics().in_use == 0);
}

TEST_CASE("each piece runs once, whatever the number of threads") {
  for (std::size_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.size() == threads);
    for (std::size_t pieces : {0, 1, 2, 3, 7, 100, 1000}) {
      std::vector<std::atomic<int>> runs(pieces);
      std::atomic<bool> bad_thread{false};
      pool.run(pieces, [&](std::size_t piece, std::size_t thread) {
        runs[piece].fetch_add(1);
        if (thread >= threads) bad_thread = true;
      });
      for (const auto& count : runs) CHECK(count.load() == 1);
      CHECK(!bad_thread.load());
    }
  }
}

TEST_CASE("many short jobs after one another, with pauses in between") {
  ThreadPool pool(3);
  std::uint64_t sum = 0;
  for (int job = 0; job < 20000; ++job) {
    std::atomic<std::uint64_t> part{0};
    pool.run(4, [&](std::size_t piece, std::size_t) { part.fetch_add(piece + 1); });
    sum += part.load();
    if (job % 500 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  CHECK(sum == 20000 * 10);
}

TEST_CASE("an exception of a piece comes out, and the pool goes on") {
  ThreadPool pool(2);
  CHECK_THROWS_AS(pool.run(10,
                           [](std::size_t piece, std::size_t) {
                             if (piece == 5) throw std::runtime_error("five");
                           }),
                  std::runtime_error);
  std::atomic<int> count{0};
  pool.run(10, [&](std::size_t, std::size_t) { ++count; });
  CHECK(count.load() == 10);
}
