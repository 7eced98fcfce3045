// A value: what a tensor handle points to. Either still to be computed (an output of a recorded op) or in
// memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include <sinter/detail/ref.h>
#include <sinter/dtype.h>
#include <sinter/shape.h>

#include "src/base/recycled.h"
#include "src/trace/layout.h"
#include "src/trace/tensor_type.h"

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

/// Two counts, on purpose: owners are handles that people can reach; they decide what must be kept and what
/// may be written in place. Pins keep the object itself alive beside them: one for each trace that names it.
/// Both stand in one word, so that the last of either is known by one access. One value comes with each op:
/// what operations need stands in its first two cache lines.
struct Value : base::Recycled<Value> {
  static constexpr std::uint64_t kOwner = 1, kPin = std::uint64_t{1} << 32;

  /// With one owner, and `pins` times kPin.
  Value(runtime::DeviceCore* device, const Shape& shape, DType dtype, std::uint64_t pins = 0)
      : uses(kOwner + pins), device(device), dtype(dtype), shape(shape) {}
  ~Value() {
    if (is_stored) stored_.~Stored();
  }

  std::atomic<std::uint64_t> uses;

  /// The recorder whose trace will compute this value, or that keeps its recipe; null once it is in memory
  /// (or has failed).
  std::atomic<Recorder*> pending{nullptr};
  // Guarded by the recorder's lock while the value is pending: its number in that trace, or kHasRecipe.
  std::uint32_t pending_id = 0;
  static constexpr std::uint32_t kHasRecipe = 0xffffffff;
  std::atomic<std::int32_t> recipes{0};  // that read this value: its memory must stay as it is
  Recipe* recipe = nullptr;              // owned; how to compute what no trace has stored

  runtime::DeviceCore* device;
  DType dtype;
  bool is_stored = false;  // it has been given a place in memory
  Shape shape;

  // Set before `pending` is cleared, constant afterwards: this and the place.
  std::exception_ptr failure;  // why it could not be computed

  struct Stored {
    std::shared_ptr<runtime::Buffer> buffer;
    std::shared_ptr<Doubt> doubt;  // null where nothing is left to be found out
    Layout layout;
  };
  /// Of a value that is stored.
  Stored& stored() { return stored_; }
  const Stored& stored() const { return stored_; }
  Stored& store() {
    if (!std::exchange(is_stored, true)) new (&stored_) Stored;
    return stored_;
  }

  std::uint32_t owners() const {
    return static_cast<std::uint32_t>(uses.load(std::memory_order_acquire) & (kPin - 1));
  }

 private:
  // Most values never are in memory: theirs is not touched.
  union {
    Stored stored_;
  };
};
static_assert(sizeof(Value) <= 4 * 64);

using ValueRef = detail::Ref<Value>;

/// In a forked child, where devices did not come along: the buffers and doubts of values are not ended any
/// more, as their drivers are not there to do it.
inline std::atomic<bool> buffers_of_lost_devices{false};

void retain(Value* value);
void release(Value* value);
inline void pin(Value* value) { value->uses.fetch_add(Value::kPin, std::memory_order_relaxed); }
void unpin(Value* value);
/// A handle to a value that the caller has pinned, whether somebody owns it still or not.
ValueRef revive(Value* pinned);
/// True iff nobody but the caller, who holds a pin, knows the value.
inline bool is_last_pin(const Value& value) {
  return value.uses.load(std::memory_order_acquire) == Value::kPin;
}
inline bool is_owned(const Value& value) { return value.owners() > 0; }

}  // namespace sinter::trace
