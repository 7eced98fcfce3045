// Random kernels: several inputs read through random maps, a random program over them, stores of all unused
// values.
#include "tests/support/kernels/random_kernel.h"

#include <algorithm>
#include <numeric>

#include "tests/support/test_data.h"

namespace sinter::testing {
namespace {

using ir::ExprId;

class Generator {
 public:
  Generator(std::uint64_t seed, bool with_f64, bool long_rows)
      : data_(seed * 2 + 1),
        with_f64_(with_f64),
        builder_(long_rows ? make_long_builder() : make_builder()),
        numel_(total()) {
    if (data_.chance(0.2)) builder_.set_wide();
    if (data_.chance(0.3)) builder_.avoid_constants();
  }

  KernelCase generate(std::string name) {
    const std::size_t reductions = inner_rank_ == 0 ? 0 : data_.integer(0, 3);
    add_loads(data_.integer(1, 4));
    for (std::size_t r = 0; r <= reductions; ++r) {
      add_operations(data_.integer(1, 6));
      if (r == reductions) break;
      add_reduction();
      if (data_.chance(0.3)) add_loads(1);
    }
    add_stores();
    return builder_.finish(std::move(name));
  }

 private:
  KernelBuilder make_builder() {
    const std::vector<std::int64_t> choices = {1,  2,  3,  4,  5,  7,   8,   13,  16,  17,
                                               31, 32, 33, 64, 67, 100, 128, 129, 257, 1000};
    const std::size_t outer_rank = data_.integer(0, 3);
    inner_rank_ = data_.chance(0.5) ? 0 : data_.integer(1, 2);
    std::vector<std::int64_t> sizes;
    std::int64_t left = 3000;
    for (std::size_t d = 0; d < outer_rank + inner_rank_; ++d) {
      std::int64_t size = data_.pick(choices);
      while (size > left) size = data_.pick(choices);
      left /= size;
      sizes.push_back(size);
    }
    // Not in the order of choice: the large sizes should not always come first.
    for (std::size_t d = sizes.size(); d-- > 1;) std::swap(sizes[d], sizes[data_.integer(0, d)]);
    if (!sizes.empty() && data_.chance(0.06)) sizes[data_.integer(0, sizes.size() - 1)] = 0;
    const ir::Schedule schedule = data_.chance(0.5) ? ir::Schedule::LanesInner : ir::Schedule::LanesOuter;
    return KernelBuilder({sizes.begin(), sizes.begin() + outer_rank},
                         {sizes.begin() + outer_rank, sizes.end()}, schedule);
  }

  // Few outer points and long inner loops, which devices split over many lanes.
  KernelBuilder make_long_builder() {
    std::vector<std::int64_t> outer, inner;
    if (data_.chance(0.8)) outer.push_back(data_.pick(std::vector<std::int64_t>{2, 3, 5}));
    if (data_.chance(0.3)) outer.push_back(2);
    const std::vector<std::vector<std::int64_t>> choices = {
        {40000}, {64, 676}, {33001}, {3, 13000}, {20000, 2}};
    inner = data_.pick(choices);
    inner_rank_ = inner.size();
    const ir::Schedule schedule = data_.chance(0.5) ? ir::Schedule::LanesInner : ir::Schedule::LanesOuter;
    return KernelBuilder(std::move(outer), std::move(inner), schedule);
  }

  std::int64_t total() const { return builder_.numel(0, builder_.sizes().size()); }

  std::vector<double> values_for(DType dtype, std::int64_t count) {
    std::vector<double> values = data_.reals(count);
    for (double& v : values) {
      if (dtype == DType::boolean)
        v = data_.integer(0, 1);
      else if (is_stored_int(dtype))
        v = static_cast<double>(data_.integer(is_unsigned(dtype) ? 0 : -128, is_unsigned(dtype) ? 255 : 127));
      else if (!is_float(dtype))
        v = static_cast<double>(data_.integer(-1000, 1000));
      else if (data_.chance(0.02))
        v = static_cast<double>(data_.integer(-1, 1));
    }
    return values;
  }

  std::vector<std::size_t> shuffled_dims() {
    std::vector<std::size_t> dims(builder_.sizes().size());
    std::iota(dims.begin(), dims.end(), std::size_t{0});
    for (std::size_t d = dims.size(); d-- > 1;) std::swap(dims[d], dims[data_.integer(0, d)]);
    return dims;
  }

  struct Placement {
    std::uint16_t map;
    std::int64_t numel;  // of the buffer
  };

