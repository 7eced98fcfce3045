// Opens libLLVM.
#include "src/runtime/host/machine_code/llvm_api.h"

#include <filesystem>
#include <system_error>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

#include "jit/compile/library_build.h"

namespace sinter::runtime::host {
namespace {

constexpr int kOldest = 14, kNewest = 21;

#if defined(__x86_64__)
#define SINTER_LLVM_INITIALIZE(part) "LLVMInitializeX86" part
#elif defined(__aarch64__)
#define SINTER_LLVM_INITIALIZE(part) "LLVMInitializeAArch64" part
#endif

/// The file names of libLLVM on various systems, newest version first.
std::vector<std::string> library_names() {
  std::vector<std::string> names;
  for (int version = kNewest; version >= kOldest; --version) {
    const std::string number = std::to_string(version);
    if (version >= 18) {
      names.push_back("libLLVM.so." + number + ".1");
    } else {
      names.push_back("libLLVM-" + number + ".so.1");
    }
    names.push_back("libLLVM-" + number + ".so");
  }
  return names;
}

/// The file that defines a symbol, with its size: two builds of one version differ.
std::string identity_of(void* symbol) {
  Dl_info info{};
  if (::dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  return error ? info.dli_fname : file.string();
}

#if defined(SINTER_LLVM_INITIALIZE)
/// The library that is open under this name, with its problem if it has one.
LlvmLibrary library_of(void* handle, const std::string& name) {
  LlvmLibrary library;
  std::string missing;
  auto optional = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
  };
  auto load = [&](auto& function, const char* name) {
    optional(function, name);
    if (function == nullptr && missing.empty()) missing = name;
  };
  LlvmApi& api = library.api;
  void (*since_14)() = nullptr;
  load(since_14, "LLVMGetGEPSourceElementType");
  if (!missing.empty()) {
    library.problem = name + " is older than LLVM " + std::to_string(kOldest) + ", or no libLLVM";
    return library;
  }
  optional(api.context_set_opaque_pointers, "LLVMContextSetOpaquePointers");
  optional(api.version, "LLVMGetVersion");
  load(api.context_set_diagnostic_handler, "LLVMContextSetDiagnosticHandler");
  load(api.diagnostic_severity, "LLVMGetDiagInfoSeverity");
  load(api.diagnostic_description, "LLVMGetDiagInfoDescription");
  load(api.install_fatal_error_handler, "LLVMInstallFatalErrorHandler");
  load(api.context_create, "LLVMContextCreate");
  load(api.context_dispose, "LLVMContextDispose");
  load(api.buffer_copy, "LLVMCreateMemoryBufferWithMemoryRangeCopy");
  load(api.buffer_dispose, "LLVMDisposeMemoryBuffer");
  load(api.buffer_start, "LLVMGetBufferStart");
  load(api.buffer_size, "LLVMGetBufferSize");
  load(api.message_dispose, "LLVMDisposeMessage");
  load(api.parse, "LLVMParseIRInContext");
  load(api.verify, "LLVMVerifyModule");
  load(api.module_dispose, "LLVMDisposeModule");
  load(api.module_set_triple, "LLVMSetTarget");
  load(api.module_set_layout, "LLVMSetModuleDataLayout");
  load(api.default_triple, "LLVMGetDefaultTargetTriple");
  load(api.host_cpu, "LLVMGetHostCPUName");
  load(api.host_features, "LLVMGetHostCPUFeatures");
  load(api.initialize_info, SINTER_LLVM_INITIALIZE("TargetInfo"));
  load(api.initialize_target, SINTER_LLVM_INITIALIZE("Target"));
  load(api.initialize_mc, SINTER_LLVM_INITIALIZE("TargetMC"));
  load(api.initialize_printer, SINTER_LLVM_INITIALIZE("AsmPrinter"));
  load(api.target_from_triple, "LLVMGetTargetFromTriple");
  load(api.machine_create, "LLVMCreateTargetMachine");
  load(api.machine_dispose, "LLVMDisposeTargetMachine");
  load(api.machine_layout, "LLVMCreateTargetDataLayout");
  load(api.layout_dispose, "LLVMDisposeTargetData");
  load(api.emit, "LLVMTargetMachineEmitToMemoryBuffer");
  load(api.jit_create, "LLVMOrcCreateLLJIT");
  load(api.jit_dispose, "LLVMOrcDisposeLLJIT");
  load(api.jit_dylib, "LLVMOrcLLJITGetMainJITDylib");
  load(api.tracker_create, "LLVMOrcJITDylibCreateResourceTracker");
  load(api.tracker_remove, "LLVMOrcResourceTrackerRemove");
  load(api.tracker_release, "LLVMOrcReleaseResourceTracker");
  load(api.jit_session, "LLVMOrcLLJITGetExecutionSession");
  load(api.session_names, "LLVMOrcExecutionSessionGetSymbolStringPool");
  load(api.names_clear, "LLVMOrcSymbolStringPoolClearDeadEntries");
  load(api.jit_add_object, "LLVMOrcLLJITAddObjectFileWithRT");
  load(api.jit_lookup, "LLVMOrcLLJITLookup");
  load(api.error_message, "LLVMGetErrorMessage");
  load(api.error_message_dispose, "LLVMDisposeErrorMessage");
  if (!missing.empty()) {
    library.problem = name + " lacks " + missing;
    return library;
  }
  // Libraries before LLVM 16 have no version function; the symbols they export tell the version.
  if (api.version != nullptr) {
    unsigned major = 0, minor = 0, patch = 0;
    api.version(&major, &minor, &patch);
    library.version = static_cast<int>(major);
  } else {
    library.version = api.context_set_opaque_pointers != nullptr ? 15 : 14;
  }
  library.identity = identity_of(reinterpret_cast<void*>(api.context_create));
  library.build = compile::build_of(reinterpret_cast<const void*>(api.context_create));
  if (library.version > kNewest)
    library.problem = library.identity + " is LLVM " + std::to_string(library.version) + "; versions " +
                      std::to_string(kOldest) + " to " + std::to_string(kNewest) + " are known";
  return library;
}
#endif

}  // namespace

LlvmLibrary open_llvm(const std::string& path) {
  LlvmLibrary library;
#if !defined(SINTER_LLVM_INITIALIZE)
  library.problem = "kernels are compiled on x86-64 and AArch64 processors only";
#else
  if (!path.empty()) {
    if (void* handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) return library_of(handle, path);
    const char* reason = ::dlerror();
    library.problem = "libLLVM could not be opened: " + (reason == nullptr ? path : std::string(reason));
    return library;
  }
  for (const std::string& name : library_names()) {
    void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) continue;
    LlvmLibrary found = library_of(handle, name);
    if (found.works()) return found;
    if (library.problem.empty()) library.problem = found.problem;
  }
  if (library.problem.empty())
    library.problem = "no libLLVM of version " + std::to_string(kOldest) + " to " + std::to_string(kNewest) +
                      " was found: install one, or name its file in SINTER_LLVM";
#endif
  return library;
}

}  // namespace sinter::runtime::host
