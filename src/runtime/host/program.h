// What the host launches: kernels and library ops behind one interface.
#pragma once

#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/host/interpreter/code.h"
#include "src/runtime/host/interpreter/run.h"

namespace sinter::runtime::host {

/// Runs at once, in the calling thread and those of the pool. Several threads may run the same one.
class HostExecutable : public Executable {
 public:
  /// `faults`: the launch's fault words, `faults() * members` of them. The workers have workspace_bytes.
  virtual void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t* faults) = 0;
  /// What it is: "conv2d 64x8x26x26 ...".
  virtual std::string describe() const = 0;
  /// A launch with these arguments, for the log.
  virtual std::string describe_launch(std::span<const std::int64_t> /*ints*/, std::size_t /*members*/) const {
    return describe();
  }
  std::string how(std::span<const std::int64_t>, std::size_t) override { return describe(); }
  /// Fault words of each member.
  virtual std::size_t faults() const { return 0; }

  /// How many threads may work on a launch: before anything is launched, by who makes the executable.
  virtual void use_threads(std::size_t most) { most_threads_ = most; }

 protected:
  std::size_t most_threads() const { return most_threads_; }
  std::size_t threads(std::int64_t pieces) const { return Workers::threads_for(most_threads_, pieces); }

 private:
  std::size_t most_threads_ = 1;
};

/// A kernel, with its code for the sizes that it was launched with.
class KernelProgram final : public HostExecutable {
 public:
  /// `reason`: why it is interpreted.
  KernelProgram(const ir::Kernel& kernel, std::string reason) : kernel_(kernel), reason_(std::move(reason)) {}
  ~KernelProgram() override;

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t* faults) override;
  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const override;
  std::string describe() const override;
  std::string describe_launch(std::span<const std::int64_t> ints, std::size_t members) const override;
  std::string how(std::span<const std::int64_t>, std::size_t) override { return "interpreted: " + reason_; }
  std::size_t faults() const override { return kernel_.faults; }
  std::size_t held_bytes() const override;

  /// One member alone, and the working memory of that.
  void run_member(Workers& workers, const LaunchArguments& arguments, std::uint32_t* faults) const;
  std::size_t member_bytes(std::span<const std::int64_t> ints, std::size_t most_threads) const;

 private:
  struct Variant {
    std::vector<std::int64_t> ints;
    Code code;
    std::unique_ptr<const Variant> next;
  };
  /// Calls use(code).
  template <class Use>
  void with_code(std::span<const std::int64_t> ints, Use&& use) const;
  const Code* find_lasting(std::span<const std::int64_t> ints) const;

  ir::Kernel kernel_;
  std::string reason_;

  // The first sizes have their code as long as the program lives: who looks for them takes no lock. They form
  // a list that only grows, at its front.
  mutable std::atomic<const Variant*> lasting_{nullptr};
  // The sizes that came later take turns, the one used last in front.
  mutable std::mutex mutex_;
  mutable std::size_t lasting_count_ = 0;
  mutable std::list<std::shared_ptr<const Variant>> recent_;
};

}  // namespace sinter::runtime::host
