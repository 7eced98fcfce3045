// Which passes sorts and searches have. Keys that are to be kept are selected first (select_passes.cpp).
// Short sequences are sorted by one workgroup each (sort_tiles.cpp), many keys of longer ones by digits
// (sort_digits.cpp). Fewer are cut into runs, which are sorted like short sequences, then merged, eight at a
// time.
#include <algorithm>
#include <bit>
#include <tuple>

#include "src/runtime/passes/sorting.h"

namespace sinter::runtime {

namespace {

using Of = PassBuffer::Of;

constexpr std::int64_t kMerged = 8;  // runs that a pass merges
constexpr int kFewLanes = 64;        // so that some thousand keys go to all compute units

/// The bits by which numbers of a dtype differ once they are keys, and whether the last one is a sign: what
/// f32 and i32, f64 and i64 have of shorter ones is a part.
std::tuple<int, int, bool> bits_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return {16, 32, true};
    case DType::f16: return {13, 32, true};  // 10 bits of 23 of the fraction
    case DType::f8_e4m3: return {20, 32, true};
    case DType::f8_e5m2: return {21, 32, true};
    case DType::boolean: return {0, 1, false};
    case DType::i8: return {0, 8, true};
    case DType::u8: return {0, 8, false};
    case DType::i16: return {0, 16, true};
    case DType::u16: return {0, 16, false};
    case DType::u32: return {0, 32, false};
    case DType::f64:
    case DType::i64:
    case DType::u64: return {0, 64, true};  // u64 has become i64
    default: return {0, 32, true};
  }
}

}  // namespace

void name_lists(Pass& pass, const Lists& lists, const char* keys, const char* positions, bool written,
                bool with_keys) {
  for (const auto& [buffer, name, wanted] :
       {std::tuple(&lists.keys, keys, with_keys), std::tuple(&lists.positions, positions, true)}) {
    if (!wanted) continue;
    pass.buffers.push_back(*buffer);
    pass.buffers.back().name = name;
    pass.buffers.back().written = written;
  }
}

void add_run_passes(PassList& list, const Sorting& s) {
  // How many passes there are decides in which list the first one writes: the last one writes the result.
  std::int64_t passes = 0;
  for (std::int64_t run = kRun; run < s.length; run *= kMerged) ++passes;
  Lists to = s.workspace[(passes + 1) % 2];
  add_tile_pass_of_runs(list, s, to);
  for (std::int64_t run = kRun; run < s.length; run *= kMerged) {
    --passes;
    const bool is_last = passes == 0, keys = !is_last || s.keys_stay;
    Pass pass;
    pass.name = keys ? "merge_runs" : "merge_runs_last";
    pass.body = "merge_runs.inc";
    pass.defines = s.define_key + "#define KEYS " + (keys ? "1" : "0") + "\n#define MERGED " +
                   std::to_string(kMerged) + "\n";
    name_lists(pass, to, "from", "positions", false, true);
    to = is_last ? s.result : s.workspace[(passes + 1) % 2];
    name_lists(pass, to, "to", "places", true, keys);
    pass.rows = s.sequences * s.length;
    pass.lanes = kFewLanes;
    pass.ints = {
        {"count", pass.rows}, {"run", run}, {"length", s.length}, {"kept", is_last ? s.keep : s.length}};
    pass.most_rounds = 64 * (kMerged + 1);
    list.passes.push_back(std::move(pass));
  }
}

PassList passes_of(const library::SortIndicesOp& op) {
  PassList list;
  list.dtype = DType::i32;
  list.functions = key_functions(DType::i32, false);
  if (op.count > 0) {
    Sorting s;
    s.length = s.keep = op.count;
    s.given = {"", DType::i32, Of::Operand, 0, 0, op.count, false};
    s.keys_stay = true;
    s.define_key = "#define KEY(x) key_of(x)\n";
    const auto lists = [&](Of of, std::int64_t first) {
      return Lists{{"", DType::i32, of, 0, first, op.count, false},
                   {"", DType::i32, of, 0, first + op.count, op.count, false}};
    };
    // Both lists go to and fro between the result and the workspace, and end in the result.
    s.result = s.workspace[1] = lists(Of::Result, op.rows);
    s.workspace[0] = lists(Of::Workspace, 0);
    s.end_bit = 1;
    while (std::int64_t{1} << s.end_bit < op.rows) ++s.end_bit;
    s.has_sign = false;
    std::int64_t words = sorts_in_tiles(op.count) ? 0 : 2 * op.count;
    if (sorts_in_tiles(op.count)) {
      add_tile_pass(list, s);
    } else if (sorts_by_digits(1, op.count)) {
      const DigitCounts counts = digit_counts(1, op.count);
      s.counts = {"", DType::i32, Of::Workspace, 0, words, counts.counts, false};
      s.before = {"", DType::i32, Of::Workspace, 0, words + counts.counts, counts.before, false};
      words += counts.counts + counts.before;
      add_digit_passes(list, s);
    } else {
      add_run_passes(list, s);
    }
    list.workspace_bytes = static_cast<std::size_t>(words) * sizeof(std::int32_t);
  }
  list.passes.push_back(
      {"first_places",
       "first_places.inc",
       "",
       {{"keys", DType::i32, Of::Result, 0, op.rows, op.count, false},
        {"first", DType::i32, Of::Result, 0, 0, op.rows, true}},
       op.rows,
       1,
       {{"count", op.count},
        {"rows", op.rows},
        {"span", static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(op.count) + 1) / 2)}}});
  return list;
}

