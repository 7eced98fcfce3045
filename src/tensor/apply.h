// The one door through which every operation goes: checked arguments in, a recorded (and, where asked for,
// tracked) op out.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <sinter/any_tensor.h>

#include "jit/library/library_op.h"
#include "src/trace/op.h"

namespace sinter::tensor {

using Operand = AnyTensor::Operand;

/// Records `op`. At least one operand is a tensor; tensors are not empty, their shapes and dtypes were
/// checked, scalars are fitted to their dtype. Throws DeviceError when the operands live on different
/// devices.
AnyTensor apply(Op op, std::span<const Operand> operands, std::span<const std::int64_t> ints,
                std::span<const Scalar> scalars, const Shape& shape, DType dtype, const Location& where);

/// Records a library op of any kind, whose operands are tensors: fills `results`, one for each of the kind's.
/// Throws ShapeError or
/// DTypeError where the kind says that operands and attributes do not fit together, DeviceError where the
/// device has no way to compute it.
void apply_library(const library::Kind& kind, std::span<const Operand> operands,
                   std::span<const std::int64_t> ints, std::span<AnyTensor> results, const Location& where);
/// The same for a kind of one result.
AnyTensor apply_library(const library::Kind& kind, std::span<const Operand> operands,
                        std::span<const std::int64_t> ints, const Location& where);

/// Casts a tensor among two operands to the dtype in which they meet. What was cast lies in `casts`, which
/// the operand then refers to. Numbers stay as they are. Throws DTypeError where the operands do not meet.
void promote_operands(std::string_view op, Operand& a, Operand& b, std::array<AnyTensor, 2>& casts,
                      const Location& where);

/// Records an op without operands.
AnyTensor apply_source(Op op, std::span<const Scalar> scalars, const Shape& shape, DType dtype,
                       const Device& device, const Location& where);

/// A view of `x`: same dtype, no scalars.
AnyTensor apply_view(Op op, const AnyTensor& x, std::span<const std::int64_t> ints, const Shape& shape,
                     const Location& where);

/// `x` seen as `shape`, which `broadcast` gave for it. Records nothing when it has that shape already.
AnyTensor broadcast_to(const AnyTensor& x, const Shape& shape, const Location& where);

/// The elements start + i * step of each dimension, `sizes` many; checked by the caller.
AnyTensor slice_to(const AnyTensor& x, const Dims& start, const Dims& step, const Shape& sizes,
                   const Location& where);

/// `x` with `value` at the places start + i * step of each dimension (steps of 1 or more); checked by the
/// caller. `unseen`: nothing looks at what x itself has there, not even its gradient.
AnyTensor assign_to(const AnyTensor& x, const AnyTensor& value, const Dims& start, const Dims& step,
                    bool unseen, const Location& where);

/// 0, 1, .. along `axis`, which has `size` elements; the other dimensions of a tensor of `rank` are 1. i64.
AnyTensor iota_along(std::size_t axis, std::size_t rank, std::int64_t size, const Device& device,
                     const Location& where);

/// The slices of x along `axis` at the positions in `index` (rank 1): AnyTensor::index_select for the
/// operation `op`, which is named where something is wrong (src/trace/indexed_ops.h has its name).
AnyTensor select_slices(std::string_view op, const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                        const Location& where);

/// A convolution or one of its gradients, which gives `shape`. `ints`: stride, padding, dilation ((depth,)
/// height, width each), groups.
AnyTensor convolve(Op op, const AnyTensor& a, const AnyTensor& b, std::span<const std::int64_t> ints,
                   const Shape& shape, const Location& where);

}  // namespace sinter::tensor
