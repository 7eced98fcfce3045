// Checks every rule of kernel.h that can be seen without the arguments of a launch.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "jit/ir/uses.h"
#include "jit/ir/verify_forms.h"

namespace sinter::ir {
namespace {

bool is_real(DType dtype) { return is_float(dtype) && !is_stored_float(dtype); }
bool is_numeric(DType dtype) { return is_real(dtype) || dtype == DType::i32 || dtype == DType::i64; }
bool is_logic(DType dtype) { return dtype == DType::boolean || dtype == DType::i32 || dtype == DType::i64; }
bool is_reduction(Op op) { return info(op).op_class == OpClass::Reduce; }

class Verifier : private FormVerifier {
 public:
  explicit Verifier(const Kernel& kernel) : FormVerifier(kernel) {}

  void run() {
    check_loops();
    for (std::size_t i = 0; i < k_.maps.size(); ++i) check_map(i);
    of_map_ = dependence_of_maps(k_);
    for (ExprId id = 0; id < k_.exprs.size(); ++id) check_expr(id);
    for (std::size_t i = 0; i < k_.stores.size(); ++i) check_store(i);
    check_phases();
    check_buffers();
  }

 private:
  void check_map(std::size_t index) const {
    const std::string where = "m" + std::to_string(index);
    const IndexMap& map = k_.maps[index];
    require(!map.steps.empty(), where, "no step");
    for (std::size_t s = 0; s < map.steps.size(); ++s) {
      const MapStep& step = map.steps[s];
      const std::size_t arity = s == 0 ? rank_ : step.maps.empty() ? step.extents.size() : step.maps.size();
      require(step.strides.size() == arity, where,
              "step " + std::to_string(s) + " has " + std::to_string(step.strides.size()) + " strides for " +
                  std::to_string(arity) + " coordinates");
      if (s == 0) {
        require(step.extents.empty() && step.maps.empty(), where, "the first step has extents or maps");
      } else {
        require(step.extents.empty() != step.maps.empty(), where,
                "step " + std::to_string(s) + " has neither extents nor maps, or both");
      }
      for (const std::uint16_t part : step.maps)
        require(part < index && is_quotient(k_.maps[part]), where,
                "adds m" + std::to_string(part) + ", which is no quotient before it");
      for (const IntRef& extent : step.extents) check_divisor(extent, where);
      for (const IntRef& stride : step.strides) check_int(stride, where);
      check_int(step.offset, where);
    }
  }

  Level level_of_map(std::size_t map) const {
    return of_map_[map] >> k_.outer_rank != 0 ? Level::Inner : Level::Outer;
  }

  static std::size_t arity_of(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Elementwise: return info(e.op).arity;
      case ExprKind::Dot: return 2;
      case ExprKind::Combine: return e.args[2] == kNone ? 2 : 3;
      case ExprKind::Reduce:
      case ExprKind::Partial:
      case ExprKind::LoadAt: return 1;
      default: return 0;
    }
  }
  static bool has_map(const Expr& e) {
    switch (e.kind) {
      case ExprKind::Scalar:
      case ExprKind::Elementwise:
      case ExprKind::Reduce:
      case ExprKind::Dot:
      case ExprKind::Combine:
      case ExprKind::Partial: return false;
      default: return true;
    }
  }

