// A value: what a tensor handle points to. Either still to be computed (an output of a recorded op) or in
// memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>

#include <sinter/detail/ref.h>
#include <sinter/dtype.h>
#include <sinter/shape.h>

#include "src/trace/layout.h"

namespace sinter::runtime {
class Buffer;
class DeviceCore;
/// True in a forked child, where the device did not come along.
bool is_lost(const DeviceCore& device);
std::size_t bytes_of(const Buffer& buffer);
}  // namespace sinter::runtime

namespace sinter::trace {

class Recipe;
class Recorder;

/// What is known of a value before it is computed.
struct TensorType {
  Shape shape;
  DType dtype = DType::f32;
};

/// What a run of a trace does not know yet of its values: devices look at indices while they compute, so a
/// value may be in memory before it is known whether the indices that it came of were in range.
class Doubt {
 public:
  virtual ~Doubt() = default;
  /// True where the answer needs no waiting.
  virtual bool done() = 0;
  /// Why a value of the run must not be used, by its number in the trace; null where it is good. Waits for
  /// the run. From any thread.
  virtual std::exception_ptr failure_of(std::uint32_t id) = 0;
};

/// Two counts, on purpose: `owners` are handles that people can reach; they decide what must be kept and what
/// may be written in place. `pins` keep the object itself alive: one for all owners together, one for each
/// trace that names it.
struct Value {
  std::atomic<std::int32_t> owners{1};
  std::atomic<std::int32_t> pins{1};

  runtime::DeviceCore* device = nullptr;
  Shape shape;
  DType dtype = DType::f32;

  /// The recorder whose trace will compute this value, or that keeps its recipe; null once it is in memory
  /// (or has failed).
  std::atomic<Recorder*> pending{nullptr};
  // Guarded by the recorder's lock while the value is pending: its number in that trace, or kHasRecipe.
  std::uint32_t pending_id = 0;
  static constexpr std::uint32_t kHasRecipe = 0xffffffff;
  std::atomic<std::int32_t> recipes{0};  // that read this value: its memory must stay as it is
  Recipe* recipe = nullptr;              // owned; how to compute what no trace has stored

  // Set before `pending` is cleared, constant afterwards.
  std::shared_ptr<runtime::Buffer> buffer;
  Layout layout;
  std::exception_ptr failure;    // why it could not be computed
  std::shared_ptr<Doubt> doubt;  // null where nothing is left to be found out

  /// One value for each op: their memory is kept for the next ones, by thread.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;
};

using ValueRef = detail::Ref<Value>;

/// In a forked child, where devices did not come along: the buffers and doubts of values are not ended any
/// more, as their drivers are not there to do it.
inline std::atomic<bool> buffers_of_lost_devices{false};

void retain(Value* value);
void release(Value* value);
void pin(Value* value);
void unpin(Value* value);
/// A handle to a value that the caller has pinned, whether somebody owns it still or not.
ValueRef revive(Value* pinned);
/// True iff nobody but the caller, who holds a pin, knows the value.
inline bool is_last_pin(const Value& value) { return value.pins.load(std::memory_order_acquire) == 1; }

}  // namespace sinter::trace
