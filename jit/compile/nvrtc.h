// CUDA C++ to device code through NVRTC, which is opened at run time: without it a program starts all the
// same.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jit/compile/kernel_cache.h"

namespace sinter::compile {

/// True iff NVRTC could be opened.
bool has_nvrtc();
/// Why not, and what to do.
std::string nvrtc_unavailable_reason();
/// "13.0".
std::string nvrtc_version();
/// With the build of the library that was opened, for cache keys: "13.0 libnvrtc.so.13.0.48 build 09ab...".
std::string nvrtc_build();

/// The compiler's name of a compute capability: "sm_90a" for 9.0. A device newer than the compiler gets the
/// newest virtual architecture that the compiler knows, "compute_120", which the driver translates.
std::string cuda_architecture(int major, int minor);

struct CudaOptions {
  std::string architecture;       // from cuda_architecture
  bool contract = false;          // a * b + c may be fused; hand-written kernels only
  std::vector<std::string> more;  // further options of NVRTC, and definitions: "-DTILE=64"
};

/// Device code that cuModuleLoadData takes: a cubin, or PTX for a virtual architecture. From the kernel cache
/// where it has it (`origin`). May be called from several threads. Throws CompileError with the path of
/// the source and the log.
std::vector<std::byte> compile_cuda(const std::string& source, const CudaOptions& options,
                                    Origin* origin = nullptr);

/// Compiles without the cache; `log` gets what the compiler says of a success.
std::vector<std::byte> run_nvrtc(const std::string& source, const CudaOptions& options,
                                 std::string* log = nullptr);

/// The same for a source that defines SN_BLOCKS, the blocks that a multiprocessor is to hold at once, unless
/// it is defined before: compiled again for one block less as long as registers are spilled to memory. `log`
/// is that of the last time. compile_cuda calls it for all sources.
std::vector<std::byte> run_nvrtc_for_blocks(const std::string& source, const CudaOptions& options,
                                            std::string* log);

/// Bytes that a kernel stores to memory for want of registers, by such a log.
int spilled_bytes(const std::string& log);

}  // namespace sinter::compile
