// A CUDA driver for machines without a GPU: device memory is host memory, and a launch runs its threads one
// after the other as fibers that switch at barriers. Built as libcuda.so.1 and found through LD_LIBRARY_PATH.
// It is stricter than a GPU. Errors are: a barrier that some threads of a block never reach, freeing memory
// that was never allocated, copies from and to memory that is not page-locked, and a stream used with another
// device's context. SINTER_EMULATION_DEVICES sets the number of devices (default: one).
#include "driver.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "card.h"
#include "fiber.h"
#include "interface.h"
#include "services.h"
#include "streams.h"

namespace {

using namespace sinter_emulation;

/// Runs the threads of a block, or of the blocks of a cluster.
class Block {
 public:
  static Block& instance() {
    static Block block;
    return block;
  }

  State state{};

  /// `state.block` is the first of so many.
  bool run(void (*kernel)(void**), void** arguments, unsigned cluster) {
    kernel_ = kernel;
    arguments_ = arguments;
    const unsigned of_block = state.block_size.x * state.block_size.y * state.block_size.z,
                   count = of_block * cluster, first = state.block.x;
    while (lanes_.size() < count) lanes_.push_back(std::make_unique<Lane>());
    for (unsigned t = 0; t < count; ++t) {
      lanes_[t]->status = Status::Ready;
      lanes_[t]->parity = 0;
    }
    count_ = count;
    of_block_ = of_block;
    while (true) {
      bool ran = false;
      for (unsigned t = 0; t < count; ++t) {
        if (lanes_[t]->status != Status::Ready) continue;
        ran = true;
        current_ = t;
        const unsigned own = t % of_block;
        state.block.x = first + t / of_block;
        state.thread = {own % state.block_size.x, own / state.block_size.x % state.block_size.y,
                        own / (state.block_size.x * state.block_size.y)};
        lanes_[t]->fiber.resume(&Block::run_lane);
      }
      // Those that only let others run may wait for some that are at a barrier.
      if (!wake() && !ran) break;
    }
    bool are_done = true;
    for (unsigned t = 0; t < count; ++t)
      if (lanes_[t]->status != Status::Done) {
        are_done = false;
        lanes_[t]->fiber.forget();
      }
    return are_done;
  }

 private:
  enum class Status { Ready, AtWarp, AtBlock, Done };
  struct Lane {
    Fiber fiber;
    Status status = Status::Done;
    // Double-buffered: a lane may write its next value before all have read this one.
    unsigned char offered[2][16];
    int parity = 0;
  };

  Block() {
    state.wait_for_block = [] { instance().wait(Status::AtBlock); };
    state.wait_for_warp = [] { instance().wait(Status::AtWarp); };
    state.yield = [] { instance().wait(Status::Ready); };
    state.exchange = [](const void* value, void* other, unsigned long bytes, int mask) {
      Block& block = instance();
      const unsigned self = block.current_;
      const int parity = block.lanes_[self]->parity ^= 1;
      std::memcpy(block.lanes_[self]->offered[parity], value, bytes);
      block.wait(Status::AtWarp);
      std::memcpy(other, block.lanes_[self ^ static_cast<unsigned>(mask)]->offered[parity], bytes);
    };
  }

  /// The same lane of one block after the other.
  static void run_lane() {
    Block& block = instance();
    while (true) {
      block.kernel_(block.arguments_);
      block.wait(Status::Done);
    }
  }

  void wait(Status status) {
    Lane& lane = *lanes_[current_];
    lane.status = status;
    lane.fiber.pause();
  }

  /// Wakes the groups of threads that have all arrived at their barrier; false when there are none.
  bool wake() {
    bool any = false;
    auto all_at = [&](unsigned from, unsigned to, Status status) {
      for (unsigned t = from; t < to; ++t)
        if (lanes_[t]->status != status) return false;
      for (unsigned t = from; t < to; ++t) lanes_[t]->status = Status::Ready;
      return any = true;
    };
    for (unsigned warp = 0; warp < count_; warp += 32)
      all_at(warp, std::min(warp + 32, count_), Status::AtWarp);
    if (any) return true;
    for (unsigned block = 0; block < count_; block += of_block_)
      all_at(block, block + of_block_, Status::AtBlock);
    return any;
  }

