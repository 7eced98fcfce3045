// L-BFGS.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>

#include <sinter/optim/lbfgs.h>

#include "src/optim/rule.h"
#include "src/optim/state.h"
#include "src/optim/wolfe.h"

namespace sinter::optim {
namespace {

using A = AnyTensor;
using State = Lbfgs::State;

constexpr const char* kName = "lbfgs";
constexpr double kLeastCurvature = 1e-10;  // of a pair that is remembered

A scalar_of(const A& x, const Location& where) { return x.sum(x.all_axes(), where).reshape({}, where); }

A dot(const A& a, const A& b, const Location& where) { return scalar_of(A::mul(a, b, where), where); }

/// f32 or f64, in one read.
std::vector<double> read(const A& numbers, const Location& where) {
  if (numbers.dtype() == DType::f32) {
    const auto values = Tensor<1>(numbers).to_vector<float>(where);
    return {values.begin(), values.end()};
  }
  return Tensor<1>(numbers).to_vector<double>(where);
}

/// The parameters of a model as one vector, and the loss along a line.
class Problem {
 public:
  Problem(const std::vector<Step::Slot>& slots, const Function<A()>& loss, const Location& where)
      : slots_(slots), loss_(loss), where_(where) {
    std::map<const void*, std::size_t> known;
    for (const Step::Slot& slot : slots) {
      const A& value = *slot.tensor;
      before_.push_back(value);
      if (!value.defined() || !value.requires_grad()) {
        parameter_of_.push_back(kNone);
        continue;
      }
      const auto [at, is_new] = known.try_emplace(value.node().get(), values_.size());
      parameter_of_.push_back(at->second);
      if (is_new) add(slot.path, value.inner());
    }
    if (values_.empty()) throw Error("[lbfgs] no parameter requires a gradient", where);
  }
  ~Problem() {
    if (kept_) return;
    for (std::size_t i = 0; i < slots_.size(); ++i) *slots_[i].tensor = before_[i];
  }
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  std::int64_t size() const { return size_; }
  DType dtype() const { return dtype_; }

  /// At the parameters.
  LinePoint here() {
    place(values_);
    return evaluate(A());
  }
  /// At the parameters plus `length` times the direction.
  LinePoint along(const A& direction, double length) {
    place(moved(direction, length));
    return evaluate(direction);
  }
  void move(const A& direction, double length) { values_ = moved(direction, length); }
  /// The parameters of the model are what they were moved to, also afterwards.
  void keep() {
    place(values_);
    for (const A& value : values_) value.sync(where_);
    kept_ = true;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void add(const std::string& path, const A& value) {
    const DType dtype = value.dtype();
    if (dtype != DType::f32 && dtype != DType::f64)
      throw DTypeError("[lbfgs] parameter " + path + " is " + std::string(name_of(dtype)) +
                           ", expected f32 or f64: steps become less than 16 bits can show",
                       where_);
    if (!values_.empty() && value.device() != values_[0].device())
      throw Error("[lbfgs] parameter " + path + " is on " + value.device().name() + ", others on " +
                      values_[0].device().name(),
                  where_);
    if (values_.empty() || dtype == DType::f64) dtype_ = dtype;
    size_ += value.numel();
    values_.push_back(value);
  }

  std::vector<A> moved(const A& direction, double length) const {
    std::vector<A> moved;
    std::int64_t at = 0;
    for (const A& value : values_) {
      const A part = direction.narrow(0, at, value.numel(), where_).reshape(value.shape(), where_);
      moved.push_back(A::add(value, A::mul(part, length, where_).cast(value.dtype(), where_), where_));
      at += value.numel();
    }
    return moved;
  }

  void place(const std::vector<A>& values) {
    leaves_.clear();
    for (const A& value : values) leaves_.push_back(A(value.value(), nullptr, true).require_grad(where_));
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (parameter_of_[i] != kNone) *slots_[i].tensor = leaves_[parameter_of_[i]];
  }

  LinePoint evaluate(const A& direction) {
    const A loss = loss_();
    Gradients gradients = loss.backward(where_);
    std::vector<A> parts;
    for (const A& leaf : leaves_) {
      const auto gradient = gradients.get(leaf);
      const A part = gradient ? gradient->inner()
                              : A::full(leaf.shape(), 0.0, leaf.dtype(), leaf.device().inner(), where_);
      parts.push_back(part.reshape({-1}, where_).cast(dtype_, where_));
    }
    LinePoint point;
    point.gradient = A::cat(parts, 0, where_);
    const A size = point.gradient.abs(where_);
    const A greatest = size_ == 0 ? scalar_of(size, where_) : size.max(0, where_).reshape({}, where_);
    const A slope = direction.defined() ? dot(point.gradient, direction, where_) : greatest;
    const auto numbers = read(A::stack(std::array{loss.inner()
                                                      .to_device(point.gradient.device(), where_)
                                                      .cast(dtype_, where_)
                                                      .reshape({}, where_),
                                                  slope, greatest, scalar_of(size, where_)},
                                       0, where_),
                              where_);
    point.loss = numbers[0];
    point.slope = numbers[1];
    point.greatest = numbers[2];
    point.sum = numbers[3];
    return point;
  }

  const std::vector<Step::Slot>& slots_;
  const Function<A()>& loss_;
  const Location& where_;
  std::vector<A> before_;                  // for each slot
  std::vector<std::size_t> parameter_of_;  // for each slot
  std::vector<A> values_, leaves_;         // for each parameter
  DType dtype_ = DType::f32;
  std::int64_t size_ = 0;
  bool kept_ = false;
};

/// The pairs that are remembered, and the direction that follows from them.
class History {
 public:
  History(State& state, std::int64_t most, std::int64_t size, DType dtype, const Location& where)
      : state_(state), most_(most), size_(size), dtype_(dtype), where_(where) {}

