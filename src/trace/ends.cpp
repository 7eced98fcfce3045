// Ends of traces: known steps, rounds of loops, places that come again.
#include "src/trace/ends.h"

#include <algorithm>
#include <exception>
#include <span>
#include <tuple>
#include <utility>

#include "src/trace/carried.h"

namespace sinter::trace {
namespace {

constexpr std::size_t kContext = 64;  // symbols that a place is known by
constexpr std::size_t kMostPlaces = 512, kMostSteps = 64;
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15u;

/// Addresses and scalars do not go in, nor integers such as the start of a slice.
Symbol symbol_of(const OpRecord& record, const TraceValue& result) {
  std::uint64_t hash = static_cast<std::uint64_t>(record.op) | static_cast<std::uint64_t>(result.dtype) << 8 |
                       std::uint64_t{record.line} << 16;
  for (std::int64_t size : result.shape) hash = hash * kFactor + static_cast<std::uint64_t>(size);
  return static_cast<Symbol>((hash * kFactor) >> 32);
}

constexpr std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// A hash of the last `kContext` symbols, for one end after the other. Never 0.
class Context {
 public:
  Context(std::span<const Symbol> stream, std::size_t end) : stream_(stream), end_(end) {
    for (std::size_t i = end - std::min(end, kContext); i < end; ++i) hash_ = hash_ * kFactor + stream[i] + 1;
  }
  void advance() {
    hash_ = hash_ * kFactor + stream_[end_] + 1;
    constexpr std::uint64_t kLeaving = power(kFactor, kContext);
    if (end_ >= kContext) hash_ -= kLeaving * (std::uint64_t{stream_[end_ - kContext]} + 1);
    ++end_;
  }
  std::uint64_t hash() const { return hash_ ? hash_ : 1; }

