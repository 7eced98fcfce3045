// From checked arguments to a recorded op.
#include "src/tensor/apply.h"

#include <algorithm>
#include <string_view>

#include "src/autodiff/node.h"
#include "src/base/size_arithmetic.h"
#include "src/runtime/device_core.h"
#include "src/runtime/library_table.h"
#include "src/tensor/check.h"
#include "src/trace/recorder.h"

namespace sinter::tensor {

namespace {

[[noreturn]] void throw_devices(std::string_view op, const runtime::DeviceCore& a,
                                const runtime::DeviceCore& b, const Location& where) {
  throw DeviceError("[" + std::string(op) + "] operands live on different devices: " + a.name() + " and " +
                        b.name() + "; move one with to_device",
                    where);
}

/// The operands of an op as the recorder takes them, and what they say together.
template <std::size_t kMost>
struct Gathered {
  trace::Operand recorded[kMost];
  runtime::DeviceCore* core = nullptr;
  bool autodiff = false, tracked = false;

  // Every op comes through here: left to itself, the compiler keeps all this in memory.
  [[gnu::always_inline]] void add(std::string_view op, std::size_t i, const AnyTensor& tensor,
                                  const Location& where) {
    trace::Value* value = tensor.value().get();
    recorded[i].value = value;
    if (!core)
      core = value->device;
    else if (core != value->device)
      throw_devices(op, *core, *value->device, where);
    autodiff |= tensor.on_autodiff();
    tracked |= tensor.requires_grad();
  }
};

}  // namespace

AnyTensor apply(Op op, std::span<const Operand> operands, std::span<const std::int64_t> ints,
                std::span<const Scalar> scalars, const Shape& shape, DType dtype, const Location& where) {
  base::SizeArithmetic(name_of(op), where).bytes(shape, dtype);
  Gathered<trace::kRecordOperands> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].tensor)
      all.add(name_of(op), i, *operands[i].tensor, where);
    else
      all.recorded[i].scalar = operands[i].scalar;
  }
  trace::ValueRef value = all.core->recorder().append(op, std::span(all.recorded, operands.size()), ints,
                                                      scalars, shape, dtype, where);
  AnyTensor::NodeRef node;
  if (all.tracked && is_float(dtype)) node = autodiff::track(op, operands, ints, value, where);
  return AnyTensor(std::move(value), std::move(node), all.autodiff);
}

void apply_library(const library::Kind& kind, std::span<const Operand> operands,
                   std::span<const std::int64_t> ints, std::span<AnyTensor> results, const Location& where) {
  constexpr std::size_t kMostInts = 64, kMostResults = 8;
  if (operands.empty() || operands.size() > trace::kMostOperands || ints.size() > kMostInts ||
      results.size() != kind.result_count() || results.size() > kMostResults)
    throw Error("[" + kind.name() + "] has 1 to " + std::to_string(trace::kMostOperands) +
                    " operands, up to " + std::to_string(kMostInts) + " attributes and " +
                    std::to_string(kind.result_count()) + " results, of at most " +
                    std::to_string(kMostResults) + "; not " + std::to_string(operands.size()) + ", " +
                    std::to_string(ints.size()) + " and " + std::to_string(results.size()),
                where);
  trace::TensorType given[trace::kMostOperands], types[kMostResults];
  Gathered<trace::kMostOperands> all;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].tensor)
      throw Error("[" + kind.name() + "] operand " + std::to_string(i) + " is a number, not a tensor", where);
    const trace::Value& value = value_of(kind.name(), *operands[i].tensor, where);
    given[i] = {value.shape, value.dtype};
    all.add(kind.name(), i, *operands[i].tensor, where);
  }
  kind.infer(std::span(given, operands.size()), ints, std::span(types, results.size()), where);
  for (const trace::TensorType& type : std::span(types, results.size()))
    base::SizeArithmetic(kind.name(), where).bytes(type.shape, type.dtype);

  std::int64_t numbered[1 + kMostInts];
  if (kind.op() == Op::Extension) {
    if (kind.number() < 0)
      throw Error("[" + kind.name() + "] is not registered: library::add_kind makes it known", where);
    if (!all.core->computes(kind)) throw DeviceError(runtime::cannot_compute(kind, all.core->name()), where);
    numbered[0] = kind.number();
    std::copy(ints.begin(), ints.end(), numbered + 1);
    ints = std::span(numbered, ints.size() + 1);
  }
  trace::ResultType recorded[kMostResults];
  for (std::size_t r = 0; r < results.size(); ++r) recorded[r] = {&types[r].shape, types[r].dtype};
  trace::ValueRef values[kMostResults];
  all.core->recorder().append(kind.op(), std::span(all.recorded, operands.size()), ints, {},
                              std::span(recorded, results.size()), values, where);
  for (std::size_t r = 0; r < results.size(); ++r) {
    AnyTensor::NodeRef node;
    if (all.tracked && is_float(types[r].dtype))
      node = autodiff::track(kind.op(), operands, ints, values[r], where);
    results[r] = AnyTensor(std::move(values[r]), std::move(node), all.autodiff);
  }
}

AnyTensor apply_library(const library::Kind& kind, std::span<const Operand> operands,
                        std::span<const std::int64_t> ints, const Location& where) {
  AnyTensor result;
  apply_library(kind, operands, ints, std::span(&result, 1), where);
  return result;
}

AnyTensor apply_source(Op op, std::span<const Scalar> scalars, const Shape& shape, DType dtype,
                       const Device& device, const Location& where) {
  check_supported(name_of(op), dtype, device, where);
  base::SizeArithmetic(name_of(op), where).bytes(shape, dtype);
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