namespace {

/// Appends those that sizes call for, with lists of their own behind the first `words` of the workspace.
void add_sort_passes(PassList& list, Sorting s, std::int64_t& words) {
  if (sorts_in_tiles(s.length)) return add_tile_pass(list, s);
  // Keys and positions, twice; each list begins at a multiple of the larger of both.
  const std::int64_t numel = s.sequences * s.length, all = (numel + 1) / 2 * 2, per_key = s.wide ? 2 : 1;
  for (std::int64_t k = 0; k < 2; ++k)
    s.workspace[k] = {{"", list.dtype, Of::Workspace, 0, words / per_key + k * all, all, false},
                      {"", DType::i32, Of::Workspace, 0, words + 2 * all * per_key + k * all, all, false}};
  words += 2 * all * (per_key + 1);
  if (!sorts_by_digits(s.sequences, s.length)) return add_run_passes(list, s);
  s.once = s.once && sorts_once(s);
  if (s.once) {
    s.counts = {"", DType::i32, Of::Workspace, 0, words, shown_counts(s), true};
    words += s.counts.numel;
    return add_digit_passes(list, s);
  }
  const DigitCounts counts = digit_counts(s.sequences, s.length);
  s.counts = {"", DType::i32, Of::Workspace, 0, words, counts.counts, false};
  s.before = {"", DType::i32, Of::Workspace, 0, words + counts.counts, counts.before, false};
  words += counts.counts + counts.before;
  add_digit_passes(list, s);
}

}  // namespace

PassList passes_of(const library::SortOp& op, PassDevice device) {
  PassList list;
  list.dtype = op.x_dtype;
  list.results = op.with_values ? 2 : 1;
  if (op.numel() == 0 || op.keep == 0) return list;
  list.functions = key_functions(op.x_dtype, false);
  Sorting s;
  s.sequences = op.sequences();
  s.length = op.length, s.keep = op.keep;
  s.inner = op.inner;
  s.x_outer = op.x_outer, s.x_inner = op.x_inner, s.x_step = op.x_step;
  s.given = {"", op.x_dtype, Of::Operand, 0, 0, op.x_span(), false};
  s.result.positions = {"", DType::i32, Of::Result, 0, 0, s.sequences * op.keep, false};
  s.keys_stay = op.with_values;
  if (op.with_values) s.result.keys = {"", op.x_dtype, Of::Result, 1, 0, s.sequences * op.keep, false};
  s.descending = op.descending;
  s.define_key = std::string("#define KEY(x) ") + (op.descending ? "reversed_key_of(x)\n" : "key_of(x)\n");
  std::tie(s.first_bit, s.end_bit, s.has_sign) = bits_of(op.numbers);
  s.wide = size_of(op.x_dtype) == 8;
  s.once = device.waits;
  std::int64_t words = 0;
  if (selects(s.length, s.keep)) {
    s = add_select_passes(list, s, words);
    if (s.keep > 1) add_sort_passes(list, s, words);
  } else {
    add_sort_passes(list, s, words);
  }
  if (list.passes.size() > 1) list.workspace_bytes = static_cast<std::size_t>(words) * sizeof(std::int32_t);
  return list;
}

PassList passes_of(const library::SearchSortedOp& op) {
  PassList list;
  list.dtype = op.x_dtype;
  list.functions = key_functions(op.x_dtype, false);
  const std::int64_t count = op.rows * op.count;
  list.passes.push_back(
      {"search_sorted",
       "search_sorted.inc",
       std::string("#define RIGHT ") + (op.right ? "1" : "0") + "\n",
       {{"sorted", op.x_dtype, Of::Operand, 0, 0, op.sorted_numel(), false},
        {"values", op.x_dtype, Of::Operand, 1, 0, count, false},
        {"places", DType::i32, Of::Result, 0, 0, count, true}},
       count,
       1,
       {{"ends", count},
        {"length", op.length},
        {"count", op.count},
        {"shared_row", op.shared ? 1 : 0},
        {"span", static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(op.length) + 1) / 2)}},
       64});
  return list;
}

}  // namespace sinter::runtime
