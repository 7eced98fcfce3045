// Goes along the columns from both ends, as long as conditions are false.
#include "src/runtime/host/attention/seen_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "jit/ir/uses.h"

namespace sinter::runtime::host {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

constexpr std::int64_t kBlock = 32;  // columns that are asked about at once

// Of a sum that wraps around, as the kernel's would.
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min(),
                       kMost = std::numeric_limits<std::int64_t>::max();

double number(const ScalarValue& value) {
  return is_float(value.dtype) ? value.real : static_cast<double>(value.integer);
}

/// What is so by a launch's scalars.
struct Logic {
  using Truth = bool;
  const ir::Kernel& kernel;
  const LaunchArguments& arguments;
  bool is_zero(ExprId scalar) const { return as_f32(scalar) == 0.0f; }
  bool is_lowest(ExprId scalar) const { return as_f32(scalar) == -std::numeric_limits<float>::infinity(); }
  bool both(bool a, bool b) const { return a && b; }
  bool either(bool a, bool b) const { return a || b; }
  bool unknown() const { return false; }

 private:
  float as_f32(ExprId scalar) const {
    return static_cast<float>(number(arguments.scalars[kernel.exprs[scalar].scalar]));
  }
};

}  // namespace

SeenColumns::SeenColumns(const ir::Kernel& kernel) : kernel_(kernel), places_(kernel) {
  std::vector<bool> needed(kernel.exprs.size());
  for (const ExprId id : places_.conditions()) needed[id] = true;
  for (ExprId id = static_cast<ExprId>(needed.size()); id-- > 0;)
    if (needed[id]) ir::for_operands(kernel.exprs[id], [&](ExprId arg) { needed[arg] = true; });
  for (ExprId id = 0; id < needed.size(); ++id)
    if (needed[id]) needed_.push_back(id);
  const std::vector<bool> live = ir::live_expressions(kernel);
  for (ExprId id = 0; id < live.size(); ++id)
    if (live[id] && ir::is_reduced(kernel.exprs[id])) reduced_.push_back(id);
}

bool SeenColumns::may_skip(ExprId condition, const LaunchArguments& arguments) const {
  const Logic logic{kernel_, arguments};
  for (const ExprId id : reduced_) {
    const Expr& e = kernel_.exprs[id];
    const bool is_greatest = e.kind == ExprKind::Reduce && e.op == Op::Max;
    if (!is_greatest && e.kind == ExprKind::Reduce && e.op != Op::Sum) return false;
    if (!(is_greatest ? places_.lowest_without(e.args[0], condition, logic)
                      : places_.zero_without(e.args[0], condition, logic)))
      return false;
  }
  return true;
}

SeenColumns::Bounds SeenColumns::bounds(ExprId id, const LaunchArguments& arguments, const ir::Stripe& stripe,
                                        Range columns, std::span<const Bounds> known) const {
  const Expr& e = kernel_.exprs[id];
  if (e.kind == ExprKind::Scalar) {
    const std::int64_t value = arguments.scalars[e.scalar].integer;
    return {value, value};
  }
  if (e.kind == ExprKind::Index) {
    const ir::MapStep& step = kernel_.maps[e.map].steps.front();
    // Places in a tensor, which do not wrap around.
    Bounds b;
    b.low = b.high = ir::value_of(step.offset, arguments.ints);
    const auto add = [&](std::size_t loop, std::int64_t first, std::int64_t last) {
      const std::int64_t stride = ir::value_of(step.strides[loop], arguments.ints);
      b.low += std::min(stride * first, stride * last);
      b.high += std::max(stride * first, stride * last);
    };
    const std::size_t row = kernel_.outer_rank - 1u;
    for (std::size_t loop = 0; loop < row; ++loop) add(loop, stripe.batch[loop], stripe.batch[loop]);
    add(row, stripe.first_row, stripe.first_row + stripe.rows - 1);
    add(row + 1, columns.first, columns.end - 1);
    return b;
  }
  const Bounds a = known[e.args[0]], b = e.args[1] == ir::kNone ? Bounds{} : known[e.args[1]];
  Bounds sum;
  switch (e.op) {
    case Op::Add:
      return __builtin_add_overflow(a.low, b.low, &sum.low) ||
                     __builtin_add_overflow(a.high, b.high, &sum.high)
                 ? Bounds{kLeast, kMost}
                 : sum;
    case Op::Sub:
      return __builtin_sub_overflow(a.low, b.high, &sum.low) ||
                     __builtin_sub_overflow(a.high, b.low, &sum.high)
                 ? Bounds{kLeast, kMost}
                 : sum;
    case Op::Less: return {a.high < b.low, a.low < b.high};
    case Op::LessEqual: return {a.high <= b.low, a.low <= b.high};
    case Op::And: return {a.low & b.low, a.high & b.high};
    case Op::Or: return {a.low | b.low, a.high | b.high};
    case Op::Not: return {1 - a.high, 1 - a.low};
    default: return a;  // Cast
  }
}

SeenColumns::Range SeenColumns::range(const LaunchArguments& arguments, const ir::Stripe& stripe,
                                      std::int64_t columns) const {
  std::vector<ExprId> skipping;
  for (const ExprId id : places_.conditions())
    if (may_skip(id, arguments)) skipping.push_back(id);
  Range seen{0, columns};
  if (skipping.empty()) return seen;
  std::vector<Bounds> known(kernel_.exprs.size());
  const auto counts = [&](Range of) {
    for (const ExprId id : needed_) known[id] = bounds(id, arguments, stripe, of, known);
    return std::all_of(skipping.begin(), skipping.end(), [&](ExprId id) { return known[id].high != 0; });
  };
  while (seen.end - seen.first > kBlock && !counts({seen.first, seen.first + kBlock})) seen.first += kBlock;
  while (seen.end - seen.first > kBlock && !counts({seen.end - kBlock, seen.end})) seen.end -= kBlock;
  return seen;
}

}  // namespace sinter::runtime::host
