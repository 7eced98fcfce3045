// Writes how lanes copy factors, and what a warp multiplies by.
#include "jit/emit/contraction/subgroups.h"

#include <utility>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {
namespace {

// Bytes of a piece, elements of the sum that a factor across it has in a slot, and its rows (columns) that
// lie together.
constexpr int kPieceBytes = 16, kPieces = kSlotBytes / kPieceBytes, kLines = 64, kChunk = 64;

/// Loops that lie as one, the last: its coordinate counts all of them.
void count_as_one(Expressions& e, const std::vector<std::size_t>& loops, const std::string& number) {
  for (const std::size_t loop : loops) e.coordinates[loop] = "0";
  e.coordinates[loops.back()] = e.index(number);
}

void write_copies_of(Expressions& e, const TiledLoops& loops, const FactorPlace& place) {
  const ir::Expr& load = e.kernel.exprs[place.factor.value];
  const int size = static_cast<int>(size_of(load.dtype)), elements = kPieceBytes / size;
  const bool across = place.factor.across;
  const std::vector<std::string> coordinates = e.coordinates;
  e.open_unrolled("i", place.size * kPieces / subgroup_lanes(e.kernel.tiling));
  e.out.line("const int number = int(i) * " + std::to_string(subgroup_lanes(e.kernel.tiling)) +
             " + loader, line = number / 8" + (across ? " % " + std::to_string(kLines) : "") +
             ", piece = number % 8;");
  // Along k a line is a row (column); across it an element of k, of 64 rows (columns).
  const std::string each = std::to_string(elements);
  if (across) {
    e.out.line("const int chunk = number / " + std::to_string(kLines * kPieces) + ";");
    e.out.line("const int own = " + place.start + " + chunk * " + std::to_string(kChunk) + " + piece * " +
               each + ", k = depth + line;");
  } else {
    e.out.line("const int own = " + place.start + " + line, k = depth + piece * " + each + ";");
  }
  const std::string left = across ? place.end + " - own" : "size_k - k";
  e.out.line("const int bytes = own < " + place.end + " && k < size_k ? min(" + left + ", " + each + ") * " +
             std::to_string(size) + " : 0;");
  e.out.line("const int from_own = bytes > 0 ? own : 0, from_k = bytes > 0 ? k : 0;");
  split_loops(e, "at.z", loops.batch);
  count_as_one(e, place.own, "from_own");
  count_as_one(e, loops.depth, "from_k");
  e.out.line("tc_copy_" + std::to_string(int{place.factor.lane_bytes}) + "(to_" + place.which +
             (across ? " + chunk * " + std::to_string(kLines * kSlotBytes) : "") +
             " + line * 128 + ((piece ^ line & 7) << 4), b" + std::to_string(load.buffer) + " + (" +
             e.position(load.map) + "), bytes);");
  e.close();
  e.coordinates = coordinates;
}

}  // namespace

std::string multiplication(DType multiplied) {
  const bool has_halves = is_half(multiplied);
  const std::string dtype = has_halves ? std::string(name_of(multiplied)) : "tf32";
  return "SN_FN void tc_multiply(float* d, const unsigned* a, const unsigned* b) {\n"
         "  asm volatile(\n"
         "      \"mma.sync.aligned.m16n8k" +
         std::to_string(has_halves ? 16 : 8) + ".row.col.f32." + dtype + "." + dtype +
         ".f32 \"\n"
         "      \"{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n"
         "      : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
         "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n}\n";
}

std::string subgroup_definitions(const ir::Tiling& t) {
  const auto is_set = [](bool condition) { return condition ? 1 : 0; };
  const bool rounds = !is_half(t.multiplied);
  return define("SN_WARP_ROWS", t.subgroup_rows) + define("SN_ROUND_A", is_set(rounds && !t.computes(t.a))) +
         define("SN_ROUND_B", is_set(rounds && !t.computes(t.b))) + multiplication(t.multiplied);
}

void write_lane_copies(Expressions& e, const TiledLoops& loops) {
  const ir::Tiling& t = e.kernel.tiling;
  for (const bool is_a : {true, false}) {
    const FactorPlace place(loops, t, is_a);
    if (!t.computes(place.factor)) write_copies_of(e, loops, place);
  }
}

}  // namespace sinter::emit
