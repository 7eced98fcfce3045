// What operations do with their operands inside an Autocast scope.
#pragma once

#include <cstdint>

#include <sinter/any_tensor.h>
#include <sinter/autocast.h>

#include "src/trace/op.h"

namespace sinter::tensor {

/// The dtype of the thread's scope, or this.
inline constexpr std::uint8_t kNoAutocast = 0xff;
extern constinit thread_local std::uint8_t autocast_of_thread;
inline bool autocasts() { return autocast_of_thread != kNoAutocast; }

/// A factor of a product or a convolution: as the scope's dtype.
AnyTensor autocast_factor(const AnyTensor& x, const Location& where);
/// The operand of an op that runs in f32 inside of scopes, and of functions that are made of such: f32 where
/// x has 16 bits. Others keep x.
AnyTensor autocast_wide(const AnyTensor& x, const Location& where);
/// The dtype that it has.
DType autocast_wide(DType dtype);
/// What functions compute in that have sums in the middle: f32 where x has 16 or 8 bits. They round once, at
/// the end: a sum that is stored on the way might leave the range of f16 where the result does not.
AnyTensor widened(const AnyTensor& x, const Location& where);
/// Whether the table says that an op runs in f32.
bool runs_wide(Op op);

}  // namespace sinter::tensor
