// Walks through the launches and keeps, for each stretch of memory, who wrote it and who read it since.
#include "jit/plan/launch_order.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "jit/plan/plan.h"

namespace sinter::plan {
namespace {

constexpr std::size_t kStrands = LaunchOrder::kMostStrands;

/// Launches by strands: of each the last that is meant, as its number plus one; 0: none. With a launch go all
/// before it in its strand.
using Launches = std::array<std::uint32_t, kStrands>;

void join(Launches& into, const Launches& more) {
  for (std::size_t s = 0; s < kStrands; ++s) into[s] = std::max(into[s], more[s]);
}

/// A launch, and its strand.
struct Place {
  std::uint32_t launch = 0;
  std::size_t strand = 0;
  void join_into(Launches& launches) const { launches[strand] = std::max(launches[strand], launch + 1); }
};

/// Who wrote memory, and who has read it since.
struct Users {
  Launches wrote{}, read{};
};

/// The bytes of one buffer.
class Stretches {
 public:
  /// Whom a launch has to wait for that reads or writes [begin, end).
  void find(std::size_t begin, std::size_t end, bool writes, Launches& waits) {
    for (auto at = first_over(begin); at != stretches_.end() && at->first < end; ++at) {
      join(waits, at->second.users.wrote);
      if (writes) join(waits, at->second.users.read);
    }
  }

  void read(std::size_t begin, std::size_t end, const Place& by) {
    cut(begin);
    cut(end);
    std::size_t covered = begin;
    for (auto at = stretches_.lower_bound(begin); at != stretches_.end() && at->first < end; ++at) {
      // What nobody wrote, in front of what somebody did.
      if (at->first > covered) by.join_into(add(covered, at->first).read);
      by.join_into(at->second.users.read);
      covered = at->second.end;
    }
    if (covered < end) by.join_into(add(covered, end).read);
  }

  void write(std::size_t begin, std::size_t end, const Place& by) {
    cut(begin);
    cut(end);
    stretches_.erase(stretches_.lower_bound(begin), stretches_.lower_bound(end));
    by.join_into(add(begin, end).wrote);
  }

 private:
  struct Stretch {
    std::size_t end;
    Users users;
  };
  using Map = std::map<std::size_t, Stretch>;  // by first bytes; disjoint

  Users& add(std::size_t begin, std::size_t end) {
    return stretches_.emplace(begin, Stretch{end, {}}).first->second.users;
  }

  Map::iterator first_over(std::size_t begin) {
    auto at = stretches_.upper_bound(begin);
    if (at != stretches_.begin() && std::prev(at)->second.end > begin) --at;
    return at;
  }

  /// So that no stretch goes over `at`.
  void cut(std::size_t at) {
    const auto over = first_over(at);
    if (over == stretches_.end() || over->first >= at) return;
    const Stretch rest = over->second;
    over->second.end = at;
    stretches_.emplace(at, rest);
  }

  Map stretches_;
};

class Orderer {
 public:
  Orderer(const Plan& plan, std::size_t most_strands)
      : plan_(plan),
        most_strands_(std::clamp<std::size_t>(most_strands, 1, kStrands)),
        temporaries_(plan.arena_bytes.size()),
        outputs_(plan.output_bytes.size()),
        starts_(plan.structure->values.size(), kUnknown) {
    order_.strands.reserve(plan.launches.size());
    order_.ends.reserve(plan.launches.size());
    knows_.reserve(plan.launches.size());
  }

  LaunchOrder run() {
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const Launch& launch = plan_.launches[i];
      Launches waits{};
      for_each_use(launch, [&](const ValueUse& use, const Binding& memory) {
        const auto [begin, end] = bytes_of(launch, use, memory);
        stretches_of(memory).find(begin, end, use.written, waits);
      });
      const Place place{static_cast<std::uint32_t>(i), strand_for(waits)};
      add(place, waits);
      // Reads before writes: a launch that writes over what it reads is its last writer.
      for (const bool written : {false, true})
        for_each_use(launch, [&](const ValueUse& use, const Binding& memory) {
          if (use.written != written) return;
          const auto [begin, end] = bytes_of(launch, use, memory);
          Stretches& stretches = stretches_of(memory);
          written ? stretches.write(begin, end, place) : stretches.read(begin, end, place);
        });
    }
    return std::move(order_);
  }

 private:
  static constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

