// Kernel IR to LLVM IR, as text that LLVM 14 and later parse: explicit vectors, no passes needed.
//
// The text is one module with one function that others see:
//
//   void <entry>(void* const* buffers, const int64_t* ints, const void* scalars,
//                const LlvmFunction* functions, int64_t first, int64_t last, void* scratch,
//                int64_t cached, uint32_t* fault)
//
// It computes the outer points [first, last), counted row-major. Calls for disjoint ranges may run side by
// side, and how the points are cut into ranges does not change any bit of a result.
//
//   buffers     addresses of element 0 of each buffer
//   scalars     8 bytes for each scalar, which start with the scalar in its dtype (a bool is a byte 0 or 1)
//   functions   a table of vector functions, see `llvm_function`
//   scratch     `scratch_bytes_per_point` bytes for each inner point; belongs to this call
//   cached      bit b (63: all from there on) is 0 where results in buffer b are so large that they had
//   better
//               be written past the caches; -1: nothing is. Not for what is read in place: the caches hold
//               it.
//   fault       the member's Kernel::faults words: an index out of range sets that of its LoadAt to 1
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::emit {

/// out[i] = op(a[i], b[i], c[i]) for i < n; truth values are bytes. For what has no text of its own here.
using LlvmFunction = void (*)(void* out, const void* a, const void* b, const void* c, std::size_t n);

inline constexpr std::size_t kLlvmDTypes = kDTypeCount;
/// Where the table holds the function of an op over operands of `dtype`.
constexpr std::size_t llvm_function(Op op, DType dtype) {
  return static_cast<std::size_t>(op) * kLlvmDTypes + static_cast<std::size_t>(dtype);
}

/// What the processor and the compiler can do, as plain data.
struct LlvmTarget {
  int vector_bytes = 16;        // of a vector register: 16, 32 or 64
  bool has_gather = false;      // loads of lanes from addresses of their own (4 and 8 bytes)
  bool has_fma = false;         // a * b + c in one rounding is an instruction
  bool has_f16 = false;         // conversions between f16 and f32 are
  bool typed_pointers = false;  // LLVM 14 does not read the pointers that LLVM 17 wants
  /// Kernels of more expressions have one loop for whole vectors and the rest of a row, which branches at
  /// loads and stores; others have a loop for each. Twice the text takes twice as long to compile, and beside
  /// a long body the branches are little.
  std::size_t long_body = std::numeric_limits<std::size_t>::max();
};

/// Joined: lanes go on over the last two outer (or inner) loops, as if they were one; slower to load and
/// store, but fills vectors where the last loop is short. Split: a call computes one phase of one slice of
/// the first inner loop, and `scratch` points to an int64_t for each LlvmSplitField.
enum class LlvmLoops : std::uint8_t { Whole, Joined, Split };

enum LlvmSplitField : int {
  kSplitPhase,  // or the number of phases, when all have been computed: the outer results are stored
  kSplitBegin,  // steps of the first inner loop
  kSplitEnd,
  kSplitSlice,  // which of
  kSplitSlices,
  kSplitPoints,    // all outer points
  kSplitPartials,  // the address of 8 bytes for each reduction, slice and outer point
  kSplitFields,
};

/// The bit of `cached` that is a buffer's.
constexpr std::size_t llvm_cached_bit(std::size_t buffer) { return buffer < 63 ? buffer : 63; }

/// What a kernel has become. The costs are estimates in ns, for cutting work into pieces.
struct LlvmSource {
  std::string text;
  std::string entry;
  int lanes = 1;                            // points that the vector code takes at once
  int register_lanes = 1;                   // f32 numbers in a vector register
  std::size_t scratch_bytes_per_point = 0;  // of an inner point
  bool gathers = false;                     // most of its time goes into loads that jump from lane to lane
  double point_cost = 0;                    // of an outer point without its inner points
  double inner_cost = 0;                    // of an inner point
  std::vector<bool> walks;                  // by phase: whether it has an inner loop
  std::size_t reductions = 0;               // of all phases
};

/// True iff the loop of the lanes can be joined with the one before it.
bool can_join_lanes(const ir::Kernel& kernel);

/// True iff there are inner loops to split.
bool can_split(const ir::Kernel& kernel);

/// The text of a verified kernel: a function of the arguments alone.
LlvmSource emit_llvm(const ir::Kernel& kernel, const LlvmTarget& target, LlvmLoops loops = LlvmLoops::Whole);

}  // namespace sinter::emit
