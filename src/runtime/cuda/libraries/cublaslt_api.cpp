// Opens cuBLASLt.
#include "src/runtime/cuda/libraries/cublaslt_api.h"

#include <type_traits>

#include <dlfcn.h>

#include "src/base/env.h"

namespace sinter::runtime::cuda {

namespace {

struct Library {
  LtApi api;
  bool works = false;
  std::string line;  // of the log
};

Library open_library() {
  Library library;
  void* handle = nullptr;
  const char* name = "";
  // As NVRTC is looked for: by the loader's own search, then where the toolkit's installers put it.
  for (const char* each :
       {"libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
        "/usr/local/cuda/lib64/libcublasLt.so.12", "/opt/cuda/lib64/libcublasLt.so.13",
        "/opt/cuda/lib64/libcublasLt.so.12"}) {
    handle = ::dlopen(name = each, RTLD_NOW | RTLD_LOCAL);
    if (handle) break;
  }
  if (!handle) {
    library.line = "neither libcublasLt.so.13 nor libcublasLt.so.12 was found: products are computed without";
    return library;
  }
  std::string missing;
  auto load = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, symbol));
    if (!function) missing = symbol;
  };
  LtApi& api = library.api;
  std::size_t (*version)() = nullptr;
  load(version, "cublasLtGetVersion");
  load(api.create, "cublasLtCreate");
  load(api.destroy, "cublasLtDestroy");
  load(api.status_name, "cublasLtGetStatusName");
  load(api.matmul_create, "cublasLtMatmulDescCreate");
  load(api.matmul_destroy, "cublasLtMatmulDescDestroy");
  load(api.matmul_set, "cublasLtMatmulDescSetAttribute");
  load(api.layout_create, "cublasLtMatrixLayoutCreate");
  load(api.layout_destroy, "cublasLtMatrixLayoutDestroy");
  load(api.layout_set, "cublasLtMatrixLayoutSetAttribute");
  load(api.preference_create, "cublasLtMatmulPreferenceCreate");
  load(api.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  load(api.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  load(api.suggest, "cublasLtMatmulAlgoGetHeuristic");
  load(api.matmul, "cublasLtMatmul");
  if (!missing.empty()) {
    library.line = std::string(name) + " lacks " + missing + ": products are computed without";
    return library;
  }
  api.version = static_cast<std::uint32_t>(version());
  library.works = true;
  library.line = "cuBLASLt " + cublaslt_name(api.version) + " is " + name;
  return library;
}

}  // namespace

base::ExitGate& cublaslt_gate() {
  static base::ExitGate& instance = *new base::ExitGate([] { cublaslt_gate().close(); });
  return instance;
}

const LtApi* cublaslt() {
  static const Library& instance = *[] {  // never destroyed: threads may launch
    const base::ExitGate::Entry entry(cublaslt_gate());
    auto* opened = new Library;
    if (entry)
      *opened = open_library();
    else
      opened->line = "cuBLASLt is not opened any more: the process ends";
    if (opened->works) cublaslt_gate().renew();
    if (base::logs("device")) base::log_line("device", opened->line);
    return opened;
  }();
  return instance.works ? &instance.api : nullptr;
}

std::string cublaslt_name(std::uint32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace sinter::runtime::cuda