  // An injective map: dims in any order, some backwards, with or without gaps.
  Placement injective() {
    const auto& sizes = builder_.sizes();
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t stride = data_.chance(0.2) ? data_.integer(2, 3) : 1,
                 offset = data_.chance(0.2) ? data_.integer(1, 9) : 0;
    const std::int64_t start = offset;
    std::vector<std::size_t> order = shuffled_dims();
    if (data_.chance(0.5)) {
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::reverse(order.begin(), order.end());
    }
    for (const std::size_t d : order) {
      strides[d] = stride;
      const std::int64_t size = std::max<std::int64_t>(sizes[d], 1);
      if (data_.chance(0.15)) {
        offset += (size - 1) * stride;
        strides[d] = -stride;
      }
      stride *= size;
    }
    return {builder_.map(strides, offset), start + stride};
  }

  // A map with stride 0 along some dims.
  Placement broadcast() {
    const auto& sizes = builder_.sizes();
    std::vector<std::int64_t> strides(sizes.size(), 0);
    std::int64_t stride = 1;
    for (const std::size_t d : shuffled_dims()) {
      if (data_.chance(0.5)) continue;
      strides[d] = stride;
      stride *= std::max<std::int64_t>(sizes[d], 1);
    }
    return {builder_.map(strides), stride};
  }

  // The row-major index split into other sizes, whose dims are permuted.
  Placement reshaped() {
    std::vector<std::int64_t> factors;
    std::int64_t left = std::max<std::int64_t>(numel_, 1);
    for (std::int64_t f = 2; f <= left && factors.size() < 3; ++f)
      while (left % f == 0 && factors.size() < 3) {
        factors.push_back(f);
        left /= f;
      }
    factors.push_back(left);
    KernelBuilder::Step step;
    step.extents = factors;
    step.strides.assign(factors.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < factors.size(); ++d) {
      step.strides[d] = stride;
      stride *= factors[d];
    }
    return {builder_.map(builder_.row_major(0, builder_.sizes().size()), 0, {step}), stride};
  }

  void add_loads(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double kind = data_.real(0, 1);
      if (kind < 0.08) {
        values_.push_back(builder_.random(injective().map, data_.integer(-1000, 1000), data_.integer(0, 5)));
      } else if (kind < 0.14) {
        values_.push_back(builder_.index(builder_.all()));
      } else if (kind < 0.22) {
        values_.push_back(gathered());
      } else if (kind < 0.3 && !builder_.sizes().empty() && numel_ > 0) {
        values_.push_back(padded());
      } else {
        values_.push_back(loaded());
      }
    }
  }

  static const std::vector<DType>& stored_ints() {
    static const std::vector<DType> all = {DType::i8,  DType::i16, DType::u8,
                                           DType::u16, DType::u32, DType::u64};
    return all;
  }
  DType any_dtype() {
    const double d = data_.real(0, 1);
    if (d < 0.62) return DType::f32;
    if (d < 0.70) return DType::i64;
    if (d < 0.78) return DType::i32;
    if (d < 0.84) return DType::boolean;
    if (d < 0.90) return data_.pick(stored_ints());
    return with_f64_ ? DType::f64 : DType::f32;
  }

  ExprId loaded() {
    const double how = data_.real(0, 1);
    const bool whole = how < 0.6;
    const Placement at = whole ? injective() : how < 0.85 ? broadcast() : reshaped();
    const DType dtype = any_dtype();
    const auto buffer = builder_.input(dtype, values_for(dtype, at.numel));
    if (dtype == DType::f32 && data_.chance(0.2)) return stored_loaded(at, whole);
    if (whole && dtype == DType::f32) in_place_.push_back({buffer, at.map});
    const ExprId x = builder_.load(buffer, at.map);
    return is_stored_int(dtype) ? builder_.cast(data_.chance(0.5) ? DType::f32 : DType::i32, x) : x;
  }

  DType stored_float() {
    if (data_.chance(0.15)) return data_.chance(0.5) ? DType::f8_e4m3 : DType::f8_e5m2;
    return data_.chance(0.6) ? DType::bf16 : DType::f16;
  }

  // Loads a float of 16 or 8 bits, for arithmetic or for a selection of bits.
  ExprId stored_loaded(const Placement& at, bool stores) {
    const DType stored = stored_float();
    const auto load = [&] {
      return builder_.load(builder_.input(stored, values_for(stored, at.numel)), at.map);
    };
    ExprId x = load();
    if (data_.chance(0.3)) {
      const ExprId other = data_.chance(0.5) ? load() : builder_.scalar(stored, data_.real(-2, 2));
      const ExprId test = builder_.op(Op::Less, builder_.scalar(DType::f32, 0), builder_.cast(DType::f32, x));
      x = builder_.op(Op::Where, test, x, other);
    }
    if (stores && data_.chance(0.2)) builder_.store(builder_.output(stored, at.numel), at.map, x);
    return builder_.cast(DType::f32, x);
  }

