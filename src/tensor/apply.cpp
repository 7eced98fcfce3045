// From checked arguments to a recorded op.
#include "src/tensor/apply.h"

#include "src/autodiff/node.h"
#include "src/runtime/device_core.h"
#include "src/tensor/check.h"
#include "src/tensor/size_arithmetic.h"
#include "src/trace/recorder.h"

namespace sinter::tensor {

namespace {

[[noreturn]] void throw_devices(Op op, const runtime::DeviceCore& a, const runtime::DeviceCore& b,
                                const Location& where) {
  throw DeviceError("[" + std::string(name_of(op)) + "] operands live on different devices: " + a.name() +
                        " and " + b.name() + "; move one with to_device",
                    where);
}

}  // namespace

AnyTensor apply(Op op, std::span<const Operand> operands, std::span<const std::int64_t> ints,
                std::span<const Scalar> scalars, const Shape& shape, DType dtype, const Location& where) {
  SizeArithmetic(name_of(op), where).bytes(shape, dtype);
  trace::Operand recorded[3];
  runtime::DeviceCore* core = nullptr;
  bool autodiff = false, tracked = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const AnyTensor* tensor = operands[i].tensor;
    if (!tensor) {
      recorded[i].scalar = operands[i].scalar;
      continue;
    }
    trace::Value* value = tensor->value().get();
    recorded[i].value = value;
    if (!core)
      core = value->device;
    else if (core != value->device)
      throw_devices(op, *core, *value->device, where);
    autodiff |= tensor->on_autodiff();
    tracked |= tensor->requires_grad();
  }
  trace::ValueRef value =
      core->recorder().append(op, std::span(recorded, operands.size()), ints, scalars, shape, dtype, where);
  AnyTensor::NodeRef node;
  if (tracked && is_float(dtype)) node = autodiff::track(op, operands, ints, value, where);
  return AnyTensor(std::move(value), std::move(node), autodiff);
}

AnyTensor apply_source(Op op, std::span<const Scalar> scalars, const Shape& shape, DType dtype,
                       const Device& device, const Location& where) {
  check_supported(name_of(op), dtype, device, where);
  SizeArithmetic(name_of(op), where).bytes(shape, dtype);
  return AnyTensor(device.core().recorder().append(op, {}, {}, scalars, shape, dtype, where), nullptr,
                   device.is_autodiff());
}

AnyTensor apply_view(Op op, const AnyTensor& x, std::span<const std::int64_t> ints, const Shape& shape,
                     const Location& where) {
  const Operand operands[] = {x};
  return apply(op, operands, ints, {}, shape, x.value()->dtype, where);
}

AnyTensor broadcast_to(const AnyTensor& x, const Shape& shape, const Location& where) {
  const Shape& from = x.value()->shape;
  if (from == shape) return x;
  if (from.rank() == shape.rank()) return apply_view(Op::Expand, x, {}, shape, where);
  Shape aligned(Dims::filled(shape.rank(), 1));
  for (std::size_t i = 0; i < from.rank(); ++i) aligned[shape.rank() - from.rank() + i] = from[i];
  AnyTensor reshaped = apply_view(Op::Reshape, x, {}, aligned, where);
  return aligned == shape ? reshaped : apply_view(Op::Expand, reshaped, {}, shape, where);
}

}  // namespace sinter::tensor