  std::vector<std::unique_ptr<Lane>> lanes_;
  unsigned current_ = 0, count_ = 0, of_block_ = 0;
  void (*kernel_)(void**) = nullptr;
  void** arguments_ = nullptr;
};

constexpr int kMostDevices = 8;
struct Allocation {
  std::size_t bytes;
  int device;
};
std::map<std::uint64_t, Allocation> allocations;
std::size_t allocated[kMostDevices];
std::map<std::uint64_t, std::size_t> page_locked;
std::set<void*> mapped;  // page-locked memory that kernels may use
thread_local int device_of_thread = -1;

struct LoadedModule {
  void* handle;
  std::map<std::string, Function> functions;
};

int init(unsigned) { return kSuccess; }
int driver_version(int* version) { return *version = 12080, kSuccess; }
int error_name(int result, const char** name) {
  *name = result == kSuccess        ? "CUDA_SUCCESS"
          : result == kOutOfMemory  ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kInvalidImage ? "CUDA_ERROR_INVALID_IMAGE"
          : result == kLaunchFailed ? "CUDA_ERROR_LAUNCH_FAILED"
                                    : "CUDA_ERROR_INVALID_VALUE";
  return kSuccess;
}
int error_string(int, const char** text) { return *text = "emulated", kSuccess; }
int device_count(int* count) {
  const char* text = std::getenv("SINTER_EMULATION_DEVICES");
  return *count = std::clamp(text ? std::atoi(text) : 1, 1, kMostDevices), kSuccess;
}
int device_get(int* device, int index) {
  int count = 0;
  device_count(&count);
  if (index < 0 || index >= count) return kInvalidValue;
  return *device = index, kSuccess;
}
int device_name(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "%s", card().name);
  return kSuccess;
}
int device_attribute(int* value, int attribute, int) {
  constexpr int kMultiprocessors = 16, kCacheBytes = 38, kMajor = 75, kMinor = 76, kSharedBytesOptIn = 97,
                kClusterLaunch = 120;
  switch (attribute) {
    case kMultiprocessors: return *value = card().multiprocessors, kSuccess;
    case kCacheBytes: return *value = card().cache_bytes, kSuccess;
    case kMajor: return *value = card().major, kSuccess;
    case kMinor: return *value = card().minor, kSuccess;
    case kSharedBytesOptIn: return *value = sinter_emulation::kMostShared, kSuccess;
    case kClusterLaunch: return *value = card().has_clusters, kSuccess;
  }
  return *value = 0, kSuccess;
}
int device_total_memory(std::size_t* bytes, int) { return *bytes = card().memory_bytes, kSuccess; }
int contexts[kMostDevices];  // identified by address
int retain(void** context, int device) { return *context = &contexts[device], kSuccess; }
int release(int) { return kSuccess; }
int set_current(void* context) {
  device_of_thread = static_cast<int>(static_cast<int*>(context) - contexts);
  return kSuccess;
}
int memory_allocate(std::uint64_t* address, std::size_t bytes) {
  if (device_of_thread < 0) return kInvalidContext;
  if (allocation_fails()) return kOutOfMemory;
  if (bytes == 0) return kInvalidValue;
  if (bytes > card().memory_bytes - allocated[device_of_thread]) return kOutOfMemory;
  void* memory = card_memory(bytes);
  if (!memory) return kOutOfMemory;
  *address = reinterpret_cast<std::uint64_t>(memory);
  allocations[*address] = {bytes, device_of_thread};
  allocated[device_of_thread] += bytes;
  return kSuccess;
}
int memory_free(std::uint64_t address) {
  const int result = finish_all();
  auto found = allocations.find(address);
  if (found == allocations.end()) return kInvalidValue;
  allocated[found->second.device] -= found->second.bytes;
  free_card_memory(reinterpret_cast<void*>(address), found->second.bytes);
  allocations.erase(found);
  return result;
}
int memory_info(std::size_t* left, std::size_t* total) {
  if (device_of_thread < 0) return kInvalidContext;
  *total = card().memory_bytes;
  return *left = *total - allocated[device_of_thread], kSuccess;
}
/// True iff the range is inside one allocation of the calling thread's device.
bool inside(std::uint64_t address, std::size_t bytes) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return false;
  const auto& [start, memory] = *--after;
  return memory.device == device_of_thread && address + bytes <= start + memory.bytes;
}
int host_allocate(void** memory, std::size_t bytes, unsigned flags) {
  if (allocation_fails()) return kOutOfMemory;
  *memory = std::malloc(bytes);
  page_locked[reinterpret_cast<std::uint64_t>(*memory)] = bytes;
  if (flags & 2u) mapped.insert(*memory);
  return kSuccess;
}
int host_device_pointer(std::uint64_t* address, void* memory, unsigned flags) {
  if (flags != 0 || !mapped.count(memory)) return kInvalidValue;
  return *address = reinterpret_cast<std::uint64_t>(memory), kSuccess;
}
int host_free(void* memory) {
  const int result = finish_all();
  mapped.erase(memory);
  if (!page_locked.erase(reinterpret_cast<std::uint64_t>(memory))) return kInvalidValue;
  return std::free(memory), result;
}
bool is_page_locked(const void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(memory);
  auto after = page_locked.upper_bound(address);
  return after != page_locked.begin() &&
         address + bytes <= std::prev(after)->first + std::prev(after)->second;
}
/// Of memory that is not page-locked the driver takes up to 64 KiB before it returns.
int copy_to_device(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  if (!inside(to, bytes)) return kInvalidValue;
  if (!is_page_locked(from, bytes)) {
    if (bytes > 65536) return kInvalidValue;
    const std::vector<char> taken(static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
    return enqueue(stream,
                   [=] { return std::memcpy(reinterpret_cast<void*>(to), taken.data(), bytes), kSuccess; });
  }
  return enqueue(stream, [=] { return std::memcpy(reinterpret_cast<void*>(to), from, bytes), kSuccess; });
}
int copy_to_host(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  if (!inside(from, bytes) || !is_page_locked(to, bytes)) return kInvalidValue;
  return enqueue(stream,
                 [=] { return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), kSuccess; });
}
int fill_u32(std::uint64_t to, unsigned word, std::size_t count, void* stream) {
  if (!inside(to, 4 * count)) return kInvalidValue;
  return enqueue(stream, [=] { return std::fill_n(reinterpret_cast<unsigned*>(to), count, word), kSuccess; });
}
int copy_on_device(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  if (!inside(to, bytes) || !inside(from, bytes)) return kInvalidValue;
  return enqueue(stream, [=] {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return kSuccess;
  });
}
int module_load(void** module, const void* image) {
  if (card().is_idle) return *module = new LoadedModule{nullptr, {}}, kSuccess;
  sinter_emulation::CodeHeader header;
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.magic, sinter_emulation::kCodeMagic, sizeof header.magic) != 0) return kInvalidImage;
  char name[] = "/tmp/sinter-emulated-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return kInvalidImage;
  close(file);
  std::ofstream(name, std::ios::binary)
      .write(static_cast<const char*>(image) + sizeof header, static_cast<std::streamsize>(header.bytes));
  void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  unlink(name);
  if (!handle) {
    std::fprintf(stderr, "emulated driver: %s\n", dlerror());
    return kInvalidImage;
  }
  const auto slot = reinterpret_cast<State** (*)()>(dlsym(handle, "sinter_emulation_slot"));
  *slot() = &Block::instance().state;
  *module = new LoadedModule{handle, {}};
  return kSuccess;
}
int module_unload(void* module) {
  finish_all();
  if (void* handle = static_cast<LoadedModule*>(module)->handle) dlclose(handle);
  delete static_cast<LoadedModule*>(module);
  return kSuccess;
}
int module_function(void** function, void* module, const char* name) {
  auto& loaded = *static_cast<LoadedModule*>(module);
  Function& found = loaded.functions[name];
  *function = &found;
  if (found.run || !loaded.handle) return kSuccess;
  found.run = reinterpret_cast<void (*)(void**)>(dlsym(loaded.handle, (std::string("run_") + name).c_str()));
  const auto sizes = reinterpret_cast<void (*)(unsigned long*)>(
      dlsym(loaded.handle, (std::string("sizes_") + name).c_str()));
  if (!found.run || !sizes) return loaded.functions.erase(name), kInvalidValue;
  found.cluster = *static_cast<unsigned*>(dlsym(loaded.handle, (std::string("cluster_") + name).c_str()));
  unsigned long bytes[8192];  // 4 KiB or 32 KiB of arguments, four bytes each at least
  sizes(bytes);
  for (const unsigned long* size = bytes; *size != 0; ++size) found.parameter_bytes.push_back(*size);
  return kSuccess;
}
int set_function_attribute(Function* function, int attribute, int value) {
  constexpr int kMostDynamicShared = 8;
  if (attribute != kMostDynamicShared || value < 0 || unsigned(value) > sinter_emulation::kMostShared)
    return kInvalidValue;
  function->most_shared = unsigned(value);
  return kSuccess;
}
int occupancy(int* workgroups, const Function*, int lanes, unsigned long) {
  constexpr int kMostLanes = 2048;
  if (lanes < 1 || lanes > 1024) return kInvalidValue;
  *workgroups = kMostLanes / lanes;
  return kSuccess;
}
/// Copies arguments at the call.
int launch(const Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
           unsigned bz, unsigned shared_bytes, void* stream, void** arguments, void**) {
  if (shared_bytes > function->most_shared) return kInvalidValue;
  if (gx == 0 || gy != 1 || gz != 1 || bx * by * bz == 0 || bx * by * bz > 1024) return kInvalidValue;
  ++control().launches;
  if (start_fails()) return control().start_error;
  if (control().fail_launch > 0 && --control().fail_launch == 0) return kLaunchFailed;
  if (control().idle) return kSuccess;
  std::vector<Parameter> values;
  for (std::size_t i = 0; i < function->parameter_bytes.size(); ++i)
    values.push_back(copy_of(arguments[i], function->parameter_bytes[i]));
  return enqueue_kernels(stream, [=]() mutable {
    std::vector<void*> pointers;
    for (auto& value : values) pointers.push_back(value.data());
    return run_grid(*function, {gx, gy, gz}, {bx, by, bz}, pointers.data());
  });
}

struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  void* stream;
  const struct {
    int id, unused;
    int value[16];
  } * attributes;
  unsigned attribute_count;
};

/// Kernels run one after the other here, so programmatic dependent launch changes nothing.
int launch_with(const LaunchConfig* config, const Function* function, void** arguments, void** extra) {
  constexpr int kProgrammaticSerialization = 6;
  for (unsigned i = 0; i < config->attribute_count; ++i)
    if (config->attributes[i].id != kProgrammaticSerialization) return kInvalidValue;
  return launch(function, config->grid[0], config->grid[1], config->grid[2], config->block[0],
                config->block[1], config->block[2], config->shared_bytes, config->stream, arguments, extra);
}

}  // namespace

namespace sinter_emulation {

int current_device() { return device_of_thread; }

std::recursive_mutex& driver_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

Control& control() {
  static Control one = [] {
    Control fresh{};
    const char* idle = std::getenv("SINTER_EMULATION_IDLE");
    fresh.idle = idle && (std::string(idle) == "1" || card().is_idle);
    return fresh;
  }();
  return one;
}

bool allocation_fails() {
  Control& c = control();
  if (c.fail_allocation > 1) return --c.fail_allocation, false;
  if (c.fail_allocation == 0) return false;
  if (!c.no_more_memory) c.fail_allocation = 0;
  return true;
}

bool start_fails() { return control().fail_start > 0 && --control().fail_start == 0; }

int run_grid(const Function& function, const unsigned (&grid)[3], const unsigned (&threads)[3],
             void** arguments) {
  if (control().idle) return kSuccess;
  ++control().grids;
  Block& block = Block::instance();
  block.state.grid_size = {grid[0], grid[1], grid[2]};
  block.state.block_size = {threads[0], threads[1], threads[2]};
  if (grid[0] % function.cluster != 0) return kLaunchFailed;
  for (unsigned x = 0; x < grid[0]; x += function.cluster) {
    block.state.block = {x, 0, 0};
    if (!block.run(function.run, arguments, function.cluster)) {
      std::fprintf(stderr, "emulated driver: not all threads of a block reached a barrier\n");
      return kLaunchFailed;
    }
  }
  return kSuccess;
}

}  // namespace sinter_emulation

