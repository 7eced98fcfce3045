// The loops around a kernel's expressions in LLVM IR: points, phases, reductions.
#include "jit/emit/llvm/emit.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <xxhash.h>

#include "jit/emit/llvm/cost.h"
#include "jit/emit/llvm/values.h"

namespace sinter::emit {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;
using ir::Schedule;
using Names = LlvmWriter::Names;

// Steps that an f32 sum takes before it goes into a double: what bounds its rounding error.
constexpr int kLeafSteps = 64;

class LlvmKernelWriter {
 public:
  LlvmKernelWriter(const ir::Kernel& kernel, const LlvmTarget& target, LlvmModule& module,
                   const LlvmShape& shape, bool join)
      : kernel_(kernel),
        lanes_inner_(kernel.schedule == Schedule::LanesInner),
        join_(join),
        along_((lanes_inner_ ? rank() : kernel.outer_rank) - std::size_t{1}),
        shape_(shape),
        w_(module, shape.lanes),
        values_(kernel, target, w_, along_, join) {}

  std::string run(const std::string& name) {
    if (lanes_inner_)
      units();
    else
      rows();
    // Stores past the caches are in no order with what tells other threads that they are done.
    if (values_.streams()) w_.when(w_.value("icmp ne i64 %cached, -1"), [&] { w_.line("fence seq_cst"); });
    w_.line("ret void");
    const std::string byte = w_.pointer_to("i8"), bytes = w_.pointer_to(byte);
    return w_.function("define void @" + name + "(" + bytes + " %buffers, " + w_.pointer_to("i64") +
                       " %ints, " + byte + " %scalars, " + bytes + " %functions, i64 %first, i64 %last, " +
                       byte + " %scratch, i64 %cached, " + w_.pointer_to("i32") + " %fault) #0");
  }

 private:
  std::size_t rank() const { return std::size_t{kernel_.outer_rank} + kernel_.inner_rank; }
  std::string extent(std::size_t k) { return values_.integer(kernel_.extents[k]); }
  /// The loops of the lanes, as one.
  std::size_t first_lane_loop() const { return along_ - (join_ ? 1 : 0); }
  std::string lane_extent() {
    if (!join_) return extent(along_);
    if (joined_extent_.empty())
      joined_extent_ =
          w_.in_entry([&] { return w_.value("mul i64 " + extent(along_ - 1) + ", " + extent(along_)); });
    return joined_extent_;
  }
  /// Points of inner loop k, or of all loops of the lanes from there on.
  std::string inner_extent(std::size_t k) {
    return lanes_inner_ && k == first_lane_loop() ? lane_extent() : extent(k);
  }
  std::string lanes_text() const { return std::to_string(w_.lanes()); }

  // ---- outer points

  /// Binds the outer loops before `last` to the coordinates of point `index`, counted row-major.
  void bind_outer(std::string index, std::size_t last) {
    std::vector<std::string> at(last);
    for (std::size_t k = last; k-- > 0;) {
      if (k == 0) {
        at[0] = index;
        break;
      }
      const std::string quotient = w_.value("udiv i64 " + index + ", " + extent(k));
      at[k] = w_.value("sub i64 " + index + ", " + w_.value("mul i64 " + quotient + ", " + extent(k)));
      index = quotient;
    }
    for (std::size_t k = 0; k < last; ++k) values_.bind(k, at[k]);
  }

  void make_outer(std::uint16_t phase) {
    for (ExprId id : shape_.outer[phase])
      if (!values_.has(id) && values_.can_make(id)) values_.make(id);
  }

  /// Lanes inner: one outer point after the other.
  void units() {
    w_.loop("%first", "%last", "1", {}, [&](const std::string& unit, const Names&) {
      auto scope = values_.enter();
      bind_outer(unit, kernel_.outer_rank);
      phases();
      values_.leave(std::move(scope));
      return Names{};
    });
  }

