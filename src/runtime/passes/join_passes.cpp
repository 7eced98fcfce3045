// Which passes an indexed join has. All lanes join values to rows by atomic operations, as they come: to
// numbers that change none, which are written before. What becomes of floats must not depend on who comes
// first, so the largest and the least are found among keys, which are integers, and sums are sums of
// integers, unless any order is allowed.
#include <bit>
#include <string>
#include <utility>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime {
namespace {

using Of = PassBuffer::Of;
using library::IndexedJoinOp;
using library::SegmentReduction;

constexpr int kLanes = 256;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t values_of(const IndexedJoinOp& op) { return op.outer * op.count; }
std::int64_t results_of(const IndexedJoinOp& op) { return op.outer * op.rows * op.columns; }

std::string define(const std::string& name, const std::string& text) {
  return "#define " + name + " " + text + "\n";
}

/// What is joined to `joined`: TERM, TERMS, TERM_AT and JOIN of the body.
struct Terms {
  std::string term = "T", at = "values(i)", join;
  std::int64_t columns = 1;  // that one term has

  std::string defines() const {
    return define("TERM", term) + define("TERMS", std::to_string(columns)) + define("TERM_AT(i)", at) +
           define("JOIN(i, x)", join);
  }
};

/// A pass over all values.
Pass join(const std::string& name, const IndexedJoinOp& op, const Terms& terms, PassBuffer joined) {
  Pass pass;
  pass.name = name;
  pass.body = "join_rows.inc";
  pass.lanes = kLanes;
  pass.columns = op.columns / terms.columns;
  // Few columns: more rows for each lane, so that as much is on its way.
  const std::int64_t items = pass.columns <= 1 ? 8 : pass.columns <= kLanes ? 4 : 1;
  pass.defines = terms.defines() + define("ITEMS", std::to_string(items)) +
                 define("OUTER", std::to_string(op.outer > 1 ? 1 : 0));
  const std::int64_t beside = kLanes >> pass.width_bits();
  pass.rows = divide_up(values_of(op), items * beside) * beside;
  joined.name = "joined";
  joined.written = joined.shared = true;
  pass.buffers = {{"values", op.dtype, Of::Operand, 0, 0, values_of(op) * op.columns, false},
                  {"row_of", DType::i32, Of::Operand, 1, 0, op.count, false},
                  std::move(joined)};
  pass.ints = {{"ends", values_of(op)}, {"count", op.count}, {"rows", op.rows}, {"columns", op.columns}};
  pass.most_rounds = 1;
  return pass;
}

// ---- sums as they come

PassList plain_sums(const IndexedJoinOp& op, PassDevice device) {
  PassList list;
  list.dtype = op.dtype;
  list.joins = true;
  const bool swaps =
      (op.dtype == DType::f32 && !device.adds_floats) || (op.dtype == DType::f64 && !device.adds_doubles);
  const DType stored = !swaps ? op.dtype : op.dtype == DType::f32 ? DType::i32 : DType::i64;
  const PassBuffer joined{"joined", stored, Of::Result, 0, 0, results_of(op), true};
  list.passes.push_back(fill_zeros(joined));
  Terms terms;
  if (op.dtype == DType::f32 && op.columns % 4 == 0 && device.adds_fours)
    terms = {"float4", "sn_four_at(&values(i))", "sn_add_four(&joined(i), x)", 4};
  else
    terms.join = swaps ? "ADD_BY_SWAPS(joined(i), x)" : "ADD_TERM_TO(joined(i), x)";
  list.passes.push_back(join("join_rows", op, terms, joined));
  return list;
}

// ---- the largest and the least

/// Keys that are ordered as the numbers are, and reversed ones; NaN last. And numbers of them: so -0 is
/// before 0, while to a sort both are alike (key_functions).
std::string extreme_functions(DType dtype) {
  if (!is_float(dtype))
    return "SN_FN Key key_of(T x) { return x; }\n"
           "SN_FN Key reversed_key_of(T x) { return ~x; }\n"
           "SN_FN T number_of(Key key) { return key; }\n"
           "SN_FN T reversed_number_of(Key key) { return ~key; }\n";
  const bool wide = dtype == DType::f64;
  return define("MOST", wide ? "0x7fffffffffffffffL" : "0x7fffffff") +
         define("INFINITE", wide ? "0x7ff0000000000000L" : "0x7f800000") +
         "SN_FN Key key_of(T x) {\n"
         "  const Key bits = BITS(x);\n"
         "  return (bits & MOST) > INFINITE ? MOST : bits < Key(0) ? bits ^ MOST : bits;\n"
         "}\n"
         "SN_FN Key reversed_key_of(T x) {\n"
         "  const Key key = key_of(x);\n"
         "  return key == MOST ? key : ~key;\n"
         "}\n"
         "SN_FN T number_of(Key key) { return FROM_BITS(key < Key(0) ? key ^ MOST : key); }\n"
         "SN_FN T reversed_number_of(Key key) { return number_of(key == MOST ? key : ~key); }\n";
}

/// The key of what changes none: of -infinity, or of the least integer.
std::string least_key(DType dtype) {
  switch (dtype) {
    case DType::f32: return "(-0x7f800001)";
    case DType::f64: return "(-0x7ff0000000000001L)";
    case DType::i32: return "(-0x7fffffff - 1)";
    default: return "(-0x7fffffffffffffffL - 1L)";
  }
}

PassList extremes(const IndexedJoinOp& op) {
  PassList list;
  list.dtype = op.dtype;
  list.joins = true;
  list.functions = extreme_functions(op.dtype);
  const bool reversed = op.reduction == SegmentReduction::Min;
  const PassBuffer joined{
      "joined", size_of(op.dtype) == 8 ? DType::i64 : DType::i32, Of::Result, 0, 0, results_of(op), true};
  list.passes.push_back(fill(joined, least_key(op.dtype)));
  // What is there may have grown since it was seen, never less.
  list.passes.push_back(join("join_rows", op,
                             {"Key", reversed ? "reversed_key_of(values(i))" : "key_of(values(i))",
                              "if (x > joined(i)) RAISE_TO(joined(i), x)"},
                             joined));
  if (is_float(op.dtype) || reversed)
    list.passes.push_back(numbers_of_keys(joined, reversed ? "reversed_number_of" : "number_of"));
  return list;
}

// ---- sums of f32 whose bits do not depend on an order

/// Each row's terms as integers: times a power of two with which the greatest of them, and as many as there
/// are of its size, fit in 62 bits. At least 31 bits stay for a term of the greatest size, so what rounding
/// takes away is less than in any sum of f32.
std::string exact_functions(std::int64_t count) {
  // Of 2^62 to the bits of the greatest terms, of which `count` may come together.
  const int spare = 62 - 24 - std::bit_width(static_cast<std::uint64_t>(count));
  return define("SPARE", std::to_string(spare)) +
         "SN_FN int exponent_of(T x) { return (BITS(x) >> 23) & 255; }\n"
         // Numbers below 2^-126 have the digits' place of those above.
         "SN_FN int place_of(int exponent) { return exponent > 0 ? exponent : 1; }\n"
         "SN_FN Wide whole_of(T x, int greatest) {\n"
         "  const int bits = BITS(x), own = exponent_of(x), digits = bits & 0x7fffff;\n"
         // Infinities are counted, positive ones in the lower half; a NaN counts as one of both.
         "  if (greatest == 255)\n"
         "    return own < 255 ? Wide(0) : digits != 0 ? (Wide(1) << 32) + Wide(1)\n"
         "           : bits < 0 ? Wide(1) << 32 : Wide(1);\n"
         "  const Wide all = Wide(own > 0 ? digits | 0x800000 : digits);\n"
         "  const int up = SPARE - (place_of(greatest) - place_of(own));\n"
         "  Wide size = Wide(0);\n"
         "  if (up >= 0) size = all << up;\n"
         "  else if (up >= -24) size = (all + (Wide(1) << (-up - 1))) >> -up;\n"
         "  return bits < 0 ? -size : size;\n"
         "}\n"
         "SN_FN T power_of_two(int exponent) { return FROM_BITS((exponent + 127) << 23); }\n"
         "SN_FN T sum_of(Wide sum, int greatest) {\n"
         "  if (greatest == 255) {\n"
         "    const bool above = (sum & Wide(0xffffffffu)) != Wide(0), below = (sum >> 32) != Wide(0);\n"
         "    return FROM_BITS(above && below ? 0x7fc00000 : above ? 0x7f800000 : int(0xff800000u));\n"
         "  }\n"
         "  const int exponent = place_of(greatest) - 150 - SPARE, half_of_it = exponent / 2;\n"
         // In two steps, of which only the last one rounds to less digits than f32 has, or to infinity.
         "  return T(sum) * power_of_two(half_of_it) * power_of_two(exponent - half_of_it);\n"
         "}\n";
}

PassList exact_sums(const IndexedJoinOp& op) {
  PassList list;
  list.dtype = op.dtype;
  list.joins = true;
  list.functions = exact_functions(op.count);
  const std::int64_t results = results_of(op);
  const PassBuffer words{"", DType::i32, Of::Workspace, 0, 0, 3 * results, true};
  PassBuffer sums{"", DType::i64, Of::Workspace, 0, 0, results, true},
      exponents{"", DType::i32, Of::Workspace, 0, 2 * results, results, true};
  list.workspace_bytes = static_cast<std::size_t>(words.numel) * size_of(words.dtype);
  list.passes.push_back(fill_zeros(words));
  list.passes.push_back(join("greatest_exponents", op,
                             {"int", "exponent_of(values(i))", "if (x > joined(i)) RAISE_TO(joined(i), x)"},
                             exponents));
  exponents.name = "exponents", exponents.written = false;
  list.passes.push_back(
      join("exact_sums", op, {.join = "ADD_TERM_TO(joined(i), whole_of(x, exponents(i)))"}, sums));
  list.passes.back().buffers.push_back(exponents);
  sums.name = "sums", sums.written = false;
  const PassBuffer result{"result", DType::f32, Of::Result, 0, 0, results, true};
  list.passes.push_back(over_all("sums_of_wholes", "sums_of_wholes.inc", result));
  list.passes.back().buffers.insert(list.passes.back().buffers.end(), {sums, exponents});
  return list;
}

}  // namespace

PassList passes_of(const IndexedJoinOp& op, PassDevice device) {
  const bool sums = op.reduction == SegmentReduction::Sum,
             exact = sums && is_float(op.dtype) && !op.any_order;
  if (op.reduction == SegmentReduction::Prod || (exact && op.dtype != DType::f32))
    throw DeviceError("[indexed_join] " + op.describe() + " of " + std::string(name_of(op.dtype)) +
                      " has another result in another order, and is joined in none");
  if ((exact || size_of(op.dtype) == 8) && !device.adds_wide)
    throw DeviceError("[indexed_join] " + op.describe() + " of " + std::string(name_of(op.dtype)) +
                      " takes atomic operations of 64 bits, which this device does not have");
  PassList list = exact ? exact_sums(op) : sums ? plain_sums(op, device) : extremes(op);
  std::erase_if(list.passes, [](const Pass& pass) { return pass.groups() == 0; });
  return list;
}

}  // namespace sinter::runtime
