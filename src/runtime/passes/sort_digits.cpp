// Which passes sorts by digits have: three for each digit.
#include <algorithm>
#include <bit>
#include <limits>

#include "src/runtime/passes/sorting.h"

namespace sinter::runtime {

namespace {

constexpr int kBits = 8;
constexpr std::int64_t kDigits = 1 << kBits;

// Lanes of a workgroup, a multiple of the digits, and most keys of each lane. What a workgroup counts in its
// memory and the keys of its tile take 16 KiB of it, which every device has.
constexpr int kLanes = 256, kItems = 15;
constexpr int kMostInTile = kLanes * kItems;
constexpr int kTeamWords = kLanes / 32 * static_cast<int>(kDigits);
constexpr int kWords = 2 * kTeamWords;
static_assert(kLanes % kDigits == 0 && kMostInTile + kDigits <= kWords);

constexpr std::int64_t kEach = 16;  // counts of a lane at a time, where they are added up

// Below, a sort by runs is as fast: it has fewer passes.
constexpr std::int64_t kLeastKeys = 1 << 16;
// So that a lane for each digit of each sequence fits into 32 bits.
constexpr std::int64_t kMostSequences = std::numeric_limits<std::int32_t>::max() / kDigits;

std::int64_t tiles_of(std::int64_t length) { return (length + kMostInTile - 1) / kMostInTile; }

/// Keys of each lane, an odd number: as few as the tiles of a sequence need, so that the last one is not
/// mostly empty.
int items_of(std::int64_t length) {
  const std::int64_t lanes = tiles_of(length) * kLanes;
  return static_cast<int>((length + lanes - 1) / lanes) | 1;
}

}  // namespace

bool sorts_by_digits(std::int64_t sequences, std::int64_t length) {
  return sequences * length >= kLeastKeys && sequences <= kMostSequences;
}

DigitCounts digit_counts(std::int64_t sequences, std::int64_t length) {
  const std::int64_t counts = sequences * kDigits * tiles_of(length);
  return {counts, counts + sequences * kDigits};
}

bool is_strided(const Sorting& s) {
  return s.x_step != 1 || s.inner != 1 || (s.x_outer != s.length && s.sequences > 1);
}

std::string define_digit() {
  return "#define DIGIT(x) (int((KEY(x) >> int(shift)) & Key(" + std::to_string(kDigits - 1) +
         ")) ^ int(flip))\n";
}

void add_digit_passes(PassList& list, const Sorting& s) {
  const int items = items_of(s.length);
  const std::int64_t blocks = tiles_of(s.length), sums = s.sequences * kDigits * blocks;
  const int digits = (s.end_bit - s.first_bit + kBits - 1) / kBits;
  const auto bind = [](Pass& pass, PassBuffer buffer, const char* name, bool written) {
    buffer.name = name;
    buffer.written = written;
    pass.buffers.push_back(std::move(buffer));
  };
  Lists from{s.given, s.given_positions}, to;
  for (int digit = 0; digit < digits; ++digit) {
    const bool first = digit == 0, last = digit + 1 == digits;
    const bool own_positions = first && s.given_positions.numel == 0;
    const bool strided = first && is_strided(s);
    const int shift = s.first_bit + digit * kBits;
    if (!first) from = to;
    to = (digits - digit) % 2 != 0 ? (last ? s.result : s.workspace[1]) : s.workspace[0];
    const std::string defines = s.define_key + define_digit() + "#define ITEMS " + std::to_string(items) +
                                "\n#define TILE " + std::to_string(items * kLanes) + "\n#define STRIDED " +
                                (strided ? "1" : "0") + "\n";
    const std::int64_t flip = last && s.has_sign ? kDigits / 2 : 0;
    const auto add_keys = [&](Pass& pass, bool with_positions) {
      bind(pass, from.keys, "keys", false);
      if (with_positions && !own_positions) bind(pass, from.positions, "positions", false);
      pass.ints.insert(pass.ints.end(),
                       {{"length", s.length}, {"blocks", blocks}, {"shift", shift}, {"flip", flip}});
      if (strided)
        pass.ints.insert(
            pass.ints.end(),
            {{"inner", s.inner}, {"x_outer", s.x_outer}, {"x_inner", s.x_inner}, {"x_step", s.x_step}});
    };
    const auto pass_of = [&](std::string name, const char* body, std::int64_t groups) {
      Pass pass;
      pass.name = std::move(name);
      pass.body = body;
      pass.rows = groups * kLanes;
      pass.lanes = kLanes;
      return pass;
    };

    Pass count = pass_of(std::string("count") + (strided ? "_strided" : "") + "_digits", "count_digits.inc",
                         s.sequences * blocks);
    count.defines = defines;
    count.shared_words = static_cast<int>(kDigits);
    count.most_rounds = 2 * kItems + 2;
    add_keys(count, false);
    bind(count, s.counts, "counts", true);
    list.passes.push_back(std::move(count));

    // As many lanes for each digit of each sequence as it has counts, 16 for each lane.
    const auto wanted = static_cast<std::uint64_t>((blocks + kEach - 1) / kEach);
    const std::int64_t width =
        std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(wanted)), kLanes);
    Pass scan = pass_of("scan_digits", "scan_digits.inc", 0);
    scan.rows = s.sequences * kDigits;
    scan.columns = width;
    scan.defines = "#define EACH " + std::to_string(kEach) + "\n";
    scan.shared_words = kLanes;
    scan.most_rounds = (blocks / (width * kEach) + 1) * (2 * kEach + 8);
    bind(scan, s.counts, "counts", false);
    bind(scan, s.before, "before", true);
    scan.ints = {{"blocks", blocks}, {"sums", sums}};
    list.passes.push_back(std::move(scan));

    const bool keys = !last || s.keys_stay;
    Pass scatter = pass_of(std::string("scatter") +
                               (strided         ? "_strided"
                                : own_positions ? "_first"
                                                : "") +
                               "_digits" + (keys ? "" : "_last"),
                           "scatter_digits.inc", s.sequences * blocks);
    scatter.defines = defines + "#define KEYS " + (keys ? "1" : "0") + "\n#define FIRST " +
                      (own_positions ? "1" : "0") + "\n#define WIDE " + (s.wide ? "1" : "0") +
                      "\n#define MASKS " + std::to_string(kTeamWords) + "\n";
    scatter.shared_words = kWords;
    scatter.least_groups = s.wide ? 3 : 4;  // with fewer registers, some are spilled
    scatter.most_rounds = 8 * kItems + 8 + kLanes / 16;
    add_keys(scatter, true);
    bind(scatter, s.before, "before", false);
    name_lists(scatter, to, "to", "places", true, keys);
    scatter.ints.insert(scatter.ints.end(), {{"sums", sums}, {"kept", last ? s.keep : s.length}});
    list.passes.push_back(std::move(scatter));
  }
}

}  // namespace sinter::runtime
