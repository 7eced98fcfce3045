#include <algorithm>
#include <limits>
#include <utility>

#include "jit/emit/llvm/kernel_writer.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::Level;

namespace {

// Steps that an f32 sum takes before it goes into a double: what bounds its rounding error.
constexpr int kLeafSteps = 64;
constexpr int kRowsAhead = 8;

}  // namespace

std::vector<LlvmKernelWriter::Reduction> LlvmKernelWriter::reductions_of(std::uint16_t phase) const {
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

std::string LlvmKernelWriter::identity(Op op, DType dtype, bool vector) {
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

LlvmKernelWriter::Names LlvmKernelWriter::nest(std::uint16_t phase) {
  phase_ = phase;
  in_phase_ = reductions_of(phase);
  std::vector<LlvmCarried> carried;
  for (const Reduction& r : in_phase_) carried.push_back({w_.type(r.total, r.vector), start_of(r)});
  const Names results = walk(kernel_.outer_rank, carried, "0");
  Names totals;
  for (std::size_t i = 0; i < in_phase_.size(); ++i) {
    const Reduction& r = in_phase_[i];
    if (r.nans) continue;
    std::string result = results[i];
    if (i + 1 < in_phase_.size() && in_phase_[i + 1].nans)
      result = values_.with_nan(w_.type(r.dtype, r.vector), results[i + 1], result);
    totals.push_back(lanes_inner_ ? fold(r, result) : result);
  }
  return totals;
}

void LlvmKernelWriter::set_results(const std::vector<Reduction>& reductions, const Names& totals) {
  std::size_t next = 0;
  for (const Reduction& r : reductions) {
    if (r.nans) continue;
    std::string result = totals[next++];
    const bool vector = is_vector(r);
    if (r.total != r.dtype)
      result =
          w_.value("fptrunc " + w_.type(r.total, vector) + " " + result + " to " + w_.type(r.dtype, vector));
    values_.set(r.id, {result, vector});
  }
}

std::string LlvmKernelWriter::start_of(const Reduction& r) {
  return r.nans ? w_.real(r.total, r.vector, 0) : identity(r.op, r.total, r.vector);
}

/// Lanes combined, halving them until so many are left.
std::string LlvmKernelWriter::halved(const Reduction& r, DType dtype, std::string vector, int from, int to) {
  const std::string element = llvm_type(dtype);
  for (int n = from; n > to; n /= 2) {
    const std::string type = LlvmWriter::vector_of(element, n), half = LlvmWriter::vector_of(element, n / 2);
    auto part = [&](int from) {
      std::string mask;
      for (int i = 0; i < n / 2; ++i) mask += (i > 0 ? ", i32 " : "i32 ") + std::to_string(from + i);
      return w_.value("shufflevector " + type + " " + vector + ", " + type + " poison, " +
                      LlvmWriter::vector_of("i32", n / 2) + " <" + mask + ">");
    };
    const std::string low = part(0), high = part(n / 2);
    vector = combined(r, dtype, half, low, high);
  }
  return vector;
}

std::string LlvmKernelWriter::combined(const Reduction& r, DType dtype, const std::string& type,
                                       const std::string& a, const std::string& b) {
  return r.nans ? values_.with_nan(type, a, b) : values_.combine(r.op, dtype, type, a, b);
}

/// What whole vectors came to, in the lanes of what is carried.
std::string LlvmKernelWriter::taken_in(const Reduction& r, const std::string& carried,
                                       const std::string& wide) {
  const std::string narrow = halved(r, r.dtype, wide, shape_.lanes, shape_.rest_lanes);
  return combined(r, r.dtype, w_.type(r.dtype, true), carried, narrow);
}

std::string LlvmKernelWriter::fold(const Reduction& r, const std::string& vector) {
  return w_.first_lane(LlvmWriter::vector_of(llvm_type(r.total), 1),
                       halved(r, r.total, vector, w_.lanes(), 1));
}

std::string LlvmKernelWriter::inner_begin(std::size_t k) {
  return splits() && k == kernel_.outer_rank ? split_field(kSplitBegin) : "0";
}

/// The end of inner loop k; nothing is walked when some inner loop is empty.
std::string LlvmKernelWriter::inner_end(std::size_t k) {
  if (k != kernel_.outer_rank) return inner_extent(k);
  if (first_end_.empty())
    first_end_ = w_.in_entry([&] {
      std::string end = splits() ? split_field(kSplitEnd) : inner_extent(k);
      for (std::size_t d = k + 1; d < rank(); ++d) {
        const std::string some = w_.value("icmp sgt i64 " + extent(d) + ", 0");
        end = w_.value("select i1 " + some + ", i64 " + end + ", i64 0");
      }
      return end;
    });
  return first_end_;
}

/// Inner loops from k on; `index` counts the points of the loops before it, row-major.
LlvmKernelWriter::Names LlvmKernelWriter::walk(std::size_t k, const std::vector<LlvmCarried>& carried,
                                               const std::string& index) {
  std::string from = index;
  if (k > kernel_.outer_rank && shape_.keeps()) from = w_.value("mul i64 " + index + ", " + inner_extent(k));
  if (k == (lanes_inner_ ? first_lane_loop() : rank() - 1)) return innermost(k, carried, from);
  return w_.loop(inner_begin(k), inner_end(k), "1", carried, [&](const std::string& i, const Names& names) {
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

LlvmKernelWriter::Names LlvmKernelWriter::innermost(std::size_t k, const std::vector<LlvmCarried>& totals,
                                                    const std::string& index) {
  bool widens = false;
  for (const Reduction& r : in_phase_) widens |= r.total != r.dtype;
  if (!widens) return stretch(k, inner_begin(k), inner_end(k), totals, index);
  const int leaf = kLeafSteps * (lanes_inner_ ? shape_.lanes : 1);
  return w_.loop(
      inner_begin(k), inner_end(k), std::to_string(leaf), totals,
      [&](const std::string& begin, const Names& names) {
        const std::string end =
            smaller(w_.value("add i64 " + begin + ", " + std::to_string(leaf)), inner_end(k));
        std::vector<LlvmCarried> leaves;
        for (std::size_t i = 0; i < in_phase_.size(); ++i) {
          const Reduction& r = in_phase_[i];
          const bool own = r.total != r.dtype;
          leaves.push_back({w_.type(r.dtype, r.vector),
                            own ? (r.nans ? w_.real(r.dtype, r.vector, 0) : identity(r.op, r.dtype, r.vector))
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

std::uint16_t LlvmKernelWriter::first_walk() const {
  return static_cast<std::uint16_t>(std::find(shape_.walks.begin(), shape_.walks.end(), true) -
                                    shape_.walks.begin());
}
/// A row that is gone over several times is read by the first; the memory would rest during the others.
bool LlvmKernelWriter::fetches_next_row() const {
  if (!lanes_inner_ || splits()) return false;
  const auto second = std::find(shape_.walks.begin() + first_walk() + 1, shape_.walks.end(), true);
  return second != shape_.walks.end() && second - shape_.walks.begin() == phase_;
}

/// How many steps ahead operands are asked for where lanes are columns; none of short ones, whose next rows
/// are others'.
std::string LlvmKernelWriter::rows_ahead() {
  if (rows_ahead_.empty())
    rows_ahead_ = w_.in_entry([&] {
      const std::string is_long = w_.value("icmp sgt i64 " + inner_extent(kernel_.outer_rank) + ", " +
                                           std::to_string(4 * kRowsAhead));
      return w_.value("select i1 " + is_long + ", i64 " + std::to_string(kRowsAhead) + ", i64 0");
    });
  return rows_ahead_;
}

/// Points [begin, end) of the last inner loop.
LlvmKernelWriter::Names LlvmKernelWriter::stretch(std::size_t k, const std::string& begin,
                                                  const std::string& end,
                                                  const std::vector<LlvmCarried>& carried,
                                                  const std::string& index) {
  auto body = [&](const std::string& i, const Names& names) {
    if (lanes_inner_)
      values_.bind_lanes(i);
    else
      values_.bind(k, i);
    make_inner(shape_.keeps() ? w_.value("add i64 " + index + ", " + i) : "0");
    if (fetches_next_row()) {
      for (ExprId id : shape_.inner[first_walk()])
        values_.prefetch_next(kernel_.exprs[id], kernel_.outer_rank - std::size_t{1}, "1");
    }
    // Processors foresee what lies on in a row, and not the same columns of the rows below.
    if (!lanes_inner_ && kernel_.inner_rank == 1)
      for (ExprId id : shape_.inner[phase_]) values_.prefetch_next(kernel_.exprs[id], k, rows_ahead());
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

std::string LlvmKernelWriter::accumulate(const Reduction& r, const std::string& sum) {
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
void LlvmKernelWriter::make_inner(const std::string& index) {
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

std::string LlvmKernelWriter::kept_pointer(const LlvmShape::Kept& kept, const std::string& index) {
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

}  // namespace sinter::emit
