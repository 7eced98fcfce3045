// Reads the environment variables and writes log lines.
#include "src/base/env.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <sstream>
#include <string_view>

#include <unistd.h>

#include <sinter/environment.h>
#include <sinter/error.h>

#include "src/base/fork.h"

extern char** environ;

namespace sinter {
namespace base {
namespace {

/// A program that runs with more rights than its caller (setuid, file capabilities) gets nothing from the
/// caller's environment: it names libraries to load, and folders for code and files.
std::string text(const char* name) {
#if defined(__linux__)
  const char* value = ::secure_getenv(name);
#else
  const char* value = ::geteuid() == ::getuid() && ::getegid() == ::getgid() ? std::getenv(name) : nullptr;
#endif
  return value ? value : "";
}

bool flag(const char* name, bool otherwise) {
  std::string value = text(name);
  if (value.empty()) return otherwise;
  if (value == "0" || value == "off" || value == "false") return false;
  if (value == "1" || value == "on" || value == "true") return true;
  throw Error(std::string("[environment] ") + name + " is \"" + value + "\"; it takes 0 or 1");
}

std::int64_t number(const char* name, std::int64_t otherwise) {
  std::string value = text(name);
  if (value.empty()) return otherwise;
  char* end = nullptr;
  std::int64_t result = std::strtoll(value.c_str(), &end, 10);
  if (*end != 0 || result < 0)
    throw Error(std::string("[environment] ") + name + " is \"" + value + "\"; it takes a whole number");
  return result;
}

MatmulPrecision precision_of(const std::string& name) {
  for (const auto precision :
       {MatmulPrecision::Highest, MatmulPrecision::Tf32x3, MatmulPrecision::High, MatmulPrecision::Medium})
    if (name == name_of(precision)) return precision;
  throw Error("[environment] SINTER_MATMUL_PRECISION is \"" + name +
              "\"; it takes highest, tf32x3, high or medium");
}

SumOrder sum_order_of(const std::string& name) {
  for (const SumOrder order : {SumOrder::Fixed, SumOrder::Any})
    if (name == name_of(order)) return order;
  throw Error("[environment] SINTER_SUM_ORDER is \"" + name + "\"; it takes fixed or any");
}

/// Of all families, so that a name which no kernel asks for is an error and not overlooked.
void read_pins(Environment& e) {
  e.tune_pins["COMPUTED_FACTORS"] = text("SINTER_TUNE_COMPUTED_FACTORS");
  e.tune_pins["TENSOR_CORES"] = text("SINTER_TUNE_TENSOR_CORES");
  constexpr std::string_view kPrefix = "SINTER_TUNE_";
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view setting = *entry;
    if (!setting.starts_with(kPrefix)) continue;
    const std::string name(setting.substr(0, setting.find('=')));
    if (e.tune_pins.contains(name.substr(kPrefix.size())) || text(name.c_str()).empty()) continue;
    std::string families;
    for (const auto& [family, pin] : e.tune_pins) families += (families.empty() ? "" : ", ") + family;
    throw Error("[environment] " + name + " is set, and there is no such family of kernels; there is " +
                families);
  }
}

std::string default_cache_dir() {
  if (std::string dir = text("SINTER_CACHE_DIR"); !dir.empty()) return dir;
  if (std::string dir = text("XDG_CACHE_HOME"); !dir.empty()) return dir + "/sinter";
  if (std::string dir = text("HOME"); !dir.empty()) return dir + "/.cache/sinter";
  return "";
}

Environment read() {
  Environment e;
  e.device = text("SINTER_DEVICE");
  e.fusion = flag("SINTER_FUSION", e.fusion);
  e.cache_dir = default_cache_dir();
  e.cache = flag("SINTER_CACHE", e.cache);
  e.cache_limit_mib = number("SINTER_CACHE_LIMIT_MIB", e.cache_limit_mib);
  std::stringstream topics(text("SINTER_LOG"));
  for (std::string topic; std::getline(topics, topic, ',');) e.log.push_back(topic);
  e.explain = text("SINTER_EXPLAIN");
  e.dump_kernels = text("SINTER_DUMP_KERNELS");
  e.host_threads = number("SINTER_HOST_THREADS", e.host_threads);
  if (std::string host = text("SINTER_HOST"); !host.empty()) e.host = host;
  if (e.host != "auto" && e.host != "jit" && e.host != "interpreter")
    throw Error("[environment] SINTER_HOST is \"" + e.host + "\"; it takes auto, jit or interpreter");
  e.llvm = text("SINTER_LLVM");
  // Bytes of it fit into 63 bits.
  e.plan_limit_mib = std::min(number("SINTER_PLAN_LIMIT_MIB", e.plan_limit_mib), std::int64_t{1} << 40);
  e.memory_limit_mib = number("SINTER_MEMORY_LIMIT_MIB", e.memory_limit_mib);
  e.cuda_graphs = flag("SINTER_CUDA_GRAPHS", e.cuda_graphs);
  e.cuda_strands = std::clamp<std::int64_t>(number("SINTER_CUDA_STRANDS", e.cuda_strands), 1, 4);
  e.trace_limit = std::max<std::int64_t>(1, number("SINTER_TRACE_LIMIT", e.trace_limit));
  e.longest_trace = number("SINTER_LONGEST_TRACE", e.longest_trace);
  if (std::string mode = text("SINTER_AUTOTUNE"); !mode.empty()) e.autotune = mode;
  if (e.autotune != "off" && e.autotune != "cached" && e.autotune != "quick" && e.autotune != "full")
    throw Error("[environment] SINTER_AUTOTUNE is \"" + e.autotune +
                "\"; it takes off, cached, quick or full");
  e.autotune_budget_ms = number("SINTER_AUTOTUNE_BUDGET_MS", e.autotune_budget_ms);
  read_pins(e);
  e.cublaslt = flag("SINTER_CUBLASLT", e.cublaslt);
  e.lone_rows = flag("SINTER_LONE_ROWS", e.lone_rows);
  e.score_tiles = flag("SINTER_SCORE_TILES", e.score_tiles);
  e.warp_groups = flag("SINTER_WARP_GROUPS", e.warp_groups);
  e.tiled_products = number("SINTER_TILED_PRODUCTS", e.tiled_products);
  e.cooperative_matrices = flag("SINTER_COOPERATIVE_MATRICES", e.cooperative_matrices);
  e.matrix_layout = flag("SINTER_MATRIX_LAYOUT", e.matrix_layout);
  e.anomaly = flag("SINTER_ANOMALY", e.anomaly);
  e.validation = flag("SINTER_VULKAN_VALIDATION", e.validation);
  e.recipe_bytes = number("SINTER_RECIPE_BYTES", e.recipe_bytes);
  e.onednn = flag("SINTER_ONEDNN", e.onednn);
  if (std::string amx = text("SINTER_AMX"); !amx.empty()) e.amx = amx;
  if (e.amx != "0" && e.amx != "1" && e.amx != "emulated")
    throw Error("[environment] SINTER_AMX is \"" + e.amx + "\"; it takes 0, 1 or emulated");
  if (const std::string precision = text("SINTER_MATMUL_PRECISION"); !precision.empty())
    e.matmul_precision = precision_of(precision);
  if (const std::string order = text("SINTER_SUM_ORDER"); !order.empty()) e.sum_order = sum_order_of(order);
  return e;
}

}  // namespace

Environment& mutable_environment() {
  // Never destroyed: threads and values may outlive static objects.
  static Environment& instance = *new Environment(read());
  return instance;
}

const Environment& environment() { return mutable_environment(); }

bool logs(const char* topic) {
  for (const std::string& name : environment().log)
    if (name == topic || name == "all") return true;
  return false;
}

void log_line(const char* topic, const std::string& line) {
  std::fprintf(stderr, "sinter %s: %s\n", topic, line.c_str());
}

void warn_once(const std::string& warning) {
  static ForkMutex& mutex = *new ForkMutex;  // never destroyed, as a warning may come late
  static std::set<std::string>& seen = *new std::set<std::string>;
  constexpr std::size_t kMost = 1000;  // texts that are remembered: some name sizes or files
  std::lock_guard lock(mutex);
  if (seen.size() >= kMost && !seen.contains(warning)) seen.clear();
  if (seen.insert(warning).second) std::fprintf(stderr, "sinter warning: %s\n", warning.c_str());
}

}  // namespace base

