// The host's memory pool and thread pool, and how many threads it has.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sinter/error.h>

#include "src/base/cores.h"
#include "src/runtime/host/memory_pool.h"
#include "src/runtime/host/threads/thread_pool.h"
#include "tests/support/temporary_folder.h"

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

TEST_CASE("memory in use is counted exactly, wherever blocks are released") {
  MemoryPool pool;
  constexpr std::size_t kBlocks = 3000, kBytes = 1000;
  std::vector<std::byte*> blocks(kBlocks);
  // From one thread to the next, which keeps more than a thread's cache holds.
  for (int round = 0; round < 3; ++round) {
    std::thread([&] {
      for (std::byte*& block : blocks) block = pool.allocate(kBytes);
    }).join();
    CHECK(pool.statistics().in_use == kBlocks * MemoryPool::rounded(kBytes));
    std::thread([&] {
      for (std::byte* block : blocks) pool.release(block, kBytes);
      CHECK(pool.statistics().in_use == 0);
    }).join();
    CHECK(pool.statistics().in_use == 0);
  }
  const sinter::runtime::PoolStatistics counts = pool.statistics();
  CHECK(counts.reserved == kBlocks * MemoryPool::rounded(kBytes));
  CHECK(counts.peak_in_use == kBlocks * MemoryPool::rounded(kBytes));
  CHECK(pool.trim() == counts.reserved);
  CHECK(pool.statistics().reserved == 0);
}

TEST_CASE("the peak is within a cache for each thread") {
  MemoryPool pool;
  constexpr std::size_t kThreads = 4, kBytes = 4096;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&pool] {
      std::vector<std::byte*> blocks(64);
      for (int round = 0; round < 300; ++round) {
        for (std::byte*& block : blocks) block = pool.allocate(kBytes);
        if (round % 10 == 0) pool.statistics();
        for (std::byte* block : blocks) pool.release(block, kBytes);
      }
    });
  for (std::thread& thread : threads) thread.join();
  const std::size_t each = 64 * kBytes;
  CHECK(pool.statistics().in_use == 0);
  CHECK(pool.statistics().peak_in_use >= each);
  CHECK(pool.statistics().peak_in_use <= kThreads * (each + sinter::runtime::MemoryCache::kMost));
}

TEST_CASE("at the limit the pool takes back what threads have cached") {
  MemoryPool pool(std::size_t{1} << 20);
  std::atomic<int> step{0};
  std::thread other([&] {
    std::vector<std::byte*> blocks(15);
    for (std::byte*& block : blocks) block = pool.allocate(std::size_t{64} << 10);
    for (std::byte* block : blocks) pool.release(block, std::size_t{64} << 10);
    step = 1;
    while (step < 2) std::this_thread::yield();  // its cache is alive
    pool.release(pool.allocate(100), 100);
  });
  while (step < 1) std::this_thread::yield();
  std::byte* large = nullptr;
  CHECK_NOTHROW(large = pool.allocate(std::size_t{700} << 10));
  CHECK_THROWS_AS(pool.allocate(std::size_t{700} << 10), sinter::DeviceError);
  step = 2;
  other.join();
  pool.release(large, std::size_t{700} << 10);
  CHECK(pool.statistics().in_use == 0);
}

