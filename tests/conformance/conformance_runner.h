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

/// Compiles each kernel text once.
class KernelRunner {
 public:
  explicit KernelRunner(runtime::Backend& backend) : backend_(backend) {}
  void compile(const std::vector<KernelCase>& cases);
  /// Contents of all buffers after the launch; `faulted`: waiting threw that an index is out of range.
  std::vector<std::vector<std::byte>> run(const KernelCase& c, bool& faulted);

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
