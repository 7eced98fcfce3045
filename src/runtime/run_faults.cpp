// From fault words to values.
#include "src/runtime/run_faults.h"

#include <algorithm>
#include <string>

#include <sinter/error.h>

namespace sinter::runtime {

bool RunFaults::done() {
  if (settled_.load(std::memory_order_acquire)) return true;
  // A thread that reads holds the lock while it waits for the run: then this one does not wait for it.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return false;
  if (is_done_ || settled_.load(std::memory_order_relaxed)) return true;
  // Kept: a value comes of earlier runs by many ways, whose number may double with each run.
  is_done_ =
      std::all_of(reports_.begin(), reports_.end(), [](const auto& report) { return report->done(); }) &&
      std::all_of(inputs_.begin(), inputs_.end(), [](const Input& input) { return input.doubt->done(); });
  return is_done_;
}

std::exception_ptr RunFaults::failure_of(trace::ValueId id) {
  if (!settled_.load(std::memory_order_acquire)) {
    std::lock_guard lock(mutex_);
    if (!settled_.load(std::memory_order_relaxed)) settle();
  }
  for (const auto& [value, failure] : failures_)
    if (value == id) return failure;
  return nullptr;
}

void RunFaults::settle() {
  std::vector<std::uint32_t> words(plan_->faults, 0);
  for (const FaultReportRef& report : reports_) {
    const std::span<const std::uint32_t> own = report->words();
    for (std::size_t w = 0; w < own.size(); ++w) words[w] |= own[w];
  }
  // Source by source, so that each value is told of one that it came of.
  const auto tell = [&](std::span<const std::uint32_t> set, std::span<const trace::ValueId> inputs,
                        const std::exception_ptr& failure) {
    const std::vector<bool> reached = plan_->origins.reached(set, inputs);
    for (std::size_t p = 0; p < reached.size(); ++p) {
      const trace::ValueId id = plan_->placements[p].value;
      const bool is_told = std::any_of(failures_.begin(), failures_.end(),
                                       [&](const auto& known) { return known.first == id; });
      if (reached[p] && !is_told) failures_.emplace_back(id, failure);
    }
  };
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (words[w] == 0) continue;
    std::vector<std::uint32_t> alone(words.size(), 0);
    alone[w] = 1;
    const Place& place = places_[w];
    tell(
        alone, {},
        std::make_exception_ptr(ShapeError("[" + std::string(place.op) + "] an index was out of range" +
                                           (place.rows > 0 ? " 0 to " + std::to_string(place.rows - 1) : "") +
                                           " (" + place.file + ":" + std::to_string(place.line) + ")")));
  }
  for (const Input& input : inputs_) {
    const trace::ValueId id = input.id;
    if (const std::exception_ptr failure = input.doubt->failure_of(input.id_there))
      tell(std::vector<std::uint32_t>(words.size(), 0), {&id, 1}, failure);
  }
  plan_.reset();
  reports_.clear();
  inputs_.clear();
  places_.clear();
  settled_.store(true, std::memory_order_release);
}

void RunsInDoubt::add(std::shared_ptr<RunFaults> run) {
  used_.store(true, std::memory_order_release);
  std::lock_guard lock(mutex_);
  runs_.push_back(std::move(run));
}

bool RunsInDoubt::settle_ended() {
  if (!used_.load(std::memory_order_acquire)) return false;
  std::vector<std::shared_ptr<RunFaults>> ended;
  {
    std::lock_guard lock(mutex_);
    const auto first_running =
        std::find_if(runs_.begin(), runs_.end(), [](const auto& run) { return !run->done(); });
    ended.assign(std::move_iterator(runs_.begin()), std::move_iterator(first_running));
    runs_.erase(runs_.begin(), first_running);
  }
  for (const auto& run : ended) {
    try {
      run->failure_of(0);
    } catch (const DeviceError&) {
      // The device failed; whoever asks for a value of the run is told.
    }
  }
  return true;
}

}  // namespace sinter::runtime
