// All environment variables of Sinter, in one place. docs/environment.md describes them for users.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sinter/precision.h>

namespace sinter::base {

/// Read once, at first use. Tests change fields through `mutable_environment`.
struct Environment {
  std::string device;  // SINTER_DEVICE: name for Device::best(); empty: choose
  bool fusion = true;  // SINTER_FUSION=0: each op is a kernel of its own
  std::string
      cache_dir;      // SINTER_CACHE_DIR, else $XDG_CACHE_HOME/sinter, else $HOME/.cache/sinter; empty: none
  bool cache = true;  // SINTER_CACHE=0: no kernels on disk
  std::int64_t cache_limit_mib = 1024;  // SINTER_CACHE_LIMIT_MIB
  std::vector<std::string> log;         // SINTER_LOG: plan,ir,compile,tune,launch,memory,device
  std::string explain;                  // SINTER_EXPLAIN: file or folder for a report at exit
  std::string dump_kernels;             // SINTER_DUMP_KERNELS: folder for generated source
  std::int64_t host_threads = 0;        // SINTER_HOST_THREADS; 0: one per core
  std::string host = "auto";            // SINTER_HOST: auto, jit or interpreter
  std::string llvm;  // SINTER_LLVM: file of the libLLVM to open; empty: the newest that is found
  std::int64_t plan_limit_mib = 256;   // SINTER_PLAN_LIMIT_MIB: plans and kernels of each device; 0: no limit
  std::int64_t memory_limit_mib = 0;   // SINTER_MEMORY_LIMIT_MIB: of each device, 0: none
  bool cuda_graphs = true;             // SINTER_CUDA_GRAPHS=0: replays start launches one by one
  std::int64_t cuda_strands = 4;       // SINTER_CUDA_STRANDS: launches of a graph that may run at once
  std::int64_t trace_limit = 4096;     // SINTER_TRACE_LIMIT: recorded ops that trigger a flush
  std::int64_t longest_trace = 65536;  // SINTER_LONGEST_TRACE: the same within a step or a round of a loop
  std::int64_t recipe_bytes = -1;      // SINTER_RECIPE_BYTES: smaller held values are stored; -1: by device
  std::string autotune = "cached";     // SINTER_AUTOTUNE: off, cached, quick or full
  std::int64_t autotune_budget_ms = -1;  // SINTER_AUTOTUNE_BUDGET_MS: of a kernel; -1: by SINTER_AUTOTUNE
  /// SINTER_TUNE_<FAMILY>: parameters that are not to be chosen, by the family's name.
  std::map<std::string, std::string> tune_pins;
  bool cublaslt = true;   // SINTER_CUBLASLT=0: products are never NVIDIA's library's
  bool lone_rows = true;  // SINTER_LONE_ROWS=0: CUDA has no kernels of their own for few queries and one row
  bool score_tiles = true;  // SINTER_SCORE_TILES=0: tensor cores alone keep scores of attention
  bool warp_groups = true;  // SINTER_WARP_GROUPS=0: CUDA multiplies as cards older than Hopper do
  std::int64_t tiled_products = 1 << 30;  // SINTER_TILED_PRODUCTS: of convolutions in exact f32, by tiles
  bool anomaly = false;  // SINTER_ANOMALY=1: a gradient that is not finite throws, and names its operation
  bool cooperative_matrices = true;  // SINTER_COOPERATIVE_MATRICES=0: Vulkan keeps to ordinary lanes
  bool matrix_layout = true;         // SINTER_MATRIX_LAYOUT=0: nobody asks which lanes have what of matrices
  bool validation = false;           // SINTER_VULKAN_VALIDATION=1: validation layers on, messages are errors
  MatmulPrecision matmul_precision =
      MatmulPrecision::Highest;          // SINTER_MATMUL_PRECISION: highest, tf32x3, high or medium
  SumOrder sum_order = SumOrder::Fixed;  // SINTER_SUM_ORDER: fixed or any
  bool onednn = true;     // SINTER_ONEDNN=0: the host uses Sinter's own matrix product and convolution
  std::string amx = "1";  // SINTER_AMX: 0, 1 or emulated; the host's products by Intel's tiles
};

const Environment& environment();
Environment& mutable_environment();

/// True iff SINTER_LOG names `topic` (or "all").
bool logs(const char* topic);

/// One line to stderr: "sinter plan: ...". Call only when `logs(topic)`.
void log_line(const char* topic, const std::string& text);

/// Writes a warning to stderr, each distinct text once per process.
void warn_once(const std::string& text);

}  // namespace sinter::base