  template <class F>
  void for_each_use(const Launch& launch, F&& each) const {
    const std::size_t uses = launch.uses.size() / launch.members,
                      buffers = launch.buffers.size() / launch.members;
    for (std::size_t u = 0; u < launch.uses.size(); ++u)
      if (plan_.shapes[launch.uses[u].value].numel() > 0)
        each(launch.uses[u], launch.buffers[u / uses * buffers + launch.uses[u].buffer]);
  }

  Stretches& stretches_of(const Binding& memory) {
    switch (memory.space) {
      case Binding::Space::Temporary: return temporaries_[memory.index];
      case Binding::Space::Output: return outputs_[memory.index];
      case Binding::Space::Input: break;
    }
    return inputs_[memory.index];
  }

  /// The bytes of a temporary value; of memory that is no temporary's all, since a value may be any part of
  /// it, which moves from run to run.
  std::pair<std::size_t, std::size_t> bytes_of(const Launch& launch, const ValueUse& use,
                                               const Binding& memory) {
    if (memory.space != Binding::Space::Temporary) return {0, kUnknown};
    // A library op's operand may begin within its value, which somebody wrote from its beginning, or of which
    // others wrote the parts.
    std::size_t& start = starts_[use.value];
    if (start == kUnknown) {
      if (!use.written && std::holds_alternative<library::LibraryOpRef>(launch.what)) return {0, kUnknown};
      start = memory.byte_offset;
    }
    const std::size_t bytes = static_cast<std::size_t>(plan_.shapes[use.value].numel()) *
                              size_of(plan_.structure->values[use.value].dtype);
    return {start, start + bytes};
  }

  /// Behind one of those that it waits for if that is the last of its strand: of several the latest. Else
  /// behind one that they waited for, or in a strand of its own as long as there are any.
  std::size_t strand_for(const Launches& waits) const {
    std::size_t best = kStrands;
    for (std::size_t s = 0; s < order_.strand_count; ++s)
      if (waits[s] > 0 && waits[s] == last_[s] && (best == kStrands || last_[s] > last_[best])) best = s;
    if (best < kStrands) return best;
    Launches known{};
    for (std::size_t s = 0; s < order_.strand_count; ++s)
      if (waits[s] > 0) join(known, knows_[waits[s] - 1]);
    for (std::size_t s = 0; s < order_.strand_count; ++s)
      if (last_[s] <= known[s]) return s;
    if (order_.strand_count < most_strands_) return order_.strand_count;
    // Who ended longest ago, as far as one can tell.
    return static_cast<std::size_t>(
        std::min_element(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(most_strands_)) -
        last_.begin());
  }

  void add(const Place& place, Launches waits) {
    waits[place.strand] = last_[place.strand];
    Launches known{};
    for (std::size_t s = 0; s < kStrands; ++s)
      if (waits[s] > 0) {
        bool is_known = false;
        for (std::size_t other = 0; other < kStrands; ++other)
          is_known |= other != s && waits[other] > 0 && knows_[waits[other] - 1][s] >= waits[s];
        if (!is_known) order_.after.push_back(waits[s] - 1);
        join(known, knows_[waits[s] - 1]);
      }
    place.join_into(known);
    place.join_into(last_);
    knows_.push_back(known);
    order_.strands.push_back(static_cast<std::uint8_t>(place.strand));
    order_.strand_count = std::max(order_.strand_count, place.strand + 1);
    order_.ends.push_back(static_cast<std::uint32_t>(order_.after.size()));
  }

  const Plan& plan_;
  const std::size_t most_strands_;
  std::vector<Stretches> temporaries_, outputs_;
  std::map<std::uint32_t, Stretches> inputs_;
  std::vector<std::size_t> starts_;  // of temporary values in their segments
  std::vector<Launches> knows_;      // of each launch: that have ended when it has
  Launches last_{};                  // of each strand
  LaunchOrder order_;
};

}  // namespace

LaunchOrder launch_order(const Plan& plan, std::size_t most_strands) {
  return Orderer(plan, most_strands).run();
}

std::size_t longest_chain(const LaunchOrder& order) {
  std::size_t longest = 0;
  std::vector<std::size_t> depths;
  for (std::size_t i = 0; i < order.ends.size(); ++i) {
    std::size_t depth = 1;
    for (const std::uint32_t before : order.after_of(i)) depth = std::max(depth, depths[before] + 1);
    depths.push_back(depth);
    longest = std::max(longest, depth);
  }
  return longest;
}

}  // namespace sinter::plan
