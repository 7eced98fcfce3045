// Where tensors live and operations run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

namespace runtime {
class DeviceCore;
}

/// What happened on a device since the program started, or since `reset_statistics`.
struct Statistics {
  std::uint64_t ops_recorded = 0;
  std::uint64_t traces = 0;  // flushes that had something to do
  std::uint64_t plans_built = 0;
  std::uint64_t plans_found = 0;          // traces whose plan was known
  std::uint64_t launches = 0;             // kernels and library ops started
  std::uint64_t graphs_built = 0;         // CUDA: plans that came again and were made into a CUDA graph
  std::uint64_t graph_launches = 0;       // CUDA: plans handed to the driver as one graph
  std::uint64_t kernels_compiled = 0;     // by a compiler, in this process
  std::uint64_t kernels_from_memory = 0;  // that another plan or device of this process had already
  std::uint64_t kernels_from_disk = 0;
  std::uint64_t bytes_in_place = 0;  // results written over a buffer that nobody else could see
  std::size_t bytes_in_use = 0;      // device memory handed out now
  std::size_t peak_bytes_in_use = 0;
  std::size_t bytes_reserved = 0;  // held from the driver or the system, in use or kept for later
};

/// A handle to a device; cheap to copy. Two handles are equal iff they name the same device and agree about
/// autodiff.
class Device {
 public:
  /// CUDA if there is a driver and a GPU, else a Vulkan GPU that is real hardware, else the host.
  /// SINTER_DEVICE
  /// ("host", "cuda", "cuda:1", "vulkan", "vulkan:0", "null") overrides the choice.
  static Device best();

  /// This computer's processor: always there, needs no driver and no compiler.
  static Device host();

  /// The GPU of that index. Throws DeviceError that says what is missing.
  static Device cuda(int index = 0);

  /// The Vulkan device of that index, in the loader's order, software devices included. Throws DeviceError.
  static Device vulkan(int index = 0);

  /// Records and plans, never runs: for asking what would be done. Reading a value throws DeviceError.
  static Device null();

  /// By name, as in SINTER_DEVICE. Throws DeviceError that lists the names there are.
  static Device parse(std::string_view name);

  /// Every device that can be used now, best first; the null device is not among them.
  static std::vector<Device> all();

  /// The same device, remembering how values came about, so that `backward()` exists for them.
  Device autodiff() const { return Device(core_, true); }
  /// The same device without autodiff.
  Device inner() const { return Device(core_, false); }
  bool is_autodiff() const { return autodiff_; }

  /// "host", "cuda:0", "vulkan:0", "null".
  const std::string& name() const;
  /// What the driver calls it, for people.
  const std::string& description() const;

  /// Starts the random numbers of this device anew: equal seeds give equal numbers. Starts at 0.
  void seed(std::uint64_t seed) const;

  /// Hands the operations recorded so far to the device. Does not wait.
  void flush() const;
  /// Flushes and waits. Throws the errors of the work waited for.
  void sync() const;

  /// Gives memory that is kept for later back to the driver or the system; waits for the device. What is in
  /// use stays. Gives the number of bytes.
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

/// While one lives, a plan that is not found or a kernel that is not ready throws Error, in all threads: it
/// holds a test or a service to the promise that a program in its steady state compiles nothing.
class ForbidCompilation {
 public:
  ForbidCompilation();
  ~ForbidCompilation();
  ForbidCompilation(const ForbidCompilation&) = delete;
  ForbidCompilation& operator=(const ForbidCompilation&) = delete;
};

}  // namespace sinter