  void check_expr(ExprId id) const {
    const std::string where = expr_name(id);
    const Expr& e = k_.exprs[id];
    if (e.kind == ExprKind::Elementwise)
      require(info(e.op).op_class == OpClass::Elementwise, where,
              std::string(name_of(e.op)) + " is not elementwise");

    Level level = Level::Outer;
    std::uint16_t phase = 0;
    const auto use = [&](ExprId operand) {
      require(operand < id, where, "operand " + expr_name(operand) + " does not stand before its use");
      check_vector(e, operand, where);
      level = std::max(level, k_.exprs[operand].level);
      phase = std::max(phase, k_.exprs[operand].phase);
    };
    for (std::size_t a = 0; a < 3; ++a) {
      const bool wanted = a < arity_of(e);
      require(wanted == (e.args[a] != kNone), where,
              wanted ? "an operand is missing" : "an operand too many");
      if (wanted) use(e.args[a]);
    }
    if (e.predicate != kNone) {
      require(e.kind == ExprKind::Load || e.kind == ExprKind::LoadAt, where,
              "a predicate on what is not a load");
      use(e.predicate);
      require(k_.exprs[e.predicate].dtype == DType::boolean, where, "the predicate is not bool");
    }
    if (has_map(e)) {
      require(e.map < k_.maps.size(), where, "no map m" + std::to_string(e.map));
      level = std::max(level, level_of_map(e.map));
    }
    check_kind(e, where);

    if (e.kind == ExprKind::Combine) phase = k_.exprs[e.args[0]].phase;  // the scale may come later
    if (is_reduced(e)) {
      level = Level::Outer;
      ++phase;
    }
    if (e.kind == ExprKind::Combine && e.args[2] != kNone) phase = std::max(phase, k_.exprs[e.args[2]].phase);
    if (e.kind == ExprKind::Partial) level = Level::Inner;
    require(e.level == level, where,
            level == Level::Inner ? "is Outer but depends on inner coordinates"
                                  : "is Inner but depends on no inner coordinate");
    require(e.phase == phase, where,
            "phase " + std::to_string(e.phase) + " where its operands give " + std::to_string(phase));
  }

  /// Vectors go into Dots and Combines, and numbers into all else.
  void check_vector(const Expr& e, ExprId operand, const std::string& where) const {
    const ExprKind kind = k_.exprs[operand].kind;
    require(kind != ExprKind::Combine && kind != ExprKind::Partial, where,
            kind == ExprKind::Combine ? "a combination is only stored" : "a sum of a part is only stored");
    const bool wanted = e.kind == ExprKind::Dot || (e.kind == ExprKind::Combine && operand == e.args[1]);
    require((kind == ExprKind::Row) == wanted, where,
            wanted ? "an operand is no row" : "an operand is a row");
  }

  void check_kind(const Expr& e, const std::string& where) const {
    switch (e.kind) {
      case ExprKind::Row:
        require((is_half(e.dtype) || e.dtype == DType::f32) && e.length > 0, where,
                "a row of neither 16-bit floats nor f32");
        check_int(e.stride, where);
        require(e.buffer < k_.buffers.size() && k_.buffers[e.buffer].read &&
                    k_.buffers[e.buffer].dtype == e.dtype,
                where, "no such buffer to read b" + std::to_string(e.buffer));
        return;
      case ExprKind::Dot: {
        const Expr &a = k_.exprs[e.args[0]], &b = k_.exprs[e.args[1]];
        require(e.dtype == DType::f32 && a.dtype == b.dtype && a.length == b.length, where,
                "of rows that are not alike");
        return;
      }
      case ExprKind::Combine:
        require(k_.inner_rank > 0, where, "a combination without inner dims");
        require(is_float(e.dtype) && k_.exprs[e.args[0]].dtype == DType::f32, where, "of no f32");
        require(e.args[2] == kNone ||
                    (k_.exprs[e.args[2]].dtype == DType::f32 && k_.exprs[e.args[2]].level == Level::Outer),
                where, "a scale that is no number of a row");
        return;
      case ExprKind::Partial:
        require(has_parts(k_), where, "a sum of a part, where there are no parts");
        require(e.dtype == DType::f32 && k_.exprs[e.args[0]].dtype == DType::f32, where,
                "a sum of a part of no f32");
        return;
      case ExprKind::LoadAt: {
        const DType index = k_.exprs[e.args[0]].dtype;
        require(index == DType::i32 || index == DType::i64, where, "the index is not i32 or i64");
        check_int(e.stride, where);
        check_int(e.extent, where);
        [[fallthrough]];
      }
      case ExprKind::Load:
        require(e.buffer < k_.buffers.size(), where, "no buffer b" + std::to_string(e.buffer));
        require(k_.buffers[e.buffer].read, where,
                "loads from b" + std::to_string(e.buffer) + ", not marked read");
        require(e.dtype == k_.buffers[e.buffer].dtype, where, "its dtype is not the buffer's");
        return;
      case ExprKind::Scalar: check_scalar(e.scalar, e.dtype, where); return;
      case ExprKind::Index: require(e.dtype == DType::i64, where, "an index is i64"); return;
      case ExprKind::InBounds:
        require(e.dtype == DType::boolean, where, "a test of bounds is bool");
        require(!e.bounds.empty(), where, "no bounds");
        for (const Bound& bound : e.bounds) {
          check_divisor(bound.extent, where);
          check_divisor(bound.step, where);
          check_int(bound.lower, where);
          check_int(bound.size, where);
        }
        return;
      case ExprKind::Random:
      case ExprKind::RandomNormal:
        require(e.dtype == DType::f32, where, "random numbers are f32");
        check_scalar(e.scalar, DType::i64, where);
        check_scalar(e.scalar + std::size_t{1}, DType::i64, where);
        return;
      case ExprKind::Elementwise: check_elementwise(e, where); return;
      case ExprKind::Reduce: {
        require(k_.inner_rank > 0, where, "a reduction without inner dims");
        require(is_reduction(e.op), where, std::string(name_of(e.op)) + " is not a reduction");
        require(k_.exprs[e.args[0]].dtype == e.dtype, where, "a reduction keeps the dtype");
        const bool extreme = e.op == Op::Max || e.op == Op::Min;
        require(e.op != Op::SquaredDeviations || is_real(e.dtype), where, "squared deviations are of floats");
        require(is_numeric(e.dtype) || (extreme && e.dtype == DType::boolean), where,
                std::string(name_of(e.op)) + " is not defined for " + std::string(name_of(e.dtype)));
        return;
      }
    }
    fail(where, "unknown kind");
  }

