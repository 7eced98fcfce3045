// What all optimizers share.
#include <algorithm>
#include <limits>
#include <set>

#include <sinter/optim/optimizer.h>

#include "src/optim/skipping.h"
#include "src/optim/state.h"
#include "src/record/by_name.h"

template class sinter::record::ByName<sinter::optim::ParameterState>;

namespace sinter::optim {
namespace {

using A = AnyTensor;

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr const char* kMaster = "master";
const std::string kStep = ".step";

AnyTensor* find(ParameterState& state, std::string_view name) {
  for (auto& [key, tensor] : state.tensors)
    if (key == name) return tensor.defined() ? &tensor : nullptr;
  return nullptr;
}

/// sqrt of the sum of all squares, in f32, or f64 where a gradient has that. The sums of the gradients become
/// one vector: adding them up one by one would be a chain, a few of them in a launch.
A norm_of(const std::vector<const A*>& gradients, const Location& where) {
  DType dtype = DType::f32;
  for (const A* gradient : gradients)
    if (gradient->dtype() == DType::f64) dtype = DType::f64;
  std::vector<A> sums;
  for (const A* gradient : gradients) {
    const A squares = gradient->cast(arithmetic_of(gradient->dtype()), where).square(where);
    const A one = squares.sum(squares.all_axes(), where).reshape({1}, where).cast(dtype, where);
    sums.push_back(sums.empty() ? one : one.to_device(sums.front().device(), where));
  }
  return A::cat(sums, 0, where).sum(0, where).reshape({}, where).sqrt(where);
}

/// min(1, limit / (norm + 1e-6))
A factor_of(const A& norm, double limit, const Location& where) {
  return A::minimum(A::mul(A::add(norm, 1e-6, where).recip(where), limit, where), 1, where);
}

A scaled(const A& gradient, const A& factor, const Location& where) {
  const DType dtype = arithmetic_of(gradient.dtype());
  const A near = factor.to_device(gradient.device(), where).cast(dtype, where);
  return A::mul(gradient.cast(dtype, where), near, where).cast(gradient.dtype(), where);
}

A within(const A& gradient, double limit, const Location& where) {
  return A::minimum(A::maximum(gradient, -limit, where), limit, where);
}

/// A step of nothing is a mistake: the model was replaced, or an optimizer before this one took everything.
[[noreturn]] void throw_without_gradients(const char* optimizer, const Gradients& gradients,
                                          const Location& where) {
  const std::string who = "[" + std::string(optimizer) + "] ";
  if (gradients.size() == 0)
    throw Error(
        who +
            "there are no gradients: a step takes all of them, unless a group with `skip` leaves some to "
            "another optimizer",
        where);
  throw Error(
      who + "none of the " + std::to_string(gradients.size()) +
          " gradients is of a parameter of this model: were its parameters replaced since the loss was "
          "computed, or do they all belong to groups with `skip`?",
      where);
}

}  // namespace

Rule::~Rule() = default;

std::vector<AnyTensor> Rule::update_all(std::span<Update> updates) const {
  std::vector<AnyTensor> next;
  next.reserve(updates.size());
  for (Update& one : updates) next.push_back(update(one));
  return next;
}

void Rule::check_states(const std::string&, const ParameterState&) const {}

bool Update::has(std::string_view name) const { return find(state_, name) != nullptr; }

AnyTensor Update::state(std::string_view name, const Shape& shape) const {
  if (const AnyTensor* tensor = find(state_, name)) {
    require_same_shape(rule_, path(), tensor->shape(), shape, where_);
    return *tensor;
  }
  return AnyTensor::full(shape, 0.0, parameter().dtype(), parameter().device(), where_);
}

AnyTensor Update::steps_taken() const {
  const A all = A::sub(static_cast<double>(state_.step + 1), state_.skipped, where_);
  return all.cast(parameter().dtype(), where_);
}

AnyTensor Update::select_first(const AnyTensor& first, const AnyTensor& later) const {
  return A::where(A::equal(steps_taken(), 1.0, where_), first, later, where_);
}

void Update::set(std::string_view name, AnyTensor next) {
  if (taken_.defined()) {
    const A before =
        has(name) ? state(name, next.shape()) : A::full(next.shape(), 0, next.dtype(), next.device(), where_);
    next = A::where(taken_, next, before, where_);
  }
  assign(name, std::move(next));
}

void Update::assign(std::string_view name, AnyTensor next) {
  if (name.empty() || name.find('.') != std::string_view::npos || name == "step")
    throw Error("[" + std::string(rule_) + "] a state cannot be called \"" + std::string(name) + "\"",
                where_);
  for (auto& [key, tensor] : state_.tensors)
    if (key == name) return step_.assign(tensor, std::move(next));
  // Slots of a step that is being recorded must stay where they are.
  if (state_.tensors.empty()) state_.tensors.reserve(kMostStates);
  if (state_.tensors.size() == kMostStates)
    throw Error(
        "[" + std::string(rule_) + "] a parameter has at most " + std::to_string(kMostStates) + " states",
        where_);
  state_.tensors.emplace_back(name, AnyTensor());
  step_.assign(state_.tensors.back().second, std::move(next));
}

Optimizer::Optimizer(sinter::detail::Shared<const Rule> rule, StepOptions options)
    : rule_(std::move(rule)), options_(std::move(options)) {
  const char* name = rule_->name();
  for (const Group& group : options_.groups) {
    require_within(name, "the learning rate of a group", group.learning_rate, 0, kAny);
    if (group.weight_decay) require_within(name, "the weight decay of a group", *group.weight_decay, 0, kAny);
  }
  if (options_.clip_value) require_within(name, "clip_value", *options_.clip_value, 0, kAny);
  if (options_.clip_norm) require_within(name, "clip_norm", *options_.clip_norm, 0, kAny);
}

const Group* Optimizer::group_of(const std::string& path) const {
  for (const Group& group : options_.groups)
    if (path_matches(group.pattern, path)) return &group;
  return nullptr;
}

void Optimizer::check_groups(const std::vector<Step::Slot>& slots, const Location& where) const {
  for (const Group& group : options_.groups) {
    const auto fits = [&](const Step::Slot& slot) { return path_matches(group.pattern, slot.path); };
    if (std::none_of(slots.begin(), slots.end(), fits))
      throw Error(
          "[" + std::string(rule_->name()) + "] no parameter's path fits the group \"" + group.pattern + "\"",
          where);
  }
}

void Optimizer::clip(std::vector<Parameter>& parameters, const Location& where) const {
  if (options_.clip_value)
    for (Parameter& parameter : parameters)
      parameter.gradient = within(parameter.gradient, *options_.clip_value, where);
  if (!options_.clip_norm || parameters.empty()) return;
  std::vector<const A*> gradients;
  for (const Parameter& parameter : parameters) gradients.push_back(&parameter.gradient);
  const A factor = factor_of(norm_of(gradients, where), *options_.clip_norm, where);
  for (Parameter& parameter : parameters) parameter.gradient = scaled(parameter.gradient, factor, where);
}

Update Optimizer::begin_update(Step& step, Parameter& parameter, double learning_rate,
                               detail::Skipping* skipping, const Location& where) {
  states_.add(parameter.path, ParameterState());  // where there is none
  ParameterState& state = *states_.find(parameter.path);
  Update update(step, parameter, state, rule_->name(), where);
  update.stored_ = parameter.value.dtype();
  const Group* group = group_of(parameter.path);
  update.learning_rate_ = group ? learning_rate * group->learning_rate : learning_rate;
  if (group) update.weight_decay_ = group->weight_decay;

  if (is_stored_float(update.stored_)) {
    parameter.gradient = parameter.gradient.cast(DType::f32, where);
    const A rounded = parameter.value;
    parameter.value = rounded.cast(DType::f32, where);
    if (update.has(kMaster)) {
      const A master = update.state(kMaster);
      const A same = A::equal(master.cast(update.stored_, where), rounded, where);
      parameter.value = A::where(same, master, parameter.value, where);
    }
  }
  if (skipping) update.taken_ = skipping->taken(parameter.value.device());
  return update;
}

void Optimizer::end_update(Update& update, AnyTensor next, detail::Skipping* skipping) {
  const std::string_view name = update.rule_;
  const Location& where = update.where_;
  Parameter& parameter = update.parameter_;
  ParameterState& state = update.state_;
  if (!next.defined())
    throw Error("[" + std::string(name) + "] of parameter " + parameter.path + " the rule made nothing",
                where);
  if (next.shape() != parameter.value.shape() || next.dtype() != parameter.value.dtype())
    throw ShapeError("[" + std::string(name) + "] of parameter " + parameter.path + ", " +
                         std::string(name_of(parameter.value.dtype())) + " " +
                         to_string(parameter.value.shape()) + ", the rule made " +
                         std::string(name_of(next.dtype())) + " " + to_string(next.shape()),
                     where);
  if (skipping) {
    next = A::where(update.taken_, next, parameter.value, where);
    update.step_.assign(state.skipped, skipping->skipped(state.skipped, parameter.value.device()));
  }
  if (is_stored_float(update.stored_)) {
    update.assign(kMaster, next);
    next = next.cast(update.stored_, where);
  }
  parameter.value = std::move(next);
  update.step_.assign(state.step, state.step + 1);
}

void Optimizer::take(double learning_rate, std::vector<Step::Slot> slots, Gradients& gradients,
                     Location where, detail::Scaling* scaling) {
  require_within(rule_->name(), "the learning rate", learning_rate, 0, kAny);
  bool skips = false;
  if (!options_.groups.empty()) {
    check_groups(slots, where);
    const std::size_t all = slots.size();
    std::erase_if(slots, [&](const Step::Slot& slot) {
      const Group* group = group_of(slot.path);
      return group && group->skip;
    });
    skips = slots.size() != all;
  }
  Step step(std::move(slots), gradients, skips);
  std::vector<Parameter>& parameters = step.parameters();
  if (parameters.empty()) throw_without_gradients(rule_->name(), gradients, where);
  std::optional<detail::Skipping> skipping;
  if (scaling) {
    skipping.emplace(parameters, *scaling, where);
    step.assign(scaling->taken, skipping->taken(parameters.front().value.device()));
  }
  clip(parameters, where);
  detail::Skipping* const skips_some = skipping ? &*skipping : nullptr;
  std::vector<Update> updates;
  updates.reserve(parameters.size());
  for (Parameter& parameter : parameters)
    updates.push_back(begin_update(step, parameter, learning_rate, skips_some, where));
  std::vector<A> next = rule_->update_all(updates);
  if (next.size() != updates.size())
    throw Error("[" + std::string(rule_->name()) + "] of " + std::to_string(updates.size()) +
                    " parameters the rule made " + std::to_string(next.size()),
                where);
  for (std::size_t i = 0; i < updates.size(); ++i) end_update(updates[i], std::move(next[i]), skips_some);
  step.run(where);
}

record::Record Optimizer::to_record() const {
  record::Record record;
  mark(record, rule_->name());
  for (const auto& [path, state] : states_) {
    std::int64_t steps = state.step;
    if (state.skipped.defined()) steps -= static_cast<std::int64_t>(Tensor<0>(state.skipped).item());
    if (steps == 0) continue;  // its first step failed, or all were skipped
    for (const auto& [name, tensor] : state.tensors)
      if (tensor.defined()) record.add(path + "." + name, tensor);
    add_count(record, path + kStep, steps);
  }
  return record;
}

void Optimizer::load_record(const record::Record& record, const Device& device) {
  require_mark(record, rule_->name());
  record::ByName<ParameterState> states;
  for (const auto& [name, entry] : record.entries()) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos)  // in front of it: the path, which a model that is a tensor has as ""
      throw DataError("[record] \"" + name + "\" is no state of a parameter");
    const std::string path = name.substr(0, dot);
    states.add(path, ParameterState());
    ParameterState& state = *states.find(path);
    if (name.ends_with(kStep)) {
      state.step = read_count(record, name);
      continue;
    }
    if (state.tensors.empty()) state.tensors.reserve(kMostStates);
    if (state.tensors.size() == kMostStates) throw DataError("[record] " + name + " is one state too many");
    state.tensors.emplace_back(name.substr(dot + 1), record.tensor(name, device.inner()));
  }
  for (const auto& [path, state] : states) {
    if (state.step == 0) throw DataError("[record] there is no count \"" + path + kStep + "\"");
    for (const auto& [name, tensor] : state.tensors)
      if (name == kMaster && tensor.dtype() != DType::f32)
        throw DataError("[record] \"" + path + "." + name + "\" is " + std::string(name_of(tensor.dtype())) +
                        ", expected f32");
    rule_->check_states(path, state);
  }
  states_ = std::move(states);
}

