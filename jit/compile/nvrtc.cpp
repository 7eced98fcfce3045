// Opens NVRTC and runs it.
#include "jit/compile/nvrtc.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <dlfcn.h>

#include <sinter/error.h>

#include "jit/compile/library_build.h"
#include "jit/compile/source_files.h"
#include "src/base/env.h"
#include "src/base/exit_gate.h"

namespace sinter::compile {

namespace {

// NVRTC's interface, as far as it is used here.
using Program = void*;
struct Api {
  int (*version)(int*, int*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, std::size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*count_architectures)(int*) = nullptr;
  int (*architectures)(int*) = nullptr;
};

struct Library {
  Api api;
  bool found = false;
  std::string reason;
  std::string version, build;
  int newest = 0;  // 120 for compute capability 12.0
};

Library open_library() {
  Library library;
  void* handle = nullptr;
  // By name first: the loader's own search. Then where the toolkit's installers put it.
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.13",
                           "/usr/local/cuda/lib64/libnvrtc.so.12", "/opt/cuda/lib64/libnvrtc.so.13",
                           "/opt/cuda/lib64/libnvrtc.so.12"}) {
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle) break;
  }
  if (!handle) {
    library.reason =
        "neither libnvrtc.so.13 nor libnvrtc.so.12 was found: install NVRTC, a part of the CUDA toolkit";
    return library;
  }
  Api& api = library.api;
  std::string missing;
  auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
    if (!function) missing = name;
  };
  load(api.version, "nvrtcVersion");
  load(api.error_string, "nvrtcGetErrorString");
  load(api.create, "nvrtcCreateProgram");
  load(api.destroy, "nvrtcDestroyProgram");
  load(api.compile, "nvrtcCompileProgram");
  load(api.log_size, "nvrtcGetProgramLogSize");
  load(api.log, "nvrtcGetProgramLog");
  load(api.cubin_size, "nvrtcGetCUBINSize");
  load(api.cubin, "nvrtcGetCUBIN");
  load(api.ptx_size, "nvrtcGetPTXSize");
  load(api.ptx, "nvrtcGetPTX");
  load(api.count_architectures, "nvrtcGetNumSupportedArchs");
  load(api.architectures, "nvrtcGetSupportedArchs");
  if (!missing.empty()) {
    library.reason = "the NVRTC that was found lacks " + missing + ": CUDA 12 or newer is needed";
    return library;
  }
  int major = 0, minor = 0, count = 0;
  api.version(&major, &minor);
  library.version = std::to_string(major) + "." + std::to_string(minor);
  library.build = library.version + " " + build_of(reinterpret_cast<const void*>(api.version));
  if (api.count_architectures(&count) == 0 && count > 0) {
    std::vector<int> known(static_cast<std::size_t>(count));
    if (api.architectures(known.data()) == 0) library.newest = *std::max_element(known.begin(), known.end());
  }
  library.found = true;
  return library;
}

/// Variants that are tried compile in threads that may outlast the program's main function.
base::ExitGate& gate() {
  static base::ExitGate& instance = *new base::ExitGate([] { gate().close(); });
  return instance;
}

const Library& library() {
  static const Library& instance = *[] {  // never destroyed: threads may compile
    const base::ExitGate::Entry entry(gate());
    auto* opened = new Library;
    if (entry)
      *opened = open_library();
    else
      opened->reason = "the process ends";
    if (opened->found) gate().renew();
    return opened;
  }();
  return instance;
}

std::vector<std::string> option_list(const CudaOptions& options) {
  // --fmad=false keeps a * b + c in two roundings, so that a fused kernel gives what separate ones give; 177
  // is the warning of an unused variable.
  std::vector<std::string> list = {"--gpu-architecture=" + options.architecture, "--std=c++17",
                                   options.contract ? "--fmad=true" : "--fmad=false", "--prec-sqrt=false",
                                   "--diag-suppress=177"};
  list.insert(list.end(), options.more.begin(), options.more.end());
  return list;
}

/// Destroys the program at the end of the scope.
struct ProgramGuard {
  Program program = nullptr;
  ~ProgramGuard() {
    if (program) library().api.destroy(&program);
  }
};

/// The blocks that a source wants a multiprocessor to hold; 1 where it leaves that open.
int wanted_blocks(const std::string& source) {
  constexpr std::string_view kDefinition = "#define SN_BLOCKS ";
  const std::size_t at = source.find(kDefinition);
  return at == std::string::npos ? 1 : std::atoi(source.c_str() + at + kDefinition.size());
}

}  // namespace