  void check_scalar(std::size_t index, DType dtype, const std::string& where) const {
    require(index < k_.scalars.size(), where, "no scalar s" + std::to_string(index));
    require(k_.scalars[index] == dtype, where, "scalar s" + std::to_string(index) + " is of another dtype");
  }

  void check_elementwise(const Expr& e, const std::string& where) const {
    const auto dtype_of_arg = [&](std::size_t a) { return k_.exprs[e.args[a]].dtype; };
    const std::size_t arity = info(e.op).arity;
    const std::string what = std::string(name_of(e.op)) + " of " + std::string(name_of(dtype_of_arg(0)));
    const auto args_are = [&](DType dtype, std::size_t from) {
      for (std::size_t a = from; a < arity; ++a)
        require(dtype_of_arg(a) == dtype, where, what + ": operands of different dtypes");
    };
    const DType in = dtype_of_arg(0);
    bool takes = true;
    DType result = in;
    switch (info(e.op).rule) {
      case DTypeRule::Same: takes = is_numeric(in); break;
      case DTypeRule::Float: takes = is_real(in); break;
      case DTypeRule::Compare:
        takes = is_numeric(in) || in == DType::boolean;
        result = DType::boolean;
        break;
      case DTypeRule::Logic: takes = is_logic(in); break;
      case DTypeRule::Integer: takes = in == DType::i32 || in == DType::i64; break;
      case DTypeRule::Bool:
        takes = is_real(in);
        result = DType::boolean;
        break;
      case DTypeRule::Select:
        args_are(e.dtype, 1);
        require(in == DType::boolean, where, what + " is not defined");
        return;
      case DTypeRule::Cast: {
        const bool is_stored = arithmetic_of(in) != in;
        const DType stored = is_stored ? in : e.dtype, other = is_stored ? e.dtype : in;
        require(in == e.dtype || arithmetic_of(stored) == stored || arithmetic_of(stored) == other, where,
                what + ": " + std::string(name_of(stored)) + " is cast from and to " +
                    std::string(name_of(arithmetic_of(stored))));
        return;
      }
      case DTypeRule::None: fail(where, what + " has no dtype rule");
    }
    require(takes, where, what + " is not defined");
    args_are(in, 1);
    require(e.dtype == result, where, what + " does not give " + std::string(name_of(e.dtype)));
  }