extern "C" sinter_emulation::Control* sinter_emulation_control() { return &control(); }

extern "C" const sinter_emulation::Services* sinter_emulation_services() {
  static const Services services = {&control,
                                    [](void* stream, const std::function<int()>& work) {
                                      const std::lock_guard lock(driver_mutex());
                                      if (start_fails()) return control().start_error;
                                      return control().idle ? kSuccess : enqueue_kernels(stream, work);
                                    },
                                    [](std::uint64_t address, std::size_t bytes) {
                                      const std::lock_guard lock(driver_mutex());
                                      return inside(address, bytes);
                                    }};
  return &services;
}

extern "C" int cuGetProcAddress_v2(const char* name, void** address, int, std::uint64_t, int* status) {
  static const std::map<std::string, void*> functions = {
      {"cuInit", entry<&init>()},
      {"cuDriverGetVersion", entry<&driver_version>()},
      {"cuGetErrorName", entry<&error_name>()},
      {"cuGetErrorString", entry<&error_string>()},
      {"cuDeviceGetCount", entry<&device_count>()},
      {"cuDeviceGet", entry<&device_get>()},
      {"cuDeviceGetName", entry<&device_name>()},
      {"cuDeviceGetAttribute", entry<&device_attribute>()},
      {"cuDeviceTotalMem", entry<&device_total_memory>()},
      {"cuDevicePrimaryCtxRetain", entry<&retain>()},
      {"cuDevicePrimaryCtxRelease", entry<&release>()},
      {"cuCtxSetCurrent", entry<&set_current>()},
      {"cuMemAlloc", entry<&memory_allocate>()},
      {"cuMemGetInfo", entry<&memory_info>()},
      {"cuMemFree", entry<&memory_free>()},
      {"cuMemHostAlloc", entry<&host_allocate>()},
      {"cuMemFreeHost", entry<&host_free>()},
      {"cuMemHostGetDevicePointer", entry<&host_device_pointer>()},
      {"cuMemcpyHtoDAsync", entry<&copy_to_device>()},
      {"cuMemcpyDtoHAsync", entry<&copy_to_host>()},
      {"cuMemsetD32Async", entry<&fill_u32>()},
      {"cuMemcpyDtoDAsync", entry<&copy_on_device>()},
      {"cuModuleLoadData", entry<&module_load>()},
      {"cuModuleUnload", entry<&module_unload>()},
      {"cuModuleGetFunction", entry<&module_function>()},
      {"cuOccupancyMaxActiveBlocksPerMultiprocessor", entry<&occupancy>()},
      {"cuFuncSetAttribute", entry<&set_function_attribute>()},
      {"cuLaunchKernel", entry<&launch>()},
      {"cuLaunchKernelEx", entry<&launch_with>()},
  };
  *address = nullptr;
  for (const auto* part : {&functions, &graph_functions(), &stream_functions(), &card_functions()})
    if (auto found = part->find(name); found != part->end()) *address = found->second;
  if (status) *status = *address ? 0 : 1;
  return kSuccess;
}