  /// Takes in a pair, unless it has no positive curvature, and gives minus the approximate inverse Hessian
  /// times the gradient.
  A direction(const A& step, const A& change, const A& gradient) {
    Products products = multiply(step, change, gradient);
    if (products.curvature > kLeastCurvature) {
      make_room(gradient.device(), products);
      const std::size_t row = index(state_.pairs % most_), n = rows();
      put(state_.steps, row, step);
      put(state_.changes, row, change);
      products.steps_change[row] = products.changes_step[row] = products.curvature;
      products.changes_change[row] = products.square;
      products.steps_gradient[row] = products.step_gradient;
      products.changes_gradient[row] = products.change_gradient;
      for (std::size_t i = 0; i < n; ++i) {
        state_.mixed[i * n + row] = products.steps_change[i];
        state_.mixed[row * n + i] = products.changes_step[i];
        state_.squares[i * n + row] = state_.squares[row * n + i] = products.changes_change[i];
      }
      ++state_.pairs;
      state_.scale = products.curvature / products.square;
    }
    if (state_.pairs == 0) return A::mul(gradient, -state_.scale, where_);
    return combine(products, gradient);
  }

 private:
  /// Of each row with the newest pair and the gradient, and of those with each other.
  struct Products {
    std::vector<double> steps_change, steps_gradient, changes_step, changes_change, changes_gradient;
    double curvature, square, step_gradient, change_gradient;
    std::array<std::vector<double>*, 5> of_rows() {
      return {&steps_change, &steps_gradient, &changes_step, &changes_change, &changes_gradient};
    }
  };

  std::size_t rows() const { return state_.steps.defined() ? index(state_.steps.shape()[0]) : 0; }
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  void make_room(const Device& device, Products& products) {
    const std::size_t now = rows(), most = index(most_);
    if (index(state_.pairs) < now || now == most) return;
    const std::size_t next = std::min(most, std::max<std::size_t>(4, 2 * now));
    const auto larger = [&](const A& old) {
      const auto more = static_cast<std::int64_t>(next - now);
      return old.defined() ? old.pad({0, 0}, {more, 0}, 0.0, where_)
                           : A::full({more, size_}, 0.0, dtype_, device, where_);
    };
    state_.steps = larger(state_.steps);
    state_.changes = larger(state_.changes);
    for (std::vector<double>* numbers : {&state_.mixed, &state_.squares}) {
      std::vector<double> wider(next * next);
      for (std::size_t i = 0; i < now; ++i)
        for (std::size_t j = 0; j < now; ++j) wider[i * next + j] = (*numbers)[i * now + j];
      *numbers = std::move(wider);
    }
    for (std::vector<double>* numbers : products.of_rows()) numbers->resize(next);
  }

  void put(A& matrix, std::size_t row, const A& vector) {
    const auto at = static_cast<std::int64_t>(row);
    const std::array<Range, 1> part{Range{at, at + 1}};
    matrix = matrix.slice_assign(part, vector.reshape({1, size_}, where_), where_);
  }