  void check_store(std::size_t index) const {
    const std::string where = "store " + std::to_string(index);
    const Store& store = k_.stores[index];
    require(store.buffer < k_.buffers.size(), where, "no buffer b" + std::to_string(store.buffer));
    require(store.map < k_.maps.size(), where, "no map m" + std::to_string(store.map));
    require(store.value < k_.exprs.size(), where, "no expression " + expr_name(store.value));
    const Expr& value = k_.exprs[store.value];
    require(k_.buffers[store.buffer].written, where, "stores to a buffer that is not marked written");
    require(k_.buffers[store.buffer].dtype == value.dtype, where, "its value's dtype is not the buffer's");
    require(store.level == level_of_map(store.map), where,
            store.level == Level::Outer ? "is Outer but its map uses an inner coordinate"
                                        : "is Inner but its map uses no inner coordinate");
    require(store.level >= value.level, where, "an Outer store of an Inner value");
    require(store.phase >= value.phase, where, "stands in a phase before its value's");
  }

  void check_phases() const {
    std::size_t last = 0;
    for (const Expr& e : k_.exprs) last = std::max<std::size_t>(last, e.phase);
    for (const Store& store : k_.stores) last = std::max<std::size_t>(last, store.phase);
    require(
        k_.phases == last + 1, "loops",
        std::to_string(k_.phases) + " phases where expressions and stores have " + std::to_string(last + 1));
    if (!k_.split) return;
    require(k_.phases == 2 && k_.schedule != Schedule::Pointwise, "loops",
            "split without one round of reductions");
    for (const Store& store : k_.stores)
      require(store.phase == (store.level == Level::Outer ? 1 : 0), "loops",
              "split, but a workgroup cannot do all of its stores");
  }

  void check_buffers() const {
    std::vector<int> loads(k_.buffers.size()), stores(k_.buffers.size());
    std::uint16_t faults = 0;
    for (const Expr& e : k_.exprs) {
      if (reads_memory(e)) ++loads[e.buffer];
      if (e.kind != ExprKind::LoadAt) continue;
      require(e.fault == faults, "a LoadAt",
              "fault word " + std::to_string(e.fault) + ", expected " + std::to_string(faults));
      ++faults;
    }
    for (const Store& store : k_.stores) ++stores[store.buffer];
    require(k_.faults == faults, "loops",
            "marked with " + std::to_string(k_.faults) + " fault words where there are " +
                std::to_string(faults) + " LoadAt");
    for (std::size_t b = 0; b < k_.buffers.size(); ++b) {
      const std::string where = "b" + std::to_string(b);
      require(k_.buffers[b].read == (loads[b] > 0), where, "is marked read but never loaded from");
      require(k_.buffers[b].written == (stores[b] > 0), where, "is marked written but never stored to");
      require(stores[b] <= 1, where, "is stored to more than once");
    }
    for (const Store& store : k_.stores)
      if (k_.buffers[store.buffer].read) check_in_place(store);
  }

  // The same element, by the same lane, read first: loads use the store's map and are done with when it
  // stores.
  void check_in_place(const Store& store) const {
    const std::string where = "b" + std::to_string(store.buffer);
    const std::vector<std::uint16_t> last_use = last_phases(k_);
    for (ExprId id = 0; id < k_.exprs.size(); ++id) {
      const Expr& e = k_.exprs[id];
      if (!reads_memory(e) || e.buffer != store.buffer) continue;
      require(e.kind == ExprKind::Load, where, "is written in place but read by an index, " + expr_name(id));
      require(k_.maps[e.map] == k_.maps[store.map], where,
              "is written in place but read through another map, " + expr_name(id));
      // Outer stores of a phase come before its inner loop.
      const bool after = store.level == Level::Outer && e.level == Level::Inner;
      require(last_use[id] + after <= store.phase, where,
              "is read in phase " + std::to_string(last_use[id]) +
                  ", after it is written in place in phase " + std::to_string(store.phase));
    }
  }

  std::vector<std::uint32_t> of_map_;  // loops of each map
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace sinter::ir
