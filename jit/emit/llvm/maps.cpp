// Index maps as LLVM values, and the expressions that are made of them.
#include <algorithm>
#include <stdexcept>

#include "jit/emit/llvm/maths.h"
#include "jit/emit/llvm/values.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprKind;
using ir::IntRef;

namespace {

bool has_map(const Expr& e) {
  return e.kind != ExprKind::Scalar && e.kind != ExprKind::Elementwise && e.kind != ExprKind::Reduce;
}

}  // namespace

LlvmValues::LlvmValues(const ir::Kernel& kernel, const LlvmTarget& target, LlvmWriter& writer,
                       std::size_t along, bool join)
    : kernel_(kernel),
      target_(target),
      w_(writer),
      along_(along),
      join_(join),
      dims_(kernel.exprs.size()),
      values_(kernel.exprs.size()),
      map_dims_(ir::dependence_of_maps(kernel)),
      offsets_(kernel.maps.size()),
      positions_(kernel.maps.size()),
      buffers_(kernel.buffers.size()),
      cached_(kernel.buffers.size()),
      scalars_(kernel.scalars.size()) {
  const std::uint64_t outer = (std::uint64_t{1} << kernel.outer_rank) - 1;
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const Expr& e = kernel.exprs[id];
    std::uint64_t dims = has_map(e) ? map_dims_[e.map] : 0;
    for (ir::ExprId arg : e.args)
      if (arg != ir::kNone) dims |= dims_[arg];
    if (e.predicate != ir::kNone) dims |= dims_[e.predicate];
    dims_[id] = e.kind == ExprKind::Reduce ? (dims & outer) | kReduced : dims;
  }
  for (const ir::IndexMap& map : kernel.maps) bases_.push_back(integer(map.steps.front().offset));
}

void LlvmValues::leave(Scope scope) {
  values_ = std::move(scope.values);
  bases_ = std::move(scope.bases);
  offsets_ = std::move(scope.offsets);
  positions_ = std::move(scope.positions);
  mask_ = std::move(scope.mask);
  mask_count_ = std::move(scope.mask_count);
  whole_ = std::move(scope.whole);
  bound_ = scope.bound;
}

void LlvmValues::bind(std::size_t k, const std::string& coordinate) {
  bound_ |= std::uint64_t{1} << k;
  for (std::size_t m = 0; m < bases_.size(); ++m) {
    const IntRef stride = kernel_.maps[m].steps.front().strides[k];
    if (stride.is_zero()) continue;
    const std::string part =
        stride.is_one() ? coordinate : w_.value("mul nsw i64 " + coordinate + ", " + integer(stride));
    bases_[m] = bases_[m] == "0" ? part : w_.value("add nsw i64 " + bases_[m] + ", " + part);
  }
}

void LlvmValues::bind_lanes(const std::string& point) {
  if (!join_) return bind(along_, point);
  bound_ |= lane_dims();
  const Parts at = divide(add({w_.iota(index_type()), true}, {point, false}), kernel_.extents[along_]);
  for (std::size_t m = 0; m < offsets_.size(); ++m) {
    const std::vector<IntRef>& strides = kernel_.maps[m].steps.front().strides;
    if (!steps_along_lanes(m)) continue;
    offsets_[m] =
        add(multiply(at.quotient, strides[along_ - 1]), multiply(at.remainder, strides[along_])).text;
  }
}

// ---- ints

std::string LlvmValues::integer(IntRef ref) {
  if (ref.is_zero()) return "0";
  if (ref.is_one()) return "1";
  std::string& name = ints_[ref.index];
  if (name.empty())
    name =
        w_.in_entry([&] { return w_.load("i64", w_.element("i64", "%ints", std::to_string(ref.index)), 8); });
  return name;
}

std::string LlvmValues::divisor(IntRef ref) {
  if (ref.kind != IntRef::Kind::Argument) return "1";
  std::string& name = divisors_[ref.index];
  if (name.empty())
    name = w_.in_entry([&] {
      const std::string n = integer(ref);
      const std::string positive = w_.value("icmp sgt i64 " + n + ", 1");
      return w_.value("select i1 " + positive + ", i64 " + n + ", i64 1");
    });
  return name;
}

