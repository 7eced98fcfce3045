// Averages of parameters.
#include <map>

#include <sinter/optim/average.h>

#include "src/base/number_text.h"
#include "src/optim/state.h"
#include "src/record/by_name.h"

template class sinter::record::ByName<sinter::AnyTensor>;

namespace sinter::optim {
namespace {

constexpr const char* kName = "weight_average";
const std::string kCount = "count", kPrefix = "average.";

/// What the handles of one parameter have in common.
using Identity = std::pair<const void*, const void*>;
Identity identity_of(const AnyTensor& parameter) { return {parameter.value().get(), parameter.node().get()}; }

/// Whether both are none, or handles of one value.
bool same(const AnyTensor* a, const AnyTensor* b) {
  return a && b ? a->value().get() == b->value().get() : a == b;
}

AnyTensor moved(const AnyTensor& old, const AnyTensor& now, double weight, const Location& where) {
  return AnyTensor::add(old, AnyTensor::mul(AnyTensor::sub(now, old, where), weight, where), where);
}

}  // namespace

WeightAverage EmaConfig::init() const {
  // With 0 the average would be the last parameters.
  if (!(decay > 0 && decay < 1))
    throw Error("[ema] the decay is " + text_of(decay) + ", expected more than 0 and less than 1");
  return WeightAverage(decay);
}

WeightAverage SwaConfig::init() const { return WeightAverage(0); }

void WeightAverage::take(const Parameters& parameters, const Location& where) {
  record::ByName<AnyTensor> next;
  // A tied parameter has one average under all of its paths.
  struct Tied {
    const AnyTensor* old;
    AnyTensor average;
  };
  std::map<Identity, Tied> known;
  const double weight = decay_ != 0 ? 1 - decay_ : 1 / static_cast<double>(count_ + 1);
  for (const auto& [path, parameter] : parameters) {
    if (!parameter.defined() || !is_float(parameter.dtype())) continue;
    if (next.find(path)) throw Error("[weight_average] two parameters have the path " + path, where);
    const AnyTensor* const old = averages_.find(path);
    if (old) require_same_shape(kName, path, old->shape(), parameter.shape(), where);
    const auto [at, is_new] = known.try_emplace(identity_of(parameter), Tied{old, AnyTensor()});
    Tied& tied = at->second;
    if (is_new || !same(old, tied.old)) {
      const AnyTensor now = parameter.inner().cast(arithmetic_of(parameter.dtype()), where);
      tied = {old, old ? moved(*old, now, weight, where) : now};
    }
    next.add(path, tied.average);
  }
  averages_ = std::move(next);
  ++count_;
  if (!averages_.empty()) averages_.begin()->second.device().flush();
}

std::vector<AnyTensor> WeightAverage::averages(const Parameters& parameters, const Location& where) const {
  std::map<Identity, AnyTensor> known;
  std::vector<AnyTensor> all;
  for (const auto& [path, parameter] : parameters) {
    if (!parameter.defined()) {
      all.emplace_back();
      continue;
    }
    const auto [at, is_new] = known.try_emplace(identity_of(parameter));
    if (is_new) at->second = average(path, parameter, where);
    all.push_back(at->second);
  }
  return all;
}

AnyTensor WeightAverage::average(const std::string& path, const AnyTensor& like,
                                 const Location& where) const {
  if (!is_float(like.dtype())) return like;
  const AnyTensor* const found = averages_.find(path);
  if (!found) throw Error("[weight_average] there is no average of " + path, where);
  require_same_shape(kName, path, found->shape(), like.shape(), where);
  const AnyTensor value = found->cast(like.dtype(), where).to_device(like.device(), where);
  return like.requires_grad() ? value.require_grad(where) : value;
}

record::Record WeightAverage::to_record() const {
  record::Record record;
  mark(record, kName);
  add_count(record, kCount, count_);
  for (const auto& [path, average] : averages_) record.add(kPrefix + path, average);
  return record;
}

void WeightAverage::load_record(const record::Record& record, const Device& device) {
  require_mark(record, kName);
  const std::int64_t count = read_count(record, kCount);
  record::ByName<AnyTensor> averages;
  for (const auto& [name, entry] : record.entries())
    if (name.starts_with(kPrefix))
      averages.add(name.substr(kPrefix.size()), record.tensor(name, device.inner()));
  for (const auto& [path, average] : averages) require_alike("average", {{path, average}}, true);
  averages_ = std::move(averages);
  count_ = count;
}

}  // namespace sinter::optim
