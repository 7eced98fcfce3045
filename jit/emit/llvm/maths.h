// Vector functions that generated LLVM IR calls: maths, division by a number that is the same in all
// lanes, random numbers.
#pragma once

#include <string>
#include <vector>

#include "jit/emit/llvm/writer.h"
#include "src/trace/op.h"

namespace sinter::emit {

/// True iff `op` over `dtype` has a function here.
bool has_llvm_maths(Op op, DType dtype);

/// True iff `op` over operands of `dtype` has a text; what has none calls the kernel's table of functions.
bool has_llvm_text(Op op, DType dtype);

/// op over one or two vectors of `dtype`. It may call entries of the table of functions (see emit.h), which
/// is %functions in a kernel and in functions that call back themselves. `hot`: what is short is written
/// where it is used: faster by the call and by the constants that stay in registers.
std::string llvm_maths(LlvmWriter& w, Op op, DType dtype, const std::vector<std::string>& operands,
                       bool hot = false);

/// Quotient and remainder of i32 vectors by the scalar `divisor` > 0, rounded down; `inverse` is 1 / divisor
/// as double in all lanes.
struct LlvmDivision {
  std::string quotient, remainder;
};
LlvmDivision llvm_divide(LlvmWriter& w, const std::string& x, const std::string& divisor,
                         const std::string& inverse);

/// Uniform or normal numbers of the elements in an i64 vector, keyed by two i64 scalars.
std::string llvm_random(LlvmWriter& w, bool normal, const std::string& elements, const std::string& seed,
                        const std::string& stream);
/// Uniform numbers of the elements first, first + 1, ...
std::string llvm_random_row(LlvmWriter& w, const std::string& first, const std::string& seed,
                            const std::string& stream);

/// Calls entry `index` of the table over blocks of `count` elements; all pointers are to bytes, `b` and `c`
/// may be "null".
void llvm_call_function(LlvmWriter& w, const std::string& functions, std::size_t index,
                        const std::string& out, const std::string& a, const std::string& b,
                        const std::string& c, std::int64_t count);

}  // namespace sinter::emit
