// Sums of products that several workgroups share, each with a part of the sum.
#pragma once

#include <cstdint>

namespace sinter::ir {

/// From so many parts of a tile's sums on they are added up in groups first, each of about as many parts as
/// there are groups.
inline constexpr int kManyParts = 8;
/// How many parts, or sums of such groups, are read one after the other until a tile's sums are there.
std::int64_t parts_read_in_turn(std::int64_t parts);

/// In how many parts, one for each workgroup, the sums of all tiles are cut where a device holds `at_once`
/// workgroups: 1 unless most of them would have nothing to do. `rounds`: slots of the sum. `exact`: of
/// Tiling::exact, which take longer.
std::int64_t tiles_in_parts(std::int64_t tiles, std::int64_t rounds, std::int64_t at_once, bool exact);

}  // namespace sinter::ir
