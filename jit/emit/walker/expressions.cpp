// The text of kernel IR expressions.
#include "jit/emit/walker/expressions.h"

#include <algorithm>
#include <bit>

#include <sinter/error.h>

#include "jit/ir/products/row_product.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::IntRef;

namespace {

/// Coordinates, values and maps: "x0", "v3", "m1".
std::string name(char letter, std::size_t number) { return letter + std::to_string(number); }

}  // namespace

int vector_width(const ir::Kernel& kernel, const Target& target) {
  if (!target.dialect->has_wide_vectors) return kVector;
  // A row's lanes have several vectors under way as it is, and need their registers for sums. Products read
  // one factor as fast as memory gives it, and hold little else. Wide vectors are held in languages alone
  // that have kernels for single rows.
  const bool is_whole_product = target.dialect->goes_along_lone_rows && kernel.row_full &&
                                kernel.row_elements % kWideVector == 0 && ir::is_row_product(kernel);
  if (kernel.row_elements > 0 && !is_whole_product) return kVector;
  // Each of a lane's columns has its sums.
  if (has_vectors_of_columns(kernel, target)) return kVector;
  const bool halves = std::any_of(kernel.buffers.begin(), kernel.buffers.end(),
                                  [](const ir::BufferInfo& buffer) { return size_of(buffer.dtype) == 2; });
  return halves ? kWideVector : kVector;
}

Expressions::Expressions(const ir::Kernel& kernel, const Target& target)
    : width(vector_width(kernel, target)),
      kernel(kernel),
      target(target),
      dialect(*target.dialect),
      flat_type(kernel.wide ? Type::I64 : Type::U32),
      index_type(kernel.wide ? Type::I64 : Type::I32),
      used_(kernel.extents.size(), false),
      placed_(1) {
  for (std::size_t c = 0; c < kernel.extents.size(); ++c) coordinates.push_back(name('x', c));
  for (const ir::IndexMap& map : kernel.maps)
    for (std::size_t c = 0; c < kernel.extents.size(); ++c)
      if (!map.steps.front().strides[c].is_zero()) used_[c] = true;
}

std::string Expressions::integer(IntRef ref) const {
  if (ref.is_zero()) return "0";
  if (ref.is_one()) return "1";
  return argument_name('n', ref.index);
}

std::string Expressions::value(ExprId id) const {
  const Expr& e = kernel.exprs[id];
  if (e.kind == ExprKind::Scalar && kernel.scalars[e.scalar] == e.dtype) return argument_name('s', e.scalar);
  return name('v', id);
}

std::string Expressions::lanes() const {
  const bool is_known = kernel.row_full || kernel.row_cluster > 1 || has_short_rows(kernel, target);
  return is_known ? dialect.literal(Type::U32, kernel.row_lanes) : dialect.lanes;
}

std::string Expressions::flat(const std::string& text) const { return dialect.cast(flat_type, text); }
std::string Expressions::index(const std::string& text) const { return dialect.cast(index_type, text); }

std::string Expressions::zero(DType dtype) const { return dialect.cast(type_of(dtype), "0"); }

void Expressions::open(const std::string& head) {
  out.open(head);
  placed_.emplace_back();
}

void Expressions::close(std::string_view tail) {
  out.close(tail);
  placed_.pop_back();
}

void Expressions::open_unrolled(const std::string& variable, int count) {
  hint(dialect.unroll);
  open(dialect.rounds(variable, count));
}

void Expressions::hint(const std::string& line) {
  if (!line.empty()) out.line(line);
}

void Expressions::hint_rounds(int count) {
  if (count > 1 && !dialect.unroll_rounds.empty()) hint(dialect.unroll_rounds + " " + std::to_string(count));
}

