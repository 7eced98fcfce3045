// The oracle: the loops described at the head of kernel.h, written literally.
#include "tests/support/reference/ir_reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <stdexcept>

#include "jit/emit/walker/work.h"
#include "src/base/element_type.h"
#include "tests/support/reference/accumulator.h"

namespace sinter::testing {
Value load_value(DType dtype, const std::byte* from) {
  Value v;
  v.dtype = dtype;
  base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    T x;
    std::memcpy(&x, from, sizeof x);
    if constexpr (std::is_integral_v<T>)
      v.integer = static_cast<std::int64_t>(x);
    else
      v.real = static_cast<double>(x);
  });
  if (dtype == DType::boolean) v.integer = v.integer != 0;
  return v;
}

void store_value(const Value& v, std::byte* to) {
  base::with_element_type(v.dtype, [&]<class T>(std::type_identity<T>) {
    T x;
    if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(v.integer);
    else if constexpr (is_stored_float(dtype_of<T>))
      x = T(static_cast<float>(v.real));
    else
      x = static_cast<T>(v.real);
    std::memcpy(to, &x, sizeof x);
  });
}

namespace {

class Evaluation {
 public:
  Evaluation(const ir::Kernel& kernel, const Bindings& bindings, const Precision& precision)
      : k_(kernel),
        in_(bindings),
        precision_(precision),
        live_(ir::live_expressions(kernel)),
        values_(kernel.exprs.size()) {
    if (in_.ints.size() != k_.ints || in_.buffers.size() != k_.buffers.size() ||
        in_.scalars.size() != k_.scalars.size())
      throw std::logic_error("bindings do not fit the kernel");
    result_.buffers = in_.buffers;
    result_.errors.resize(k_.buffers.size());
    result_.faults.resize(k_.faults);
    for (std::size_t b = 0; b < k_.buffers.size(); ++b)
      if (k_.buffers[b].written)
        result_.errors[b].resize(in_.buffers[b].size() / size_of(k_.buffers[b].dtype));
    find_needed();
  }

  ReferenceResult run() {
    const std::size_t rank = k_.extents.size();
    coordinates_.assign(rank, 0);
    for_each_point(0, k_.outer_rank, [&] { run_outer_point(); });
    store_parts();
    return std::move(result_);
  }

 private:
  std::int64_t number(const ir::IntRef& ref) const {
    if (ref.is_zero()) return 0;
    return ref.is_one() ? 1 : in_.ints[ref.index];
  }

  template <class Body>
  void for_each_point(std::size_t from, std::size_t to, const Body& body) {
    if (from == to) {
      body();
      return;
    }
    const std::int64_t size = number(k_.extents[from]);
    for (std::int64_t c = 0; c < size; ++c) {
      coordinates_[from] = c;
      for_each_point(from + 1, to, body);
    }
  }

  bool is_reduced_in(std::size_t p, std::size_t id) const {
    return live_[id] && k_.exprs[id].kind == ir::ExprKind::Reduce && k_.exprs[id].phase == p + 1;
  }

  bool is_combined_in(std::size_t p, std::size_t id) const {
    const ir::Expr& e = k_.exprs[id];
    return live_[id] && e.kind == ir::ExprKind::Combine && k_.exprs[e.args[0]].phase == p;
  }

  // Finds the inner expressions that a phase's Inner stores and reductions need.
  void find_needed() {
    needed_.assign(k_.phases, std::vector<bool>(k_.exprs.size()));
    for (std::size_t p = 0; p < k_.phases; ++p) {
      std::vector<bool>& needed = needed_[p];
      for (const ir::Store& store : k_.stores)
        if (store.level == ir::Level::Inner && store.phase == p) needed[store.value] = true;
      for (std::size_t id = 0; id < k_.exprs.size(); ++id)
        if (is_reduced_in(p, id) || is_combined_in(p, id)) needed[k_.exprs[id].args[0]] = true;
      for (std::size_t id = k_.exprs.size(); id-- > 0;) {
        const ir::Expr& e = k_.exprs[id];
        if (!needed[id] || e.level == ir::Level::Outer) continue;
        for (ir::ExprId arg : e.args)
          if (arg != ir::kNone) needed[arg] = true;
        if (e.predicate != ir::kNone) needed[e.predicate] = true;
      }
    }
  }

