// Which passes sorts and searches have. Short sequences are sorted by one workgroup each (sort_tiles.cpp),
// many keys of longer ones by digits (sort_digits.cpp). Fewer are cut into runs, which are ranked by
// counting, then merged, eight at a time; of few keys that are kept, each run hands on as many, until one run
// is left.
#include <algorithm>
#include <bit>
#include <tuple>

#include "src/runtime/passes/sorting.h"

namespace sinter::runtime {

namespace {

using Of = PassBuffer::Of;

// Runs that one lane's loop brings into order, and how many of them a pass merges.
constexpr std::int64_t kRun = 1024, kMerged = 8;
constexpr int kFewLanes = 64;  // so that some thousand keys go to all compute units
// Runs of which few are kept are shorter: they are handed on to few others.
constexpr std::int64_t kLeastRun = 128, kMostKept = kRun / 4;

/// The bits by which numbers of a dtype differ once they are keys, and whether the last one is a sign: what
/// f32 and i32, f64 and i64 have of shorter ones is a part.
std::tuple<int, int, bool> bits_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return {16, 32, true};
    case DType::f16: return {13, 32, true};  // 10 bits of 23 of the fraction
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

bool keeps_few(std::int64_t length, std::int64_t keep) { return keep < length && keep <= kMostKept; }

void add_run_passes(PassList& list, const Sorting& s) {
  const bool few = keeps_few(s.length, s.keep);
  const std::int64_t run =
      few ? std::max(kLeastRun,
                     static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(4 * s.keep))))
          : kRun;
  const auto kept_of = [&](std::int64_t length) {
    return few ? length / run * s.keep + std::min(length % run, s.keep) : length;
  };
  // How many passes there are decides in which list the first one writes: the last one writes the result.
  std::int64_t length = s.length, passes = 1;
  for (std::int64_t l = s.length, r = run; few ? l > run : r < l; few ? l = kept_of(l) : r *= kMerged)
    ++passes;
  Lists from, to;
  const auto next_lists = [&] {
    from = to;
    to = passes == 1 ? s.result : s.workspace[passes % 2];
  };
  const auto add = [&](bool first, bool merges, std::int64_t of, std::int64_t kept, std::int64_t run_keep) {
    next_lists();
    const bool keys = passes > 1 || s.keys_stay;
    Pass pass;
    pass.name = std::string(merges  ? "merge_runs"
                            : first ? "sort_runs"
                                    : "sort_again") +
                (keys ? "" : "_last");
    pass.body = merges ? "merge_runs.inc" : "sort_runs.inc";
    pass.defines = s.define_key + "#define KEYS " + (keys ? "1" : "0") + "\n" +
                   (merges ? "#define MERGED " + std::to_string(kMerged)
                           : std::string("#define FIRST ") + (first ? "1" : "0")) +
                   "\n";
    if (first) {
      pass.buffers.push_back(s.given);
      pass.buffers.back().name = "keys";
    } else {
      name_lists(pass, from, merges ? "from" : "keys", "positions", false, true);
    }
    name_lists(pass, to, "to", "places", true, keys);
    pass.rows = s.sequences * of;
    pass.lanes = kFewLanes;
    --passes;
    pass.ints = {{"count", pass.rows}, {"run", run}, {"length", of}, {"kept", kept}};
    if (!merges) {
      pass.ints.insert(pass.ints.end(), {{"keep", run_keep},
                                         {"inner", first ? s.inner : 1},
                                         {"x_outer", first ? s.x_outer : of},
                                         {"x_inner", first ? s.x_inner : 0},
                                         {"x_step", first ? s.x_step : 1}});
    }
    pass.most_rounds = merges ? 64 * (kMerged + 1) : run;
    list.passes.push_back(std::move(pass));
  };
  const bool one = length <= run;
  if (few) {
    for (bool first = true;; first = false) {
      const std::int64_t kept = kept_of(length);
      add(first, false, length, kept, s.keep);
      if (length <= run) break;
      length = kept;
    }
    return;
  }
  add(true, false, length, one ? s.keep : length, one ? s.keep : run);
  for (std::int64_t merged = run; merged < length; merged *= kMerged) {
    const bool last = merged * kMerged >= length;
    add(false, true, length, last ? s.keep : length, 0);
    list.passes.back().ints[1].second = merged;
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

PassList passes_of(const library::SortOp& op) {
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
  s.define_key = std::string("#define KEY(x) ") + (op.descending ? "reversed_key_of(x)\n" : "key_of(x)\n");
  // The workspace: keys and positions, twice; each list begins at a multiple of the larger of both.
  const std::int64_t all = (op.numel() + 1) / 2 * 2;
  const std::int64_t per_key = static_cast<std::int64_t>(size_of(op.x_dtype)) / 4;
  for (std::int64_t k = 0; k < 2; ++k)
    s.workspace[k] = {{"", op.x_dtype, Of::Workspace, 0, k * all, all, false},
                      {"", DType::i32, Of::Workspace, 0, 2 * all * per_key + k * all, all, false}};
  std::int64_t words = 2 * all * (per_key + 1);
  std::tie(s.first_bit, s.end_bit, s.has_sign) = bits_of(op.numbers);
  s.wide = size_of(op.x_dtype) == 8;
  const bool few = keeps_few(s.length, s.keep);
  if (!few && sorts_in_tiles(s.length)) {
    add_tile_pass(list, s);
  } else if (!few && sorts_by_digits(s.sequences, s.length)) {
    const DigitCounts counts = digit_counts(s.sequences, s.length);
    s.counts = {"", DType::i32, Of::Workspace, 0, words, counts.counts, false};
    s.before = {"", DType::i32, Of::Workspace, 0, words + counts.counts, counts.before, false};
    words += counts.counts + counts.before;
    add_digit_passes(list, s);
  } else {
    add_run_passes(list, s);
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
