// The base of the random program generator: the pool of live handles, the oracle that runs along, and random
// choices.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/programs/random_program.h"
#include "tests/support/test_data.h"

namespace sinter::testing {

class ProgramPool {
 public:
  ProgramPool(std::uint64_t seed, const RandomProgramOptions& options) : data_(seed), options_(options) {
    sizes_ = {1, 2, 3, data_.integer(4, 7), data_.integer(2, 20)};
    if (seed % 5 == 1) sizes_ = {1, data_.integer(3, 6)};  // equal sizes: transposed tensors still fit
    if (seed % 10 == 3) sizes_.push_back(0);
    if (seed % 4 == 2 && !options.smooth) float_ = DType::bf16;
    if (seed % 8 == 5 && !options.smooth) float_ = DType::f16;
    if (seed % 16 == 9 && !options.smooth) float_ = seed % 32 == 9 ? DType::f8_e4m3 : DType::f8_e5m2;
    reference_.seed(0);
  }

 protected:
  // ---- the pool
  using Wanted = bool (*)(const ReferenceTensor&);
  int pick(Wanted wanted) {
    std::vector<int> fitting;
    for (int id : live_)
      if (wanted(values_[static_cast<std::size_t>(id)])) fitting.push_back(id);
    if (fitting.empty()) return -1;
    // Prefers larger values: single elements hide most errors, and reductions and slices only ever make
    // tensors smaller.
    if (data_.chance(0.8)) {
      std::vector<int> several;
      for (int id : fitting)
        if (value(id).values.size() > 1) several.push_back(id);
      if (several.empty() && data_.chance(0.4)) return -1;
      if (!several.empty()) fitting = std::move(several);
    }
    // Prefers recent values, like real programs.
    if (data_.chance(0.5)) {
      const auto last = static_cast<std::int64_t>(fitting.size()) - 1;
      return fitting[static_cast<std::size_t>(last - data_.integer(0, std::min<std::int64_t>(2, last)))];
    }
    return data_.pick(fitting);
  }
  int pick_any() {
    return pick([](const ReferenceTensor&) { return true; });
  }
  int pick_float() {
    return pick([](const ReferenceTensor& x) { return is_float(x.dtype); });
  }
  const ReferenceTensor& value(int id) const { return values_[static_cast<std::size_t>(id)]; }
  const Shape& shape(int id) const { return value(id).shape; }

  void program_step(Step step) {
    program_.steps.push_back(std::move(step));
    values_.emplace_back();
  }

  void drop(int id) {
    if (id < 0 || live_.size() < 2) return;
    live_.erase(std::find(live_.begin(), live_.end(), id));
    Step step{StepKind::Drop};
    step.args = {{id}};
    program_step(std::move(step));
  }

  void act(StepKind kind) {
    const int id = pick_any();
    if (id < 0) return;
    Step step{kind};
    step.args = {{id}};
    program_step(std::move(step));
  }

  /// The new value's id, or -1 when it was rejected.
  int add(Step step) {
    Reference before = reference_;
    ReferenceTensor value = evaluate(step, values_, reference_);
    if (!is_tame(value)) {
      reference_ = before;
      return -1;
    }
    program_.steps.push_back(std::move(step));
    values_.push_back(std::move(value));
    live_.push_back(static_cast<int>(values_.size()) - 1);
    return live_.back();
  }

  bool is_tame(const ReferenceTensor& x) const {
    const std::size_t most = options_.large ? 12000 : 1500;
    if (x.values.size() > most) return false;
    const double most_error = is_f8(float_) ? 0.3 : 1e-3;
    std::size_t unknown = 0;
    for (const Value& v : x.values) {
      if (is_float(x.dtype)) {
        if (!options_.wild && (!std::isfinite(v.real) || std::abs(v.real) > 1e5)) return false;
        if (v.error > most_error * (1 + std::abs(v.real))) ++unknown;
      } else if (v.error > 0) {
        ++unknown;
      }
    }
    return unknown * 10 <= x.values.size();
  }