  void run_outer_point() {
    for (std::size_t p = 0; p < k_.phases; ++p) {
      for (std::size_t id = 0; id < k_.exprs.size(); ++id) {
        const ir::Expr& e = k_.exprs[id];
        if (live_[id] && e.level == ir::Level::Outer && e.phase == p && !ir::is_reduced(e))
          values_[id] = compute(e);
      }
      run_stores(p, ir::Level::Outer);
      if (k_.inner_rank > 0) run_inner_points(p);
    }
  }

  void run_inner_points(std::size_t p) {
    std::vector<std::size_t> ids;
    std::vector<Accumulator> accumulators;
    for (std::size_t id = 0; id < k_.exprs.size(); ++id) {
      const ir::Expr& e = k_.exprs[id];
      if (!is_reduced_in(p, id)) continue;
      ids.push_back(id);
      accumulators.emplace_back(e.op, e.dtype, precision_);
    }
    std::vector<std::size_t> combined;
    for (std::size_t id = 0; id < k_.exprs.size(); ++id) {
      if (!is_combined_in(p, id)) continue;
      combined.push_back(id);
      vectors_[id].assign(k_.exprs[k_.exprs[id].args[1]].length, 0.0);
    }
    for_each_point(k_.outer_rank, k_.extents.size(), [&] {
      for (std::size_t id = 0; id < k_.exprs.size(); ++id)
        if (needed_[p][id] && k_.exprs[id].level == ir::Level::Inner &&
            k_.exprs[id].kind != ir::ExprKind::Partial)
          values_[id] = compute(k_.exprs[id]);
      run_stores(p, ir::Level::Inner);
      for (std::size_t r = 0; r < ids.size(); ++r) accumulators[r].add(values_[k_.exprs[ids[r]].args[0]]);
      for (std::size_t id : combined) add_row(id);
    });
    for (std::size_t r = 0; r < ids.size(); ++r) values_[ids[r]] = accumulators[r].finish();
  }

  std::int64_t count_of(std::size_t from, std::size_t to) const {
    std::int64_t count = 1;
    for (std::size_t loop = from; loop < to; ++loop) count *= number(k_.extents[loop]);
    return count;
  }

  /// The part of the outer point at hand.
  std::int64_t part_at_hand() const {
    std::int64_t point = 0;
    for (std::size_t loop = 0; loop < k_.outer_rank; ++loop)
      point = point * number(k_.extents[loop]) + coordinates_[loop];
    const std::int64_t points = count_of(0, k_.outer_rank), parts = number(k_.parts);
    for (std::int64_t part = 0; part < parts; ++part) {
      const auto [first, count] = ir::points_of_part(part, parts, k_.part_step, points);
      if (point >= first && point < first + count * k_.part_step && (point - first) % k_.part_step == 0)
        return part;
    }
    throw std::logic_error("a point without a part");
  }

  /// Takes the value at hand into the sum that is to be stored at `at`, behind those of the parts before.
  void add_to_part(const ir::Store& store, std::int64_t at) {
    const ir::Expr& e = k_.exprs[store.value];
    at += part_at_hand() * count_of(k_.outer_rank, k_.extents.size());
    sums_of_parts_.try_emplace({store.buffer, at}, Op::Sum, e.dtype, precision_)
        .first->second.add(values_[e.args[0]]);
  }

  void store_parts() {
    for (auto& [place, sum] : sums_of_parts_) {
      const auto [buffer, at] = place;
      check_position(buffer, at);
      const Value value = sum.finish();
      store_value(value, result_.buffers[buffer].data() + at * size_of(value.dtype));
      result_.errors[buffer][at] = value.error;
    }
  }

