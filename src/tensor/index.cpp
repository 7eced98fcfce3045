// Indexed reads.
#include "src/autodiff/node.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/trace/indexed_ops.h"

namespace sinter {

namespace {

void check_index_dtype(std::string_view op, DType dtype, const Location& where) {
  if (dtype != DType::i32 && dtype != DType::i64)
    throw DTypeError("[" + std::string(op) + "] the index is i32 or i64, not " + std::string(name_of(dtype)),
                     where);
}

}  // namespace

AnyTensor AnyTensor::gather(std::int64_t axis, const AnyTensor& index, Location where) const {
  const trace::Value& x = tensor::value_of("gather", *this, where);
  const trace::Value& at = tensor::value_of("gather", index, where);
  check_index_dtype("gather", at.dtype, where);
  const std::size_t dim = tensor::axis_of("gather", axis, x.shape, where);
  bool fits = at.shape.rank() == x.shape.rank();
  for (std::size_t i = 0; fits && i < x.shape.rank(); ++i) fits = i == dim || at.shape[i] <= x.shape[i];
  if (!fits)
    throw ShapeError("[gather] an index of shape " + to_string(at.shape) + " does not fit shape " +
                         to_string(x.shape) + " along axis " + std::to_string(dim),
                     where);
  const Operand operands[] = {*this, index};
  const std::int64_t ints[] = {static_cast<std::int64_t>(dim)};
  return tensor::apply(Op::Gather, operands, ints, {}, at.shape, x.dtype, where);
}

AnyTensor AnyTensor::index_select(std::int64_t axis, const AnyTensor& index, Location where) const {
  return tensor::select_slices("index_select", *this, axis, index, where);
}

AnyTensor tensor::select_slices(std::string_view op, const AnyTensor& x, std::int64_t axis,
                                const AnyTensor& index, const Location& where) {
  const trace::Value& value = tensor::value_of(op, x, where);
  const trace::Value& at = tensor::value_of(op, index, where);
  check_index_dtype(op, at.dtype, where);
  const std::size_t dim = tensor::axis_of(op, axis, value.shape, where);
  if (at.shape.rank() != 1)
    throw ShapeError("[" + std::string(op) + "] the index has one axis, not shape " + to_string(at.shape),
                     where);
  Shape aligned(Dims::filled(value.shape.rank(), 1)), shape(value.shape);
  aligned[dim] = shape[dim] = at.shape[0];
  const AnyTensor plain = x.detach(), places = index.reshape(aligned, where).expand(shape, where);
  const AnyTensor::Operand read[] = {plain, places};
  const std::int64_t named[] = {static_cast<std::int64_t>(dim), trace::number_of_indexed_op(op)};
  const AnyTensor picked = tensor::apply(Op::Gather, read, named, {}, shape, value.dtype, where);
  if (!x.requires_grad()) return picked;
  // The history has the index as it was given: the gradient adds whole slices.
  const AnyTensor::Operand operands[] = {x, index};
  const std::int64_t ints[] = {static_cast<std::int64_t>(dim)};
  return AnyTensor(picked.value(), autodiff::track(Op::Gather, operands, ints, picked.value(), where),
                   x.on_autodiff());
}

}  // namespace sinter
