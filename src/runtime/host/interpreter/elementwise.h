// The host's vector functions: a loop over a block for each op, dtype and form of operands.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/dtype.h>

#include "src/trace/op.h"

namespace sinter::runtime::host {

/// For each operand from left to right: V is a block of n values, S is one value for the whole block.
enum class Form : std::uint8_t { VV, VS, SV, VVV = VV, VVS, VSV, VSS };
inline constexpr std::size_t kForms = 6;

/// out[i] = op(a[i], b[i], c[i]) for i < n. `out` may be the same block as an operand, never a shifted one.
/// Truth values are bytes 0 and 1. Memory needs no alignment; the function accesses only n elements.
using BlockFunction = void (*)(void* out, const void* a, const void* b, const void* c, std::size_t n);

/// Number of partial results of a reduction along a row: element i of a block is accumulated in lane i %
/// kLanes. Equal for every instruction set, so that results are, too.
inline constexpr std::size_t kLanes = 64;

/// lanes[i % kLanes] = op(lanes[i % kLanes], a[i]).
using AccumulateFunction = void (*)(void* lanes, const void* a, std::size_t n);
/// out[0] = all lanes combined, in a fixed order. Destroys the lanes.
using FoldFunction = void (*)(void* out, void* lanes);

inline constexpr std::size_t kDTypes = kDTypeCount;

struct BlockFunctions {
  BlockFunction elementwise[kOpCount][kDTypes][kForms] =
      {};                                     // by the dtype of the operands (Where: of the values)
  BlockFunction cast[kDTypes][kDTypes] = {};  // from, to
  AccumulateFunction accumulate[kOpCount][kDTypes] = {};
  FoldFunction fold[kOpCount][kDTypes] = {};
};

/// The functions for this processor; null where the table defines none.
const BlockFunctions& block_functions();

/// Fills n elements of `size` bytes with copies of one.
void fill(void* out, const void* value, std::size_t size, std::size_t n);

/// out[i] = in[i * stride] and out[i * stride] = in[i], for elements of `size` bytes.
void gather_strided(void* out, const void* in, std::int64_t stride, std::size_t size, std::size_t n);
void scatter_strided(void* out, const void* in, std::int64_t stride, std::size_t size, std::size_t n);

/// The op that combines two values of a reduction, and its identity value (written to `out`).
Op combining_op(Op reduction, DType dtype);
void write_identity(Op reduction, DType dtype, void* out);

// The parts of the table; each is compiled for all targets.
void add_float_functions(BlockFunctions& functions);
void add_integer_functions(BlockFunctions& functions);
void add_cast_functions(BlockFunctions& functions);

}  // namespace sinter::runtime::host