  /// Lanes are outer points: rows along the last outer loop, a vector of points at a time.
  void rows() {
    const std::string row_points = lane_extent();
    const std::string first_row = w_.value("udiv i64 %first, " + row_points);
    const std::string last_point = w_.value("sub i64 %last, 1");
    const std::string last_row = w_.value("udiv i64 " + last_point + ", " + row_points);
    const std::string rows_end = w_.value("add i64 " + last_row + ", 1");
    w_.loop(first_row, rows_end, "1", {}, [&](const std::string& row, const Names&) {
      auto scope = values_.enter();
      const std::string start = w_.value("mul i64 " + row + ", " + row_points);
      const std::string before = w_.value("sub i64 %first, " + start),
                        after = w_.value("sub i64 %last, " + start);
      const std::string begin = larger(before, "0"), end = smaller(after, row_points);
      bind_outer(row, first_lane_loop());
      make_outer(0);
      split_lanes(begin, end, {}, [&](const std::string& point, const Names&) {
        values_.bind_lanes(point);
        phases();
        return Names{};
      });
      values_.leave(std::move(scope));
      return Names{};
    });
  }

  std::string smaller(const std::string& a, const std::string& b) { return choose("slt", a, b); }
  std::string larger(const std::string& a, const std::string& b) { return choose("sgt", a, b); }
  std::string choose(const char* how, const std::string& a, const std::string& b) {
    const std::string first = w_.value("icmp " + std::string(how) + " i64 " + a + ", " + b);
    return w_.value("select i1 " + first + ", i64 " + a + ", i64 " + b);
  }

  /// Whole vectors of [begin, end), then the rest with a mask. A body that is written once asks at each load
  /// and store which of both it has.
  template <class Body>
  Names split_lanes(const std::string& begin, const std::string& end, std::vector<LlvmCarried> carried,
                    Body body) {
    values_.set_hot(true);
    if (shape_.one_body) return masked_lanes(begin, end, carried, body, "L");
    const std::string count = w_.value("sub i64 " + end + ", " + begin);
    const std::string whole = w_.value("and i64 " + count + ", -" + lanes_text());
    const std::string middle = w_.value("add i64 " + begin + ", " + whole);
    const Names through =
        w_.loop(begin, middle, lanes_text(), carried, [&](const std::string& i, const Names& names) {
          auto scope = values_.enter();
          Names next = body(i, names);
          values_.leave(std::move(scope));
          return next;
        });
    for (std::size_t c = 0; c < carried.size(); ++c) carried[c].value = through[c];
    values_.set_hot(false);
    return masked_lanes(middle, end, carried, body, "rest");
  }

  template <class Body>
  Names masked_lanes(const std::string& begin, const std::string& end,
                     const std::vector<LlvmCarried>& carried, Body body, const char* name) {
    auto step = [&](const std::string& i, const Names& names) {
      auto scope = values_.enter();
      const std::string count = smaller(w_.value("sub i64 " + end + ", " + i), lanes_text());
      std::string whole;
      if (shape_.one_body) whole = w_.named("whole", "icmp eq i64 " + count + ", " + lanes_text());
      values_.set_count(count, whole);
      Names next = body(i, names);
      values_.leave(std::move(scope));
      return next;
    };
    return w_.loop(begin, end, lanes_text(), carried, step, name);
  }

  // ---- phases

  void phases() {
    values_.allow_reduced();
    for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) {
      make_outer(phase);
      for (const ir::Store& store : kernel_.stores)
        if (store.phase == phase && store.level == Level::Outer) values_.store(store);
      if (shape_.walks[phase]) nest(phase);
    }
  }

  struct Reduction {
    ExprId id, operand;
    Op op;
    DType dtype, total;  // f32 sums go into double
    bool vector;
    bool nans = false;  // keeps a NaN for the greatest or least before it, which passes NaN over
  };

  std::vector<Reduction> reductions_of(std::uint16_t phase) const {
    std::vector<Reduction> result;
    for (ExprId id : shape_.reductions[phase]) {
      const Expr& e = kernel_.exprs[id];
      const bool widens = e.op == Op::Sum && e.dtype == DType::f32;
      Reduction r{id,
                  e.args[0],
                  e.op,
                  e.dtype,
                  widens ? DType::f64 : e.dtype,
                  lanes_inner_ || values_.is_vector(e.args[0])};
      result.push_back(r);
      // One instruction from step to step instead of a chain of four.
      r.nans = is_float(e.dtype) && (e.op == Op::Max || e.op == Op::Min);
      if (r.nans) result.push_back(r);
    }
    return result;
  }

