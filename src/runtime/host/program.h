// What the host launches: kernels and library ops behind one interface.
#pragma once

#include <atomic>
#include <list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/host/interpreter/code.h"
#include "src/runtime/host/interpreter/run.h"

namespace sinter::runtime::host {

/// Runs at once, in the calling thread and those of the workers.
class HostExecutable : public Executable {
 public:
  virtual void run(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault) = 0;
  /// What it is, for the log: "conv2d 64x8x26x26 ...".
  virtual std::string describe() const = 0;
  std::string how(std::span<const std::int64_t>, std::size_t) override { return describe(); }
};

/// A kernel, with its code for the sizes that it was launched with last.
class KernelProgram final : public HostExecutable {
 public:
  /// `reason`: why it is interpreted.
  KernelProgram(const ir::Kernel& kernel, std::string reason) : kernel_(kernel), reason_(std::move(reason)) {}

  void run(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault) override;
  std::string describe() const override;
  std::string how(std::span<const std::int64_t>, std::size_t) override { return "interpreted: " + reason_; }
  /// One member alone.
  void run_member(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault) {
    run_code(code_for(arguments.ints), workers, arguments, fault);
  }

 private:
  struct Variant {
    std::vector<std::int64_t> ints;
    Code code;
  };
  const Code& code_for(std::span<const std::int64_t> ints);

  ir::Kernel kernel_;
  std::string reason_;
  std::list<Variant> variants_;  // the one used last in front
};

}  // namespace sinter::runtime::host