  ExprId gathered() {
    const Placement at = broadcast();
    const std::int64_t extent = data_.integer(1, 20);
    std::vector<std::int64_t> where = data_.integers(at.numel, 0, extent - 1);
    // Of several indexed reads of a kernel few are wrong.
    if (!where.empty() && data_.chance(0.2))
      where[static_cast<std::size_t>(data_.integer(0, at.numel - 1))] = data_.chance(0.5) ? extent : -1;
    const DType index_dtype = data_.chance(0.5) ? DType::i64 : DType::i32;
    const ExprId index = builder_.load(builder_.input(index_dtype, where), at.map);
    const Placement rest = broadcast();
    const auto table = builder_.input(DType::f32, values_for(DType::f32, rest.numel * extent));
    return builder_.load_at(table, rest.map, index, rest.numel, extent);
  }

  // The loop space is a smaller tensor with a border of zeros around it.
  ExprId padded() {
    const auto& sizes = builder_.sizes();
    std::vector<KernelBuilder::BoundSizes> bounds;
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t stride = 1, offset = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) {
      const std::int64_t lower = data_.integer(0, sizes[d] - 1), size = data_.integer(0, sizes[d] - lower);
      bounds.insert(bounds.begin(), {sizes[d], lower, 1, size});
      strides[d] = stride;
      offset -= lower * stride;
      stride *= size;
    }
    const ExprId inside = builder_.in_bounds(builder_.all(), bounds);
    const auto buffer = builder_.input(DType::f32, values_for(DType::f32, stride));
    return builder_.load(buffer, builder_.map(strides, offset), inside);
  }

  ExprId as(DType dtype, ExprId x) { return builder_.expr(x).dtype == dtype ? x : builder_.cast(dtype, x); }

  // An operand; prefers recent values, so that chains get long.
  ExprId operand() {
    const std::size_t count = values_.size();
    const std::size_t back = std::min<std::size_t>(data_.integer(0, 9) * data_.integer(0, 9) / 10, count - 1);
    return values_[count - 1 - back];
  }

  void use(ExprId id) {
    used_.resize(std::max<std::size_t>(used_.size(), id + 1));
    used_[id] = true;
  }