void Expressions::split(const std::string& from, std::size_t first, std::size_t count) {
  std::size_t needed = first + count;  // the first coordinate that is needed
  for (std::size_t c = first + count; c-- > first;)
    if (used_[c]) needed = c;
  if (needed == first + count) return;
  if (count == 1) {
    out.line(dialect.constant(index_type, coordinates[first], index(from)));
    return;
  }
  // The rest of the number needs a name of its own: two splits may stand in one block.
  const std::string rest = "t" + std::to_string(first);
  out.line(dialect.variable(flat_type, rest, from));
  for (std::size_t c = first + count; c-- > needed;) {
    if (c > first)
      split_off(rest, kernel.extents[c], used_[c] ? coordinates[c] : "", c > needed, c);
    else if (used_[c])
      out.line(dialect.constant(index_type, coordinates[c], index(rest)));
  }
}

void Expressions::split_off(const std::string& rest, IntRef extent, const std::string& coordinate,
                            bool goes_on, std::size_t c) {
  const std::string size = flat(integer(extent));
  const auto known =
      std::find_if(kernel.reciprocals.begin(), kernel.reciprocals.end(), [&](const ir::Reciprocal& r) {
        return extent.kind == IntRef::Kind::Argument && r.divisor == extent.index;
      });
  if (known == kernel.reciprocals.end()) {
    if (!coordinate.empty()) out.line(dialect.constant(index_type, coordinate, index(rest + " % " + size)));
    if (goes_on) out.line(rest + " /= " + size + ";");
    return;
  }
  const std::string quotient = name('d', c);
  out.line(dialect.constant(flat_type, quotient,
                            "sn_mulhi(" + rest + ", " + flat(argument_name('n', known->multiplier)) +
                                ") >> " + flat(argument_name('n', known->shift))));
  if (!coordinate.empty())
    out.line(dialect.constant(index_type, coordinate, index(rest + " - " + quotient + " * " + size)));
  if (goes_on) out.line(rest + " = " + quotient + ";");
}

std::string Expressions::linear(const ir::MapStep& step, const std::vector<std::string>& names) const {
  std::string text;
  auto add = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  if (!step.offset.is_zero()) add(integer(step.offset));
  for (std::size_t c = 0; c < step.strides.size(); ++c) {
    if (step.strides[c].is_zero()) continue;
    add(step.strides[c].is_one() ? names[c] : names[c] + " * " + integer(step.strides[c]));
  }
  return text.empty() ? "0" : text;
}

std::string Expressions::number(std::size_t map) {
  const ir::IndexMap& m = kernel.maps[map];
  if (!flat_point.empty() &&
      std::find(kernel.flat_maps.begin(), kernel.flat_maps.end(), map) != kernel.flat_maps.end()) {
    const IntRef offset = m.steps.front().offset;
    return offset.is_zero() ? flat_point : integer(offset) + " + " + flat_point;
  }
  if (m.steps.size() == 1) return linear(m.steps.front(), coordinates);
  const std::string result = name('m', map);
  for (const std::set<std::size_t>& block : placed_)
    if (block.count(map)) return result;
  number_quotients(map);
  placed_.back().insert(map);
  out.line(dialect.variable(index_type, result, linear(m.steps.front(), coordinates)));
  for (std::size_t s = 1; s < m.steps.size(); ++s) {
    const ir::MapStep& step = m.steps[s];
    if (!step.maps.empty()) {
      std::vector<std::string> quotients;
      for (const std::uint16_t part : step.maps) quotients.push_back(name('m', part));
      out.line(result + " += " + linear(step, quotients) + ";");
      continue;
    }
    std::size_t first = step.extents.size();  // the first coordinate that counts
    for (std::size_t c = step.extents.size(); c-- > 0;)
      if (!step.strides[c].is_zero()) first = c;
    if (first == step.extents.size() || step.extents.size() == 1) {
      out.line(result + " = " + linear(step, {result}) + ";");
      continue;
    }
    out.open("");
    out.line(dialect.variable(flat_type, "t", flat(result)));
    std::vector<std::string> names(step.extents.size());
    for (std::size_t c = step.extents.size(); c-- > first;) {
      names[c] = name('c', c);
      const std::string wanted = step.strides[c].is_zero() ? "" : names[c];
      if (c > 0)
        split_off("t", step.extents[c], wanted, c > first, c);
      else if (!wanted.empty())
        out.line(dialect.constant(index_type, wanted, index("t")));
    }
    out.line(result + " = " + linear(step, names) + ";");
    out.close();
  }
  return result;
}