void clip_by_value(Gradients& gradients, double limit, Location where) {
  require_within("clip_by_value", "the limit", limit, 0, kAny);
  std::vector<A> clipped;
  for (const Gradients::Entry& entry : gradients.entries())
    clipped.push_back(entry.gradient.defined() ? within(entry.gradient, limit, where) : A());
  for (std::size_t i = 0; i < clipped.size(); ++i) gradients.entries()[i].gradient = std::move(clipped[i]);
}

Tensor<0> clip_by_norm(Gradients& gradients, double limit, Location where) {
  require_within("clip_by_norm", "the limit", limit, 0, kAny);
  std::vector<const A*> all;
  for (const Gradients::Entry& entry : gradients.entries())
    if (entry.gradient.defined()) all.push_back(&entry.gradient);
  if (all.empty()) throw Error("[clip_by_norm] there are no gradients", where);
  const A norm = norm_of(all, where), factor = factor_of(norm, limit, where);
  std::vector<A> clipped;
  for (const Gradients::Entry& entry : gradients.entries())
    clipped.push_back(entry.gradient.defined() ? scaled(entry.gradient, factor, where) : A());
  for (std::size_t i = 0; i < clipped.size(); ++i) gradients.entries()[i].gradient = std::move(clipped[i]);
  return Tensor<0>(norm);
}

Gradients GradientAccumulator::take() { return std::exchange(sum_, Gradients()); }

void GradientAccumulator::add(Gradients&& gradients, double scale, Location where) {
  // The new sum first: what throws leaves the old one.
  std::vector<Gradients::Entry> sum = sum_.entries();
  for (const Gradients::Entry& entry : gradients.entries()) {
    if (!entry.gradient.defined()) continue;
    const A part = scale == 1 ? entry.gradient : A::mul(entry.gradient, scale, where);
    const auto at =
        std::lower_bound(sum.begin(), sum.end(), entry.leaf,
                         [](const Gradients::Entry& e, std::uint64_t leaf) { return e.leaf < leaf; });
    if (at != sum.end() && at->leaf == entry.leaf)
      at->gradient = A::add(at->gradient, part, where);
    else
      sum.insert(at, {entry.leaf, part});
  }
  gradients = Gradients();
  sum_.entries() = std::move(sum);
  for (const Gradients::Entry& entry : sum_.entries()) entry.gradient.sync(where);
}

}  // namespace sinter::optim
