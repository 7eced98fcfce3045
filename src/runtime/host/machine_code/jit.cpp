// Runs LLVM: text to object code, object code to memory, with the kernel cache between.
#include "src/runtime/host/machine_code/jit.h"

#include <chrono>
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
#include "src/runtime/host/machine_code/llvm_api.h"

namespace sinter::runtime::host {
namespace {

/// A message of LLVM's, which is given back to it.
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

class LlvmJitCompiler final : public Jit {
 public:
  LlvmJitCompiler(LlvmLibrary library, std::string triple, LlvmTargetRef target_ref, std::string cpu,
                  std::string features, LlvmJit session)
      : library_(std::move(library)),
        api_(library_.api),
        triple_(std::move(triple)),
        target_ref_(target_ref),
        cpu_(std::move(cpu)),
        features_(std::move(features)),
        session_(session) {
    target_.typed_pointers = library_.version == 14;
#if defined(__x86_64__)
    target_.vector_bytes = has_feature(features_, "avx512f") && has_feature(features_, "avx512dq") &&
                                   has_feature(features_, "avx512bw") && has_feature(features_, "avx512vl")
                               ? 64
                           : has_feature(features_, "avx2") ? 32
                                                            : 16;
    target_.has_gather = target_.vector_bytes >= 32;
    target_.has_fma = has_feature(features_, "fma");
#else
    target_.has_fma = true;
#endif
  }

  ~LlvmJitCompiler() override {
    if (LlvmError error = api_.jit_dispose(session_)) take(api_, error);
  }

  std::string describe() const override {
    return "LLVM " + std::to_string(library_.version) + " for " + cpu_ + ", vectors of " +
           std::to_string(target_.vector_bytes) + " bytes";
  }
  const emit::LlvmTarget& target() const override { return target_; }

  JitKernel compile(const ir::Kernel& kernel, bool join) override {
    const auto begin = std::chrono::steady_clock::now();
    JitKernel result;
    result.source = emit::emit_llvm(kernel, target_, join);
    compile::dump_source(result.source.text, ".ll");
    compile::KernelKey key;
    key.source = std::move(result.source.text);
    key.options = "codegen 1, small, pic";
    key.compiler = "LLVM " + std::to_string(library_.version) + " " + library_.build;
    key.target = triple_ + " " + cpu_ + " " + features_;
    result.source.text.clear();
    result.code = loaded(result.source.entry);
    if (result.code != nullptr) return result;
    const std::vector<std::byte> object = compile::KernelCache::global().find_or(
        key, [&] { return make_object(key.source); }, &result.origin);
    result.code = load(result.source.entry, object);
    if (base::logs("compile")) {
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      base::log_line("compile", "host: " + result.source.entry + name_of(result.origin) + ", " +
                                    std::to_string(object.size()) + " bytes, " +
                                    std::to_string(time.count()) + " ms");
    }
    return result;
  }

 private:
  class Code final : public JitCode {
   public:
    Code(const LlvmApi& api, LlvmTracker tracker) : api_(api), tracker_(tracker) {}
    ~Code() override {
      if (LlvmError error = api_.tracker_remove(tracker_)) take(api_, error);
      api_.tracker_release(tracker_);
    }
    LlvmTracker tracker() const { return tracker_; }

   private:
    const LlvmApi& api_;
    LlvmTracker tracker_;
  };

  [[noreturn]] static void refuse(const std::string& text, const std::string& what, const std::string& why) {
    throw CompileError("[host] LLVM could not " + what + " a kernel: " + why +
                       "; the text: " + compile::keep_refused_source(text, ".ll"));
  }

  std::vector<std::byte> make_object(const std::string& text) {
    struct Context {
      const LlvmApi& api;
      LlvmContext context;
      LlvmModuleRef module = nullptr;
      LlvmMachine machine = nullptr;
      ~Context() {
        if (machine != nullptr) api.machine_dispose(machine);
        if (module != nullptr) api.module_dispose(module);
        api.context_dispose(context);
      }
    } own{api_, api_.context_create()};
    char* message = nullptr;
    if (library_.version == 15) api_.context_set_opaque_pointers(own.context, 1);
    if (api_.parse(own.context, api_.buffer_copy(text.data(), text.size(), "kernel"), &own.module,
                   &message) != 0)
      refuse(text, "read", take(api_, message));
    message = nullptr;
    const bool broken = api_.verify(own.module, kLlvmReturnStatus, &message) != 0;
    const std::string why =
        take(api_, message);  // there is one, if only an empty one, for a sound module too
    if (broken) refuse(text, "verify", why);
    own.machine = api_.machine_create(target_ref_, triple_.c_str(), cpu_.c_str(), features_.c_str(),
                                      kLlvmOptimizeLess, kLlvmRelocationPic, kLlvmCodeModelSmall);
    if (own.machine == nullptr)
      refuse(text, "compile", "there is no target machine for " + triple_ + " " + cpu_);
    api_.module_set_triple(own.module, triple_.c_str());
    const LlvmLayout layout = api_.machine_layout(own.machine);
    api_.module_set_layout(own.module, layout);
    api_.layout_dispose(layout);
    LlvmBuffer object = nullptr;
    message = nullptr;
    if (api_.emit(own.machine, own.module, kLlvmObjectFile, &message, &object) != 0)
      refuse(text, "compile", take(api_, message));
    const auto* bytes = reinterpret_cast<const std::byte*>(api_.buffer_start(object));
    std::vector<std::byte> result(bytes, bytes + api_.buffer_size(object));
    api_.buffer_dispose(object);
    return result;
  }