TEST_CASE("a pool ends with its last block, in any thread") {
  for (const std::size_t bytes : {100, 100'000}) {
    auto* pool = new MemoryPool;
    std::byte* first = pool->allocate(bytes);
    std::byte* second = pool->allocate(bytes);
    pool->release(first, bytes);
    MemoryPool::retire(pool);
    std::thread([&] { pool->release(second, bytes); }).join();  // leak checks see what stays
  }
  MemoryPool::retire(new MemoryPool);
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

TEST_CASE("a thread that sleeps alone is woken") {
  ThreadPool pool(2);
  pool.run(2, [](std::size_t, std::size_t) {});
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // long enough to stop spinning
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::atomic<int> met{0};
    pool.run(2, [&](std::size_t, std::size_t) {
      ++met;
      while (met < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    });
    CHECK(std::chrono::steady_clock::now() < end);
  }
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

TEST_CASE("threads that call at once each have their own pieces done") {
  // More callers than the pool has places for jobs.
  constexpr std::size_t kCallers = 12, kThreads = 4;
  ThreadPool pool(kThreads);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&, caller] {
      for (std::size_t round = 0; round < 400; ++round) {
        const std::size_t pieces = 2 + (caller + round) % 9;
        std::vector<std::atomic<int>> runs(pieces), busy(kThreads);
        const std::thread::id self = std::this_thread::get_id();
        pool.run(pieces, [&](std::size_t piece, std::size_t thread) {
          if (thread >= std::min(kThreads, pieces) || busy[thread].fetch_add(1) != 0) ++wrong;
          if ((std::this_thread::get_id() == self) != (thread == 0)) ++wrong;
          runs[piece].fetch_add(1);
          if (piece % 3 == 0) std::this_thread::yield();
          busy[thread].fetch_sub(1);
        });
        for (const auto& count : runs)
          if (count.load() != 1) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong.load() == 0);
}

TEST_CASE("a piece may share work itself") {
  ThreadPool pool(3);
  std::atomic<int> leaves{0};
  for (int round = 0; round < 50; ++round)
    pool.run(5, [&](std::size_t, std::size_t) {
      pool.run(4,
               [&](std::size_t, std::size_t) { pool.run(2, [&](std::size_t, std::size_t) { ++leaves; }); });
    });
  CHECK(leaves.load() == 50 * 5 * 4 * 2);
}

TEST_CASE("an exception comes out where it belongs when several call at once") {
  ThreadPool pool(3);
  std::atomic<int> caught{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 300; ++round) {
        try {
          pool.run(6, [&](std::size_t piece, std::size_t) {
            if (caller % 2 == 0 && piece == 4) throw std::runtime_error(std::to_string(caller));
          });
          if (caller % 2 == 0) ++wrong;
        } catch (const std::runtime_error& e) {
          if (e.what() != std::to_string(caller)) ++wrong;
          ++caught;
        }
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong.load() == 0);
  CHECK(caught.load() == 600);
}

#if !defined(__SANITIZE_THREAD__)  // which does not let a child of a process with threads start any
namespace {

/// Forks again and again; true iff each child's work gives 0 and ends in time.
template <class Work>
bool children_end(int children, Work work) {
  for (int i = 0; i < children; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      ::alarm(30);
      _exit(work());
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return false;
  }
  return true;
}

/// Threads that call `work` until the end.
class Busy {
 public:
  template <class Work>
  Busy(int threads, Work work) {
    for (int t = 0; t < threads; ++t)
      threads_.emplace_back([this, work] {
        while (!stop_.load()) work();
      });
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("a forked child shares its work with threads of its own") {
  ThreadPool pool(3);
  const auto sum = [&pool] {
    std::atomic<std::size_t> sum{0};
    pool.run(20, [&](std::size_t piece, std::size_t) { sum += piece; });
    return sum.load();
  };
  CHECK(sum() == 190);
  const Busy others(2, sum);
  CHECK(children_end(40, [&] {
    for (int i = 0; i < 20; ++i)
      if (sum() != 190) return 1;
    // Both helpers of the child are there: three pieces that wait for each other.
    std::atomic<int> met{0};
    pool.run(3, [&](std::size_t, std::size_t) {
      ++met;
      while (met < 3) std::this_thread::yield();
    });
    return 0;
  }));
  CHECK(sum() == 190);
}

TEST_CASE("a forked child has memory, whatever other threads were doing") {
  MemoryPool pool;
  const auto use = [&pool] {
    std::byte* small = pool.allocate(100);
    std::byte* large = pool.allocate(100'000);
    pool.release(small, 100);
    pool.release(large, 100'000);
  };
  const Busy others(3, [&] {
    use();
    pool.statistics();
  });
  CHECK(children_end(40, [&] {
    use();
    std::thread(use).join();
    pool.trim();
    return 0;
  }));
}
#endif

TEST_CASE("a thread that cannot be started costs a thread") {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Root is above such limits.
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    const rlimit one{1, 1};
    if (setrlimit(RLIMIT_NPROC, &one) != 0) _exit(3);
    ThreadPool pool(8);
    std::atomic<int> runs{0};
    pool.run(100, [&](std::size_t, std::size_t) { ++runs; });
    _exit(pool.size() == 1 && runs == 100 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

namespace {

/// A root folder as a process with these control groups sees it.
class Root {
 public:
  explicit Root(const std::string& groups) { write("proc/self/cgroup", groups); }
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::size_t cores() const { return sinter::base::quota_in_cores(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("the quota of control groups, version 2") {
  Root container("0::/\n");
  CHECK(container.cores() == 0);
  container.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  CHECK(container.cores() == 0);
  container.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  CHECK(container.cores() == 2);
  container.write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  CHECK(container.cores() == 3);
  container.write("sys/fs/cgroup/cpu.max", "1000 100000\n");
  CHECK(container.cores() == 1);

  // A service in a slice: the smallest on the way up.
  Root service("0::/batch.slice/work.service\n");
  service.write("sys/fs/cgroup/batch.slice/work.service/cpu.max", "800000 100000\n");
  CHECK(service.cores() == 8);
  service.write("sys/fs/cgroup/batch.slice/cpu.max", "400000 100000\n");
  CHECK(service.cores() == 4);

  // In a container that is told its outer name.
  Root named("0::/docker/0123456789ab\n");
  named.write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  CHECK(named.cores() == 3);
}

TEST_CASE("the quota of control groups, version 1") {
  const std::string groups = "5:memory:/docker/ab\n4:cpu,cpuacct:/docker/ab\n3:cpuset:/docker/ab\n0::/\n";
  Root outside(groups);
  CHECK(outside.cores() == 0);
  outside.write("sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us", "-1\n");
  outside.write("sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_period_us", "100000\n");
  CHECK(outside.cores() == 0);
  outside.write("sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us", "550000\n");
  CHECK(outside.cores() == 6);
  Root container(groups);
  container.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  container.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "25000\n");
  CHECK(container.cores() == 2);
}

TEST_CASE("no more cores than the processor has, and at least one") {
  CHECK(sinter::base::usable_cores() >= 1);
  CHECK(sinter::base::usable_cores() <= std::max(std::thread::hardware_concurrency(), 1u));
  CHECK(ThreadPool().size() == sinter::base::usable_cores());
}
