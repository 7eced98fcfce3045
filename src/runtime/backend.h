// The interface between the executor and a device: memory, compiled kernels, prepared library ops, launches.
// Each device implements it once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sinter/error.h>
#include <sinter/scalar.h>

#include "jit/ir/kernel.h"
#include "jit/ir/products/plain_product.h"
#include "jit/ir/traits.h"
#include "jit/library/library_op.h"
#include "jit/plan/launch_order.h"

namespace sinter::runtime {

class Backend;
class ThreadPool;

/// Device memory, shared by the values stored in it. The destructor returns it to the backend's pool. A
/// backend derives from it to add its own handle.
class Buffer {
 public:
  Buffer(Backend& backend, std::size_t bytes) : backend_(backend), bytes_(bytes) {}
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::size_t bytes() const { return bytes_; }
  Backend& backend() const { return backend_; }

 private:
  Backend& backend_;
  std::size_t bytes_;
};
using BufferRef = std::shared_ptr<Buffer>;

/// A position in a buffer: index maps of kernels count elements from here.
struct BufferView {
  Buffer* buffer = nullptr;
  std::size_t byte_offset = 0;
};

/// A copy between host and device memory that has begun. The caller keeps the buffer and the host memory
/// alive as long as the Transfer; its destructor waits for whatever part is in flight.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// Completes the copy; called once. Runs without the device's lock, so that other threads can use the
  /// device meanwhile.
  virtual void finish() = 0;
};

/// A scalar argument, converted to the dtype that the kernel declares (a bool is integer 0 or 1).
struct ScalarValue {
  DType dtype = DType::f32;
  union {
    double real;
    std::int64_t integer;
  };
  ScalarValue() : integer(0) {}
};

/// A number of the program as an argument of `dtype`.
inline ScalarValue to_argument(const Scalar& scalar, DType dtype) {
  ScalarValue value;
  value.dtype = dtype;
  if (is_float(dtype))
    value.real = scalar.as_double();
  else if (dtype == DType::boolean)
    value.integer = scalar.as_double() != 0;
  else
    value.integer = scalar.as_int();
  return value;
}

/// The scalar as raw bits of `dtype`. The argument's bytes are the first size_of(dtype) bytes of the result,
/// as every supported processor is little-endian.
inline std::uint64_t bits_of(const ScalarValue& value, DType dtype) {
  switch (dtype) {
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value.real));
    case DType::f64: return std::bit_cast<std::uint64_t>(value.real);
    case DType::bf16: return bfloat16(static_cast<float>(value.real)).bits();
    case DType::f16: return float16(static_cast<float>(value.real)).bits();
    case DType::f8_e4m3: return float8_e4m3(static_cast<float>(value.real)).bits();
    case DType::f8_e5m2: return float8_e5m2(static_cast<float>(value.real)).bits();
    case DType::boolean: return value.integer != 0;
    default: return static_cast<std::uint64_t>(value.integer);
  }
}

/// The arguments of one launch; the spans stay valid until `launch` returns. A batched launch runs one kernel
/// on `members` independent sets of arguments (Kernel::members > 1): the buffers, ints and scalars of the
/// members are concatenated.
struct LaunchArguments {
  std::span<const BufferView>
      buffers;                         // in the order of Kernel::buffers; library ops: operands, then results
  std::span<const std::int64_t> ints;  // Kernel::ints of them; empty for library ops
  std::span<const ScalarValue> scalars;
  std::size_t members = 1;
  std::uint32_t first_fault = 0;  // of the run's fault words the launch's first; it has faults * members
  std::span<const std::uint32_t> moving_ints{};  // of `ints` those that differ from run to run, ascending
  std::uint32_t strand = 0;                      // of RunNeeds::order
  std::size_t workspace_from = 0;                // where in the run's workspace the launch's begins
};