  void run_stores(std::size_t p, ir::Level level) {
    for (const ir::Store& store : k_.stores) {
      if (store.phase != p || store.level != level) continue;
      if (k_.exprs[store.value].kind == ir::ExprKind::Partial) {
        add_to_part(store, position(store.map));
        continue;
      }
      const std::int64_t at = position(store.map);
      const DType dtype = k_.buffers[store.buffer].dtype;
      if (k_.exprs[store.value].kind == ir::ExprKind::Combine) {
        store_vector(store, at);
        continue;
      }
      check_position(store.buffer, at);
      store_value(values_[store.value], result_.buffers[store.buffer].data() + at * size_of(dtype));
      result_.errors[store.buffer][at] = values_[store.value].error;
    }
  }

  /// To a combination, the row at hand times its weight.
  void add_row(std::size_t id) {
    const ir::Expr &e = k_.exprs[id], &row = k_.exprs[e.args[1]];
    const Value weight = cast_to_stored(row.dtype, values_[e.args[0]]);
    const std::int64_t first = position(row.map);
    for (std::size_t c = 0; c < vectors_[id].size(); ++c)
      vectors_[id][c] += weight.real * element(row, first, static_cast<std::int64_t>(c));
  }

  double element(const ir::Expr& row, std::int64_t first, std::int64_t c) const {
    const std::int64_t at = first + c * number(row.stride);
    check_position(row.buffer, at);
    return load_value(row.dtype, in_.buffers[row.buffer].data() + at * size_of(row.dtype)).real;
  }

  void store_vector(const ir::Store& store, std::int64_t first) {
    const ir::Expr& e = k_.exprs[store.value];
    Value value;
    for (std::size_t c = 0; c < vectors_[store.value].size(); ++c) {
      value.dtype = DType::f32;
      value.real = vectors_[store.value][c];
      if (e.args[2] != ir::kNone) value.real *= values_[e.args[2]].real;
      if (is_stored_float(e.dtype)) value = cast_to_stored(e.dtype, value);
      const auto at = first + static_cast<std::int64_t>(c);
      check_position(store.buffer, at);
      store_value(value, result_.buffers[store.buffer].data() + at * size_of(e.dtype));
    }
  }

  Value dot(const ir::Expr& e) const {
    const ir::Expr &a = k_.exprs[e.args[0]], &b = k_.exprs[e.args[1]];
    const std::int64_t first_a = position(a.map), first_b = position(b.map);
    Value sum;
    sum.dtype = DType::f32;
    for (std::int64_t c = 0; c < a.length; ++c) sum.real += element(a, first_a, c) * element(b, first_b, c);
    return sum;
  }

  void check_position(std::size_t buffer, std::int64_t at) const {
    const auto size =
        static_cast<std::int64_t>(in_.buffers[buffer].size() / size_of(k_.buffers[buffer].dtype));
    if (at < 0 || at >= size)
      throw std::logic_error("element " + std::to_string(at) + " of buffer " + std::to_string(buffer) +
                             " with " + std::to_string(size) + " elements");
  }

  std::int64_t position(std::size_t map) const {
    std::vector<std::int64_t> at = coordinates_;
    std::int64_t result = 0;
    for (const ir::MapStep& step : k_.maps[map].steps) {
      for (std::size_t p = 0; p < step.maps.size(); ++p)
        result += position(step.maps[p]) * number(step.strides[p]);
      if (!step.maps.empty()) continue;
      if (!step.extents.empty()) at = split(result, step.extents);
      result = number(step.offset);
      for (std::size_t d = 0; d < at.size(); ++d) result += at[d] * number(step.strides[d]);
    }
    return result;
  }

  std::vector<std::int64_t> split(std::int64_t value, const std::vector<ir::IntRef>& extents) const {
    std::vector<std::int64_t> at(extents.size());
    for (std::size_t d = extents.size(); d-- > 0;) {
      const std::int64_t extent = number(extents[d]);
      at[d] = value % extent;
      value /= extent;
    }
    return at;
  }

