// Life and death of values.
#include "src/trace/value.h"

#include <memory>
#include <utility>

#include <sinter/detail/api.h>

#include "src/trace/recipe.h"
#include "src/trace/recorder.h"

namespace sinter::trace {
namespace {

// A value may be made by one thread and end in another: without a limit the second would keep ever more.
constexpr std::size_t kMostKept = 8192;

/// Memory of values that have ended in this thread.
class Kept {
 public:
  ~Kept();
  void* take() {
    void* memory = first_;
    if (memory == nullptr) return nullptr;
    first_ = *static_cast<void**>(memory);
    --count_;
    return memory;
  }
  /// False when the caller has to free it.
  bool keep(void* memory) {
    if (count_ >= kMostKept) return false;
    *static_cast<void**>(memory) = first_;
    first_ = memory;
    ++count_;
    return true;
  }

 private:
  void* first_ = nullptr;
  std::size_t count_ = 0;
};

thread_local Kept kept;
// Has no destructor: values of static objects may end after this thread's own objects.
thread_local bool kept_has_ended = false;

Kept::~Kept() {
  kept_has_ended = true;
  while (first_ != nullptr) ::operator delete(take());
}

void end(Value* value) {
  delete value->recipe;
  if (buffers_of_lost_devices.load(std::memory_order_relaxed) && runtime::is_lost(*value->device)) {
    new std::shared_ptr<runtime::Buffer>(std::move(value->buffer));
    new std::shared_ptr<Doubt>(std::move(value->doubt));
  }
  delete value;
}

// Sanitizers are to see each value's memory come and go.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif

}  // namespace

void* Value::operator new(std::size_t bytes) {
  if (kKeeps && !kept_has_ended)
    if (void* memory = kept.take()) return memory;
  return ::operator new(bytes);
}

void Value::operator delete(void* memory) noexcept {
  if (!kKeeps || kept_has_ended || !kept.keep(memory)) ::operator delete(memory);
}

SINTER_API void retain(Value* value) { value->owners.fetch_add(1, std::memory_order_relaxed); }

SINTER_API void release(Value* value) {
  if (value->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) unpin(value);
}

void pin(Value* value) { value->pins.fetch_add(1, std::memory_order_relaxed); }

void unpin(Value* value) {
  // Nobody can add to a last pin, so that one needs no exclusive access: most values end so.
  if (is_last_pin(*value) || value->pins.fetch_sub(1, std::memory_order_acq_rel) == 1) end(value);
}

ValueRef make_materialised(runtime::DeviceCore& device, const Shape& shape, DType dtype,
                           std::shared_ptr<runtime::Buffer> buffer) {
  ValueRef value = ValueRef::adopt(new Value);
  value->device = &device;
  value->shape = shape;
  value->dtype = dtype;
  value->buffer = std::move(buffer);
  value->layout = {contiguous_strides(shape), 0};
  return value;
}

ValueRef revive(Value* pinned) {
  // The owners' common pin went with the last of them.
  if (pinned->owners.fetch_add(1, std::memory_order_acq_rel) == 0) pin(pinned);
  return ValueRef::adopt(pinned);
}

void materialise(Value& value) {
  Value* const wanted = &value;
  materialise({&wanted, 1});
}

void materialise(std::span<Value* const> values) {
  for (Value* value : values) {
    // Another flush may come first; a recorder lives as long as its device.
    while (Recorder* recorder = value->pending.load(std::memory_order_acquire)) recorder->compute(values);
    if (value->failure) std::rethrow_exception(value->failure);
  }
}

void require_good(const Value& value) {
  if (!value.doubt) return;
  if (const std::exception_ptr failure = value.doubt->failure_of(value.pending_id))
    std::rethrow_exception(failure);
}

}  // namespace sinter::trace