/// Compiled kernel IR or a prepared library op, ready to be launched any number of times, from one thread at
/// a time. It may end on any thread, without the device's lock and while its last launches still run on the
/// device: backends keep driver objects until then. It ends before its backend.
class Executable {
 public:
  virtual ~Executable() = default;
  /// How a launch with these arguments runs and why, in a few words for `explain`; empty where the device has
  /// one way only. `ints` as in LaunchArguments.
  virtual std::string how(std::span<const std::int64_t> /*ints*/, std::size_t /*members*/) { return ""; }
  /// About how much host memory it takes, with its code. From any thread.
  virtual std::size_t held_bytes() const { return 0; }
  /// Device memory that a launch with these arguments works in, beside its buffers. From any thread.
  virtual std::size_t workspace_bytes(std::span<const std::int64_t> /*ints*/, std::size_t /*members*/) const {
    return 0;
  }
};
using ExecutableRef = std::shared_ptr<Executable>;

/// A backend's own state for one plan, from one run to the next (CUDA: its graph). The plan owns it. The
/// executor destroys it before the backend, while no other thread uses the backend.
class PlanState {
 public:
  virtual ~PlanState() = default;
};

/// What the launches of a run need beside their buffers, together; the same in every run of a plan.
struct RunNeeds {
  std::size_t workspace_bytes = 0;  // those of launches that run one after the other are the same
  std::uint32_t faults = 0;         // fault words
  /// Which launches may run at the same time; null: none. It lives as long as the plan.
  const plan::LaunchOrder* order = nullptr;
};

/// The fault words of one run (Kernel::faults): 1 where an index was out of range, else 0. Any thread may
/// ask, without the device's lock, as long as the backend lives.
class FaultReport {
 public:
  virtual ~FaultReport() = default;
  /// True once the run has ended, so that `words` does not wait.
  virtual bool done() = 0;
  /// Waits for the run. Throws DeviceError where the device failed.
  virtual std::span<const std::uint32_t> words() = 0;
};
using FaultReportRef = std::shared_ptr<FaultReport>;

/// In how many ways a vendor's library computes a product, the one that it expects to be the fastest first:
/// what Tiling::library counts.
struct LibraryWays {
  std::uint32_t version = 0;  // of the library
  int count = 0;              // 0: there is no library, or it cannot
};

/// Counts since the backend started.
struct BackendStatistics {
  std::uint64_t kernels_compiled = 0;     // by a compiler, now
  std::uint64_t kernels_from_memory = 0;  // that this process had already
  std::uint64_t kernels_from_disk = 0;
  std::uint64_t launches = 0;
  std::uint64_t graphs_built = 0;    // CUDA graphs instantiated
  std::uint64_t graph_launches = 0;  // plans that ran as one graph
  std::size_t bytes_in_use = 0;      // in live buffers
  std::size_t bytes_reserved = 0;    // obtained from the driver or the system
  std::size_t peak_bytes_in_use = 0;
};