  Value compute(const ir::Expr& e) {
    switch (e.kind) {
      case ir::ExprKind::Load:
      case ir::ExprKind::LoadAt: return load(e);
      case ir::ExprKind::Scalar: return scalar(e);
      case ir::ExprKind::Index: return integer_value(DType::i64, position(e.map));
      case ir::ExprKind::InBounds: return integer_value(DType::boolean, in_bounds(e));
      case ir::ExprKind::Random:
      case ir::ExprKind::RandomNormal: return random(e);
      case ir::ExprKind::Elementwise: {
        Value args[3];
        std::size_t count = 0;
        while (count < 3 && e.args[count] != ir::kNone) {
          args[count] = values_[e.args[count]];
          ++count;
        }
        return apply(e.op, e.dtype, std::span(args, count), precision_);
      }
      case ir::ExprKind::Dot: return dot(e);
      case ir::ExprKind::Row: return {};  // what it is an operand of reads it
      case ir::ExprKind::Combine:
      case ir::ExprKind::Partial:
      case ir::ExprKind::Reduce: break;
    }
    throw std::logic_error("a reduction is not computed point by point");
  }

  Value load(const ir::Expr& e) {
    Value zero = integer_value(e.dtype, 0);
    if (e.predicate != ir::kNone) {
      if (values_[e.predicate].error != 0) throw std::logic_error("a predicate that is not certain");
      if (values_[e.predicate].integer == 0) return zero;
    }
    std::int64_t at = position(e.map);
    if (e.kind == ir::ExprKind::LoadAt) {
      const Value& index = values_[e.args[0]];
      if (index.error != 0) throw std::logic_error("an index that is not certain");
      if (index.integer < 0 || index.integer >= number(e.extent)) {
        result_.faults[e.fault] = 1;
        return zero;
      }
      at += index.integer * number(e.stride);
    }
    check_position(e.buffer, at);
    // Loads from the contents before the launch: a kernel in place must read an element before it writes it.
    Value v = load_value(e.dtype, in_.buffers[e.buffer].data() + at * size_of(e.dtype));
    if (precision_.flushes_denormals && e.dtype == DType::f32 && std::abs(v.real) < 0x1p-126)
      v.error = std::abs(v.real);
    return v;
  }

  Value scalar(const ir::Expr& e) const {
    const runtime::ScalarValue& given = in_.scalars[e.scalar];
    if (!is_float(e.dtype)) return integer_value(e.dtype, given.integer);
    Value v;
    v.dtype = e.dtype;
    v.real = e.dtype != DType::f64 ? static_cast<double>(static_cast<float>(given.real)) : given.real;
    return is_stored_float(e.dtype) ? cast_to_stored(e.dtype, v) : v;
  }

  bool in_bounds(const ir::Expr& e) const {
    std::vector<ir::IntRef> extents;
    for (const ir::Bound& bound : e.bounds) extents.push_back(bound.extent);
    const std::vector<std::int64_t> at = split(position(e.map), extents);
    for (std::size_t d = 0; d < at.size(); ++d) {
      const std::int64_t from_lower = at[d] - number(e.bounds[d].lower), step = number(e.bounds[d].step);
      if (from_lower < 0 || from_lower % step != 0 || from_lower / step >= number(e.bounds[d].size))
        return false;
    }
    return true;
  }

  Value random(const ir::Expr& e) const {
    const bool normal = e.kind == ir::ExprKind::RandomNormal;
    const auto element = static_cast<std::uint64_t>(position(e.map));
    const auto seed = static_cast<std::uint64_t>(in_.scalars[e.scalar].integer);
    const auto stream = static_cast<std::uint64_t>(in_.scalars[e.scalar + 1].integer);
    const std::uint64_t block = element >> (normal ? 1 : 2);
    const PhiloxWords counter{{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                               static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)}};
    const PhiloxWords words =
        philox(counter, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    Value v;
    v.dtype = DType::f32;
    const double unit = std::ldexp(1.0, -24);
    if (!normal) {
      v.real = (words.word[element & 3] >> 8) * unit;
      return v;
    }
    const std::size_t pair = element % 2 * 2;
    const double u1 = ((words.word[pair] >> 8) + 1.0) * unit;
    const double u2 = (words.word[pair + 1] >> 8) * unit;
    v.real = std::sqrt(-2 * std::log(u1)) * std::cos(2 * M_PI * u2);
    v.error = precision_.normal_absolute;
    if (precision_.round_f32) v.real = static_cast<double>(static_cast<float>(v.real));
    return v;
  }

