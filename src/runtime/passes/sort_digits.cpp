// Which passes sorts by digits have. For each digit three: its counts in tiles, their sums, and keys that go
// where they belong. Where workgroups may wait for others, and tiles are many: all digits are counted at
// once, and one pass for each digit.
#include <algorithm>
#include <bit>
#include <limits>

#include "src/runtime/passes/sorting.h"

namespace sinter::runtime {

namespace {

using Of = PassBuffer::Of;

constexpr int kBits = 8;
constexpr std::int64_t kDigits = 1 << kBits;

// Lanes of a workgroup, a multiple of the digits, and most keys of each lane. What a workgroup counts in its
// memory and the keys of its tile take 16 KiB of it, which every device has. Workgroups that wait for others
// have twice as many lanes, unless keys of 64 bits fill the registers: half as many wait, and what each
// writes of a digit lies in longer rows.
constexpr int kLanes = 256, kItems = 15, kOnceLanes = 512;

int team_words(int lanes) { return lanes / 32 * static_cast<int>(kDigits); }
static_assert(kLanes % kDigits == 0 && kLanes * kItems + kDigits <= 2 * (kLanes / 32) * kDigits);
static_assert(kOnceLanes % kDigits == 0 && kOnceLanes * kItems + kDigits <= 2 * (kOnceLanes / 32) * kDigits);

constexpr std::int64_t kEach = 16;  // counts of a lane at a time, where they are added up

// Below, a sort by runs is as fast: it has fewer passes.
constexpr std::int64_t kLeastKeys = 1 << 16;
// So that a lane for each digit of each sequence fits into 32 bits.
constexpr std::int64_t kMostSequences = std::numeric_limits<std::int32_t>::max() / kDigits;

// Sequences of fewer tiles, and fewer tiles in all, take as long in three passes for each digit. Counts of
// more keys leave no room in a word for what they count.
constexpr std::int64_t kLeastTiles = 64, kManyTiles = 256, kMostCounted = (std::int64_t{1} << 30) - 1;
// All digits are counted by about so many workgroups, of which each lane reads several keys at a time.
constexpr std::int64_t kCounting = 1024;
constexpr int kCountedItems = 8, kCopies = 4;
constexpr int kBack = 8, kWideBack = 4;  // tiles that a lane looks at, at a time

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t tiles_of(std::int64_t length, int lanes) { return divide_up(length, lanes * kItems); }

/// Keys of each lane, an odd number: as few as the tiles of a sequence need, so that the last one is not
/// mostly empty.
int items_of(std::int64_t length, int lanes) {
  return static_cast<int>(divide_up(length, tiles_of(length, lanes) * lanes)) | 1;
}

void bind(Pass& pass, PassBuffer buffer, const char* name, bool written) {
  buffer.name = name;
  buffer.written = written;
  pass.buffers.push_back(std::move(buffer));
}

std::string number(const char* name, std::int64_t value) {
  return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

Pass pass_of(std::string name, const char* body, std::int64_t groups, int lanes) {
  Pass pass;
  pass.name = std::move(name);
  pass.body = body;
  pass.rows = groups * lanes;
  pass.lanes = lanes;
  return pass;
}

/// A part of the counts that workgroups show each other, or of those of all.
PassBuffer part_of(const PassBuffer& counts, std::int64_t first, std::int64_t numel) {
  PassBuffer part = counts;
  part.first += first;
  part.numel = numel;
  return part;
}

int digits_of(const Sorting& s) { return (s.end_bit - s.first_bit + kBits - 1) / kBits; }

int lanes_of(const Sorting& s) { return s.once && !s.wide ? kOnceLanes : kLanes; }

/// Words that the tiles of a sort show each other for one digit, the number of those that are taken in front.
std::int64_t shown_of_digit(const Sorting& s) {
  return kDigits * (1 + s.sequences * tiles_of(s.length, lanes_of(s)));
}

void add_strides(Pass& pass, const Sorting& s) {
  pass.ints.insert(
      pass.ints.end(),
      {{"inner", s.inner}, {"x_outer", s.x_outer}, {"x_inner", s.x_inner}, {"x_step", s.x_step}});
}

/// Clears all counts, and counts all digits of each sequence.
void add_counts_of_all(PassList& list, const Sorting& s) {
  const int digits = digits_of(s), lanes = lanes_of(s);
  list.passes.push_back(fill_zeros(s.counts));

  const bool strided = is_strided(s);
  const std::int64_t at_a_time = lanes * kCountedItems,
                     chunk = at_a_time * divide_up(s.length, at_a_time * std::max<std::int64_t>(
                                                                             kCounting / s.sequences, 1)),
                     parts = divide_up(s.length, chunk);
  Pass count = pass_of(std::string("count_all") + (strided ? "_strided" : "") + "_digits",
                       "count_all_digits.inc", s.sequences * parts, lanes);
  count.defines = s.define_key + define_digit() + number("DIGITS", digits) + number("ITEMS", kCountedItems) +
                  number("COPIES", kCopies) + number("STRIDED", strided);
  count.shared_words = digits * static_cast<int>(kDigits) * kCopies;
  count.most_rounds = chunk / lanes * digits + 64;
  count.ints = {{"length", s.length},       {"sequences", s.sequences},
                {"parts", parts},           {"chunk", chunk},
                {"first_bit", s.first_bit}, {"sign_digit", s.has_sign ? digits - 1 : -1}};
  if (strided) add_strides(count, s);
  bind(count, s.given, "keys", false);
  bind(count, part_of(s.counts, 0, digits * s.sequences * kDigits), "counts", true);
  list.passes.push_back(std::move(count));
}

}  // namespace

bool sorts_by_digits(std::int64_t sequences, std::int64_t length) {
  return sequences * length >= kLeastKeys && sequences <= kMostSequences;
}

bool sorts_once(const Sorting& s) {
  const std::int64_t tiles = tiles_of(s.length, lanes_of(s));
  return s.length <= kMostCounted && tiles >= kLeastTiles && s.sequences * tiles >= kManyTiles;
}

DigitCounts digit_counts(std::int64_t sequences, std::int64_t length) {
  const std::int64_t counts = sequences * kDigits * tiles_of(length, kLanes);
  return {counts, counts + sequences * kDigits};
}

std::int64_t shown_counts(const Sorting& s) {
  return digits_of(s) * (s.sequences * kDigits + shown_of_digit(s));
}

bool is_strided(const Sorting& s) {
  return s.x_step != 1 || s.inner != 1 || (s.x_outer != s.length && s.sequences > 1);
}

std::string define_digit() {
  return "#define DIGIT(x) (int((KEY(x) >> int(shift)) & Key(" + std::to_string(kDigits - 1) +
         ")) ^ int(flip))\n";
}

void add_digit_passes(PassList& list, const Sorting& s) {
  const int lanes = lanes_of(s), items = items_of(s.length, lanes);
  const std::int64_t blocks = tiles_of(s.length, lanes), sums = s.sequences * kDigits * blocks;
  const int digits = digits_of(s);
  if (s.once) add_counts_of_all(list, s);
  Lists from{s.given, s.given_positions}, to;
  for (int digit = 0; digit < digits; ++digit) {
    const bool first = digit == 0, last = digit + 1 == digits;
    const bool own_positions = first && s.given_positions.numel == 0;
    const bool strided = first && is_strided(s);
    const int shift = s.first_bit + digit * kBits;
    if (!first) from = to;
    to = (digits - digit) % 2 != 0 ? (last ? s.result : s.workspace[1]) : s.workspace[0];
    const std::string defines = s.define_key + define_digit() + number("ITEMS", items) +
                                number("TILE", items * lanes) + number("STRIDED", strided);
    const std::int64_t flip = last && s.has_sign ? kDigits / 2 : 0;
    const auto add_keys = [&](Pass& pass, bool with_positions) {
      bind(pass, from.keys, "keys", false);
      if (with_positions && !own_positions) bind(pass, from.positions, "positions", false);
      pass.ints.insert(pass.ints.end(),
                       {{"length", s.length}, {"blocks", blocks}, {"shift", shift}, {"flip", flip}});
      if (strided) add_strides(pass, s);
    };

    if (!s.once) {
      Pass count = pass_of(std::string("count") + (strided ? "_strided" : "") + "_digits", "count_digits.inc",
                           s.sequences * blocks, lanes);
      count.defines = defines;
      count.shared_words = static_cast<int>(kDigits);
      count.most_rounds = 2 * kItems + 2;
      add_keys(count, false);
      bind(count, s.counts, "counts", true);
      list.passes.push_back(std::move(count));

      // As many lanes for each digit of each sequence as it has counts, 16 for each lane.
      const auto wanted = static_cast<std::uint64_t>((blocks + kEach - 1) / kEach);
      const std::int64_t width =
          std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(wanted)), lanes);
      Pass scan = pass_of("scan_digits", "scan_digits.inc", 0, lanes);
      scan.rows = s.sequences * kDigits;
      scan.columns = width;
      scan.defines = number("EACH", kEach);
      scan.shared_words = lanes;
      scan.most_rounds = (blocks / (width * kEach) + 1) * (2 * kEach + 8);
      bind(scan, s.counts, "counts", false);
      bind(scan, s.before, "before", true);
      scan.ints = {{"blocks", blocks}, {"sums", sums}};
      list.passes.push_back(std::move(scan));
    }