bool has_nvrtc() { return library().found; }
std::string nvrtc_unavailable_reason() { return library().reason; }
std::string nvrtc_version() { return library().version; }
std::string nvrtc_build() { return library().build; }

std::string cuda_architecture(int major, int minor) {
  const int number = 10 * major + minor;
  const int newest = library().newest;
  if (newest > 0 && number > newest) return "compute_" + std::to_string(newest);
  // Without the suffix, the instructions that are Hopper's alone are refused.
  return "sm_" + std::to_string(number) + (number == 90 ? "a" : "");
}

std::vector<std::byte> run_nvrtc(const std::string& source, const CudaOptions& options, std::string* log) {
  if (!has_nvrtc()) throw DeviceError("[cuda] kernels cannot be compiled: " + nvrtc_unavailable_reason());
  const base::ExitGate::Entry entry(gate());
  if (!entry) throw DeviceError("[cuda] kernels cannot be compiled any more: the process ends");
  const struct Renew {  // what the call has made of static objects ends after the gate is closed
    ~Renew() { gate().renew(); }
  } renew;
  const Api& api = library().api;
  auto check = [&](int result, const char* call) {
    if (result != 0)
      throw CompileError(std::string("[cuda] ") + call + " failed: " + api.error_string(result));
  };
  ProgramGuard guard;
  check(api.create(&guard.program, source.c_str(), "kernel.cu", 0, nullptr, nullptr), "nvrtcCreateProgram");
  const std::vector<std::string> list = option_list(options);
  std::vector<const char*> pointers;
  for (const std::string& option : list) pointers.push_back(option.c_str());
  const int result = api.compile(guard.program, static_cast<int>(pointers.size()), pointers.data());

  std::string text;
  std::size_t size = 0;
  if (api.log_size(guard.program, &size) == 0 && size > 1) {
    text.resize(size);
    api.log(guard.program, text.data());
    text.resize(size - 1);
  }
  if (result != 0)
    throw CompileError("[cuda] NVRTC " + nvrtc_version() + " refused a kernel for " + options.architecture +
                       " (" + api.error_string(result) + "); its source is " +
                       keep_refused_source(source, ".cu") + "\n" + text);
  if (log) *log = text;

  const bool is_virtual = options.architecture.starts_with("compute_");
  check((is_virtual ? api.ptx_size : api.cubin_size)(guard.program, &size), "nvrtcGetCUBINSize");
  std::vector<std::byte> code(size);
  check((is_virtual ? api.ptx : api.cubin)(guard.program, reinterpret_cast<char*>(code.data())),
        "nvrtcGetCUBIN");
  return code;
}

int spilled_bytes(const std::string& log) {
  const std::size_t at = log.find(" bytes spill stores");
  if (at == std::string::npos) return 0;
  const std::size_t before = log.find_last_of(" ,", at - 1);
  return std::atoi(log.c_str() + (before == std::string::npos ? 0 : before + 1));
}

std::vector<std::byte> run_nvrtc_for_blocks(const std::string& source, const CudaOptions& options,
                                            std::string* log) {
  CudaOptions reporting = options;
  reporting.more.push_back("--ptxas-options=-v");
  std::vector<std::byte> code = run_nvrtc(source, reporting, log);
  for (int blocks = wanted_blocks(source) - 1; blocks > 0 && spilled_bytes(*log) > 0; --blocks) {
    CudaOptions fewer = reporting;
    fewer.more.push_back("-DSN_BLOCKS=" + std::to_string(blocks));
    code = run_nvrtc(source, fewer, log);
  }
  return code;
}

std::vector<std::byte> compile_cuda(const std::string& source, const CudaOptions& options, Origin* origin) {
  dump_source(source, ".cu");
  KernelKey key;
  key.source = source;
  for (const std::string& option : option_list(options)) key.options += option + "\n";
  key.compiler = "nvrtc " + nvrtc_build();
  key.target = options.architecture;
  auto compile = [&] {
    const auto start = std::chrono::steady_clock::now();
    std::string log;
    std::vector<std::byte> code = run_nvrtc_for_blocks(source, options, &log);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (base::logs("compile"))
      base::log_line("compile", std::to_string(source.size()) + " bytes of CUDA C++ for " +
                                    options.architecture + ": " + std::to_string(took.count()) + " ms, " +
                                    std::to_string(code.size()) + " bytes of code, " +
                                    std::to_string(spilled_bytes(log)) + " bytes of registers spilled");
    return code;
  };
  return KernelCache::global().find_or(key, compile, origin);
}

}  // namespace sinter::compile
