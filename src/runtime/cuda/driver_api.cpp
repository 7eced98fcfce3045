// Opens the CUDA driver.
#include "src/runtime/cuda/driver_api.h"

#include <type_traits>

#include <dlfcn.h>

#include <sinter/error.h>

namespace sinter::runtime::cuda {

namespace {

struct Driver {
  DriverApi api;
  bool works = false;
  std::string problem;
};

// Requests the interface of CUDA 12.0: every later driver provides it unchanged. Edges of a kind came later,
// under a name that was there before.
constexpr int kInterfaceVersion = 12000, kVersionOfEdges = 12030;

Driver open_driver() {
  Driver driver;
  // The bare name libcuda.so may be the toolkit's stub, which is not a driver.
  void* handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    driver.problem = "libcuda.so.1 was not found: install the NVIDIA driver";
    return driver;
  }
  using GetProcAddress = Result (*)(const char*, void**, int, std::uint64_t, int*);
  const auto get = reinterpret_cast<GetProcAddress>(::dlsym(handle, "cuGetProcAddress_v2"));
  if (!get) {
    driver.problem = "the NVIDIA driver is older than CUDA 12.0: install driver 525 or newer";
    return driver;
  }
  std::string missing;
  auto load = [&](auto& function, const char* name, int version = kInterfaceVersion) {
    void* address = nullptr;
    int status = 0;
    if (get(name, &address, version, 0, &status) != kSuccess || !address) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  DriverApi& api = driver.api;
  load(api.init, "cuInit");
  load(api.driver_version, "cuDriverGetVersion");
  load(api.error_name, "cuGetErrorName");
  load(api.error_string, "cuGetErrorString");
  load(api.device_count, "cuDeviceGetCount");
  load(api.device_get, "cuDeviceGet");
  load(api.device_name, "cuDeviceGetName");
  load(api.device_attribute, "cuDeviceGetAttribute");
  load(api.device_total_memory, "cuDeviceTotalMem");
  load(api.primary_context_retain, "cuDevicePrimaryCtxRetain");
  load(api.primary_context_release, "cuDevicePrimaryCtxRelease");
  load(api.context_set_current, "cuCtxSetCurrent");
  load(api.stream_create, "cuStreamCreate");
  load(api.stream_destroy, "cuStreamDestroy");
  load(api.stream_synchronize, "cuStreamSynchronize");
  load(api.event_create, "cuEventCreate");
  load(api.event_destroy, "cuEventDestroy");
  load(api.event_record, "cuEventRecord");
  load(api.event_synchronize, "cuEventSynchronize");
  load(api.event_query, "cuEventQuery");
  load(api.stream_wait_event, "cuStreamWaitEvent");
  load(api.memory_allocate, "cuMemAlloc");
  load(api.memory_free, "cuMemFree");
  load(api.memory_info, "cuMemGetInfo");
  load(api.host_allocate, "cuMemHostAlloc");
  load(api.host_free, "cuMemFreeHost");
  load(api.host_device_pointer, "cuMemHostGetDevicePointer");
  load(api.copy_to_device, "cuMemcpyHtoDAsync");
  load(api.copy_to_host, "cuMemcpyDtoHAsync");
  load(api.fill_u32, "cuMemsetD32Async");
  load(api.copy_on_device, "cuMemcpyDtoDAsync");
  load(api.module_load, "cuModuleLoadData");
  load(api.module_unload, "cuModuleUnload");
  load(api.module_function, "cuModuleGetFunction");
  load(api.launch, "cuLaunchKernel");
  if (!missing.empty()) {
    driver.problem = "the NVIDIA driver lacks " + missing + ": install a newer one";
    return driver;
  }
  load(api.launch_with, "cuLaunchKernelEx");
  load(api.event_elapsed, "cuEventElapsedTime");
  load(api.occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  load(api.function_attribute, "cuFuncSetAttribute");
  load(api.tensor_map, "cuTensorMapEncodeTiled");
  load(api.tensor_map_of_windows, "cuTensorMapEncodeIm2col");
  missing.clear();
  load(api.graph_create, "cuGraphCreate");
  load(api.graph_destroy, "cuGraphDestroy");
  load(api.graph_add_kernel, "cuGraphAddKernelNode");
  load(api.graph_instantiate, "cuGraphInstantiateWithFlags");
  load(api.graph_exec_set_kernel, "cuGraphExecKernelNodeSetParams");
  load(api.graph_exec_destroy, "cuGraphExecDestroy");
  load(api.graph_launch, "cuGraphLaunch");
  if (!missing.empty()) api.graph_launch = nullptr;
  // An older driver would give the function of that name that knows no kinds.
  int version = 0;
  if (api.driver_version(&version) == kSuccess && version >= kVersionOfEdges)
    load(api.graph_add_edges, "cuGraphAddDependencies", kVersionOfEdges);
  load(api.stream_begin_capture, "cuStreamBeginCapture");
  load(api.stream_end_capture, "cuStreamEndCapture");
  load(api.graph_add_graph, "cuGraphAddChildGraphNode");
  load(api.graph_exec_set_graph, "cuGraphExecChildGraphNodeSetParams");
  const Result started = api.init(0);
  int count = 0;
  if (started == kSuccess && api.device_count(&count) == kSuccess && count > 0) {
    driver.works = true;
    return driver;
  }
  const char* name = "no device";
  if (started != kSuccess) api.error_name(started, &name);
  driver.problem = std::string("the NVIDIA driver found no GPU (") + name + ")";
  return driver;
}

const Driver& opened() {
  static const Driver& instance = *new Driver(open_driver());  // never destroyed: threads may launch
  return instance;
}

}  // namespace

const DriverApi* driver() { return opened().works ? &opened().api : nullptr; }

const std::string& driver_problem() { return opened().problem; }

void check(Result result, const char* what) {
  if (result == kSuccess) return;
  const char* name = "unknown error";
  const char* explanation = "";
  if (const DriverApi* api = driver()) {
    api->error_name(result, &name);
    api->error_string(result, &explanation);
  }
  throw DeviceError(std::string("[cuda] ") + what + " failed: " + name + " (" + explanation + ")");
}

}  // namespace sinter::runtime::cuda
