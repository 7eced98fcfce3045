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
  pending_.clear();  // waits for the futures
  for (const auto& [key, module] : loaded_) api_.module_unload(module);
}

Modules::Key Modules::request(const std::string& source, bool contract) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(source.data(), source.size(), contract);
  const Key key{hash.high64, hash.low64};
  if (loaded_.count(key) || pending_.count(key)) return key;
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
    pending_[key] = std::async(std::launch::async, compile).share();
  } catch (const std::system_error&) {  // no thread can be had: whoever waits for it compiles it
    pending_[key] = std::async(std::launch::deferred, compile).share();
  }
  return key;
}

Module Modules::load(const Key& key) {
  if (auto found = loaded_.find(key); found != loaded_.end()) return found->second;
  const Code& code = pending_.at(key).get();
  Module module = nullptr;
  check(api_.module_load(&module, code.bytes.data()), "cuModuleLoadData");
  loaded_[key] = module;
  counts_.add(code.origin);
  pending_.erase(key);
  return module;
}

Function Modules::function(const Key& key, const char* name) {
  Function function = nullptr;
  check(api_.module_function(&function, load(key), name), "cuModuleGetFunction");
  return function;
}

}  // namespace sinter::runtime::cuda
