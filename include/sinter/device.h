// Devices: tensors are stored and operations run on one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/detail/api.h>

namespace sinter {

namespace runtime {
class DeviceCore;
}

/// Counters of a device since the program started or since `reset_statistics`.
struct Statistics {
  std::uint64_t ops_recorded = 0;
  std::uint64_t traces = 0;  // flushes with at least one operation
  std::uint64_t plans_built = 0;
  std::uint64_t plans_found = 0;          // traces whose plan was known
  std::uint64_t plans_dropped = 0;        // forgotten beyond SINTER_PLAN_LIMIT_MIB
  std::uint64_t launches = 0;             // kernels and library ops started
  std::uint64_t graphs_built = 0;         // CUDA: plans that came again and were made into a CUDA graph
  std::uint64_t graph_launches = 0;       // CUDA: plans handed to the driver as one graph
  std::uint64_t kernels_compiled = 0;     // by a compiler, in this process
  std::uint64_t kernels_from_memory = 0;  // that another plan or device of this process had already
  std::uint64_t kernels_from_disk = 0;
  std::uint64_t bytes_in_place = 0;     // results written over a dead operand's buffer
  std::uint64_t bytes_to_device = 0;    // copied from host memory into tensors
  std::uint64_t bytes_from_device = 0;  // copied to host memory by reads
  std::size_t plan_bytes = 0;           // host memory of the plans and kernels that are known, about
  std::size_t bytes_in_use = 0;         // device memory in live buffers
  std::size_t peak_bytes_in_use = 0;
  std::size_t bytes_reserved = 0;  // obtained from the driver or the system: in use or cached
};

/// A handle to a device; cheap to copy. Two handles are equal iff they name the same device and agree about
/// autodiff.
class SINTER_API Device {
 public:
  /// CUDA if there is a driver and a GPU, else a Vulkan GPU that is real hardware, else the host.
  /// SINTER_DEVICE overrides the choice: "host", "cuda", "cuda:1", "vulkan", "vulkan:0" or "null".
  static Device best();

  /// This computer's processor: always available, needs no driver and no compiler.
  static Device host();

  /// The CUDA GPU of that index. Throws DeviceError that says what is missing.
  static Device cuda(int index = 0);

  /// The Vulkan device of that index, in the loader's order, software devices included. Throws DeviceError.
  static Device vulkan(int index = 0);

  /// Records and plans but never runs, to inspect plans (see explain.h). Reading a value throws DeviceError.
  static Device null();

  /// The device of that name, as in SINTER_DEVICE. Throws DeviceError that lists the available names.
  static Device parse(std::string_view name);

  /// Every available device, best first, without the null device.
  static std::vector<Device> all();

  /// The same device with autodiff: tensors on it record their history, so that `backward()` works.
  Device autodiff() const { return Device(core_, true); }
  /// The same device without autodiff.
  Device inner() const { return Device(core_, false); }
  bool is_autodiff() const { return autodiff_; }

  /// "host", "cuda:0", "vulkan:0", "null".
  const std::string& name() const;
  /// The hardware's name as the driver reports it.
  const std::string& description() const;

  /// Starts the calling thread's random numbers on this device anew: they follow from seed and stream alone,
  /// whatever other threads draw. Threads that work side by side take a stream each, below 2^22. A thread
  /// that draws without having called this takes the seed that was set last, by any thread (0 at first), and
  /// a stream of its own by the order in which such threads come; a program's first such thread has stream 0.
  void seed(std::uint64_t seed, std::uint64_t stream = 0) const;

  /// Hands the operations that the calling thread has recorded so far to the device. A GPU's work is not
  /// waited for; the host does its own here. Throws what went wrong, and then loses nothing: what could not
  /// be run is still recorded.
  void flush() const;
  /// Flushes, and waits for the work of all threads.
  void sync() const;

  /// Waits for the device and returns cached memory to the driver or the system; memory in use stays. Returns
  /// the number of bytes.
  std::size_t trim_memory() const;

  Statistics statistics() const;
  void reset_statistics() const;

  runtime::DeviceCore& core() const { return *core_; }
  friend bool operator==(const Device&, const Device&) = default;

  explicit Device(runtime::DeviceCore* core, bool autodiff = false) : core_(core), autodiff_(autodiff) {}

 private:
  runtime::DeviceCore* core_;
  bool autodiff_;
};

/// While an instance exists, every thread that would build a plan or compile a kernel gets an Error instead:
/// a test or a service checks with it that the program compiles nothing in its steady state.
class SINTER_API ForbidCompilation {
 public:
  ForbidCompilation();
  ~ForbidCompilation();
  ForbidCompilation(const ForbidCompilation&) = delete;
  ForbidCompilation& operator=(const ForbidCompilation&) = delete;
};

}  // namespace sinter
