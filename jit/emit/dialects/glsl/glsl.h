// GLSL for Vulkan compute, and how its kernels are launched.
//
// The entry point is `main`. Specialization constant 0 (uint) is the size of the workgroup and must be
// Geometry::lanes times Geometry::rows; constant 1 is Geometry::lanes. Bindings of descriptor set 0, all of
// them storage buffers:
//
//   0 .. n - 1   the kernel's buffers
//   n            the arguments: 32-bit words without gaps
//   then         where takes_parts: memory for partial results, counters
//   then         where Kernel::faults: the launch's fault words, uint
//
// The arguments, of which at least one word must be bound:
//
//   the ints      one word each; two, low word first, when the kernel is wide
//   the scalars   f32: its bits; i32; bool and u8: 0 or 1, or the number; floats of 16 and 8 bits: their
//   bits;
//                 i64 and the bits of f64: two words, low word first
//   parts         where takes_parts
//
// A kernel for several members has two bindings: the arguments, one word with the number of members and then
// MemberLayout::bytes for each, and the fault words. Buffers are named by their addresses.
#pragma once

#include <string_view>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

const Dialect& glsl_dialect();

/// The text of a prelude function; empty for a name there is not.
std::string_view glsl_function(std::string_view name);

}  // namespace sinter::emit