std::string LlvmValues::inverse(IntRef ref) {
  std::string& name = inverses_[{ref.index, w_.lanes()}];
  if (name.empty())
    name = w_.in_entry([&] {
      const std::string n = w_.value("sitofp i64 " + divisor(ref) + " to double");
      return w_.splat("double", w_.value("fdiv double " + llvm_real(DType::f64, 1) + ", " + n));
    });
  return name;
}

std::string LlvmValues::lane_offsets(std::size_t map) {
  if (join_) return offsets_[map];
  const IntRef stride = lane_stride(map);
  const std::string type = w_.vector_of(index_type());
  if (stride.is_one()) return w_.iota(index_type());
  std::string& name = lane_offsets_[{stride.index, w_.lanes()}];
  if (name.empty())
    name = w_.in_entry([&] {
      std::string n = integer(stride);
      if (!kernel_.wide) n = w_.value("trunc i64 " + n + " to i32");
      return w_.value("mul " + type + " " + w_.iota(index_type()) + ", " + w_.splat(index_type(), n));
    });
  return name;
}

// ---- numbers: i64 scalars, or vectors of the index type

LlvmOperand LlvmValues::as_index(const LlvmOperand& value) {
  if (value.vector) return value;
  std::string n = value.text;
  if (!kernel_.wide && n[0] == '%') n = w_.value("trunc i64 " + n + " to i32");
  return {w_.splat(index_type(), n), true};
}

LlvmOperand LlvmValues::add(const LlvmOperand& a, const LlvmOperand& b) {
  if (a.text == "0") return b;
  if (b.text == "0") return a;
  if (!a.vector && !b.vector) return {w_.value("add i64 " + a.text + ", " + b.text), false};
  const std::string x = as_index(a).text, y = as_index(b).text;
  return {w_.value("add " + w_.vector_of(index_type()) + " " + x + ", " + y), true};
}

LlvmOperand LlvmValues::multiply(const LlvmOperand& a, IntRef by) {
  if (by.is_zero()) return {"0", false};
  if (by.is_one()) return a;
  if (!a.vector) return {w_.value("mul i64 " + a.text + ", " + integer(by)), false};
  return {w_.value("mul " + w_.vector_of(index_type()) + " " + a.text + ", " +
                   as_index({integer(by), false}).text),
          true};
}

LlvmValues::Parts LlvmValues::divide(const LlvmOperand& number, IntRef by) {
  if (by.kind != IntRef::Kind::Argument) return {number, {"0", false}};
  const std::string n = divisor(by);
  if (!number.vector) {
    const std::string quotient = w_.value("sdiv i64 " + number.text + ", " + n);
    const std::string product = w_.value("mul i64 " + quotient + ", " + n);
    return {{quotient, false}, {w_.value("sub i64 " + number.text + ", " + product), false}};
  }
  if (kernel_.wide) {
    const std::string type = w_.vector_of("i64"), d = w_.splat("i64", n);
    const std::string quotient = w_.value("sdiv " + type + " " + number.text + ", " + d);
    const std::string product = w_.value("mul " + type + " " + quotient + ", " + d);
    return {{quotient, true}, {w_.value("sub " + type + " " + number.text + ", " + product), true}};
  }
  const LlvmDivision parts =
      llvm_divide(w_, number.text, w_.value("trunc i64 " + n + " to i32"), inverse(by));
  return {{parts.quotient, true}, {parts.remainder, true}};
}

LlvmOperand LlvmValues::position(std::size_t map) {
  const LlvmOperand& known = positions_[map];
  if (!known.text.empty() && (map_dims_[map] & ~bound_) == 0) return known;
  const std::vector<ir::MapStep>& steps = kernel_.maps[map].steps;
  LlvmOperand number{bases_[map], false};
  if (steps_along_lanes(map)) number = add({lane_offsets(map), true}, number);
  for (std::size_t s = 1; s < steps.size(); ++s) {
    const ir::MapStep& step = steps[s];
    if (!step.maps.empty()) {
      for (std::size_t k = 0; k < step.maps.size(); ++k)
        number = add(number, multiply(position(step.maps[k]), step.strides[k]));
      continue;
    }
    LlvmOperand sum{integer(step.offset), false};
    for (std::size_t k = step.extents.size(); k-- > 0;) {
      Parts parts{{"0", false}, number};
      if (k > 0) parts = divide(number, step.extents[k]);
      sum = add(sum, multiply(parts.remainder, step.strides[k]));
      number = parts.quotient;
    }
    number = sum;
  }
  return positions_[map] = number;
}