  std::string identity(Op op, DType dtype, bool vector) {
    const double infinity = std::numeric_limits<double>::infinity();
    if (is_float(dtype))
      return w_.real(dtype, vector,
                     op == Op::Sum    ? 0
                     : op == Op::Prod ? 1
                     : op == Op::Max  ? -infinity
                                      : infinity);
    std::int64_t number = op == Op::Prod ? 1 : 0;
    if (op == Op::Max || op == Op::Min) {
      const bool most = op == Op::Min;
      if (dtype == DType::boolean)
        number = most ? 1 : 0;
      else if (dtype == DType::i32)
        number = most ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int32_t>::min();
      else
        number = most ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    }
    return w_.integer(dtype, vector, number);
  }

  void nest(std::uint16_t phase) {
    phase_ = phase;
    in_phase_ = reductions_of(phase);
    std::vector<LlvmCarried> totals;
    for (const Reduction& r : in_phase_) totals.push_back({w_.type(r.total, r.vector), start_of(r)});
    const Names results = walk(kernel_.outer_rank, totals, "0");
    for (std::size_t i = 0; i < in_phase_.size(); ++i) {
      const Reduction& r = in_phase_[i];
      if (r.nans) continue;
      std::string result = results[i];
      if (i + 1 < in_phase_.size() && in_phase_[i + 1].nans)
        result = values_.with_nan(w_.type(r.dtype, r.vector), results[i + 1], result);
      if (lanes_inner_) result = fold(r, result);
      const bool vector = r.vector && !lanes_inner_;
      if (r.total != r.dtype)
        result = w_.value("fptrunc " + w_.type(r.total, vector) + " " + result + " to " +
                          w_.type(r.dtype, vector));
      values_.set(r.id, {result, vector});
    }
  }

  std::string start_of(const Reduction& r) {
    return r.nans ? w_.real(r.total, r.vector, 0) : identity(r.op, r.total, r.vector);
  }

  /// All lanes combined, halving them.
  std::string fold(const Reduction& r, std::string vector) {
    const std::string element = llvm_type(r.total);
    for (int n = w_.lanes(); n > 1; n /= 2) {
      const std::string type = LlvmWriter::vector_of(element, n),
                        half = LlvmWriter::vector_of(element, n / 2);
      auto part = [&](int from) {
        std::string mask;
        for (int i = 0; i < n / 2; ++i) mask += (i > 0 ? ", i32 " : "i32 ") + std::to_string(from + i);
        return w_.value("shufflevector " + type + " " + vector + ", " + type + " poison, " +
                        LlvmWriter::vector_of("i32", n / 2) + " <" + mask + ">");
      };
      const std::string low = part(0), high = part(n / 2);
      vector = values_.combine(r.op, r.total, half, low, high);
    }
    return w_.first_lane(LlvmWriter::vector_of(element, 1), vector);
  }

  /// The end of inner loop k; nothing is walked when some inner loop is empty.
  std::string inner_end(std::size_t k) {
    if (k != kernel_.outer_rank) return inner_extent(k);
    if (first_end_.empty())
      first_end_ = w_.in_entry([&] {
        std::string end = inner_extent(k);
        for (std::size_t d = k + 1; d < rank(); ++d) {
          const std::string some = w_.value("icmp sgt i64 " + extent(d) + ", 0");
          end = w_.value("select i1 " + some + ", i64 " + end + ", i64 0");
        }
        return end;
      });
    return first_end_;
  }

  /// Inner loops from k on; `index` counts the points of the loops before it, row-major.
  Names walk(std::size_t k, const std::vector<LlvmCarried>& carried, const std::string& index) {
    std::string from = index;
    if (k > kernel_.outer_rank && shape_.keeps())
      from = w_.value("mul i64 " + index + ", " + inner_extent(k));
    if (k == (lanes_inner_ ? first_lane_loop() : rank() - 1)) return innermost(k, carried, from);
    return w_.loop("0", inner_end(k), "1", carried, [&](const std::string& i, const Names& names) {
      auto scope = values_.enter();
      values_.bind(k, i);
      make_inner(i);
      std::vector<LlvmCarried> inside = carried;
      for (std::size_t c = 0; c < inside.size(); ++c) inside[c].value = names[c];
      const Names next = walk(k + 1, inside, shape_.keeps() ? w_.value("add i64 " + from + ", " + i) : "0");
      values_.leave(std::move(scope));
      return next;
    });
  }

