// Compiles and loads modules.
#include "src/runtime/cuda/modules.h"

#include <semaphore>
#include <system_error>

#include <xxhash.h>

#include "jit/compile/nvrtc.h"
#include "src/base/cores.h"

namespace sinter::runtime::cuda {

namespace {

/// Limits parallel compilations to the number of cores, for all devices together.
std::counting_semaphore<>& cores() {
  static std::counting_semaphore<> free_cores(static_cast<std::ptrdiff_t>(base::usable_cores()));
  return free_cores;
}

class Core {
 public:
  Core() { cores().acquire(); }
  ~Core() { cores().release(); }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
};

}  // namespace

Modules::~Modules() {
  for (auto& [key, entry] : entries_) {
    entry.code = {};  // waits
    if (entry.module) api_.module_unload(entry.module);
  }
}

Modules::Key Modules::request(const std::string& source, bool contract) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(source.data(), source.size(), contract);
  const Key key{hash.high64, hash.low64};
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = entries_.try_emplace(key);
  if (!is_new) return key;
  std::shared_future<Code>& wanted = place->second.code;
  auto compile = [source, contract, architecture = architecture_] {
    const Core core;
    compile::CudaOptions options;
    options.architecture = architecture;
    options.contract = contract;
    Code code;
    code.bytes = compile::compile_cuda(source, options, &code.origin);
    return code;
  };
  try {
    wanted = std::async(std::launch::async, compile).share();
  } catch (const std::system_error&) {  // no thread can be had: whoever waits for it compiles it
    wanted = std::async(std::launch::deferred, compile).share();
  }
  return key;
}

/// Whoever comes first waits for the compiler and loads the module; others wait for that.
Module Modules::load(Entry& entry) {
  const std::lock_guard loading(entry.loading);
  if (entry.module) return entry.module;
  const Code& code = entry.code.get();
  check(api_.module_load(&entry.module, code.bytes.data()), "cuModuleLoadData");
  counts_.add(code.origin);
  entry.code = {};
  return entry.module;
}

Function Modules::function(const Key& key, const char* name) {
  Entry* entry = nullptr;
  {
    const std::lock_guard lock(mutex_);
    entry = &entries_.at(key);
  }
  Function function = nullptr;
  check(api_.module_function(&function, load(*entry), name), "cuModuleGetFunction");
  return function;
}

}  // namespace sinter::runtime::cuda
