// The interface between the executor and a device: memory, prepared work, launches. One implementation per
// device.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/library_op.h"
#include "jit/ir/traits.h"

namespace sinter::runtime {

class Backend;

/// Device memory. Shared by the values that live in it; goes back to the backend's pool with the last of
/// them. A backend derives from it to add its own handle.
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

/// A place in a buffer. Kernel maps count elements from here.
struct BufferView {
  Buffer* buffer = nullptr;
  std::size_t byte_offset = 0;
};

/// A copy between host and device memory that has begun. The buffer and the host's memory must stay until it
/// is gone; it waits for what is in flight when it goes.
class Transfer {
 public:
  virtual ~Transfer() = default;
  /// The rest of the copy, to be called once. Needs no lock: meanwhile the device takes other work.
  virtual void finish() = 0;
};

/// A scalar argument, already of the dtype the kernel wants (a bool is integer 0 or 1).
struct ScalarValue {
  DType dtype = DType::f32;
  union {
    double real;
    std::int64_t integer;
  };
  ScalarValue() : integer(0) {}
};

/// The scalar as a kernel's argument of `dtype`: its bits, the first bytes of which are the scalar itself
/// (numbers stand low byte first on every processor we run on).
inline std::uint64_t bits_of(const ScalarValue& value, DType dtype) {
  switch (dtype) {
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value.real));
    case DType::f64: return std::bit_cast<std::uint64_t>(value.real);
    case DType::bf16: return bfloat16(static_cast<float>(value.real)).bits();
    case DType::f16: return float16(static_cast<float>(value.real)).bits();
    case DType::boolean: return value.integer != 0;
    default: return static_cast<std::uint64_t>(value.integer);
  }
}

/// What one launch is given; the spans live until `launch` returns. A kernel whose Kernel::members is more
/// than 1 is run for `members` members: their buffers follow each other, likewise their ints and scalars.
struct LaunchArguments {
  std::span<const BufferView>
      buffers;  // in the order of Kernel::buffers; library ops: inputs, then the output
  std::span<const std::int64_t> ints;  // Kernel::ints of them; empty for library ops
  std::span<const ScalarValue> scalars;
  std::size_t members = 1;
};

/// Compiled kernel IR or a prepared library op, ready to be launched any number of times, from one thread at
/// a time.
class Executable {
 public:
  virtual ~Executable() = default;
  /// How a launch with such arguments runs and why so, in a few words for explanations; empty where the
  /// device has no choice. `ints` as in LaunchArguments.
  virtual std::string how(std::span<const std::int64_t> /*ints*/, std::size_t /*members*/) { return ""; }
};
using ExecutableRef = std::shared_ptr<Executable>;

/// What a backend keeps from one run of a plan to the next. Belongs to the plan, so that it ends with it;
/// ends before its backend, and while nobody else talks to the backend.
class PlanState {
 public:
  virtual ~PlanState() = default;
};

/// Counts since the backend started.
struct BackendStatistics {
  std::uint64_t kernels_compiled = 0;     // by a compiler, now
  std::uint64_t kernels_from_memory = 0;  // that this process had already
  std::uint64_t kernels_from_disk = 0;
  std::uint64_t launches = 0;
  std::uint64_t graphs_built = 0;    // of plans that are handed to the driver as a whole
  std::uint64_t graph_launches = 0;  // plans handed over so
  std::size_t bytes_in_use = 0;      // handed out now
  std::size_t bytes_reserved = 0;    // held from the driver or the system
  std::size_t peak_bytes_in_use = 0;
};

/// A device. Calls come from one thread at a time (the executor holds the device's lock), except that buffers
/// may be released and transfers finished from any thread. Work is done in the order it is handed over; only
/// `download`, `synchronize` and `trim` wait, and `allocate` where there is no memory left.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual const ir::DeviceTraits& traits() const = 0;

  /// Memory of at least `bytes` bytes (zero is allowed), contents undefined. Throws DeviceError when there is
  /// none left.
  virtual BufferRef allocate(std::size_t bytes) = 0;

  /// The same, for memory that an upload fills next: rather memory that no work uses any more.
  virtual BufferRef allocate_for_upload(std::size_t bytes) { return allocate(bytes); }

  /// Copies from host memory; `data` may be reused when it returns.
  virtual void upload(const BufferView& to, std::span<const std::byte> data) = 0;

  /// The first part of an upload; null when it is all done. Nobody else may have the buffer before `finish`.
  virtual std::unique_ptr<Transfer> begin_upload(const BufferView& to, std::span<const std::byte> data) {
    upload(to, data);
    return nullptr;
  }

  /// Copies to host memory after all work handed over so far that has to do with the buffer; waits. Throws
  /// the errors of that work.
  virtual void download(const BufferView& from, std::span<std::byte> data) = 0;

  /// The first part of a download; null when it is all done. What is handed over from now on, the download
  /// does not wait for.
  virtual std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> data) {
    download(from, data);
    return nullptr;
  }

  /// Waits, and gives memory that is kept for later back to the driver or the system. Gives the number of
  /// bytes.
  virtual std::size_t trim() { return 0; }

  /// Compiles (or finds) kernels; several at once so that they can be compiled side by side. Throws
  /// CompileError.
  virtual std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) = 0;

  /// Prepares a library op for the sizes it names. Throws DeviceError for what this device cannot do.
  virtual ExecutableRef prepare(const ir::LibraryOp& op) = 0;

  /// From here to `submit` or `abandon`, launches are those of one plan: in each run the same executables
  /// with the same ints, in the same order; buffers and scalars may differ. `state` is the plan's; null
  /// before its first run. Launches outside of a plan are allowed.
  virtual void begin(std::unique_ptr<PlanState>& state) { static_cast<void>(state); }

  virtual void launch(Executable& executable, const LaunchArguments& arguments) = 0;

  /// Marks the end of the launches of one plan: batched work is handed to the driver here.
  virtual void submit() = 0;

  /// Instead of `submit`, after an error since `begin`. What was not started yet never is.
  virtual void abandon() noexcept {}

  /// Waits for everything handed over. Throws the errors of that work: a driver failure, an index out of
  /// range.
  virtual void synchronize() = 0;

  virtual BackendStatistics statistics() const = 0;
};

}  // namespace sinter::runtime