std::vector<EnvironmentVariable> environment_variables() {
  const base::Environment& e = base::environment();
  std::string topics;
  for (const std::string& topic : e.log) topics += (topics.empty() ? "" : ",") + topic;
  auto onoff = [](bool b) { return std::string(b ? "1" : "0"); };
  return {
      {"SINTER_DEVICE", e.device,
       "device that Device::best() gives: host, cuda, cuda:1, vulkan, vulkan:0, null"},
      {"SINTER_FUSION", onoff(e.fusion), "0: every operation is a kernel of its own"},
      {"SINTER_CACHE", onoff(e.cache), "0: keep no compiled kernels on disk"},
      {"SINTER_CACHE_DIR", e.cache_dir, "folder for compiled kernels"},
      {"SINTER_CACHE_LIMIT_MIB", std::to_string(e.cache_limit_mib),
       "size beyond which the oldest kernels are removed"},
      {"SINTER_LOG", topics, "what to log: plan, ir, compile, tune, launch, memory, device, all"},
      {"SINTER_EXPLAIN", e.explain,
       "report at the end: a .txt, .json or .svg file, else a folder for all three"},
      {"SINTER_DUMP_KERNELS", e.dump_kernels, "folder that receives the source of every kernel"},
      {"SINTER_HOST_THREADS", std::to_string(e.host_threads), "threads of the host device; 0: one per core"},
      {"SINTER_HOST", e.host,
       "how the host device runs kernels: auto, jit (machine code through LLVM) or interpreter"},
      {"SINTER_LLVM", e.llvm,
       "file of the libLLVM that compiles for the host device; empty: the newest that is found"},
      {"SINTER_PLAN_LIMIT_MIB", std::to_string(e.plan_limit_mib),
       "most host memory that the plans and kernels of each device take; 0: no limit"},
      {"SINTER_MEMORY_LIMIT_MIB", std::to_string(e.memory_limit_mib),
       "most memory that each device holds; 0: all there is"},
      {"SINTER_CUDA_GRAPHS", onoff(e.cuda_graphs),
       "0: CUDA kernels are launched one by one, also those of known plans"},
      {"SINTER_CUDA_STRANDS", std::to_string(e.cuda_strands),
       "launches of a CUDA graph that may run at the same time, 1 to 4"},
      {"SINTER_TRACE_LIMIT", std::to_string(e.trace_limit),
       "operations recorded before a flush happens by itself"},
      {"SINTER_LONGEST_TRACE", std::to_string(e.longest_trace),
       "the same within a step, or a round of a loop, that is known to be longer"},
      {"SINTER_RECIPE_BYTES", e.recipe_bytes < 0 ? "" : std::to_string(e.recipe_bytes),
       "values of fewer bytes are stored wherever they are held; empty: the device decides"},
      {"SINTER_AUTOTUNE", e.autotune,
       "how tiles of products are chosen: off, cached (by what was measured before), quick or full (by "
       "timing)"},
      {"SINTER_AUTOTUNE_BUDGET_MS", e.autotune_budget_ms < 0 ? "" : std::to_string(e.autotune_budget_ms),
       "most milliseconds that the choice for a kernel may take; empty: as SINTER_AUTOTUNE says"},
      {"SINTER_TUNE_TENSOR_CORES", e.tune_pins.at("TENSOR_CORES"),
       "tiles on tensor cores: rows=,columns=,slots=,workgroups=,turns=,subgroup_rows=,sharers=,near=; "
       "empty: chosen"},
      {"SINTER_TUNE_COMPUTED_FACTORS", e.tune_pins.at("COMPUTED_FACTORS"),
       "likewise where lanes compute a factor, with loaders= too"},
      {"SINTER_CUBLASLT", onoff(e.cublaslt),
       "0: CUDA devices compute products by Sinter's own kernels alone, never by cuBLASLt"},
      {"SINTER_LONE_ROWS", onoff(e.lone_rows),
       "0: attention of few queries and products of one row have no kernels of their own on CUDA"},
      {"SINTER_SCORE_TILES", onoff(e.score_tiles),
       "0: where tensor cores do not keep the scores of attention out of memory, ordinary lanes and "
       "threads of a processor do not either"},
      {"SINTER_WARP_GROUPS", onoff(e.warp_groups),
       "0: on compute capability 9.0 each warp multiplies by itself, as on other cards with tensor cores"},
      {"SINTER_TILED_PRODUCTS", std::to_string(e.tiled_products),
       "multiplications from which on CUDA devices compute a convolution of f32 by tiles where it may not be "
       "rounded"},
      {"SINTER_MATRIX_LAYOUT", onoff(e.matrix_layout),
       "0 keeps scores on Vulkan's cooperative matrices in shared memory"},
      {"SINTER_COOPERATIVE_MATRICES", onoff(e.cooperative_matrices),
       "0: Vulkan devices multiply 16-bit floats on ordinary lanes, not by cooperative matrices"},
      {"SINTER_ANOMALY", onoff(e.anomaly),
       "1: each gradient is looked at; one that is not finite is an error that names its operation"},
      {"SINTER_VULKAN_VALIDATION", onoff(e.validation), "1: Vulkan validation layers, messages are errors"},
      {"SINTER_MATMUL_PRECISION", std::string(name_of(e.matmul_precision)),
       "what becomes of the factors of products of f32: highest, tf32x3, high (tf32) or medium (bf16)"},
      {"SINTER_SUM_ORDER", std::string(name_of(e.sum_order)),
       "how GPUs add up floats that an index sends to one place: fixed, the same bits each time, or any"},
      {"SINTER_ONEDNN", onoff(e.onednn), "0: the host uses its own matrix product and convolution"},
      {"SINTER_AMX", e.amx, "0: the host does not multiply by tiles (Intel AMX); emulated: as if, for tests"},
  };
}

}  // namespace sinter
