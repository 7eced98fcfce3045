// CUDA C++, and how its kernels are launched.
//
// There is one entry point, `sinter_kernel`. Compile with --fmad=false. The block has Geometry::lanes x
// Geometry::rows threads. Arguments in this order:
//
//   a pointer for each buffer
//   the ints            int, or i64 when the kernel is wide
//   the scalars         by value; u8 and floats of 16 and 8 bits as u32
//   split kernels       u32 parts; a pointer to split_scratch_bytes of memory; a pointer to the counters
//   Kernel::faults      a pointer to the launch's fault words, u32. They may lie in memory of the host that
//   the
//                       device maps: the kernel only ever stores to them
//
// A kernel for several members takes their arguments as one struct by value, Kernel::members times
// MemberLayout::bytes, then the number of members (u32), then the pointer to the fault words.
#pragma once

#include <string_view>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

const Dialect& cuda_dialect();

/// The head of every CUDA text, hand-written ones too: SN_FN before a function, and sn_follow, with which
/// each kernel begins. It lets the next kernel of the stream start, and waits for the end of the one before:
/// all do, so all before it have ended.
std::string_view cuda_head();
/// Behind the types of a generated text: SnPairs, vectors of 16-bit values, two of which share a register.
std::string_view cuda_pairs();

/// The text of a prelude function; empty for a name there is not.
std::string_view cuda_function(std::string_view name);

}  // namespace sinter::emit
