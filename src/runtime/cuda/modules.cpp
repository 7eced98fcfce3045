// Compiles and loads modules.
#include "src/runtime/cuda/modules.h"

#include <algorithm>
#include <semaphore>
#include <system_error>

#include <xxhash.h>

#include <sinter/error.h>

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

ModuleCode::~ModuleCode() { modules_.let_go(key_, module_); }

Modules::~Modules() {
  failures_.clear();
  for (const Unused& unused : unused_) api_.module_unload(unused.module);
}

/// The entry in the table may be that of a successor.
void Modules::let_go(const Key& key, Module module) noexcept {
  const std::lock_guard lock(mutex_);
  if (const auto it = codes_.find(key); it != codes_.end() && it->second.expired()) codes_.erase(it);
  if (!module) return;
  --loaded_;
  unused_.push_back({module, 0});
}

void Modules::unload_unused(Timeline& timeline) {
  std::vector<std::uint64_t> points;
  {
    const std::lock_guard lock(mutex_);
    for (const Unused& unused : unused_)
      if (unused.point > 0 && (points.empty() || points.back() < unused.point))
        points.push_back(unused.point);
  }
  std::uint64_t done = 0;
  for (const std::uint64_t point : points)
    if (timeline.done(point)) done = std::max(done, point);
  // What has been submitted by now has a number up to the open one.
  const std::uint64_t open = timeline.open();
  std::vector<Module> ready;
  {
    const std::lock_guard lock(mutex_);
    ready.reserve(unused_.size());
    std::erase_if(unused_, [&](Unused& unused) {
      if (unused.point == 0) unused.point = open;
      if (unused.point > done) return false;
      ready.push_back(unused.module);
      return true;
    });
  }
  for (Module module : ready) api_.module_unload(module);
}

ModuleRef Modules::request(const std::string& source, bool contract) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(source.data(), source.size(), contract);
  const Key key{hash.high64, hash.low64};
  ModuleRef code;  // outlives the lock: its end takes it
  const std::lock_guard lock(mutex_);
  std::weak_ptr<ModuleCode>& known = codes_[key];
  if ((code = known.lock())) return code;
  code = std::make_shared<ModuleCode>(*this, key);
  auto compile = [source, contract, architecture = architecture_] {
    const Core core;
    compile::CudaOptions options;
    options.architecture = architecture;
    options.contract = contract;
    ModuleCode::Code made;
    made.bytes = compile::compile_cuda(source, options, &made.origin);
    return made;
  };
  try {
    code->code_ = std::async(std::launch::async, compile).share();
  } catch (const std::system_error&) {  // no thread can be had: whoever waits for it compiles it
    code->code_ = std::async(std::launch::deferred, compile).share();
  }
  known = code;
  return code;
}

void Modules::note_failure(const ModuleRef& code) {
  ModuleRef oldest;
  const std::lock_guard lock(mutex_);
  if (std::find(failures_.begin(), failures_.end(), code) != failures_.end()) return;
  failures_.push_back(code);
  if (failures_.size() <= kFailures) return;
  oldest = std::move(failures_.front());
  failures_.pop_front();
}

/// Whoever comes first waits for the compiler and loads the module; others wait for that.
Module Modules::load(const ModuleRef& code) {
  const std::lock_guard loading(code->loading_);
  if (code->module_) return code->module_;
  try {
    const ModuleCode::Code& made = code->code_.get();
    {
      const std::lock_guard lock(mutex_);
      unused_.reserve(unused_.size() + loaded_ + 1);
      ++loaded_;
    }
    try {
      check(api_.module_load(&code->module_, made.bytes.data()), "cuModuleLoadData");
    } catch (...) {
      code->module_ = nullptr;
      const std::lock_guard lock(mutex_);
      --loaded_;
      throw;
    }
    counts_.add(made.origin);
    code->bytes_.store(made.bytes.size(), std::memory_order_relaxed);
  } catch (const CompileError&) {
    note_failure(code);
    throw;
  }
  code->code_ = {};
  return code->module_;
}

Function Modules::function(const ModuleRef& code, const char* name) {
  Function function = nullptr;
  check(api_.module_function(&function, load(code), name), "cuModuleGetFunction");
  return function;
}

}  // namespace sinter::runtime::cuda