    const bool keys = !last || s.keys_stay;
    Pass scatter = pass_of(std::string("scatter") +
                               (strided         ? "_strided"
                                : own_positions ? "_first"
                                                : "") +
                               "_digits" + (keys ? "" : "_last"),
                           "scatter_digits.inc", s.sequences * blocks, lanes);
    scatter.defines = defines + number("KEYS", keys) + number("FIRST", own_positions) +
                      number("WIDE", s.wide) + number("MASKS", team_words(lanes)) + number("ONCE", s.once) +
                      number("BACK", s.wide ? kWideBack : kBack);
    scatter.shared_words = 2 * team_words(lanes);
    scatter.least_groups = (s.wide ? 3 : 4) * kLanes / lanes;  // with fewer registers, some are spilled
    scatter.most_rounds = 8 * kItems + 8 + lanes / 16;
    add_keys(scatter, true);
    if (s.once) {
      // The counts: of all digits in each sequence; then of each digit what tiles show each other.
      const std::int64_t in_all = s.sequences * kDigits, shown = shown_of_digit(s);
      bind(scatter, part_of(s.counts, digit * in_all, in_all), "before", false);
      bind(scatter, part_of(s.counts, digits * in_all + digit * shown, shown), "shown", true);
    } else {
      bind(scatter, s.before, "before", false);
    }
    name_lists(scatter, to, "to", "places", true, keys);
    scatter.ints.insert(scatter.ints.end(),
                        {{"sums", s.once ? 0 : sums}, {"kept", last ? s.keep : s.length}});
    list.passes.push_back(std::move(scatter));
  }
}

}  // namespace sinter::runtime