/// A device. The executor holds the device's lock while it calls, unless the backend `runs_concurrently`; but
/// any thread may at any time compile, prepare, ask for statistics, release buffers, finish transfers and
/// read fault reports. Work runs in the order of submission. Nothing waits for it but transfers, fault
/// reports, `download`, `synchronize`, `trim`, and `allocate` where no memory is left.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const ir::DeviceTraits& traits() const = 0;

  /// Allocates at least `bytes` bytes (zero is allowed), contents undefined. Throws DeviceError when there is
  /// none left.
  virtual BufferRef allocate(std::size_t bytes) = 0;

  /// As `allocate`, for a buffer that an upload fills next: prefers memory that no submitted work uses any
  /// more, so that the upload need not wait.
  virtual BufferRef allocate_for_upload(std::size_t bytes) { return allocate(bytes); }

  /// Copies from host memory. The caller may reuse `data` when it returns.
  virtual void upload(const BufferView& to, std::span<const std::byte> data) = 0;

  /// Begins an upload; null when it is already complete. The caller must not share the buffer before
  /// `finish`.
  virtual std::unique_ptr<Transfer> begin_upload(const BufferView& to, std::span<const std::byte> data) {
    upload(to, data);
    return nullptr;
  }

  /// Waits for the work submitted so far that uses the buffer, then copies to host memory.
  virtual void download(const BufferView& from, std::span<std::byte> data) = 0;

  /// Begins a download; null when it is already complete. It does not wait for work submitted later.
  virtual std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> data) {
    download(from, data);
    return nullptr;
  }

  /// The address of memory that the host reads as its own, with nothing to wait for; null elsewhere.
  virtual const std::byte* host_memory(const BufferView& /*from*/, std::size_t /*bytes*/) { return nullptr; }
  /// The host's threads that the device computes with, for work that is no launch; null where it has none.
  virtual ThreadPool* threads() { return nullptr; }

  /// Waits for the device and returns cached memory to the driver or the system. Returns the number of bytes.
  virtual std::size_t trim() { return 0; }

  /// Compiles kernels, or finds them in the cache. Takes several at once, so that they compile in parallel.
  /// Throws CompileError.
  virtual std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) = 0;

  /// Opens the vendor's library at the first call, which may take a tenth of a second. From any thread; does
  /// not throw.
  virtual LibraryWays library_ways(const ir::PlainProduct&) noexcept { return {}; }

  /// True iff the device has a way to prepare ops of the kind: asked when an op without an opcode of its own
  /// is recorded. From any thread.
  virtual bool computes(const library::Kind&) const { return true; }

  /// Prepares a library op for the sizes it names. Throws DeviceError where this device
  /// cannot run it.
  virtual ExecutableRef prepare(const library::LibraryOp& op) = 0;

  /// Compiles what a launch with these arguments (LaunchArguments) still lacks, and waits for what compiles
  /// in the background, so that `launch` need not. Called for each launch of a new plan once all are compiled
  /// and prepared; from any thread, any number of times. Throws CompileError, or DeviceError where no such
  /// launch is possible.
  virtual void wait_until_ready(Executable& /*executable*/, std::span<const std::int64_t> /*ints*/,
                                std::size_t /*members*/) {}

  /// How many launches of a run may be under way at the same time, where RunNeeds::order allows it.
  virtual std::size_t strands() const { return 1; }

  /// True where several threads may call everything at once, runs included: then each run belongs to the
  /// thread that began it.
  virtual bool runs_concurrently() const { return false; }

  /// Opens a run: the launches up to `submit` or `abandon`. There are no launches outside of a run, and no
  /// other calls by its thread within it. All the memory that its launches need is had here, so that a run
  /// which has begun does not fail for want of it: its launches may write over buffers that others still
  /// count on. Throws DeviceError when there is none left; then there is no run.
  ///
  /// `state` belongs to a plan and holds null before its first run: each run of a plan launches the same
  /// executables with the same ints in the same order; buffers and scalars may differ. A null `state`: the
  /// run is no plan's, and nothing is kept of it.
  virtual void begin(std::unique_ptr<PlanState>* state, const RunNeeds& needs) = 0;

  virtual void launch(Executable& executable, const LaunchArguments& arguments) = 0;

  /// Ends the run: launches that were held back go to the driver here. Returns the run's fault words; null
  /// where it needed none.
  virtual FaultReportRef submit() = 0;

  /// Ends the run after an error. Which of its launches still run is left to the backend: nobody counts on
  /// what they write.
  virtual void abandon() noexcept {}

  /// What times of launches depend on, in words: the device, its driver, its compiler. Empty: launches cannot
  /// be timed here.
  virtual std::string timing_identity() const { return ""; }

  /// Runs one launch as a run of its own that finds nothing in the second-level cache, and waits for it.
  /// Returns the nanoseconds that the device took.
  virtual double time_launch(Executable&, const LaunchArguments&, const RunNeeds&) {
    throw DeviceError("[tune] launches cannot be timed on " + traits().name);
  }

  /// Waits for all submitted work, from any thread and without the device's lock. Throws DeviceError where
  /// the device failed.
  virtual void synchronize() = 0;

  virtual BackendStatistics statistics() const = 0;
};

/// A run on the backend, abandoned where an exception leaves before `submit`.
class Run {
 public:
  Run(Backend& backend, std::unique_ptr<PlanState>* state, const RunNeeds& needs) : backend_(backend) {
    backend.begin(state, needs);
  }
  ~Run() {
    if (!ended_) backend_.abandon();
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  FaultReportRef submit() {
    FaultReportRef report = backend_.submit();
    ended_ = true;
    return report;
  }

 private:
  Backend& backend_;
  bool ended_ = false;
};

}  // namespace sinter::runtime
