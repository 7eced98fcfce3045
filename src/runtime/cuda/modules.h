// The compiled modules of one GPU: compiled in the background in parallel, loaded at first use.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "jit/compile/kernel_cache.h"
#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// All functions are for any thread at any time. Nothing waits for a compilation but those who want its
/// result, and threads that want the same source compile and load it once.
class Modules {
 public:
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  Modules(const DriverApi& api, std::string architecture)
      : api_(api), architecture_(std::move(architecture)) {}
  /// Waits for running compilations. The context must be current and its work done.
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// Starts to compile a source unless it was requested before. `contract`: the compiler may contract a * b +
  /// c into a fused multiply-add.
  Key request(const std::string& source, bool contract);

  /// Waits for a compilation, loads the module and finds a function; the context must be current. Throws
  /// CompileError. Modules stay loaded as long as this object, since their kernels may be in flight.
  Function function(const Key& key, const char* name);

  const compile::OriginCounts& counts() const { return counts_; }

 private:
  struct Code {
    std::vector<std::byte> bytes;
    compile::Origin origin{};
  };
  struct Entry {
    std::shared_future<Code> code;  // a failed one stays, and fails again; none once it is loaded
    std::mutex loading;             // of `code` and `module` after the compilation began
    Module module = nullptr;
  };
  Module load(Entry& entry);

  const DriverApi& api_;
  const std::string architecture_;
  std::mutex mutex_;              // of the map; never held while a thread compiles or loads
  std::map<Key, Entry> entries_;  // they stay where they are
  compile::OriginCounts counts_;  // atomic
};

}  // namespace sinter::runtime::cuda
