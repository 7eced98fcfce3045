// Runs LLVM: text to object code to loaded code, with the kernel cache between.
#include "src/runtime/host/machine_code/jit.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "jit/compile/kernel_cache.h"
#include "jit/compile/source_files.h"
#include "src/base/env.h"
#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/machine_code/fatal_errors.h"
#include "src/runtime/host/machine_code/llvm_api.h"

namespace sinter::runtime::host {
namespace {

/// Copies a message and frees LLVM's.
std::string take(const LlvmApi& api, char* message) {
  std::string text = message == nullptr ? "" : message;
  if (message != nullptr) api.message_dispose(message);
  return text;
}

std::string take(const LlvmApi& api, LlvmError error) {
  char* message = api.error_message(error);
  std::string text = message == nullptr ? "" : message;
  api.error_message_dispose(message);
  return text;
}

const char* name_of(compile::Origin origin) {
  return origin == compile::Origin::Compiled ? " compiled"
         : origin == compile::Origin::Disk   ? " from disk"
                                             : " from memory";
}

bool has_feature(const std::string& features, const std::string& name) {
  return ("," + features + ",").find(",+" + name + ",") != std::string::npos;
}

/// The library, and the processor it compiles for. Held by whoever calls LLVM: a call that never comes back
/// (fatal_errors.h) holds it for ever.
struct Machine {
  LlvmLibrary library;
  std::string triple, cpu, features;
  LlvmTargetRef target = nullptr;
  LlvmJit session = nullptr;

  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    if (session == nullptr || llvm_has_failed()) return;
    if (LlvmError error = library.api.jit_dispose(session)) take(library.api, error);
  }
};

emit::LlvmTarget emitted_for(const Machine& machine) {
  emit::LlvmTarget target;
#if defined(__x86_64__)
  const auto has = [&](const char* name) { return has_feature(machine.features, name); };
  target.vector_bytes = has("avx512f") && has("avx512dq") && has("avx512bw") && has("avx512vl") ? 64
                        : has("avx2")                                                           ? 32
                                                                                                : 16;
  target.has_gather = target.vector_bytes >= 32;
  target.has_fma = has("fma");
  target.has_f16 = has("f16c");
  // Narrower vectors have no masks of their own: what is masked takes several registers and instructions.
  if (target.vector_bytes == 64) target.long_body = 12;
#else
  target.has_fma = true;
#endif
  return target;
}

/// The code that is loaded, by entry. LLVM takes each entry once at a time, so code that somebody has just
/// let go is out of reach until it is unloaded.
class LoadedCode {
 public:
  /// The code where it is loaded; else null, and with `reserve` the entry is the caller's to load: it calls
  /// `loaded` or `unloaded` next. Waits while somebody else loads or unloads it.
  std::shared_ptr<const JitCode> find(const std::string& entry, bool reserve) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const auto found = codes_.find(entry);
      if (found == codes_.end()) {
        if (reserve) codes_[entry];
        return nullptr;
      }
      if (auto code = found->second.lock()) return code;
      changed_.wait(lock);
    }
  }
  void loaded(const std::string& entry, const std::shared_ptr<const JitCode>& code) {
    std::lock_guard lock(mutex_);
    codes_[entry] = code;
    changed_.notify_all();
  }
  void unloaded(const std::string& entry) {
    std::lock_guard lock(mutex_);
    codes_.erase(entry);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<std::string, std::weak_ptr<const JitCode>> codes_;  // empty: on its way in or out
};

/// Loaded code, unloaded at the end.
class Code final : public JitCode {
 public:
  Code(std::shared_ptr<const Machine> machine, std::shared_ptr<LoadedCode> all, std::string entry)
      : machine_(std::move(machine)), all_(std::move(all)), entry_(std::move(entry)) {}
  ~Code() override {
    if (tracker_ != nullptr && !llvm_has_failed() && !llvm_has_ended()) {
      const LlvmApi& api = machine_->library.api;
      if (LlvmError error = api.tracker_remove(tracker_)) take(api, error);
      api.tracker_release(tracker_);
      // LLVM keeps the names of what it had loaded until it is told to look which are still in use.
      static std::atomic<std::uint32_t> unloads{0};
      if (++unloads % 256 == 0) api.names_clear(api.session_names(api.jit_session(machine_->session)));
    }
    all_->unloaded(entry_);
  }

  void load(std::span<const std::byte> object) {
    const std::string& entry = entry_;
    const LlvmApi& api = machine_->library.api;
    tracker_ = api.tracker_create(api.jit_dylib(machine_->session));
    const LlvmBuffer buffer =
        api.buffer_copy(reinterpret_cast<const char*>(object.data()), object.size(), entry.c_str());
    if (LlvmError error = api.jit_add_object(machine_->session, tracker_, buffer))
      throw CompileError("[host] LLVM could not load " + entry + ": " + take(api, error));
    std::uint64_t address = 0;
    if (LlvmError error = api.jit_lookup(machine_->session, &address, entry.c_str()))
      throw CompileError("[host] LLVM could not load " + entry + ": " + take(api, error));
    function = reinterpret_cast<JitFunction>(address);
    bytes = object.size();
  }