void Expressions::number_quotients(std::size_t map) {
  for (const ir::MapStep& step : kernel.maps[map].steps)
    for (const std::uint16_t part : step.maps) number(part);
}

std::string Expressions::position(std::size_t map) { return number(map); }

std::string Expressions::vector_of(const std::string& element) const {
  return "(" + dialect.cast(Type::U32, element) + " >> " +
         std::to_string(std::countr_zero(static_cast<unsigned>(width))) + ")";
}

std::string Expressions::vector_number(std::size_t map, std::size_t along, const std::string& number_along,
                                       bool may_be_negative) const {
  ir::MapStep rest = kernel.maps[map].steps.front();
  rest.strides[along] = IntRef::zero();
  const std::string before = linear(rest, coordinates);
  if (before == "0") return number_along;
  const std::string shift = std::to_string(std::countr_zero(static_cast<unsigned>(width)));
  return (may_be_negative ? dialect.cast(Type::U32, "((" + before + ") >> " + shift + ")")
                          : vector_of(before)) +
         " + " + number_along;
}

std::string Expressions::elementwise_text(const OpInfo& op, DType result, const std::vector<DType>& dtypes,
                                          const std::vector<std::string>& operands) const {
  if (op.op == Op::Cast && dtypes[0] == result) return operands[0];
  if (op.rule == DTypeRule::Select) return "(" + dialect.choose(operands[0], operands[1], operands[2]) + ")";
  const bool is_equal = operands.size() == 2 && operands[0] == operands[1];
  if (const std::string_view function = is_equal ? dialect.with_itself(op, result) : ""; !function.empty())
    return std::string(function) + "(" + operands[0] + ")";
  std::string text;
  for (std::size_t at = 0; at < op.text.size(); ++at) {
    const char c = op.text[at];
    if (c == '$') {
      const std::size_t operand = static_cast<std::size_t>(op.text[++at] - '0');
      text += dialect.operand(op, dtypes[operand], operands[operand]);
    } else if (op.text.substr(at, 3) == "sn_") {
      // sn_ functions are told apart by the dtype they take, casts by the one they give as well.
      const std::size_t end = op.text.find('(', at);
      text += std::string(op.text.substr(at, end - at)) + "_" + std::string(name_of(dtypes[0]));
      if (op.op == Op::Cast) text += "_" + std::string(name_of(result));
      at = end - 1;
    } else {
      text += c;
    }
  }
  return dialect.result(op, result, text);
}

std::string Expressions::combine(Op op, DType dtype, const std::string& a, const std::string& b) const {
  Op elementwise = op == Op::Sum    ? Op::Add
                   : op == Op::Prod ? Op::Mul
                   : op == Op::Max  ? Op::Maximum
                                    : Op::Minimum;
  return elementwise_text(info(elementwise), dtype, {dtype, dtype}, {a, b});
}