bool LlvmValues::steps_along_lanes(std::size_t map) const {
  const std::vector<IntRef>& strides = kernel_.maps[map].steps.front().strides;
  return !strides[along_].is_zero() || (join_ && !strides[along_ - 1].is_zero());
}

// ---- expressions of maps

LlvmOperand LlvmValues::in_bounds(const Expr& e) {
  LlvmOperand number = position(e.map);
  std::string inside;
  const bool v = number.vector;
  const std::string type = v ? w_.vector_of(index_type()) : "i64", truth = w_.type(DType::boolean, v);
  auto same = [&](const std::string& n) { return v ? as_index({n, false}).text : n; };
  auto both = [&](const std::string& condition) {
    inside = inside.empty() ? condition : w_.value("and " + truth + " " + inside + ", " + condition);
  };
  for (std::size_t k = e.bounds.size(); k-- > 0;) {
    const ir::Bound& bound = e.bounds[k];
    Parts parts{{"0", false}, number};
    if (k > 0) parts = divide(number, bound.extent);
    number = parts.quotient;
    LlvmOperand from = parts.remainder;
    if (v && !from.vector) from = as_index(from);
    if (!bound.lower.is_zero())
      from.text = w_.value("sub " + type + " " + from.text + ", " + same(integer(bound.lower)));
    both(w_.value("icmp sge " + type + " " + from.text + ", " + same("0")));
    if (!bound.step.is_one()) {
      const Parts steps = divide(from, bound.step);
      both(w_.value("icmp eq " + type + " " + steps.remainder.text + ", " + same("0")));
      from = steps.quotient;
    }
    both(w_.value("icmp slt " + type + " " + from.text + ", " + same(integer(bound.size))));
  }
  return {inside, v};
}

LlvmOperand LlvmValues::random(const Expr& e) {
  const bool normal = e.kind == ExprKind::RandomNormal;
  const std::string seed = scalar(e.scalar), stream = scalar(e.scalar + std::size_t{1});
  if (!normal && is_affine(e.map) && walk_of(e.map) == Walk::Row)
    return {llvm_random_row(w_, bases_[e.map], seed, stream), true};
  const LlvmOperand number = as_wide(position(e.map));
  const std::string numbers = number.vector ? number.text : w_.splat("i64", number.text);
  const std::string y = llvm_random(w_, normal, numbers, seed, stream);
  return {number.vector ? y : w_.first_lane(w_.vector_of("float"), y), number.vector};
}

LlvmOperand LlvmValues::as_wide(const LlvmOperand& number) {
  if (!number.vector || kernel_.wide) return number;
  return {w_.value("sext " + w_.vector_of("i32") + " " + number.text + " to " + w_.vector_of("i64")), true};
}

void LlvmValues::make(ir::ExprId id) {
  const Expr& e = kernel_.exprs[id];
  switch (e.kind) {
    case ExprKind::Load: values_[id] = load(e); return;
    case ExprKind::LoadAt: values_[id] = load_at(e); return;
    case ExprKind::Scalar: values_[id] = {scalar(e.scalar), false}; return;
    case ExprKind::Index: values_[id] = as_wide(position(e.map)); return;
    case ExprKind::InBounds: values_[id] = in_bounds(e); return;
    case ExprKind::Random:
    case ExprKind::RandomNormal: values_[id] = random(e); return;
    case ExprKind::Elementwise: {
      std::vector<LlvmOperand> args;
      for (ir::ExprId arg : e.args)
        if (arg != ir::kNone) args.push_back(values_[arg]);
      values_[id] = apply(e.op, e.dtype, kernel_.exprs[e.args[0]].dtype, std::move(args));
      return;
    }
    case ExprKind::Reduce: return;  // set when its loop has ended
    case ExprKind::Row:
    case ExprKind::Dot:
    case ExprKind::Combine: throw std::logic_error("llvm: scores, which are for tensor cores");
    case ExprKind::Partial: throw std::logic_error("llvm: sums of parts, which are for workgroups");
  }
}

}  // namespace sinter::emit