 private:
  std::span<const Symbol> stream_;
  std::size_t end_;
  std::uint64_t hash_ = 0;
};

/// By how many lines the program goes back behind the first `k` ops of the round.
std::uint32_t lines_back(std::span<const OpRecord* const> round, std::size_t k) {
  const OpRecord& before = *round[k - 1];
  const OpRecord& after = *round[k % round.size()];
  return before.file == after.file && before.line > after.line ? before.line - after.line : 0;
}

/// Makes room in a table for one more, by giving up what was used longest ago.
template <class Map>
void make_room(Map& map, std::size_t most) {
  if (map.size() < most) return;
  map.erase(std::min_element(map.begin(), map.end(),
                             [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
}

}  // namespace

TraceEnds::TraceEnds(std::size_t usual, std::size_t longest)
    : usual_(usual), longest_(std::max(usual, longest)), ask_at_(usual) {}

/// A round is found when it has begun to come again for a quarter of the usual length.
RoundSizes TraceEnds::sizes() const { return {usual_ / 4, usual_ / 4, longest_}; }

bool TraceEnds::is_end(const Flushed& flushed) {
  if (longest_ == usual_ || usual_ < kLeastUsual || flushed.trace.ops.size() >= longest_) return true;
  return decide(flushed);
}

bool TraceEnds::ask_again(std::size_t length) {
  ask_at_ = std::min(length, longest_);
  return false;
}

bool TraceEnds::decide(const Flushed& flushed) {
  take(flushed.trace);
  const std::size_t length = taken_;
  if (earlier_ops_ == 0 && step_key_ == 0 && length >= usual_) {
    step_key_ = Context(stream_, stream_.size() - length + usual_).hash();
    for (std::size_t i = stream_.size() - length, k = 0; k < usual_; ++k)
      step_key_ = step_key_ * kFactor + stream_[i + k] + 1;
    const auto known = steps_.find(step_key_);
    if (known != steps_.end() && known->second.is_whole && known->second.sure &&
        known->second.length > length) {
      is_waiting_ = true;
      return ask_again(known->second.length);
    }
  }
  if (is_waiting_) {
    is_waiting_ = false;
    steps_[step_key_].sure = false;
  }
  const RoundSizes sizes = this->sizes();
  if (const std::size_t round = std::exchange(awaited_round_, 0))
    if (matched(stream_, round, sizes.evidence) == sizes.evidence) return begin_rounds(flushed, round);
  const bool asks_each = length < give_up_at_;
  if (Place* here = known_place(context_at(stream_.size()), asks_each ? least_round_ : 0)) {
    const std::size_t known = here->round;
    std::size_t round = 0;
    if (known == 0) {
      // Traces that follow each other from place to place may be parts of a round that was too long to be
      // found before.
      if (!std::exchange(here->is_searched, true)) round = search(stream_);
    } else if (known < sizes.step && !asks_each && length > known &&
               matched(stream_, known, length - known) < length - known) {
      round = search();  // there was something between the rounds: the loop around them?
    }
    return round <= known || begin_rounds(flushed, round);
  }
  if (asks_each) return ask_again(length + 1);

  if (Place* start = place_of_start()) {
    if (const std::size_t next = next_length(*start, length)) return ask_again(next);
    // A round that was not like the others.
    if (const std::size_t round = start->round; round != 0 && !has_searched_) {
      has_searched_ = true;
      if (round < sizes.step)
        if (const std::size_t other = search(); other > round) return begin_rounds(flushed, other);
      least_round_ = std::min(round, sizes.step);
      give_up_at_ = std::max(usual_, length) + std::min(round, usual_);
      return resume(length, least_round_) ? false : ask_again(length + 1);
    }
  }
  if (length < usual_) return ask_again(usual_);
  if (const std::size_t round = search()) return begin_rounds(flushed, round);
  loop_round_ = 0;
  if (!has_searched_) {
    has_searched_ = true;
    if (resume(length, 0)) return false;
  }
  return true;
}

/// Looks for a known place within the trace, to end at the one that is expected behind it.
bool TraceEnds::resume(std::size_t length, std::size_t least_round) {
  const std::size_t begin = stream_.size() - length;
  Context context(stream_, begin);
  std::size_t found = 0, next = 0;
  for (std::size_t k = 1; k < length; ++k) {
    context.advance();
    const auto place = places_.find(context.hash());
    if (place == places_.end() || place->second.round < least_round) continue;
    const std::size_t step = place->second.round != 0 ? place->second.round
                                                      : *std::max_element(place->second.lengths.begin(),
                                                                          place->second.lengths.end());
    if (step == 0) continue;
    found = k;
    next = k + step;
  }
  if (next <= length) return false;
  if (Place* start = place_of_start(); start && start->round >= sizes().step && found >= sizes().step)
    add_length(*start, found);
  ask_again(next);
  return true;
}

/// The trace is at the end of a round of the loop: it goes on to the place where rounds are to begin.
bool TraceEnds::begin_rounds(const Flushed& flushed, std::size_t round) {
  const std::size_t length = taken_;
  loop_round_ = round;
  loop_since_ = taken_ever_ - matched(stream_, round, stream_.size()) - round;
  const std::size_t seen = std::min(round, length), begin = stream_.size() - seen;
  {
    Context context(stream_, begin);
    for (std::size_t k = 1; k <= seen; ++k) {
      context.advance();
      const auto place = places_.find(context.hash());
      if (place != places_.end() && place->second.round == round)
        return k == round || ask_again(length + round - seen + k);
    }
  }
  if (length < round) {
    awaited_round_ = round;
    return ask_again(round);
  }
  const std::size_t best = place_of_round(flushed, round);
  Place& place = place_at(context_at(begin + best));
  if (place.round != round) place = {.round = round, .used = place.used};
  add_length(place, round < sizes().step ? usual_ / round * round : round);
  return best == round || ask_again(length + best);
}

/// Behind how many ops of the trace's last `round` the next rounds are to begin: where little is carried on.
std::size_t TraceEnds::place_of_round(const Flushed& flushed, std::size_t round) const {
  const std::size_t begin = stream_.size() - round;
  std::vector<const OpRecord*> records(round);
  for (std::size_t i = flushed.trace.ops.size(), k = round; k > 0;)
    if (const OpRecord& record = flushed.trace.ops[--i]; !record.again) records[--k] = &record;
  std::vector<std::uint64_t> contexts(round + 1);
  absl::flat_hash_map<std::uint64_t, std::uint32_t> times;
  Context context(stream_, begin);
  for (std::size_t k = 1; k <= round; ++k) {
    context.advance();
    ++times[contexts[k] = context.hash()];
  }
  const std::vector<std::uint64_t> bytes = bytes_carried(flushed, round);
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t k = 1; k <= round; ++k)
    if (times[contexts[k]] == 1) least = std::min(least, bytes[k]);
  std::size_t best = 0;
  std::tuple<bool, std::uint32_t, std::uint64_t> best_rank;
  for (std::size_t k = 1; k <= round; ++k) {
    // A place that can be told from all others of the round, where little is carried on. Of nearly equal ones
    // best where the program goes back to an earlier line: there the variables of the round are gone, too.
    // Otherwise what is in front of a place tells, so that the choice does not depend on where the loop was
    // looked at.
    const std::tuple rank{times[contexts[k]] == 1 && bytes[k] - least <= least / 8, lines_back(records, k),
                          contexts[k]};
    if (best != 0 && rank <= best_rank) continue;
    best = k;
    best_rank = rank;
  }
  return best;
}

/// Looks at the stream as far back as it is known only now and then: a program without loops, or with ever
/// other ones, would spend its time here.
std::size_t TraceEnds::search() {
  if (taken_ever_ - searched_all_at_ >= 8 * usual_) {
    searched_all_at_ = taken_ever_;
    return search(stream_);
  }
  return search(std::span(stream_).last(std::min(stream_.size(), 4 * usual_)));
}

std::size_t TraceEnds::search(std::span<const Symbol> stream) const { return find_round(stream, sizes()); }

void TraceEnds::take(const Trace& trace) {
  const std::size_t most = longest_ + 4 * usual_, before = stream_.size(), all = trace.ops.size() - seen_;
  if (before + all > 2 * most && before > most) {
    stream_.erase(stream_.begin(), stream_.end() - static_cast<std::ptrdiff_t>(most));
    return take(trace);
  }
  stream_.resize(before + all);
  const OpRecord* const ops = trace.ops.data() + seen_;
  const TraceValue* const values = trace.values.data();
  Symbol* end = stream_.data() + before;
  for (std::size_t i = 0; i < all; ++i) {
    *end = symbol_of(ops[i], values[ops[i].output]);
    end += !ops[i].again;
  }
  const std::size_t more = static_cast<std::size_t>(end - stream_.data()) - before;
  stream_.resize(before + more);
  seen_ += all;
  taken_ += more;
  taken_ever_ += more;
}

void TraceEnds::end(const Flushed& flushed, bool by_program) noexcept {
  try {
    if (longest_ == usual_ || usual_ < kLeastUsual) return;
    if (by_program) {
      if (step_key_ != 0) {
        take(flushed.trace);
        note_step();
      }
      return begin_stretch();
    }
    take(flushed.trace);
    const std::uint64_t here = context_at(stream_.size());
    place_at(here);
    if (Place* start = place_of_start()) add_length(*start, taken_);
    earlier_ops_ += taken_;
    taken_ = seen_ = 0;
    start_ = here;
    has_searched_ = false;
    least_round_ = give_up_at_ = awaited_round_ = 0;
    const std::size_t known = next_length(places_[here], 0);
    ask_at_ = known != 0 ? known : usual_;
  } catch (const std::exception&) {  // no memory: what was known of the program is left aside
    begin_stretch();
  }
}

void TraceEnds::restart(std::size_t ask_at) noexcept {
  begin_stretch();
  ask_at_ = ask_at;
}

void TraceEnds::forget() noexcept {
  begin_stretch();
  stream_.clear();
  places_.clear();
  steps_.clear();
  loop_round_ = 0;
  taken_ever_ = loop_since_ = searched_all_at_ = clock_ = 0;
}

void TraceEnds::begin_stretch() {
  taken_ = seen_ = earlier_ops_ = 0;
  step_key_ = start_ = 0;
  is_waiting_ = has_searched_ = false;
  least_round_ = give_up_at_ = awaited_round_ = 0;
  ask_at_ = usual_;
}

/// A stretch that is nearly nothing but rounds of a loop is better run round by round: the device begins
/// earlier, and how many rounds there are may change.
void TraceEnds::note_step() {
  const std::size_t length = earlier_ops_ + taken_;
  if (!steps_.contains(step_key_)) make_room(steps_, kMostSteps);
  Step& step = steps_[step_key_];
  step.used = ++clock_;
  step.sure = step.length == 0 || step.length == length;
  if (!is_waiting_ || step.length != length) {
    const std::uint64_t rounds = loop_round_ ? std::min<std::uint64_t>(taken_ever_ - loop_since_, length) : 0;
    step.is_whole = length <= longest_ && (length <= 4 * usual_ || rounds < length / 4 * 3);
  }
  step.length = length;
}

/// The shortest known length above `length` of a trace that begins at the place, else 0.
std::size_t TraceEnds::next_length(const Place& place, std::size_t length) {
  std::size_t next = 0;
  for (std::size_t known : place.lengths)
    if (known > length && (next == 0 || known < next)) next = known;
  return next;
}

void TraceEnds::add_length(Place& place, std::size_t length) {
  const auto known = static_cast<std::uint32_t>(length);
  if (std::find(place.lengths.begin(), place.lengths.end(), known) != place.lengths.end()) return;
  place.lengths[place.next_length] = known;
  place.next_length = static_cast<std::uint8_t>((place.next_length + 1) % place.lengths.size());
}

TraceEnds::Place& TraceEnds::place_at(std::uint64_t context) {
  if (!places_.contains(context)) make_room(places_, kMostPlaces);
  Place& place = places_[context];
  place.used = ++clock_;
  return place;
}

TraceEnds::Place* TraceEnds::place_of_start() { return start_ ? known_place(start_, 0) : nullptr; }

TraceEnds::Place* TraceEnds::known_place(std::uint64_t context, std::size_t least_round) {
  const auto place = places_.find(context);
  return place != places_.end() && place->second.round >= least_round ? &place->second : nullptr;
}

std::uint64_t TraceEnds::context_at(std::size_t end) const { return Context(stream_, end).hash(); }

}  // namespace sinter::trace
