// The pass that sorts short sequences: a workgroup brings one of them, or several, into order in its memory.
#include <algorithm>

#include "src/runtime/passes/sorting.h"

namespace sinter::runtime {

namespace {

constexpr int kBits = 8;
constexpr int kDigits = 1 << kBits;

// Keys of a lane: with as many, 256 lanes have 16 KiB of keys, which every device has as memory of a
// workgroup.
constexpr int kItems = 16, kFewerItems = 12;
constexpr int kLeastLanes = 32, kMostLanes = 256;

// Shorter sequences share a workgroup. That takes one more digit, their number in the tile, which has kBits.
constexpr int kSharedLanes = 64;
constexpr std::int64_t kSharedTile = kSharedLanes * kItems, kMostShared = kSharedTile / 4;
// Fewer tiles leave a device idle: few sequences share none.
constexpr std::int64_t kFewTiles = 256;

struct Tile {
  int lanes = kLeastLanes, items = kItems;
  std::int64_t sequences = 1;
};

Tile tile_of(std::int64_t sequences, std::int64_t length) {
  Tile tile;
  if (length <= kMostShared && sequences > kFewTiles) {
    tile.lanes = kSharedLanes;
    tile.sequences =
        std::min<std::int64_t>({(sequences + kFewTiles - 1) / kFewTiles, kSharedTile / length, kDigits});
    return tile;
  }
  while (tile.lanes * kItems < length) tile.lanes *= 2;
  if (length <= tile.lanes * kFewerItems) tile.items = kFewerItems;
  return tile;
}

/// What tiles that are packed and those of runs have in common.
Pass pass_of(const Sorting& s, const Tile& tile, const Lists& to, bool is_of_runs) {
  const bool packed = tile.sequences > 1, strided = is_strided(s), given = s.given_positions.numel > 0;
  const int digits = (s.end_bit - s.first_bit + kBits - 1) / kBits;
  const auto flag = [](const char* name, bool is_set) {
    return std::string("#define ") + name + (is_set ? " 1\n" : " 0\n");
  };
  const auto number = [](const char* name, int value) {
    return std::string("#define ") + name + " " + std::to_string(value) + "\n";
  };
  const bool keys = is_of_runs || s.keys_stay;
  Pass pass;
  pass.name = std::string(is_of_runs ? "sort_runs" : "sort_tiles") + (given ? "_again" : "");
  pass.body = "sort_tiles.inc";
  pass.defines = s.define_key + define_digit() + number("ITEMS", tile.items) +
                 number("EACH", kDigits / tile.lanes) + number("MASKS", tile.lanes / 32 * kDigits) +
                 flag("PACKED", packed) + flag("STRIDED", strided) + flag("KEYS", keys) +
                 flag("WIDE", s.wide) + flag("GIVEN", given) + flag("RUNS", is_of_runs);
  pass.buffers.push_back(s.given);
  pass.buffers.back().name = "keys";
  if (given) {
    pass.buffers.push_back(s.given_positions);
    pass.buffers.back().name = "positions";
  }
  name_lists(pass, to, "to", "places", true, keys);
  pass.lanes = tile.lanes;
  pass.least_groups =
      (packed || s.wide ? 2 : 3) * kMostLanes / tile.lanes;  // with fewer registers, some are spilled
  pass.ints = {{"length", s.length},
               {"kept", is_of_runs ? s.length : s.keep},
               {"first_bit", s.first_bit},
               {"digits", digits + (packed ? 1 : 0)},
               {"sign_digit", s.has_sign ? digits - 1 : -1}};
  if (strided)
    pass.ints.insert(
        pass.ints.end(),
        {{"inner", s.inner}, {"x_outer", s.x_outer}, {"x_inner", s.x_inner}, {"x_step", s.x_step}});
  pass.shared_words = tile.lanes * kItems;
  pass.most_rounds = (digits + 1) * (12 * kItems + 48);
  return pass;
}

}  // namespace

bool sorts_in_tiles(std::int64_t length) { return length <= kMostLanes * kItems; }

void add_tile_pass(PassList& list, const Sorting& s) {
  const Tile tile = tile_of(s.sequences, s.length);
  Pass pass = pass_of(s, tile, s.result, false);
  pass.rows = (s.sequences + tile.sequences - 1) / tile.sequences * tile.lanes;
  // Rounded up by less than 1: a place below 2^10 times it is off by less than 2^10, and 2^20 / length is
  // 2^12 or more.
  if (tile.sequences > 1)
    pass.ints.insert(pass.ints.end(), {{"sequences", s.sequences},
                                       {"in_tile", tile.sequences},
                                       {"reciprocal", ((1 << 20) + s.length - 1) / s.length}});
  list.passes.push_back(std::move(pass));
}

void add_tile_pass_of_runs(PassList& list, const Sorting& s, const Lists& to) {
  const Tile tile{.lanes = static_cast<int>(kRun) / kItems};
  const std::int64_t runs = (s.length + kRun - 1) / kRun;
  Pass pass = pass_of(s, tile, to, true);
  pass.rows = s.sequences * runs * tile.lanes;
  pass.ints.insert(pass.ints.end(), {{"run", kRun}, {"runs", runs}});
  list.passes.push_back(std::move(pass));
}

}  // namespace sinter::runtime
