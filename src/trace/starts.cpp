// What is remembered of starts.
#include "src/trace/starts.h"

#include <algorithm>

namespace sinter::trace {
namespace {

// What is forgotten costs one more plan when it comes again.
constexpr std::size_t kMostTraces = 256, kMostStarts = 1 << 16;

}  // namespace

void MovingStarts::note(Known& known, std::span<const std::int64_t> starts) {
  if (known.moves.empty()) known.moves.assign(starts.size(), false);
  for (std::size_t i = 0; i < starts.size(); ++i)
    if (starts[i] != known.starts[i]) known.moves[i] = true;
}

const std::vector<bool>* MovingStarts::find(const Fingerprint& structure,
                                            std::span<const std::int64_t> starts) {
  const auto at = known_.find(structure);
  if (at == known_.end() || at->second.moves.empty()) return nullptr;
  at->second.used = ++uses_;
  note(at->second, starts);
  return &at->second.moves;
}

const std::vector<bool>* MovingStarts::compare(const Fingerprint& structure, const Fingerprint& whole,
                                               std::span<const std::int64_t> starts) {
  if (const auto at = known_.find(structure); at != known_.end()) {
    Known& known = at->second;
    known.used = ++uses_;
    if (known.whole == whole) return nullptr;
    note(known, starts);
    return &known.moves;
  }
  if (starts.size() > kMostStarts) return nullptr;
  make_room(starts.size());
  Known& known = known_[structure];
  known.whole = whole;
  known.starts.assign(starts.begin(), starts.end());
  known.used = ++uses_;
  starts_ += starts.size();
  return nullptr;
}

/// Forgets what was used longest ago.
void MovingStarts::make_room(std::size_t starts) {
  while (!known_.empty() && (known_.size() >= kMostTraces || starts_ + starts > kMostStarts)) {
    const auto oldest = std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    });
    starts_ -= oldest->second.starts.size();
    known_.erase(oldest);
  }
}

void MovingStarts::forget() {
  known_.clear();
  starts_ = 0;
}

}  // namespace sinter::trace