void Expressions::define_load(ExprId id) {
  const Expr& e = kernel.exprs[id];
  if (auto found = loaded.find(id); found != loaded.end()) {
    out.line(dialect.exact(e.dtype, value(id), found->second));
    return;
  }
  if (e.predicate == ir::kNone) {
    const std::string at = position(e.map);
    out.line(dialect.exact(e.dtype, value(id), dialect.read(kernel, e.buffer, at)));
    return;
  }
  out.line(dialect.variable(e.dtype, value(id), zero(e.dtype)));
  // Numbers found by dividing are found once for all who read there.
  const auto reads_there = [&](const Expr& other) {
    return other.kind == ExprKind::Load && other.map == e.map;
  };
  if (kernel.maps[e.map].steps.size() > 1 &&
      std::count_if(kernel.exprs.begin(), kernel.exprs.end(), reads_there) > 1)
    number(e.map);
  number_quotients(e.map);
  open(dialect.when(value(e.predicate)));
  const std::string at = position(e.map);
  out.line(value(id) + " = " + dialect.read(kernel, e.buffer, at) + ";");
  close();
}

void Expressions::define_load_at(ExprId id) {
  const Expr& e = kernel.exprs[id];
  const DType index_dtype = kernel.exprs[e.args[0]].dtype;
  const std::string at = value(e.args[0]);
  // The extent of a wide kernel may be more than an i32 can be.
  const bool widens = kernel.wide && index_dtype == DType::i32;
  const Type compared = widens ? Type::I64 : type_of(index_dtype);
  out.line(dialect.variable(e.dtype, value(id), zero(e.dtype)));
  number_quotients(e.map);
  if (e.predicate != ir::kNone) open(dialect.when(value(e.predicate)));
  open(dialect.when(at + " >= " + dialect.literal(index_dtype, 0) + " && " +
                    (widens ? dialect.cast(compared, at) : at) + " < " +
                    dialect.cast(compared, integer(e.extent))));
  std::string place = position(e.map);
  if (!e.stride.is_zero()) {
    std::string step = e.stride.is_one() ? index(at) : index(at) + " * " + integer(e.stride);
    place = place == "0" ? step : place + " + " + step;
  }
  out.line(value(id) + " = " + dialect.read(kernel, e.buffer, place) + ";");
  close();
  open(exists.empty() ? dialect.otherwise() : dialect.otherwise_when(exists));
  out.line(dialect.set_fault(kernel, e));
  close();
  if (e.predicate != ir::kNone) close();
}

void Expressions::define_in_bounds(ExprId id) {
  const Expr& e = kernel.exprs[id];
  const std::string whole = number(e.map);
  out.line(dialect.variable(Type::Bool, value(id), "true"));
  open("");
  const std::size_t rank = e.bounds.size();
  if (rank > 1) out.line(dialect.variable(flat_type, "t", flat(whole)));
  std::string condition;
  auto require = [&](const std::string& text) { condition += (condition.empty() ? "" : " && ") + text; };
  for (std::size_t c = rank; c-- > 0;) {
    const ir::Bound& bound = e.bounds[c];
    std::string coordinate = name('c', c);
    if (c > 0)
      split_off("t", bound.extent, coordinate, true, c);
    else
      out.line(dialect.constant(index_type, coordinate, rank == 1 ? whole : index("t")));
    if (!bound.lower.is_zero()) {
      require(coordinate + " >= " + integer(bound.lower));
      coordinate = "(" + coordinate + " - " + integer(bound.lower) + ")";
    }
    if (!bound.step.is_one()) {
      require(coordinate + " % " + integer(bound.step) + " == 0");
      coordinate += " / " + integer(bound.step);
    }
    require(coordinate + " < " + integer(bound.size));
  }
  if (!condition.empty()) out.line(value(id) + " = " + condition + ";");
  close();
}

std::string Expressions::compared_with_itself(const Expr& e) const {
  if (e.args[0] != e.args[1] || !is_float(kernel.exprs[e.args[0]].dtype)) return "";
  const std::string is_nan =
      elementwise_text(info(Op::IsNan), DType::boolean, {kernel.exprs[e.args[0]].dtype}, {value(e.args[0])});
  if (e.op == Op::NotEqual) return is_nan;
  return e.op == Op::Equal || e.op == Op::LessEqual ? "!" + is_nan : "";
}

