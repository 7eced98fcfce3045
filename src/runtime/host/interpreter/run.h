// Runs a kernel's code on all threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/host/interpreter/code.h"
#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime::host {

/// Memory that grows on demand and is never shrunk; page-aligned.
class Workspace {
 public:
  Workspace() = default;
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  /// At least `bytes` bytes; growing discards the contents.
  std::byte* reserve(std::size_t bytes);

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The host's threads and their memory, shared by all launches.
class Workers {
 public:
  explicit Workers(std::size_t threads) : pool_(threads), threads_(pool_.size()) {}

  ThreadPool& pool() { return pool_; }
  /// Working memory of one thread.
  Workspace& workspace(std::size_t thread) { return threads_[thread].memory; }
  /// Memory that all threads of a launch share.
  Workspace& shared() { return shared_; }
  Workspace& partials() { return partials_; }

 private:
  friend class Launch;
  struct alignas(64) Thread {
    Workspace memory;
    std::vector<std::byte*> slots;
    const Code* code = nullptr;  // `slots` is set up for this code in launch `launch`
    std::uint64_t launch = 0;
  };
  ThreadPool pool_;
  std::vector<Thread> threads_;
  Workspace shared_, partials_;
  std::uint64_t launches_ = 0;
};

/// Runs the code with the given arguments. An index out of range sets `fault`.
void run_code(const Code& code, Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault);

}  // namespace sinter::runtime::host
