// Opens cuSOLVER.
#include "src/runtime/cuda/libraries/solver_api.h"

#include <type_traits>
#include <utility>

#include <dlfcn.h>

#include "src/base/env.h"

namespace sinter::runtime::cuda {

namespace {

struct Library {
  SolverApi api;
  bool works = false;
  std::string problem;
};

Library open_library() {
  Library library;
  void* handle = nullptr;
  const char* found = nullptr;
  // By name first: the loader's own search. Then where the toolkit's installers put it. CUDA 13 has version
  // 12, CUDA 12 version 11.
  for (const char* name :
       {"libcusolver.so.12", "libcusolver.so.11", "/usr/local/cuda/lib64/libcusolver.so.12",
        "/usr/local/cuda/lib64/libcusolver.so.11", "/opt/cuda/lib64/libcusolver.so.12",
        "/opt/cuda/lib64/libcusolver.so.11"}) {
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    found = name;
    if (handle) break;
  }
  if (!handle) {
    library.problem =
        "neither libcusolver.so.12 nor libcusolver.so.11 was found: install cuSOLVER, a part of the CUDA "
        "toolkit";
    return library;
  }
  std::string missing;
  const auto load = [&](auto& function, const std::string& name) {
    void* address = ::dlsym(handle, name.c_str());
    if (!address) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  SolverApi& api = library.api;
  load(api.create, "cusolverDnCreate");
  load(api.destroy, "cusolverDnDestroy");
  load(api.set_stream, "cusolverDnSetStream");
  load(api.create_jacobi, "cusolverDnCreateGesvdjInfo");
  load(api.destroy_jacobi, "cusolverDnDestroyGesvdjInfo");
  load(api.sort_jacobi, "cusolverDnXgesvdjSetSortEig");
  for (const char* letter : {"S", "D"}) {
    SolverRoutines& routines = *letter == 'S' ? api.f32 : api.f64;
    const std::string prefix = std::string("cusolverDn") + letter;
    load(routines.potrf_size, prefix + "potrf_bufferSize");
    load(routines.potrf, prefix + "potrf");
    load(routines.potrf_batched, prefix + "potrfBatched");
    load(routines.getrf_size, prefix + "getrf_bufferSize");
    load(routines.getrf, prefix + "getrf");
    load(routines.getrs, prefix + "getrs");
    load(routines.geqrf_size, prefix + "geqrf_bufferSize");
    load(routines.geqrf, prefix + "geqrf");
    load(routines.orgqr_size, prefix + "orgqr_bufferSize");
    load(routines.orgqr, prefix + "orgqr");
    load(routines.syevd_size, prefix + "syevd_bufferSize");
    load(routines.syevd, prefix + "syevd");
    load(routines.gesvd_size, prefix + "gesvd_bufferSize");
    load(routines.gesvd, prefix + "gesvd");
    load(routines.gesvdj_size, prefix + "gesvdj_bufferSize");
    load(routines.gesvdj, prefix + "gesvdj");
    load(routines.gesvdj_batched_size, prefix + "gesvdjBatched_bufferSize");
    load(routines.gesvdj_batched, prefix + "gesvdjBatched");
  }
  if (!missing.empty()) {
    library.problem = std::string(found) + " lacks " + missing + ": install a newer cuSOLVER";
    return library;
  }
  // What is missing from here on leaves matrices of a batch to be decomposed one after the other.
  load(api.batched_eigen.create_parameters, "cusolverDnCreateParams");
  load(api.batched_eigen.destroy_parameters, "cusolverDnDestroyParams");
  load(api.batched_eigen.size, "cusolverDnXsyevBatched_bufferSize");
  load(api.batched_eigen.syev, "cusolverDnXsyevBatched");
  api.has_batched_eigen = missing.empty();
  // The cuBLAS that cuSOLVER itself uses: dlsym looks through what a library depends on, too.
  std::string all_missing = std::exchange(missing, {});
  load(api.blas.create, "cublasCreate_v2");
  load(api.blas.destroy, "cublasDestroy_v2");
  load(api.blas.set_stream, "cublasSetStream_v2");
  for (const char* letter : {"S", "D"}) {
    BlasRoutines& routines = *letter == 'S' ? api.blas.f32 : api.blas.f64;
    const std::string prefix = std::string("cublas") + letter;
    load(routines.getrf_batched, prefix + "getrfBatched");
    load(routines.getrs_batched, prefix + "getrsBatched");
    load(routines.geqrf_batched, prefix + "geqrfBatched");
    load(routines.trsm, prefix + "trsm_v2");
    load(routines.trsm_batched, prefix + "trsmBatched");
  }
  api.has_blas = missing.empty();
  if (!missing.empty()) all_missing += (all_missing.empty() ? "" : " and ") + missing;
  if (base::logs("device"))
    base::log_line("device",
                   std::string("cuSOLVER: ") + found +
                       (all_missing.empty() ? "" : ", which lacks " + all_missing + " for batches"));
  library.works = true;
  return library;
}

const Library& opened() {
  static const Library& instance = *new Library(open_library());  // never destroyed: threads may decompose
  return instance;
}

}  // namespace

const SolverApi* solver_api() { return opened().works ? &opened().api : nullptr; }

const std::string& solver_problem() { return opened().problem; }

}  // namespace sinter::runtime::cuda
