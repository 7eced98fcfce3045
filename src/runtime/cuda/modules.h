// The compiled modules of one GPU: compiled in the background in parallel, loaded at first use.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "jit/compile/kernel_cache.h"
#include "src/base/fork.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/memory/timeline.h"

namespace sinter::runtime::cuda {

class Modules;

/// A source that is compiled, and loaded at first use. Its module is unloaded some time after its last
/// reference has gone.
class ModuleCode {
 public:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  ModuleCode(Modules& modules, const Key& key) : modules_(modules), key_(key) {}
  ~ModuleCode();
  ModuleCode(const ModuleCode&) = delete;
  ModuleCode& operator=(const ModuleCode&) = delete;

  /// Of the code once it is loaded.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class Modules;
  struct Code {
    std::vector<std::byte> bytes;
    compile::Origin origin{};
  };

  Modules& modules_;
  const Key key_;
  std::shared_future<Code> code_;  // none once it is loaded
  std::mutex loading_;             // of `code_` and `module_` after the compilation began
  Module module_ = nullptr;
  std::atomic<std::size_t> bytes_{0};
};
using ModuleRef = std::shared_ptr<ModuleCode>;

/// All functions are for any thread at any time. Nothing waits for a compilation but those who want its
/// result, and threads that want the same source compile and load it once.
class Modules {
 public:
  Modules(const DriverApi& api, std::string architecture)
      : api_(api), architecture_(std::move(architecture)) {}
  /// The context must be current, its work done, and no module referred to any more.
  ~Modules();
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;

  /// Starts to compile a source unless somebody has it already. `contract`: the compiler may contract a * b +
  /// c into a fused multiply-add.
  ModuleRef request(const std::string& source, bool contract);

  /// Waits for a compilation, loads the module and finds a function; the context must be current. Throws
  /// CompileError.
  Function function(const ModuleRef& code, const char* name);

  /// Unloads modules that nobody refers to, once the work that was submitted since is done. The context must
  /// be current.
  void unload_unused(Timeline& timeline);

  const compile::OriginCounts& counts() const { return counts_; }

 private:
  friend class ModuleCode;
  using Key = ModuleCode::Key;
  struct Unused {
    Module module;
    std::uint64_t point;  // of the timeline; 0: not known yet
  };
  // A source that the compiler refused is asked for again and again: the last ones are not compiled anew.
  static constexpr std::size_t kFailures = 64;

  Module load(const ModuleRef& code);
  void note_failure(const ModuleRef& code);
  void let_go(const Key& key, Module module) noexcept;

  const DriverApi& api_;
  const std::string architecture_;
  base::ForkMutex mutex_;  // never held while a thread compiles or loads
  std::map<Key, std::weak_ptr<ModuleCode>> codes_;
  std::deque<ModuleRef> failures_;
  std::vector<Unused> unused_;  // with room for all modules that are loaded
  std::size_t loaded_ = 0;
  compile::OriginCounts counts_;  // atomic
};

}  // namespace sinter::runtime::cuda
