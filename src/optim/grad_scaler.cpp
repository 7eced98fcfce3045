// Scaling of losses.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include <sinter/optim/grad_scaler.h>

#include "src/optim/skipping.h"
#include "src/optim/state.h"

namespace sinter::optim {
namespace {

using A = AnyTensor;

constexpr const char* kName = "grad_scaler";
const std::string kScale = "scale", kTracker = "growth_tracker", kSkipped = "skipped";

/// The tensor () of that name and dtype.
A read(const record::Record& record, const std::string& name, DType dtype, const Device& device) {
  const record::Record::Entry* entry = record.find(name);
  if (!entry || entry->dtype != dtype || entry->shape.rank() != 0)
    throw DataError("[record] there is no " + std::string(name_of(dtype)) + " number \"" + name + "\"");
  return record.tensor(name, device.inner());
}

}  // namespace

namespace detail {

A unscaled(const A& gradient, const A& scale, const Location& where) {
  const DType dtype = arithmetic_of(gradient.dtype());
  const A near = scale.to_device(gradient.device().inner(), where).cast(dtype, where);
  return A::mul(gradient.cast(dtype, where), near.recip(where), where);
}

A all_finite(const std::vector<const A*>& gradients, const Location& where) {
  std::vector<A> each;  // one vector of all, as the norm of gradients is computed
  for (const A* gradient : gradients) {
    const A finite = gradient->inner().is_finite(where);
    const A one = finite.all(finite.all_axes(), where).reshape({1}, where);
    each.push_back(each.empty() ? one : one.to_device(each.front().device(), where));
  }
  const A all = A::cat(each, 0, where);
  return all.all(all.all_axes(), where).reshape({}, where);
}

Skipping::Skipping(std::vector<Parameter>& parameters, Scaling& scaling, const Location& where)
    : where_(where) {
  A finite = scaling.finite;
  if (scaling.scale.defined()) {
    std::vector<const A*> gradients;
    for (Parameter& parameter : parameters) {
      parameter.gradient = unscaled(parameter.gradient, scaling.scale, where);
      gradients.push_back(&parameter.gradient);
    }
    finite = all_finite(gradients, where);
  }
  taken_.push_back(std::move(finite));
}

const A& Skipping::taken(const Device& device) {
  for (const A& taken : taken_)
    if (taken.device() == device) return taken;
  taken_.push_back(taken_.front().to_device(device, where_));
  return taken_.back();
}

A Skipping::skipped(const A& before, const Device& device) {
  for (const Count& count : counts_)
    if (count.before.value().get() == before.value().get() && count.device == device) return count.after;
  const A now = taken(device).logical_not(where_).cast(DType::f32, where_);
  counts_.push_back({before, before.defined() ? A::add(before, now, where_) : now, device});
  return counts_.back().after;
}

}  // namespace detail

GradScaler GradScalerConfig::init(const Device& device) const {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double least = std::numeric_limits<float>::min(), most = std::numeric_limits<float>::max();
  require_within(kName, "init_scale", init_scale, least, most);
  require_within(kName, "growth_factor", growth_factor, std::nextafter(1, inf), inf);
  require_within(kName, "backoff_factor", backoff_factor, least, 1);
  require_within(kName, "growth_interval", static_cast<double>(growth_interval), 1, 2147483648.0);
  return GradScaler(*this, device.inner());
}

GradScaler::GradScaler(const GradScalerConfig& config, const Device& device)
    : config_(config),
      scale_(A::full({}, config.enabled ? config.init_scale : 1.0, DType::f32, device)),
      growth_tracker_(A::full({}, 0, DType::i32, device)),
      skipped_(A::full({}, 0, DType::i32, device)) {}

A GradScaler::scaled(const A& loss, Location where) const {
  return config_.enabled ? A::mul(loss, scale_.to_device(loss.device(), where), where) : loss;
}

void GradScaler::unscale(Gradients& gradients, Location where) {
  if (!config_.enabled) return;
  std::vector<A> divided;
  std::vector<const A*> all;
  std::map<std::uint64_t, A> finite;
  for (const Gradients::Entry& entry : finite_) finite.emplace(entry.leaf, entry.gradient);
  divided.reserve(gradients.entries().size());
  for (const Gradients::Entry& entry : gradients.entries()) {
    divided.push_back(entry.gradient.defined() ? detail::unscaled(entry.gradient, scale_, where) : A());
    if (!entry.gradient.defined()) continue;
    if (!finite.try_emplace(entry.leaf).second)
      throw Error("[grad_scaler] gradients are unscaled a second time since the last update()", where);
    all.push_back(&divided.back());
  }
  const A is_finite = detail::all_finite(all, where);
  for (auto& [leaf, flag] : finite)
    if (!flag.defined()) flag = is_finite;
  for (std::size_t i = 0; i < divided.size(); ++i) gradients.entries()[i].gradient = std::move(divided[i]);
  finite_.clear();
  for (auto& [leaf, flag] : finite) finite_.push_back({leaf, std::move(flag)});
}

A GradScaler::finite_of_unscaled(Gradients& gradients, const Location& where) const {
  A all;
  std::size_t found = 0, count = 0;
  const void* last = nullptr;
  for (const Gradients::Entry& entry : gradients.entries()) {
    if (!entry.gradient.defined()) continue;
    ++count;
    const auto at =
        std::lower_bound(finite_.begin(), finite_.end(), entry.leaf,
                         [](const Gradients::Entry& e, std::uint64_t leaf) { return e.leaf < leaf; });
    if (at == finite_.end() || at->leaf != entry.leaf) continue;
    ++found;
    if (std::exchange(last, at->gradient.value().get()) == at->gradient.value().get()) continue;
    all = all.defined() ? A::logical_and(all, at->gradient.to_device(all.device(), where), where)
                        : at->gradient;
  }
  if (found != 0 && found != count)
    throw Error("[grad_scaler] of " + std::to_string(count) + " gradients " + std::to_string(found) +
                    " were unscaled before the step, expected all or none",
                where);
  return all;
}

void GradScaler::take(Optimizer& optimizer, double learning_rate, std::vector<Step::Slot> slots,
                      Gradients& gradients, Location where) {
  if (!config_.enabled) return optimizer.take(learning_rate, std::move(slots), gradients, where);
  detail::Scaling scaling;
  scaling.finite = finite_of_unscaled(gradients, where);
  if (!scaling.finite.defined()) scaling.scale = scale_;
  taken_.reserve(taken_.size() + 1);
  optimizer.take(learning_rate, std::move(slots), gradients, where, &scaling);
  if (scaling.taken.defined()) taken_.push_back(std::move(scaling.taken));
}

void GradScaler::update(Location where) {
  if (!config_.enabled) return;
  if (taken_.empty())
    throw Error("[grad_scaler] update() without a step that had a gradient since the last update()", where);
  const Device device = scale_.device();
  A taken;
  for (const A& one : taken_) {
    const A near = one.to_device(device, where);
    taken = taken.defined() ? A::logical_and(taken, near, where) : near;
  }
  // As PyTorch's amp_update_scale_ kernel does it.
  const A count = A::add(growth_tracker_, 1, where);
  const A is_due = A::equal(count, config_.growth_interval, where);
  const A larger = A::mul(scale_, config_.growth_factor, where);
  const A grows = A::logical_and(is_due, larger.is_finite(where), where);
  const A kept = A::where(grows, larger, scale_, where);
  const A scale = A::where(taken, kept, A::mul(scale_, config_.backoff_factor, where), where);
  const A counts = A::logical_and(taken, is_due.logical_not(where), where);
  const A tracker = A::where(counts, count, 0, where);
  const A skipped = A::add(skipped_, taken.logical_not(where).cast(DType::i32, where), where);
  scale_ = scale;
  growth_tracker_ = tracker;
  skipped_ = skipped;
  taken_.clear();
  finite_.clear();
}

record::Record GradScaler::to_record() const {
  record::Record record;
  mark(record, kName);
  if (!config_.enabled) return record;
  record.add(kScale, scale_);
  record.add(kTracker, growth_tracker_);
  record.add(kSkipped, skipped_);
  return record;
}

void GradScaler::load_record(const record::Record& record, const Device& device) {
  require_mark(record, kName);
  if (!config_.enabled) return;
  A scale = read(record, kScale, DType::f32, device);
  A tracker = read(record, kTracker, DType::i32, device);
  A skipped = read(record, kSkipped, DType::i32, device);
  scale_ = std::move(scale);
  growth_tracker_ = std::move(tracker);
  skipped_ = std::move(skipped);
  taken_.clear();
  finite_.clear();
}

}  // namespace sinter::optim
