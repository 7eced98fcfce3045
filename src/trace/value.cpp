// Life and death of values.
#include "src/trace/value.h"

#include <memory>
#include <utility>

#include <sinter/detail/api.h>

#include "src/trace/recipe.h"
#include "src/trace/recorder.h"

namespace sinter::trace {
namespace {

void end(Value* value) {
  delete value->recipe;
  if (value->is_stored && buffers_of_lost_devices.load(std::memory_order_relaxed) &&
      runtime::is_lost(*value->device))
    new Value::Stored(std::move(value->stored()));
  delete value;
}

}  // namespace

SINTER_API void retain(Value* value) { value->uses.fetch_add(Value::kOwner, std::memory_order_relaxed); }

SINTER_API void release(Value* value) {
  // Nobody can add to a last use, so that one needs no exclusive access; but for the book of recipes, in
  // which a value stands no longer than it is pending.
  if ((!value->pending.load(std::memory_order_acquire) &&
       value->uses.load(std::memory_order_acquire) == Value::kOwner) ||
      value->uses.fetch_sub(Value::kOwner, std::memory_order_acq_rel) == Value::kOwner)
    end(value);
}

void unpin(Value* value) {
  // As above: most values end so.
  if (is_last_pin(*value) || value->uses.fetch_sub(Value::kPin, std::memory_order_acq_rel) == Value::kPin)
    end(value);
}

ValueRef make_materialised(runtime::DeviceCore& device, const Shape& shape, DType dtype,
                           std::shared_ptr<runtime::Buffer> buffer) {
  ValueRef value = ValueRef::adopt(new Value(&device, shape, dtype));
  Value::Stored& stored = value->store();
  stored.buffer = std::move(buffer);
  stored.layout = contiguous_layout(shape);
  return value;
}

ValueRef revive(Value* pinned) { return ValueRef::share(pinned); }

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
  if (!value.is_stored || !value.stored().doubt) return;
  if (const std::exception_ptr failure = value.stored().doubt->failure_of(value.pending_id))
    std::rethrow_exception(failure);
}

}  // namespace sinter::trace