bool Expressions::has_common_divisor(const Expr& e) const {
  if (!dialect.divides_by_reciprocals || e.op != Op::Div || e.dtype != DType::f32) return false;
  return e.level == ir::Level::Inner && kernel.exprs[e.args[1]].level == ir::Level::Outer &&
         kernel.exprs[e.args[1]].kind != ExprKind::Scalar;
}

void Expressions::define_reciprocal(ExprId id) {
  const bool is_divisor = std::any_of(kernel.exprs.begin(), kernel.exprs.end(), [&](const Expr& e) {
    return e.kind == ExprKind::Elementwise && e.args[1] == id && has_common_divisor(e);
  });
  if (is_divisor)
    out.line(dialect.constant(Type::F32, reciprocal(id), "sn_reciprocal_f32(" + value(id) + ")"));
}

void Expressions::define(ExprId id) {
  const Expr& e = kernel.exprs[id];
  auto say = [&](const std::string& text) { out.line(dialect.exact(e.dtype, value(id), text)); };
  switch (e.kind) {
    case ExprKind::Load: return define_load(id);
    case ExprKind::LoadAt: return define_load_at(id);
    case ExprKind::Scalar: {
      const DType given = kernel.scalars[e.scalar];
      if (given != e.dtype)
        say(elementwise_text(info(Op::Cast), e.dtype, {given}, {argument_name('s', e.scalar)}));
      return;
    }
    case ExprKind::Index: {
      const std::string whole = number(e.map);
      return say(dialect.cast(Type::I64, whole));
    }
    case ExprKind::InBounds: return define_in_bounds(id);
    case ExprKind::Random:
    case ExprKind::RandomNormal: {
      const std::string whole = number(e.map);
      return say(std::string(e.kind == ExprKind::Random ? "sn_uniform" : "sn_normal") + "(" +
                 dialect.cast(Type::I64, whole) + ", " + argument_name('s', e.scalar) + ", " +
                 argument_name('s', e.scalar + 1u) + ")");
    }
    case ExprKind::Elementwise: {
      if (const auto found = loaded.find(id); found != loaded.end()) return say(found->second);
      std::vector<DType> dtypes;
      std::vector<std::string> operands;
      for (ExprId arg : e.args) {
        if (arg == ir::kNone) break;
        dtypes.push_back(kernel.exprs[arg].dtype);
        operands.push_back(value(arg));
      }
      if (const std::string text = compared_with_itself(e); !text.empty()) return say(text);
      if (const std::string text = byte_as_float(e); !text.empty()) return say(text);
      if (const std::string text = rounded_to_bf16(e); !text.empty()) return say(text);
      if (has_common_divisor(e))
        return say("sn_div_by_f32(" + operands[0] + ", " + operands[1] + ", " + reciprocal(e.args[1]) + ")");
      return say(elementwise_text(info(e.op), e.dtype, dtypes, operands));
    }
    case ExprKind::Dot: return define_dot(id);
    case ExprKind::Row:             // its Dots and Combines read it
    case ExprKind::Combine:         // likewise the kernel of attention
    case ExprKind::Partial:         // sums of columns are taken in beside their rows
    case ExprKind::Reduce: return;  // the loops define it
  }
}

void Expressions::define_dot(ExprId id) {
  const Expr& e = kernel.exprs[id];
  const Expr& row = kernel.exprs[e.args[0]];
  out.line(dialect.variable(DType::f32, value(id), zero(DType::f32)));
  std::string factors[2];
  for (int k = 0; k < 2; ++k) {
    const Expr& of = kernel.exprs[e.args[k]];
    const std::string at = position(of.map) + " + c * " + integer(of.stride);
    factors[k] =
        elementwise_text(info(Op::Cast), DType::f32, {of.dtype}, {dialect.read(kernel, of.buffer, at)});
  }
  open(dialect.loop(index_type, "c", index("0"), index(std::to_string(row.length)), index("1")));
  out.line(value(id) + " = " +
           combine(Op::Sum, DType::f32, value(id),
                   elementwise_text(info(Op::Mul), DType::f32, {DType::f32, DType::f32},
                                    {factors[0], factors[1]})) +
           ";");
  close();
}