  Products multiply(const A& step, const A& change, const A& gradient) {
    const auto along = [&](const A& matrix, const A& vector) {
      return A::mul(matrix, vector.reshape({1, size_}, where_), where_).sum(1, where_).reshape({-1}, where_);
    };
    const auto product = [&](const A& a, const A& b) { return dot(a, b, where_).reshape({1}, where_); };
    std::vector<A> parts{product(step, change), product(change, change), product(step, gradient),
                         product(change, gradient)};
    if (rows() > 0) {
      parts.push_back(along(state_.steps, change));
      parts.push_back(along(state_.steps, gradient));
      parts.push_back(along(state_.changes, step));
      parts.push_back(along(state_.changes, change));
      parts.push_back(along(state_.changes, gradient));
    }
    const std::vector<double> all = read(A::cat(parts, 0, where_), where_);
    Products products;
    products.curvature = all[0];
    products.square = all[1];
    products.step_gradient = all[2];
    products.change_gradient = all[3];
    auto at = all.begin() + 4;
    for (std::vector<double>* numbers : products.of_rows()) {
      const auto end = at + static_cast<std::ptrdiff_t>(rows());
      numbers->assign(at, end);
      at = end;
    }
    return products;
  }

  /// The two loops over the history, with vectors as sums of rows: q = -gradient - sum of alpha_i change_i.
  A combine(const Products& products, const A& gradient) {
    const std::size_t n = rows();
    const std::int64_t count = std::min(state_.pairs, most_);
    std::vector<std::size_t> order;  // the newest first
    for (std::int64_t i = 1; i <= count; ++i) order.push_back(index((state_.pairs - i) % most_));
    const auto mixed = [&](std::size_t i, std::size_t j) { return state_.mixed[i * n + j]; };
    std::vector<double> alpha(n), of_steps(n), of_changes(n);
    for (const std::size_t i : order) {
      double product = -products.steps_gradient[i];
      for (const std::size_t j : order) product -= alpha[j] * mixed(i, j);
      alpha[i] = product / mixed(i, i);
    }
    for (const std::size_t i : order) of_changes[i] = -state_.scale * alpha[i];
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const std::size_t i = *at;
      double product = -state_.scale * products.changes_gradient[i];
      for (const std::size_t j : order)
        product += of_changes[j] * state_.squares[i * n + j] + of_steps[j] * mixed(j, i);
      of_steps[i] = alpha[i] - product / mixed(i, i);
    }
    const auto sum = [&](const A& matrix, const std::vector<double>& factors) {
      const A column = column_of(factors, gradient.device());
      return A::mul(matrix, column, where_).sum(0, where_).reshape({-1}, where_);
    };
    const A rest = A::add(sum(state_.steps, of_steps), sum(state_.changes, of_changes), where_);
    return A::sub(rest, A::mul(gradient, state_.scale, where_), where_);
  }

  /// In the dtype of the vectors: not every device has f64.
  A column_of(const std::vector<double>& values, const Device& device) const {
    const Shape shape{static_cast<std::int64_t>(values.size()), 1};
    if (dtype_ == DType::f64)
      return A::from_bytes(std::as_bytes(std::span(values)), shape, dtype_, device, where_);
    const std::vector<float> rounded(values.begin(), values.end());
    return A::from_bytes(std::as_bytes(std::span(rounded)), shape, dtype_, device, where_);
  }

