// The part of the CUDA driver's interface that Sinter uses. The driver is opened at run time and the
// declarations are our own, so that building needs no toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sinter::runtime::cuda {

using Result = int;  // CUresult
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotReady = 600;
inline constexpr Result kNotSupported = 801;

using DeviceId = int;                 // CUdevice
using DevicePointer = std::uint64_t;  // CUdeviceptr
struct ContextTag;
struct StreamTag;
struct EventTag;
struct ModuleTag;
struct FunctionTag;
struct GraphTag;
struct GraphExecTag;
struct GraphNodeTag;
using Context = ContextTag*;
using Stream = StreamTag*;
using Event = EventTag*;
using Module = ModuleTag*;
using Function = FunctionTag*;
using Graph = GraphTag*;
using GraphExec = GraphExecTag*;
using GraphNode = GraphNodeTag*;

/// CUdevice_attribute.
enum class Attribute : int {
  MultiprocessorCount = 16,
  SecondLevelCacheBytes = 38,
  ComputeMajor = 75,
  ComputeMinor = 76,
  SharedBytesOptIn = 97,
  ClusterLaunch = 120
};
/// CUfunction_attribute: how much shared memory a launch may ask for.
inline constexpr int kMostDynamicSharedBytes = 8;

/// CUtensorMap: what the copy engine is told of a tensor.
struct alignas(64) TensorMap {
  std::uint64_t words[16] = {};
};
enum class TensorMapType : int { U8 = 0, F16 = 6, BF16 = 9, TF32 = 11 };  // TF32: f32, rounded on the way

inline constexpr int kCaptureRelaxed = 2;  // CUstreamCaptureMode: forbids nothing to any thread
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventTiming = 0, kEventDisableTiming = 2;
inline constexpr unsigned kHostMapped = 2;  // CU_MEMHOSTALLOC_DEVICEMAP

/// CUDA_KERNEL_NODE_PARAMS of CUDA 12.0 and later (its version 2).
struct KernelNode {
  Function function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void** parameters = nullptr;  // the driver copies the values, by the function's signature
  void** extra = nullptr;
  void* kernel = nullptr;   // unused: `function` is set
  void* context = nullptr;  // unused: the current context
};
static_assert(sizeof(KernelNode) == 72);

/// CUlaunchAttribute, for programmatic dependent launch: lets a kernel start before earlier kernels in the
/// stream have ended.
struct LaunchAttribute {
  int id = 6;  // CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
  int unused = 0;
  int allowed = 1;
  char rest[60] = {};
};
static_assert(sizeof(LaunchAttribute) == 72);

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
static_assert(sizeof(LaunchConfig) == 56);

/// CUgraphEdgeData, likewise for the nodes of a graph.
struct GraphEdge {
  unsigned char from_port = 1;  // CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC
  unsigned char to_port = 0;
  unsigned char type = 1;  // CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
  unsigned char rest[5] = {};
};
static_assert(sizeof(GraphEdge) == 8);

