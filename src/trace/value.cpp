// Life and death of values.
#include "src/trace/value.h"

#include "src/trace/recorder.h"

namespace sinter::trace {

void retain(Value* value) { value->owners.fetch_add(1, std::memory_order_relaxed); }

void release(Value* value) {
  if (value->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) unpin(value);
}

void pin(Value* value) { value->pins.fetch_add(1, std::memory_order_relaxed); }

void unpin(Value* value) {
  if (value->pins.fetch_sub(1, std::memory_order_acq_rel) == 1) delete value;
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

void materialise(Value& value) {
  // Another flush may come first; a recorder lives as long as its device.
  while (Recorder* recorder = value.pending.load(std::memory_order_acquire)) recorder->flush();
  if (value.failure) throw Error(*value.failure);
}

}  // namespace sinter::trace
