// Which passes select the first keys of sequences: one where a workgroup takes a sequence, else two for each
// digit, and two more.
#include <algorithm>
#include <string>

#include "src/runtime/passes/sorting.h"

namespace sinter::runtime {

namespace {

using Of = PassBuffer::Of;

// Sorts of shorter sequences are one pass with little work.
constexpr std::int64_t kLeastLength = 129;

// Lanes of a workgroup, and bits of the digits that it counts. With fewer of both there is less to do for a
// digit beside going over the keys.
constexpr std::int64_t kShort = 4096;
constexpr int kFewLanes = 64, kFewBits = 8, kLanes = 256, kBits = 11;

// Where sequences are fewer than kManySequences, several workgroups share one: some kGroups in all, each with
// so many keys that more launches are worth it. So do they where a lane would have a long loop.
constexpr std::int64_t kManySequences = 192, kGroups = 1024, kLeastPart = 1 << 14, kMostPart = 1 << 18;

constexpr int kStateWords = 8;  // behind the counts of a workgroup; 7 are in use

enum class Form { Whole, Counts, Gathers };

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// What the passes of a selection have in common.
struct Selection {
  std::int64_t part, blocks;  // keys of a workgroup; workgroups of a sequence
  int lanes, items, width, digits, bins, row;
};

Selection selection_of(const Sorting& s) {
  Selection result;
  const std::int64_t part =
      s.sequences >= kManySequences
          ? kMostPart
          : std::clamp(divide_up(s.sequences * s.length, kGroups), kLeastPart, kMostPart);
  result.part = std::min(s.length, part);
  result.blocks = divide_up(s.length, result.part);
  const bool is_short = s.length <= kShort;
  const int bits = s.end_bit - s.first_bit;
  const auto parts_of = [](int a, int b) { return (a + b - 1) / b; };
  result.lanes = is_short ? kFewLanes : kLanes;
  result.items = s.wide ? 8 : 16;
  result.digits = parts_of(bits, is_short ? kFewBits : kBits);
  result.width = parts_of(bits, result.digits);
  result.bins = std::max(1 << result.width, result.lanes);
  result.row = result.bins + kStateWords;
  return result;
}

void bind(Pass& pass, PassBuffer buffer, const char* name, bool written) {
  buffer.name = name;
  buffer.written = written;
  pass.buffers.push_back(std::move(buffer));
}

/// Iterations of all loops of a lane.
std::int64_t rounds_of(const Selection& selection, Form form) {
  const std::int64_t tiles = divide_up(selection.part, selection.lanes * selection.items),
                     to_find = 4 * (selection.bins / selection.lanes) + 16,
                     to_count = tiles * (2 * selection.items + 3) + selection.bins / selection.lanes,
                     to_gather = tiles * (3 * selection.items + 16);
  switch (form) {
    case Form::Whole: return selection.digits * (to_count + to_find) + to_gather;
    case Form::Counts: return to_count + to_find + 2 * (selection.bins / selection.lanes);
    case Form::Gathers: break;
  }
  return to_gather + selection.blocks / selection.lanes + 1;
}

/// How far below 0 the first digits begin: keys of numbers without a sign are all negative where they are
/// reversed.
std::int64_t negative_digits(const Sorting& s, const Selection& selection) {
  const std::int64_t digits = std::int64_t{1} << selection.width;
  return s.has_sign ? digits / 2 : s.descending ? digits : 0;
}

Pass pass_of(const Sorting& s, const Selection& selection, Form form, bool keys) {
  const bool strided = s.x_step != 1;
  Pass pass;
  pass.name = std::string(form == Form::Whole    ? "select"
                          : form == Form::Counts ? "select_counts"
                                                 : "select_gathers") +
              (strided ? "_strided" : "");
  pass.body = "select_keys.inc";
  pass.defines = s.define_key;
  for (const auto& [name, value] : {std::pair("WHOLE", static_cast<int>(form == Form::Whole)),
                                    {"GATHERS", form == Form::Gathers},
                                    {"KEYS", keys},
                                    {"STRIDED", strided},
                                    {"WIDE", s.wide},
                                    {"ITEMS", selection.items},
                                    {"WIDTH", selection.width},
                                    {"BINS", selection.bins},
                                    {"ROW", selection.row}})
    pass.defines += "#define " + std::string(name) + " " + std::to_string(value) + "\n";
  pass.rows = s.sequences * selection.blocks * selection.lanes;
  pass.lanes = selection.lanes;
  pass.shared_words = selection.bins + 2 * selection.lanes + 6;
  pass.most_rounds = rounds_of(selection, form);
  pass.ints = {{"length", s.length},
               {"kept", s.keep},
               {"first_bit", s.first_bit},
               {"end_bit", s.end_bit},
               {"negative", negative_digits(s, selection)},
               {"inner", s.inner},
               {"x_outer", s.x_outer},
               {"x_inner", s.x_inner}};
  if (strided) pass.ints.emplace_back("x_step", s.x_step);
  bind(pass, s.given, "keys", false);
  if (form == Form::Whole) return pass;
  pass.ints.insert(pass.ints.end(), {{"blocks", selection.blocks}, {"chunk", selection.part}});
  return pass;
}

/// Appends the passes of several workgroups that share a sequence up to the last but one, and gives what they
/// know in the end.
PassBuffer add_counting_passes(PassList& list, const Sorting& s, const Selection& selection,
                               std::int64_t& words) {
  const auto take = [&](std::int64_t numel) {
    const PassBuffer buffer{"", DType::i32, Of::Workspace, 0, words, numel, false};
    words += numel;
    return buffer;
  };
  const std::int64_t rows = s.sequences * selection.blocks;
  const PassBuffer counted[] = {take(rows * selection.row), take(rows * selection.row)},
                   sums = take(s.sequences * selection.bins);
  for (int digit = 0; digit <= selection.digits; ++digit) {
    const PassBuffer &before = counted[(digit + 1) % 2], &counts = counted[digit % 2];
    Pass count = pass_of(s, selection, Form::Counts, false);
    bind(count, before, "counted", false);
    bind(count, sums, "sums", false);
    bind(count, counts, "counts", true);
    count.ints.emplace_back("stage", digit);
    list.passes.push_back(std::move(count));
    if (digit == selection.digits) break;

    Pass sum;
    sum.name = "sum_counts";
    sum.body = "sum_counts.inc";
    sum.defines = "#define BINS " + std::to_string(selection.bins) + "\n#define ROW " +
                  std::to_string(selection.row) + "\n";
    sum.rows = s.sequences * (selection.bins / 32) * sum.lanes;
    sum.shared_words = sum.lanes;
    sum.most_rounds = divide_up(selection.blocks, sum.lanes / 32) + sum.lanes / 32;
    bind(sum, counts, "counts", false);
    bind(sum, sums, "sums", true);
    sum.ints = {{"blocks", selection.blocks}};
    list.passes.push_back(std::move(sum));
  }
  return counted[selection.digits % 2];
}

}  // namespace

bool selects(std::int64_t length, std::int64_t keep) {
  // Half of the keys: of more, a sort of all takes little longer than to select them and to sort these.
  return length >= kLeastLength && 2 * keep <= length + 1;
}

Sorting add_select_passes(PassList& list, const Sorting& s, std::int64_t& words) {
  const Selection selection = selection_of(s);
  const bool sorted = s.keep == 1, keys = !sorted || s.keys_stay;
  Lists selected = s.result;
  if (!sorted) {
    const std::int64_t count = s.sequences * s.keep, all = (count + 1) / 2 * 2, size = s.wide ? 2 : 1;
    selected.keys = {"", list.dtype, Of::Workspace, 0, words / size, count, false};
    selected.positions = {"", DType::i32, Of::Workspace, 0, words + all * size, count, false};
    words += all * (size + 1);
  }
  Pass last = pass_of(s, selection, selection.blocks > 1 ? Form::Gathers : Form::Whole, keys);
  if (selection.blocks > 1) bind(last, add_counting_passes(list, s, selection, words), "counted", false);
  name_lists(last, selected, "to", "places", true, keys);
  list.passes.push_back(std::move(last));

  Sorting rest = s;
  rest.given = selected.keys;
  rest.given_positions = selected.positions;
  rest.length = s.keep;
  rest.inner = 1, rest.x_outer = s.keep, rest.x_inner = 0, rest.x_step = 1;
  words = (words + 1) / 2 * 2;
  return rest;
}

}  // namespace sinter::runtime