struct DriverApi {
  Result (*init)(unsigned) = nullptr;
  Result (*driver_version)(int*) = nullptr;
  Result (*error_name)(Result, const char**) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;
  Result (*device_count)(int*) = nullptr;
  Result (*device_get)(DeviceId*, int) = nullptr;
  Result (*device_name)(char*, int, DeviceId) = nullptr;
  Result (*device_attribute)(int*, Attribute, DeviceId) = nullptr;
  Result (*device_total_memory)(std::size_t*, DeviceId) = nullptr;
  Result (*primary_context_retain)(Context*, DeviceId) = nullptr;
  Result (*primary_context_release)(DeviceId) = nullptr;
  Result (*context_set_current)(Context) = nullptr;
  Result (*stream_create)(Stream*, unsigned) = nullptr;
  Result (*stream_destroy)(Stream) = nullptr;
  Result (*stream_synchronize)(Stream) = nullptr;
  Result (*event_create)(Event*, unsigned) = nullptr;
  Result (*event_destroy)(Event) = nullptr;
  Result (*event_record)(Event, Stream) = nullptr;
  Result (*event_synchronize)(Event) = nullptr;
  Result (*event_query)(Event) = nullptr;
  Result (*stream_wait_event)(Stream, Event, unsigned) = nullptr;
  Result (*memory_allocate)(DevicePointer*, std::size_t) = nullptr;
  Result (*memory_free)(DevicePointer) = nullptr;
  Result (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  Result (*host_allocate)(void**, std::size_t, unsigned) = nullptr;
  Result (*host_free)(void*) = nullptr;
  Result (*host_device_pointer)(DevicePointer*, void*, unsigned) = nullptr;
  Result (*copy_to_device)(DevicePointer, const void*, std::size_t, Stream) = nullptr;
  Result (*copy_to_host)(void*, DevicePointer, std::size_t, Stream) = nullptr;
  Result (*fill_u32)(DevicePointer, unsigned, std::size_t, Stream) = nullptr;
  Result (*copy_on_device)(DevicePointer to, DevicePointer from, std::size_t, Stream) = nullptr;
  Result (*module_load)(Module*, const void*) = nullptr;
  Result (*module_unload)(Module) = nullptr;
  Result (*module_function)(Function*, Module, const char*) = nullptr;
  Result (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                   void**, void**) = nullptr;
  Result (*launch_with)(const LaunchConfig*, Function, void**,
                        void**) = nullptr;  // null: not in this driver

  // For timing launches; null: not in this driver.
  Result (*event_elapsed)(float* milliseconds, Event, Event) = nullptr;

  /// How many workgroups of so many lanes and so much shared memory a multiprocessor runs at once; null: not
  /// in this driver.
  Result (*occupancy)(int* workgroups, Function, int lanes, std::size_t shared_bytes) = nullptr;

  // For tensor cores; null: not in this driver.
  Result (*function_attribute)(Function, int, int) = nullptr;
  Result (*tensor_map)(TensorMap*, TensorMapType, unsigned rank, void* address, const std::uint64_t* sizes,
                       const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,
                       int interleave, int swizzle, int promotion, int fill) = nullptr;
  Result (*tensor_map_of_windows)(TensorMap*, TensorMapType, unsigned rank, void* address,
                                  const std::uint64_t* sizes, const std::uint64_t* strides, const int* lower,
                                  const int* upper, std::uint32_t channels, std::uint32_t pixels,
                                  const std::uint32_t* steps, int interleave, int swizzle, int promotion,
                                  int fill) = nullptr;

  // Graph functions, which a driver may lack: check has_graphs().
  Result (*graph_create)(Graph*, unsigned) = nullptr;
  Result (*graph_destroy)(Graph) = nullptr;
  Result (*graph_add_kernel)(GraphNode*, Graph, const GraphNode*, std::size_t, const KernelNode*) = nullptr;
  Result (*graph_instantiate)(GraphExec*, Graph, unsigned long long) = nullptr;
  Result (*graph_exec_set_kernel)(GraphExec, GraphNode, const KernelNode*) = nullptr;
  Result (*graph_exec_destroy)(GraphExec) = nullptr;
  Result (*graph_launch)(GraphExec, Stream) = nullptr;
  bool has_graphs() const { return graph_launch != nullptr; }

  /// Edges of a kind, from CUDA 12.3 on; null: not in this driver.
  Result (*graph_add_edges)(Graph, const GraphNode* from, const GraphNode* to, const GraphEdge*,
                            std::size_t) = nullptr;

  // For what others put on a stream, as nodes of graphs; a driver may lack these, too.
  Result (*stream_begin_capture)(Stream, int mode) = nullptr;
  Result (*stream_end_capture)(Stream, Graph*) = nullptr;
  Result (*graph_add_graph)(GraphNode*, Graph, const GraphNode*, std::size_t, Graph) = nullptr;
  Result (*graph_exec_set_graph)(GraphExec, GraphNode, Graph) = nullptr;
  bool has_captures() const {
    return stream_begin_capture && stream_end_capture && graph_add_graph && graph_exec_set_graph;
  }
};

/// The driver, opened and initialised at the first call; null where none works.
const DriverApi* driver();

/// Why `driver()` is null or has no device, and what to do; empty otherwise.
const std::string& driver_problem();

/// Throws DeviceError with the driver's name of the error, unless `result` is success.
void check(Result result, const char* what);

}  // namespace sinter::runtime::cuda
