// Which passes an indexed join has: numbers that change none are written, then all lanes join values to them
// by atomic operations. The largest and the least are found among keys, which are integers, and become
// numbers at the end.
#include <algorithm>
#include <string>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime {
namespace {

using Of = PassBuffer::Of;
using library::SegmentReduction;

constexpr int kLanes = 256;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Functions of key_functions the other way round.
std::string number_functions(DType dtype) {
  if (!is_float(dtype))
    return "SN_FN T number_of(Key key) { return key; }\n"
           "SN_FN T reversed_number_of(Key key) { return ~key; }\n";
  return "SN_FN T number_of(Key key) { return key < Key(0) ? -FROM_BITS(-key) : FROM_BITS(key); }\n"
         "SN_FN T reversed_number_of(Key key) { return number_of(-key); }\n";  // of a NaN's key another NaN
}

/// The key of what changes none: of -infinity, or of the least integer.
std::string least_key(DType dtype) {
  switch (dtype) {
    case DType::f32: return "(-0x7f800000)";
    case DType::f64: return "(-0x7ff0000000000000L)";
    case DType::i32: return "(-0x7fffffff - 1)";
    default: return "(-0x7fffffffffffffffL - 1L)";
  }
}

}  // namespace

PassList passes_of(const library::IndexedJoinOp& op, PassDevice device) {
  if (op.reduction == SegmentReduction::Prod)
    throw DeviceError("[indexed_join] products of " + op.describe() + " are not joined as they come");
  const bool sums = op.reduction == SegmentReduction::Sum, wide = size_of(op.dtype) == 8;
  if (wide && !device.adds_wide)
    throw DeviceError("[indexed_join] " + op.describe() + " of " + std::string(name_of(op.dtype)) +
                      " takes atomic operations of 64 bits, which this device does not have");
  const std::int64_t all = op.outer * op.count, results = op.outer * op.rows * op.columns;
  PassList list;
  list.dtype = op.dtype;
  const bool swaps = sums && op.dtype == DType::f32 && !device.adds_floats;
  const DType stored = sums && !swaps ? op.dtype : wide ? DType::i64 : DType::i32;
  PassBuffer joined{"joined", stored, Of::Result, 0, 0, results, true};
  list.passes.push_back(fill(joined, sums ? "0" : least_key(op.dtype)));
  joined.shared = true;

  Pass pass;
  pass.name = "join_rows";
  pass.body = "join_rows.inc";
  pass.lanes = kLanes;
  const bool in_fours = sums && op.dtype == DType::f32 && op.columns % 4 == 0 && device.adds_fours;
  list.adds_terms = sums;
  if (!sums) list.functions = key_functions(op.dtype, true) + number_functions(op.dtype);
  const bool reversed = op.reduction == SegmentReduction::Min;
  pass.defines = in_fours
                     ? "#define TERM float4\n#define TERMS 4\n#define TERM_AT(i) sn_four_at(&values(i))\n"
                       "#define JOIN(i, x) sn_add_four(&joined(i), x)\n"
                 : swaps ? "#define TERM T\n#define TERMS 1\n#define TERM_AT(i) values(i)\n"
                           "#define JOIN(i, x) ADD_BY_SWAPS(joined(i), x)\n"
                 : sums  ? "#define TERM T\n#define TERMS 1\n#define TERM_AT(i) values(i)\n"
                           "#define JOIN(i, x) ADD_TERM_TO(joined(i), x)\n"
                         : std::string("#define TERM Key\n#define TERMS 1\n#define TERM_AT(i) ") +
                              (reversed ? "reversed_" : "") +
                              "key_of(values(i))\n"
                              // What is there may have grown since it was seen, never less.
                              "#define JOIN(i, x) if (x > joined(i)) RAISE_TO(joined(i), x)\n";
  pass.columns = op.columns / (in_fours ? 4 : 1);
  // Few columns: more rows for each lane, so that as much is on its way.
  const std::int64_t items = pass.columns <= 1 ? 8 : pass.columns <= kLanes ? 4 : 1;
  pass.defines += "#define ITEMS " + std::to_string(items) + "\n#define OUTER " +
                  std::to_string(op.outer > 1 ? 1 : 0) + "\n";
  const std::int64_t beside = kLanes >> pass.width_bits();
  pass.rows = divide_up(all, items * beside) * beside;
  pass.buffers = {{"values", op.dtype, Of::Operand, 0, 0, all * op.columns, false},
                  {"row_of", DType::i32, Of::Operand, 1, 0, op.count, false},
                  joined};
  pass.ints = {{"ends", all}, {"count", op.count}, {"rows", op.rows}, {"columns", op.columns}};
  pass.most_rounds = 1;
  if (all > 0) list.passes.push_back(std::move(pass));
  if (!sums && (is_float(op.dtype) || reversed))
    list.passes.push_back(numbers_of_keys(joined, reversed ? "reversed_number_of" : "number_of"));
  return list;
}

}  // namespace sinter::runtime