  std::shared_ptr<const JitCode> loaded(const std::string& entry) {
    std::lock_guard lock(mutex_);
    const auto found = loaded_.find(entry);
    return found == loaded_.end() ? nullptr : found->second.lock();
  }

  std::shared_ptr<const JitCode> load(const std::string& entry, std::span<const std::byte> object) {
    std::lock_guard lock(mutex_);
    std::weak_ptr<const JitCode>& known = loaded_[entry];
    if (auto code = known.lock()) return code;
    auto code = std::make_shared<Code>(api_, api_.tracker_create(api_.jit_dylib(session_)));
    LlvmTracker tracker = code->tracker();
    const LlvmBuffer buffer =
        api_.buffer_copy(reinterpret_cast<const char*>(object.data()), object.size(), entry.c_str());
    if (LlvmError error = api_.jit_add_object(session_, tracker, buffer))
      throw CompileError("[host] LLVM could not load " + entry + ": " + take(api_, error));
    std::uint64_t address = 0;
    if (LlvmError error = api_.jit_lookup(session_, &address, entry.c_str()))
      throw CompileError("[host] LLVM could not load " + entry + ": " + take(api_, error));
    code->function = reinterpret_cast<JitFunction>(address);
    known = code;
    return code;
  }

  const LlvmLibrary library_;
  const LlvmApi& api_;
  const std::string triple_;
  const LlvmTargetRef target_ref_;
  const std::string cpu_, features_;
  const LlvmJit session_;
  emit::LlvmTarget target_;
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const JitCode>> loaded_;
};

}  // namespace

std::unique_ptr<Jit> open_jit(const std::string& library_path, const std::string& cpu,
                              const std::string& features, std::string& reason) {
  LlvmLibrary library = open_llvm(library_path);
  reason = library.problem;
  if (!library.works()) return nullptr;
  const LlvmApi& api = library.api;
  api.initialize_info();
  api.initialize_target();
  api.initialize_mc();
  api.initialize_printer();
  std::string triple = take(api, api.default_triple());
  const std::string own_cpu = cpu.empty() ? take(api, api.host_cpu()) : cpu;
  const std::string own_features =
      cpu.empty() && features.empty() ? take(api, api.host_features()) : features;
#if defined(__x86_64__)
  // Rounding is a call into a library before that.
  if (!has_feature(own_features, "sse4.1")) {
    reason = "the processor lacks SSE4.1";
    return nullptr;
  }
#endif
  char* message = nullptr;
  LlvmTargetRef target = nullptr;
  if (api.target_from_triple(triple.c_str(), &target, &message) != 0) {
    reason = library.identity + " does not compile for " + triple + ": " + take(api, message);
    return nullptr;
  }
  LlvmJit session = nullptr;
  if (LlvmError error = api.jit_create(&session, nullptr)) {
    reason = library.identity + " cannot load code: " + take(api, error);
    return nullptr;
  }
  return std::make_unique<LlvmJitCompiler>(std::move(library), std::move(triple), target, own_cpu,
                                           own_features, session);
}

Jit* jit(std::string* reason) {
  struct Opened {
    std::unique_ptr<Jit> jit;
    std::string reason;
  };
  // Never closed: code may be run, and LLVM's own threads end, after static objects are gone.
  static const Opened* const opened = [] {
    auto* made = new Opened;
    made->jit = open_jit(base::environment().llvm, "", "", made->reason);
    return made;
  }();
  if (reason != nullptr) *reason = opened->reason;
  return opened->jit.get();
}

const emit::LlvmFunction* jit_functions() {
  static_assert(emit::kLlvmDTypes == kDTypes);
  static const std::vector<emit::LlvmFunction> table = [] {
    std::vector<emit::LlvmFunction> functions(kOpCount * kDTypes);
    for (std::size_t op = 0; op < kOpCount; ++op)
      for (std::size_t dtype = 0; dtype < kDTypes; ++dtype)
        functions[op * kDTypes + dtype] =
            block_functions().elementwise[op][dtype][static_cast<std::size_t>(Form::VV)];
    return functions;
  }();
  return table.data();
}

}  // namespace sinter::runtime::host
