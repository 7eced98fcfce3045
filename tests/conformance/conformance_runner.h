// Launches a kernel or library op on a backend with guarded buffers; shared by the files of the conformance
// suite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/runtime/backend.h"
#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {

/// Buffers with given contents, surrounded by bytes that must not change; some start inside of their buffer.
class GuardedBuffers {
 public:
  GuardedBuffers(runtime::Backend& backend, const std::vector<std::vector<std::byte>>& contents);
  const std::vector<runtime::BufferView>& views() const { return views_; }
  /// The current contents. Throws std::runtime_error naming the buffer whose surroundings changed.
  std::vector<std::vector<std::byte>> read() const;

 private:
  runtime::Backend& backend_;
  std::vector<std::size_t> sizes_;
  std::vector<runtime::BufferRef> buffers_;
  std::vector<runtime::BufferView> views_;
};

/// What the run of one launch alone needs.
runtime::RunNeeds needs_of(const runtime::Executable& executable, const ir::Kernel& kernel,
                           const runtime::LaunchArguments& arguments);

/// One launch as a run of its own. Returns the run's report; null where the kernel has no fault words.
runtime::FaultReportRef run_alone(runtime::Backend& backend, runtime::Executable& executable,
                                  const ir::Kernel& kernel, const runtime::LaunchArguments& arguments);

/// The words of a report that must have so many. Throws std::runtime_error where it has others.
std::vector<std::uint32_t> words_of(const runtime::FaultReportRef& report, std::size_t count);

/// Says which fault words are others than wanted; empty when none is.
std::string difference(std::span<const std::uint32_t> got, std::span<const std::uint32_t> want);

/// Compiles each kernel text once.
class KernelRunner {
 public:
  explicit KernelRunner(runtime::Backend& backend) : backend_(backend) {}
  void compile(const std::vector<KernelCase>& cases);
  /// Contents of all buffers after the launch, and its fault words.
  std::vector<std::vector<std::byte>> run(const KernelCase& c, std::vector<std::uint32_t>& faults);

 private:
  runtime::Backend& backend_;
  std::unordered_map<std::string, runtime::ExecutableRef> executables_;
};

/// True iff this device supports the kernel: its dtypes and number of buffers.
bool runs_on(const runtime::Backend& backend, const ir::Kernel& kernel);

/// Collects failures, so that a broken backend does not print thousands.
class Failures {
 public:
  void add(const std::string& text);
  /// One doctest check that there were none.
  void report(const std::string& what) const;

 private:
  std::size_t count_ = 0;
  std::string text_;
};

}  // namespace sinter::testing