  State& state_;
  std::int64_t most_, size_;
  DType dtype_;
  const Location& where_;
};

}  // namespace

Lbfgs LbfgsConfig::init() const {
  require_within(kName, "the number of iterations", static_cast<double>(max_iterations), 1, kAnySize);
  if (max_evaluations)
    require_within(kName, "the number of evaluations", static_cast<double>(*max_evaluations), 1, kAnySize);
  require_within(kName, "the tolerance of the gradient", tolerance_gradient, 0, kAnySize);
  require_within(kName, "the tolerance of changes", tolerance_change, 0, kAnySize);
  require_within(kName, "the history", static_cast<double>(history), 1, kAnySize);
  return Lbfgs(*this);
}

double Lbfgs::take(double learning_rate, const std::vector<Step::Slot>& slots,
                   const Function<AnyTensor()>& loss, const Location& where) {
  require_within(kName, "the learning rate", learning_rate, 0, kAnySize);
  if (learning_rate == 0) throw Error("[lbfgs] the learning rate is 0, expected more", where);
  Problem problem(slots, loss, where);
  State state = state_;
  if (state.direction.defined() && state.direction.numel() != problem.size())
    throw ShapeError("[lbfgs] there are " + std::to_string(problem.size()) +
                         " numbers in the parameters, but in the steps before there were " +
                         std::to_string(state.direction.numel()),
                     where);
  const std::int64_t most = config_.max_evaluations.value_or(config_.max_iterations * 5 / 4);
  LinePoint now = problem.here();
  const double first = now.loss;
  std::int64_t evaluations = 1;
  ++state.evaluations;
  bool ended = now.greatest <= config_.tolerance_gradient;
  for (std::int64_t iteration = 1; !ended && iteration <= config_.max_iterations; ++iteration) {
    ++state.iterations;
    const bool very_first = state.iterations == 1;
    if (very_first) {
      state.direction = now.gradient.neg(where);
    } else {
      History history(state, config_.history, problem.size(), problem.dtype(), where);
      const A step = A::mul(state.direction, state.length, where);
      state.direction = history.direction(step, A::sub(now.gradient, state.gradient, where), now.gradient);
    }
    state.gradient = now.gradient;
    state.length = very_first ? std::min(1.0, 1 / now.sum) * learning_rate : learning_rate;
    const A& d = state.direction;
    const auto facts =
        read(A::stack(std::array{dot(now.gradient, d, where), d.abs(where).max(0, where).reshape({}, where)},
                      0, where),
             where);
    now.slope = facts[0];
    const double reach = facts[1], loss_before = now.loss;
    if (now.slope > -config_.tolerance_change) break;

    const bool last = iteration == config_.max_iterations;
    std::int64_t looked = 0;
    if (config_.strong_wolfe) {
      LineSearch search([&](double length) { return problem.along(d, length); }, reach,
                        config_.tolerance_change);
      now = search.run(now, state.length);
      state.length = search.length;
      looked = search.evaluations;
      problem.move(d, state.length);
    } else {
      problem.move(d, state.length);
      if (!last) {
        now = problem.here();
        looked = 1;
      }
    }
    evaluations += looked;
    state.evaluations += looked;
    ended = last || evaluations >= most || now.greatest <= config_.tolerance_gradient ||
            std::abs(state.length) * reach <= config_.tolerance_change ||
            std::abs(now.loss - loss_before) < config_.tolerance_change;
  }
  problem.keep();
  state_ = std::move(state);
  return first;
}

record::Record Lbfgs::to_record() const {
  record::Record record;
  mark(record, kName);
  add_count(record, "iterations", state_.iterations);
  add_count(record, "evaluations", state_.evaluations);
  add_count(record, "pairs", state_.pairs);
  const auto add = [&](const char* name, const A& tensor) {
    if (tensor.defined()) record.add(name, tensor);
  };
  add("direction", state_.direction);
  add("gradient", state_.gradient);
  add("steps", state_.steps);
  add("changes", state_.changes);
  add_numbers(record, "line", {state_.length, state_.scale});
  add_numbers(record, "mixed", state_.mixed);
  add_numbers(record, "squares", state_.squares);
  return record;
}

void Lbfgs::load_record(const record::Record& record, const Device& device) {
  require_mark(record, kName);
  State state;
  state.iterations = read_count(record, "iterations");
  state.evaluations = read_count(record, "evaluations");
  state.pairs = read_count(record, "pairs");
  std::vector<std::pair<std::string, A>> tensors;
  const auto get = [&](const char* name, A& tensor) {
    if (!record.find(name)) return;
    tensor = record.tensor(name, device.inner());
    tensors.emplace_back(name, tensor);
  };
  get("direction", state.direction);
  get("gradient", state.gradient);
  get("steps", state.steps);
  get("changes", state.changes);
  require_alike("", tensors, false);
  const auto line = read_numbers(record, "line");
  state.mixed = read_numbers(record, "mixed");
  state.squares = read_numbers(record, "squares");

  const auto of = [](const A& tensor) { return tensor.defined() ? tensor.shape() : Shape{0, 0}; };
  const Shape rows = of(state.steps);
  const auto n = static_cast<std::size_t>(rows.rank() == 2 ? rows[0] : 0);
  const bool moved = state.direction.defined();
  const bool whole =
      line.size() == 2 && rows.rank() == 2 && of(state.changes) == rows && state.mixed.size() == n * n &&
      state.squares.size() == n * n && (n == 0 || (moved && state.direction.shape() == Shape{rows[1]})) &&
      (!moved || (state.gradient.defined() && state.gradient.shape() == state.direction.shape())) &&
      (state.iterations == 0 || moved) && (state.pairs == 0 || n > 0);
  if (!whole) throw DataError("[record] this is no whole state of lbfgs: its tensors do not fit each other");
  if (rows[0] > config_.history || (state.pairs > rows[0] && rows[0] != config_.history))
    throw DataError("[record] the history has " + std::to_string(rows[0]) + " pairs of " +
                    std::to_string(state.pairs) + ", and cannot go on as one of " +
                    std::to_string(config_.history));
  state.length = line[0];
  state.scale = line[1];
  state_ = std::move(state);
}

}  // namespace sinter::optim