void Expressions::store(const ir::Store& store) {
  if (stores_into_arrays) return out.line(array_of(store) + "[u] = " + value(store.value) + ";");
  const std::string at = position(store.map);
  out.line(dialect.write(kernel, store.buffer, at, value(store.value)));
}

void Expressions::store_from_array(const ir::Store& store) {
  const std::string at = position(store.map);
  out.line(dialect.write(kernel, store.buffer, at, array_of(store) + "[u]"));
}

std::string Expressions::shift_condition(const std::vector<std::pair<std::size_t, std::size_t>>& buffer_maps,
                                         std::size_t like) const {
  const std::string mask = std::to_string(width - 1);
  std::set<std::string> conditions;
  const ir::MapStep& first = kernel.maps[like].steps.front();
  const auto require_congruent = [&](IntRef a, IntRef b) {
    if (a == b) return;
    conditions.insert("((" + integer(a) + " ^ " + integer(b) + ") & " + mask + ") == 0");
  };
  for (const auto& [buffer, map] : buffer_maps) {
    const std::size_t bytes =
        std::min<std::size_t>(16, size_of(kernel.buffers[buffer].dtype) * static_cast<std::size_t>(width));
    if (const std::string address = dialect.address(buffer); !address.empty())
      conditions.insert("(" + address + " & " + std::to_string(bytes - 1) + ") == 0");
    const ir::MapStep& step = kernel.maps[map].steps.front();
    require_congruent(step.offset, first.offset);
    for (std::size_t c = 0; c + 1 < kernel.extents.size(); ++c)
      require_congruent(step.strides[c], first.strides[c]);
  }
  std::string text;
  for (const std::string& condition : conditions) text += " && " + condition;
  return text;
}

std::string Expressions::vector_condition(const std::vector<std::pair<std::size_t, std::size_t>>& buffer_maps,
                                          std::size_t along, bool extent_too,
                                          std::set<std::size_t> ints) const {
  std::map<std::size_t, std::set<std::size_t>> pointers;  // by alignment, the greatest last
  if (extent_too) ints.insert(kernel.extents[along].index);
  for (auto [buffer, map] : buffer_maps) {
    const std::size_t size = size_of(kernel.buffers[buffer].dtype);
    pointers[std::min<std::size_t>(16, size * static_cast<std::size_t>(width))].insert(buffer);
    const ir::MapStep& step = kernel.maps[map].steps.front();
    if (step.offset.kind == IntRef::Kind::Argument) ints.insert(step.offset.index);
    for (IntRef stride : step.strides)
      if (stride.kind == IntRef::Kind::Argument) ints.insert(stride.index);
  }
  auto joined = [](const std::set<std::size_t>& items, const auto& text_of) {
    std::string text;
    for (std::size_t item : items) text += (text.empty() ? "" : " | ") + text_of(item);
    return "(" + text + ")";
  };
  auto address = [&](std::size_t buffer) { return dialect.address(buffer); };
  auto integer = [](std::size_t i) { return argument_name('n', i); };
  std::string text;
  auto require = [&](const std::string& condition) { text += (text.empty() ? "" : " && ") + condition; };
  if (address(0).empty()) pointers.clear();
  for (auto at = pointers.rbegin(); at != pointers.rend(); ++at)
    require("(" + joined(at->second, address) + " & " + std::to_string(at->first - 1) + ") == 0");
  const std::string mask = std::to_string(width - 1);
  if (!ints.empty())
    require("(" + joined(ints, integer) + " & " + (kernel.wide ? index(mask) : mask) +
            ") == " + (kernel.wide ? index("0") : "0"));
  return text.empty() ? "true" : text;
}

}  // namespace sinter::emit