 private:
  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<LoadedCode> all_;
  std::string entry_;
  LlvmTracker tracker_ = nullptr;
};

[[noreturn]] void refuse(const std::string& text, const std::string& what, const std::string& why) {
  throw CompileError("[host] LLVM could not " + what + " a kernel: " + why +
                     "; the text: " + compile::keep_refused_source(text, ".ll"));
}

/// One text on its way to object code.
class Compilation {
 public:
  Compilation(const Machine& machine, const std::string& text)
      : machine_(machine), api_(machine.library.api), text_(text), context_(api_.context_create()) {
    if (machine.library.version == 15) api_.context_set_opaque_pointers(context_, 1);
    api_.context_set_diagnostic_handler(context_, note, this);
  }
  ~Compilation() {
    if (machine_ref_ != nullptr) api_.machine_dispose(machine_ref_);
    if (module_ != nullptr) api_.module_dispose(module_);
    api_.context_dispose(context_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  std::vector<std::byte> object() {
    parse();
    make_machine();
    LlvmBuffer buffer = nullptr;
    char* message = nullptr;
    const bool failed = api_.emit(machine_ref_, module_, kLlvmObjectFile, &message, &buffer) != 0;
    const std::string why = take(api_, message);
    std::vector<std::byte> result;
    if (!failed && buffer != nullptr) {
      const auto* bytes = reinterpret_cast<const std::byte*>(api_.buffer_start(buffer));
      result.assign(bytes, bytes + api_.buffer_size(buffer));
      api_.buffer_dispose(buffer);
    }
    if (failed || !error_.empty()) refuse(text_, "compile", error_.empty() ? why : error_);
    return result;
  }

 private:
  /// Without a handler LLVM would print the error and end the process.
  static void note(LlvmDiagnostic diagnostic, void* self) {
    auto& own = *static_cast<Compilation*>(self);
    if (own.api_.diagnostic_severity(diagnostic) != kLlvmSeverityError || !own.error_.empty()) return;
    own.error_ = take(own.api_, own.api_.diagnostic_description(diagnostic));
  }

  void parse() {
    char* message = nullptr;
    if (api_.parse(context_, api_.buffer_copy(text_.data(), text_.size(), "kernel"), &module_, &message) != 0)
      refuse(text_, "read", take(api_, message));
    message = nullptr;
    const bool broken = api_.verify(module_, kLlvmReturnStatus, &message) != 0;
    const std::string why =
        take(api_, message);  // there is one, if only an empty one, for a sound module too
    if (broken) refuse(text_, "verify", why);
  }

  void make_machine() {
    machine_ref_ = api_.machine_create(machine_.target, machine_.triple.c_str(), machine_.cpu.c_str(),
                                       machine_.features.c_str(), kLlvmOptimizeLess, kLlvmRelocationPic,
                                       kLlvmCodeModelSmall);
    if (machine_ref_ == nullptr)
      refuse(text_, "compile", "there is no target machine for " + machine_.triple + " " + machine_.cpu);
    api_.module_set_triple(module_, machine_.triple.c_str());
    const LlvmLayout layout = api_.machine_layout(machine_ref_);
    api_.module_set_layout(module_, layout);
    api_.layout_dispose(layout);
  }

  const Machine& machine_;
  const LlvmApi& api_;
  const std::string& text_;
  const LlvmContext context_;
  LlvmModuleRef module_ = nullptr;
  LlvmMachine machine_ref_ = nullptr;
  std::string error_;  // the first that LLVM reported
};

class LlvmJitCompiler final : public Jit {
 public:
  LlvmJitCompiler(std::shared_ptr<const Machine> machine, const emit::LlvmTarget* target)
      : machine_(std::move(machine)), target_(target == nullptr ? emitted_for(*machine_) : *target) {
    target_.typed_pointers = machine_->library.version == 14;
  }

  std::string describe() const override {
    return "LLVM " + std::to_string(machine_->library.version) + " for " + machine_->cpu + ", vectors of " +
           std::to_string(target_.vector_bytes) + " bytes";
  }
  const emit::LlvmTarget& target() const override { return target_; }

  void probe() override {
    const std::string entry = "sinter_probe";
    load(entry, make_object("define void @" + entry + "() {\n  ret void\n}\n"));
  }

  JitKernel compile(const ir::Kernel& kernel, emit::LlvmLoops loops) override {
    const auto begin = std::chrono::steady_clock::now();
    JitKernel result;
    result.source = emit::emit_llvm(kernel, target_, loops);
    compile::dump_source(result.source.text, ".ll");
    compile::KernelKey key;
    key.source = std::move(result.source.text);
    key.options = "codegen 1, small, pic";
    key.compiler = "LLVM " + std::to_string(machine_->library.version) + " " + machine_->library.build;
    key.target = machine_->triple + " " + machine_->cpu + " " + machine_->features;
    result.source.text.clear();
    result.code = loaded_->find(result.source.entry, false);
    if (result.code != nullptr) return result;
    std::vector<std::byte> object = compile::KernelCache::global().find_or(
        key, [&] { return make_object(key.source); }, &result.origin);
    const std::size_t bytes = object.size();
    result.code = load(result.source.entry, std::move(object));
    if (base::logs("compile")) {
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      base::log_line("compile", "host: " + result.source.entry + name_of(result.origin) + ", " +
                                    std::to_string(bytes) + " bytes, " + std::to_string(time.count()) +
                                    " ms");
    }
    return result;
  }

 private:
  std::vector<std::byte> make_object(const std::string& text) const {
    auto object = std::make_shared<std::vector<std::byte>>();
    run_llvm([machine = machine_, text, object] { *object = Compilation(*machine, text).object(); });
    return std::move(*object);
  }

  std::shared_ptr<const JitCode> load(const std::string& entry, std::vector<std::byte> object) {
    if (auto code = loaded_->find(entry, true)) return code;
    // From here on the code's destructor gives the entry back, also where it cannot be loaded.
    auto code = std::make_shared<Code>(machine_, loaded_, entry);
    try {
      run_llvm([code, object = std::move(object)] { code->load(object); });
    } catch (const CompileError&) {
      if (llvm_has_failed()) loaded_->unloaded(entry);  // the call that stands still has the code for ever
      throw;
    }
    loaded_->loaded(entry, code);
    return code;
  }

  const std::shared_ptr<const Machine> machine_;
  emit::LlvmTarget target_;
  const std::shared_ptr<LoadedCode> loaded_ = std::make_shared<LoadedCode>();
};

/// Finds out what the library compiles for here. Gives why it does not, else nothing.
std::string prepare(Machine& machine, const std::string& cpu, const std::string& features) {
  const LlvmApi& api = machine.library.api;
  api.initialize_info();
  api.initialize_target();
  api.initialize_mc();
  api.initialize_printer();
  machine.triple = take(api, api.default_triple());
  machine.cpu = cpu.empty() ? take(api, api.host_cpu()) : cpu;
  machine.features = cpu.empty() && features.empty() ? take(api, api.host_features()) : features;
#if defined(__x86_64__)
  // Rounding is a call into a library before that.
  if (!has_feature(machine.features, "sse4.1")) return "the processor lacks SSE4.1";
#endif
  char* message = nullptr;
  if (api.target_from_triple(machine.triple.c_str(), &machine.target, &message) != 0)
    return machine.library.identity + " does not compile for " + machine.triple + ": " + take(api, message);
  if (LlvmError error = api.jit_create(&machine.session, nullptr))
    return machine.library.identity + " cannot load code: " + take(api, error);
  return "";
}

}  // namespace

std::unique_ptr<Jit> open_jit(const std::string& library_path, const std::string& cpu,
                              const std::string& features, std::string& reason,
                              const emit::LlvmTarget* target) {
  auto machine = std::make_shared<Machine>();
  auto problem = std::make_shared<std::string>();
  try {
    run_llvm([machine, library_path, cpu, features, problem] {
      machine->library = open_llvm(library_path);
      *problem = machine->library.problem;
      if (!machine->library.works()) return;
      watch_fatal_errors(machine->library.api);
      *problem = prepare(*machine, cpu, features);
    });
    reason = *problem;
  } catch (const CompileError& e) {
    reason = e.what();
  }
  if (!reason.empty()) return nullptr;
  return std::make_unique<LlvmJitCompiler>(std::move(machine), target);
}

Jit* jit(std::string* reason) {
  struct Opened {
    std::unique_ptr<Jit> jit;
    std::string reason;
  };
  // Never destroyed: code may run, and LLVM's own threads may end, after static objects are destroyed.
  static const Opened* const opened = [] {
    auto* made = new Opened;
    const std::string& library = base::environment().llvm;
    made->jit = open_jit(library, "", "", made->reason);
    if (made->jit == nullptr || library.empty()) return made;
    // Who names a library wants to know now whether it works.
    try {
      made->jit->probe();
    } catch (const CompileError& e) {
      made->reason = e.what();
      made->jit.reset();
    }
    return made;
  }();
  if (reason != nullptr) *reason = opened->reason;
  return opened->jit.get();
}

const emit::LlvmFunction* jit_functions() {
  static_assert(emit::kLlvmDTypes == kDTypes);
  static const std::vector<emit::LlvmFunction>& table = *new std::vector([] {
    std::vector<emit::LlvmFunction> functions(kOpCount * kDTypes);
    for (std::size_t op = 0; op < kOpCount; ++op)
      for (std::size_t dtype = 0; dtype < kDTypes; ++dtype)
        functions[op * kDTypes + dtype] =
            block_functions().elementwise[op][dtype][static_cast<std::size_t>(Form::VV)];
    return functions;
  }());
  return table.data();
}

}  // namespace sinter::runtime::host
