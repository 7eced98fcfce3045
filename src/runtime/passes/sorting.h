// What the passes of sorts have in common, whichever way they go.
#pragma once

#include <cstdint>
#include <string>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime {

/// Sequences of keys with their positions, as a pass reads or writes them.
struct Lists {
  PassBuffer keys, positions;
};

struct Sorting {
  std::int64_t sequences = 1, length = 1, keep = 1;
  std::int64_t inner = 1, x_outer = 0, x_inner = 0, x_step = 1;  // of the keys as they are given
  PassBuffer given, given_positions;                             // none: a key's own
  Lists result, workspace[2];
  bool keys_stay = false;  // the result has keys
  bool descending = false;
  std::string define_key;

  // For sorts by digits and in tiles: the bits of a key that may differ, and whether the last of them is a
  // sign.
  int first_bit = 0, end_bit = 32;
  bool has_sign = true;
  bool wide = false;  // keys have 64 bits
  PassBuffer counts, before;
  bool once = false;  // workgroups wait for others, which takes `counts` alone (`shown_counts` of it)
};

/// Adds a list to the buffers of a pass, under these names; keys only where there are any.
void name_lists(Pass& pass, const Lists& lists, const char* keys, const char* positions, bool written,
                bool with_keys);

/// True iff the keys, as they are given, are not one sequence after the other.
bool is_strided(const Sorting& s);

/// The text of DIGIT(x): from bit `shift` of KEY(x) on 8 bits, the highest one changed where `flip` is 128.
/// Above its last bit a key has more of its sign, which is 1 for the least ones.
std::string define_digit();

/// Each sequence is brought into order by one workgroup, all digits in one pass.
void add_tile_pass(PassList& list, const Sorting& s);

/// Keys of a run that a workgroup brings into order.
inline constexpr std::int64_t kRun = 1024;
/// The runs of each sequence likewise, to the lists of the workspace.
void add_tile_pass_of_runs(PassList& list, const Sorting& s, const Lists& to);

/// Runs of keys are brought into order, then merged; for sequences that are longer than a tile, of few keys.
void add_run_passes(PassList& list, const Sorting& s);

/// Keys are brought into order by 8 of their bits after the other, from the last ones to the first ones:
/// digits are counted in each tile, the counts added up, and the keys of each tile written where they belong.
void add_digit_passes(PassList& list, const Sorting& s);

/// Elements of `before` and `counts` that sorts by digits take.
struct DigitCounts {
  std::int64_t counts, before;
};
DigitCounts digit_counts(std::int64_t sequences, std::int64_t length);

/// Whether digits are counted once for all, and workgroups wait for others' counts; on devices where they
/// may.
bool sorts_once(const Sorting& s);
/// Elements of `counts` that such a sort takes.
std::int64_t shown_counts(const Sorting& s);

/// Whether sequences are sorted in tiles, each key at its own position.
bool sorts_in_tiles(std::int64_t length);
/// Whether longer ones are sorted by digits.
bool sorts_by_digits(std::int64_t sequences, std::int64_t length);

/// Whether the first `keep` keys are selected, so that they alone are sorted.
bool selects(std::int64_t length, std::int64_t keep);
/// Selects them, of keys in order without a sort: digits are counted from the first ones on until the last
/// of the first `keep` keys is known. Returns how these are sorted, which there is no need to do for one.
/// Takes the first words of the workspace, and says how many.
Sorting add_select_passes(PassList& list, const Sorting& s, std::int64_t& words);

}  // namespace sinter::runtime