  Names innermost(std::size_t k, const std::vector<LlvmCarried>& totals, const std::string& index) {
    bool widens = false;
    for (const Reduction& r : in_phase_) widens |= r.total != r.dtype;
    if (!widens) return stretch(k, "0", inner_end(k), totals, index);
    const int leaf = kLeafSteps * (lanes_inner_ ? w_.lanes() : 1);
    return w_.loop(
        "0", inner_end(k), std::to_string(leaf), totals, [&](const std::string& begin, const Names& names) {
          const std::string end =
              smaller(w_.value("add i64 " + begin + ", " + std::to_string(leaf)), inner_end(k));
          std::vector<LlvmCarried> leaves;
          for (std::size_t i = 0; i < in_phase_.size(); ++i) {
            const Reduction& r = in_phase_[i];
            const bool own = r.total != r.dtype;
            leaves.push_back({w_.type(r.dtype, r.vector), own ? (r.nans ? w_.real(r.dtype, r.vector, 0)
                                                                        : identity(r.op, r.dtype, r.vector))
                                                              : names[i]});
          }
          Names next = stretch(k, begin, end, leaves, index);
          for (std::size_t i = 0; i < in_phase_.size(); ++i) {
            const Reduction& r = in_phase_[i];
            if (r.total == r.dtype) continue;
            const std::string type = w_.type(r.total, r.vector);
            next[i] = w_.value("fpext " + w_.type(r.dtype, r.vector) + " " + next[i] + " to " + type);
            next[i] = values_.combine(r.op, r.total, type, names[i], next[i]);
          }
          return next;
        });
  }

  std::uint16_t first_walk() const {
    return static_cast<std::uint16_t>(std::find(shape_.walks.begin(), shape_.walks.end(), true) -
                                      shape_.walks.begin());
  }
  /// A row that is gone over several times is read by the first; the memory would rest during the others.
  bool fetches_next_row() const {
    if (!lanes_inner_) return false;
    const auto second = std::find(shape_.walks.begin() + first_walk() + 1, shape_.walks.end(), true);
    return second != shape_.walks.end() && second - shape_.walks.begin() == phase_;
  }

  /// Points [begin, end) of the last inner loop.
  Names stretch(std::size_t k, const std::string& begin, const std::string& end,
                const std::vector<LlvmCarried>& carried, const std::string& index) {
    auto body = [&](const std::string& i, const Names& names) {
      if (lanes_inner_)
        values_.bind_lanes(i);
      else
        values_.bind(k, i);
      make_inner(shape_.keeps() ? w_.value("add i64 " + index + ", " + i) : "0");
      if (fetches_next_row()) {
        for (ExprId id : shape_.inner[first_walk()])
          values_.prefetch_next(kernel_.exprs[id], kernel_.outer_rank - std::size_t{1});
      }
      Names next;
      for (std::size_t r = 0; r < in_phase_.size(); ++r) next.push_back(accumulate(in_phase_[r], names[r]));
      for (const ir::Store& store : kernel_.stores)
        if (store.phase == phase_ && store.level == Level::Inner) values_.store(store);
      return next;
    };
    if (lanes_inner_) return split_lanes(begin, end, carried, body);
    return w_.loop(begin, end, "1", carried, [&](const std::string& i, const Names& names) {
      auto scope = values_.enter();
      Names next = body(i, names);
      values_.leave(std::move(scope));
      return next;
    });
  }

  std::string accumulate(const Reduction& r, const std::string& sum) {
    const LlvmOperand& value = values_.get(r.operand);
    const std::string type = w_.type(r.dtype, r.vector);
    const std::string taken = r.vector ? values_.vector(r.dtype, value) : value.text;
    const bool passes_nan = is_float(r.dtype) && (r.op == Op::Max || r.op == Op::Min);
    const std::string next = r.nans       ? values_.with_nan(type, taken, sum)
                             : passes_nan ? values_.ordered(r.op, r.dtype, type, sum, taken)
                                          : values_.combine(r.op, r.dtype, type, sum, taken);
    return lanes_inner_ ? values_.where_there(type, next, sum) : next;
  }