  // ---- small choices
  Shape random_shape() {
    Shape shape;
    const std::int64_t rank = data_.integer(0, 4);
    for (std::int64_t d = 0; d < rank; ++d) shape.push_back(data_.pick(sizes_));
    if (options_.large && data_.chance(0.3)) shape = Shape{data_.integer(1, 3), data_.integer(2500, 3500)};
    return shape;
  }
  DType random_dtype() {
    static const std::vector<DType> kStoredInts = {DType::i8,  DType::i16, DType::u8,
                                                   DType::u16, DType::u32, DType::u64};
    if (options_.smooth)
      return data_.chance(0.8) ? DType::f64 : data_.chance(0.5) ? DType::i64 : DType::boolean;
    const std::vector<DType> dtypes = {float_,
                                       float_,
                                       DType::f32,
                                       DType::i64,
                                       DType::i32,
                                       DType::boolean,
                                       options_.f64 ? DType::f64 : DType::f32,
                                       data_.chance(0.5) ? data_.pick(kStoredInts) : DType::f32};
    return data_.pick(dtypes);
  }
  Dims random_axes(std::size_t rank, bool shuffled) {
    Dims axes;
    std::vector<std::int64_t> all;
    for (std::size_t d = 0; d < rank; ++d) all.push_back(static_cast<std::int64_t>(d));
    if (shuffled)
      for (std::size_t d = rank; d-- > 1;)
        std::swap(all[d], all[static_cast<std::size_t>(data_.integer(0, static_cast<std::int64_t>(d)))]);
    for (std::int64_t axis : all)
      if (shuffled || data_.chance(0.5))
        axes.push_back(data_.chance(0.2) ? axis - static_cast<std::int64_t>(rank) : axis);
    return axes;
  }
  std::int64_t random_axis(const Shape& of) {
    return data_.integer(0, static_cast<std::int64_t>(of.rank()) - 1);
  }
  Scalar random_number(DType dtype) {
    if (is_float(dtype))
      return data_.chance(0.3) ? static_cast<double>(data_.integer(-2, 2)) : data_.real(-2, 2);
    if (dtype == DType::boolean) return data_.chance(0.5);
    return data_.integer(is_unsigned(dtype) ? 0 : -5, 5);
  }

  // ---- steps
  int input() {
    Step step{StepKind::Input};
    step.shape = random_shape();
    step.dtype = random_dtype();
    step.seed = data_.next() % 1000;
    if (options_.smooth && is_float(step.dtype))
      step.numbers = data_.reals(static_cast<std::size_t>(step.shape.numel()), -2, 2);
    return add(std::move(step));
  }
  int input(const Shape& of, DType dtype, std::int64_t range = 0) {
    Step step{StepKind::Input};
    step.shape = of;
    step.dtype = dtype;
    step.range = range;
    step.seed = data_.next() % 1000;
    if (options_.smooth && is_float(step.dtype))
      step.numbers = data_.reals(static_cast<std::size_t>(step.shape.numel()), -2, 2);
    return add(std::move(step));
  }

  int unary(Op op, int x) {
    Step step{StepKind::Unary};
    step.op = op;
    step.args = {{x}};
    return x < 0 ? -1 : add(std::move(step));
  }
  int binary(Op op, Argument a, Argument b) {
    Step step{StepKind::Binary};
    step.op = op;
    step.args = {a, b};
    return add(std::move(step));
  }
  int reduce(Op op, int x, const Dims& axes) {
    Step step{StepKind::Reduce};
    step.op = op;
    step.args = {{x}};
    step.dims = axes;
    return add(std::move(step));
  }
  int mean(int x, const Dims& axes) {
    Step step{StepKind::Mean};
    step.args = {{x}};
    step.dims = axes;
    return add(std::move(step));
  }

  TestData data_;
  RandomProgramOptions options_;
  std::vector<std::int64_t> sizes_;
  DType float_ = DType::f32;  // the program's preferred dtype
  Program program_;
  std::vector<ReferenceTensor> values_;  // of each step
  std::vector<int> live_;                // steps whose handles are held
  Reference reference_;
};

}  // namespace sinter::testing