  const ir::Kernel& k_;
  const Bindings& in_;
  const Precision& precision_;
  const std::vector<bool> live_;  // what no store needs is not computed, and reports nothing
  std::vector<Value> values_;
  std::map<std::size_t, std::vector<double>> vectors_;  // of combinations
  // Of Partials, by the buffer and the place where they are stored.
  std::map<std::pair<std::uint16_t, std::int64_t>, Accumulator> sums_of_parts_;
  std::vector<std::int64_t> coordinates_;
  std::vector<std::vector<bool>> needed_;
  ReferenceResult result_;
};

template <class T>
std::string text_of(T value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}

bool float_agrees(double got, double want, double error, double largest) {
  if (error == kInfinity || (std::isnan(got) && std::isnan(want)) || got == want) return true;
  if (std::isnan(got) || std::isnan(want)) return false;
  if (std::abs(got - want) <= error) return true;
  // At the edge of overflow, both sides are right where there is an error bound.
  return error > 0 && std::signbit(got) == std::signbit(want) && std::abs(got) > largest * 0.9999 &&
         std::abs(want) > largest * 0.9999;
}

}  // namespace

ReferenceResult evaluate(const ir::Kernel& kernel, const Bindings& bindings, const Precision& precision) {
  return Evaluation(kernel, bindings, precision).run();
}

std::string difference(DType dtype, std::span<const std::byte> got, std::span<const std::byte> want,
                       std::span<const double> errors) {
  if (got.size() != want.size()) return "sizes differ";
  const std::size_t count = got.size() / size_of(dtype);
  std::size_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* at = got.data() + i * size_of(dtype);
    if (std::memcmp(at, want.data() + i * size_of(dtype), size_of(dtype)) == 0) continue;
    const Value a = load_value(dtype, at), b = load_value(dtype, want.data() + i * size_of(dtype));
    const double error = errors.empty() ? 0 : errors[i];
    const double largest = dtype == DType::f64       ? std::numeric_limits<double>::max()
                           : dtype == DType::f16     ? 65504.0
                           : dtype == DType::f8_e4m3 ? 448.0
                           : dtype == DType::f8_e5m2 ? 57344.0
                                                     : double{std::numeric_limits<float>::max()};
    bool agrees;
    if (is_float(dtype)) {
      agrees = float_agrees(a.real, b.real, error, largest);
    } else {
      agrees = error > 0 || a.integer == b.integer;
      // A stored bool must be the byte 0 or 1.
      if (dtype == DType::boolean && std::to_integer<int>(*at) > 1) agrees = false;
    }
    if (agrees) continue;
    if (wrong++ > 0) continue;
    const auto shown = [&](const Value& v) {
      return is_float(dtype) ? text_of(v.real) : std::to_string(v.integer);
    };
    first = "element " + std::to_string(i) + " is " + shown(a) + ", not " + shown(b) + " (+- " +
            text_of(error) + ")";
  }
  if (wrong == 0) return "";
  return first + "; " + std::to_string(wrong) + " of " + std::to_string(count) + " differ";
}

PhiloxWords philox(PhiloxWords c, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * c.word[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * c.word[2];
    const auto high = [](std::uint64_t p) { return static_cast<std::uint32_t>(p >> 32); };
    const auto low = [](std::uint64_t p) { return static_cast<std::uint32_t>(p); };
    c = {{high(p1) ^ c.word[1] ^ key0, low(p1), high(p0) ^ c.word[3] ^ key1, low(p0)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

}  // namespace sinter::testing