  void add_operations(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const ExprId a = operand(), b = operand(), c = operand();
      const double kind = data_.real(0, 1);
      if (kind < 0.3) {
        use(a);
        values_.push_back(unary(a));
      } else if (kind < 0.75) {
        use(a), use(b);
        values_.push_back(binary(a, b));
      } else if (kind < 0.9) {
        use(a), use(b), use(c);
        const DType dtype = builder_.expr(b).dtype;
        values_.push_back(builder_.op(Op::Where, as(DType::boolean, a), b, as(dtype, c)));
      } else {
        use(a);
        const DType to = any_dtype();
        if (builder_.expr(a).dtype == DType::f32 && data_.chance(0.3)) {
          values_.push_back(builder_.cast(DType::f32, builder_.cast(stored_float(), a)));
          continue;
        }
        const ExprId cast = builder_.cast(to, a);
        values_.push_back(is_stored_int(to) ? builder_.cast(DType::i32, cast) : cast);
      }
    }
  }

  ExprId unary(ExprId a) {
    const DType dtype = builder_.expr(a).dtype;
    if (dtype == DType::boolean) return builder_.op(Op::Not, a);
    if (!is_float(dtype)) return builder_.op(data_.pick(std::vector{Op::Neg, Op::Abs, Op::Sign, Op::Not}), a);
    // Restricts the operands of ops that grow fast or are not defined everywhere.
    const Op op =
        data_.pick(std::vector{Op::Neg,  Op::Abs,   Op::Sign,  Op::Exp,  Op::Log,   Op::Log1p, Op::Expm1,
                               Op::Sqrt, Op::Rsqrt, Op::Recip, Op::Sin,  Op::Cos,   Op::Tanh,  Op::Sigmoid,
                               Op::Erf,  Op::Ndtr,  Op::Floor, Op::Ceil, Op::Round, Op::Trunc});
    switch (op) {
      case Op::Exp:
      case Op::Expm1: return builder_.op(op, builder_.op(Op::Minimum, a, builder_.scalar(dtype, 3)));
      case Op::Sin:
      case Op::Cos:
        return builder_.op(op, builder_.op(Op::Mul, builder_.op(Op::Tanh, a), builder_.scalar(dtype, 5)));
      case Op::Log:
      case Op::Rsqrt:
      case Op::Recip:
        return builder_.op(op, builder_.op(Op::Add, builder_.op(Op::Abs, a), builder_.scalar(dtype, 0.5)));
      case Op::Sqrt:
      case Op::Log1p: return builder_.op(op, builder_.op(Op::Abs, a));
      default: return builder_.op(op, a);
    }
  }

  ExprId binary(ExprId a, ExprId b) {
    const DType dtype = builder_.expr(a).dtype;
    b = as(dtype, b);
    if (dtype == DType::boolean)
      return builder_.op(data_.pick(std::vector{Op::And, Op::Or, Op::Xor, Op::Equal}), a, b);
    std::vector<Op> ops = {Op::Add,     Op::Sub,     Op::Mul,  Op::Div,
                           Op::Maximum, Op::Minimum, Op::Less, Op::LessEqual};
    if (!is_float(dtype))
      ops.insert(ops.end(), {Op::And, Op::Or, Op::Xor, Op::Remainder, Op::Equal, Op::NotEqual});
    else
      ops.insert(ops.end(), {Op::Add, Op::Sub, Op::Mul});
    const Op op = data_.pick(ops);
    if (is_float(dtype) && op == Op::Div)
      b = builder_.op(Op::Add, builder_.op(Op::Abs, b), builder_.scalar(dtype, 0.5));
    if (is_float(dtype) && op == Op::Mul && data_.chance(0.6)) b = builder_.op(Op::Tanh, b);
    return builder_.op(op, a, b);
  }

  void add_reduction() {
    const ExprId a = operand();
    use(a);
    const DType dtype = builder_.expr(a).dtype;
    if (dtype == DType::boolean) {
      values_.push_back(builder_.reduce(data_.chance(0.5) ? Op::Max : Op::Min, a));
      return;
    }
    const Op op = data_.pick(std::vector{Op::Sum, Op::Sum, Op::Max, Op::Min, Op::Prod});
    if (op == Op::Prod && is_float(dtype)) {
      // Factors near 1, so that products stay in range.
      const ExprId small = builder_.op(Op::Mul, builder_.op(Op::Tanh, a), builder_.scalar(dtype, 0.01));
      values_.push_back(builder_.reduce(op, builder_.op(Op::Add, small, builder_.scalar(dtype, 1))));
      return;
    }
    values_.push_back(builder_.reduce(op, a));
  }

  // Adds up all unused values, so that all of the program matters; stores the sum, and perhaps others.
  void add_stores() {
    used_.resize(std::max<std::size_t>(used_.size(), *std::max_element(values_.begin(), values_.end()) + 1));
    std::vector<ExprId> left;
    for (const ExprId id : values_)
      if (!used_[id]) left.push_back(id);
    while (left.size() > 3) {
      const ExprId a = left[0], b = left[1];
      left.erase(left.begin(), left.begin() + 2);
      left.push_back(builder_.op(Op::Add, as(DType::f32, a), as(DType::f32, b)));
    }
    for (const ExprId id : left) store(id);
  }

  void store(ExprId id) {
    if (builder_.expr(id).dtype == DType::f32 && data_.chance(0.2)) id = builder_.cast(stored_float(), id);
    const DType dtype = builder_.expr(id).dtype;
    const bool outer_only =
        builder_.expr(id).level == ir::Level::Outer && inner_rank_ > 0 && data_.chance(0.7);
    if (outer_only) {
      const std::int64_t rows = builder_.numel(0, builder_.outer_rank());
      builder_.store(builder_.output(dtype, rows), builder_.outer(), id);
      return;
    }
    if (dtype == DType::f32 && !in_place_.empty() && !wrote_in_place_ && data_.chance(0.5)) {
      const auto [buffer, map] = data_.pick(in_place_);
      builder_.store(buffer, map, id, builder_.last_phase());
      wrote_in_place_ = true;
      return;
    }
    const Placement at = injective();
    builder_.store(builder_.output(dtype, at.numel), at.map, id);
  }

  struct InPlace {
    std::uint16_t buffer, map;
  };

  TestData data_;
  bool with_f64_;
  std::size_t inner_rank_ = 0;
  KernelBuilder builder_;
  std::int64_t numel_;
  std::vector<ExprId> values_;
  std::vector<bool> used_;
  std::vector<InPlace> in_place_;
  bool wrote_in_place_ = false;
};

}  // namespace

KernelCase random_kernel(std::uint64_t seed, bool with_f64) {
  return Generator(seed, with_f64, false).generate("random kernel " + std::to_string(seed));
}

KernelCase random_long_kernel(std::uint64_t seed, bool with_f64) {
  return Generator(seed, with_f64, true).generate("random long kernel, seed " + std::to_string(seed));
}

}  // namespace sinter::testing