  // ---- inner values

  /// Makes what this phase needs and the loops bound so far allow; `index` counts inner points.
  void make_inner(const std::string& index) {
    for (ExprId id : shape_.inner[phase_]) {
      if (values_.has(id) || !values_.can_make(id)) continue;
      const LlvmShape::Kept* kept = shape_.kept_of(id);
      if (kept == nullptr) {
        values_.make(id);
      } else if (kept->phase == phase_) {
        values_.make(id);
        values_.store_row(kernel_.exprs[id].dtype, kept_pointer(*kept, index), values_.get(id));
      } else {
        values_.set(id, values_.load_row(kernel_.exprs[id].dtype, kept_pointer(*kept, index), true));
      }
    }
  }

  std::string kept_pointer(const LlvmShape::Kept& kept, const std::string& index) {
    if (inner_count_.empty())
      inner_count_ = w_.in_entry([&] {
        std::string count = extent(kernel_.outer_rank);
        for (std::size_t d = kernel_.outer_rank + std::size_t{1}; d < rank(); ++d)
          count = w_.value("mul i64 " + count + ", " + extent(d));
        return count;
      });
    const std::string element = llvm_memory_type(kernel_.exprs[kept.id].dtype);
    const std::string start = w_.value("mul i64 " + inner_count_ + ", " + std::to_string(kept.offset));
    return w_.element(element, w_.cast_pointer("i8", element, w_.element("i8", "%scratch", start)), index);
  }

  const ir::Kernel& kernel_;
  const bool lanes_inner_, join_;
  const std::size_t along_;
  const LlvmShape& shape_;
  LlvmWriter w_;
  LlvmValues values_;
  std::uint16_t phase_ = 0;
  std::vector<Reduction> in_phase_;
  std::string first_end_, inner_count_, joined_extent_;
};

std::string hash_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digits[40];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

/// A kernel of a single outer point gets a loop around it.
ir::Kernel with_outer_loop(ir::Kernel kernel) {
  kernel.outer_rank = 1;
  kernel.extents.insert(kernel.extents.begin(), ir::IntRef::one());
  for (ir::IndexMap& map : kernel.maps) {
    std::vector<ir::IntRef>& strides = map.steps.front().strides;
    strides.insert(strides.begin(), ir::IntRef::zero());
  }
  return kernel;
}

}  // namespace

bool can_join_lanes(const ir::Kernel& kernel) {
  return (kernel.schedule == Schedule::LanesInner ? kernel.inner_rank : kernel.outer_rank) >= 2;
}

LlvmSource emit_llvm(const ir::Kernel& kernel, const LlvmTarget& target, bool join) {
  if (kernel.outer_rank == 0) return emit_llvm(with_outer_loop(kernel), target, join);
  if (join && !can_join_lanes(kernel))
    throw std::logic_error("[llvm] there is no loop to join the lanes' loop with");
  const LlvmShape shape = llvm_shape(kernel, target, join);
  LlvmModule module;
  module.typed_pointers = target.typed_pointers;
  const std::string width = std::to_string(8 * target.vector_bytes);
  std::string rest = LlvmKernelWriter(kernel, target, module, shape, join).run("@");
  for (const auto& [name, text] : module.functions) rest += text;
  for (const std::string& declaration : module.declarations) rest += declaration + "\n";
  // Some processors are said to prefer narrower vectors than they have; the text was made for the full width.
  rest += "attributes #0 = { nounwind \"prefer-vector-width\"=\"" + width +
          "\" \"min-legal-vector-width\"=\"" + width + "\" }\n";
  LlvmSource source;
  // Modules that are alive at once need names of their own.
  source.entry = "sinter_" + hash_of(rest);
  const std::size_t at = rest.find("@@");
  source.text = rest.replace(at, 2, "@" + source.entry);
  source.lanes = shape.lanes;
  source.register_lanes = target.vector_bytes / 4;
  source.scratch_bytes_per_point = shape.scratch_bytes;
  source.gathers = shape.gathers;
  source.point_cost = shape.point_cost;
  source.inner_cost = shape.inner_cost;
  return source;
}

}  // namespace sinter::emit
