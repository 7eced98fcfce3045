// Writes how lanes copy factors, and what a warp multiplies by.
#include "jit/emit/contraction/subgroups.h"

#include <utility>

#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {
namespace {

// Bytes of a piece, and pieces of what lies together in a slot.
constexpr int kPieceBytes = 16, kPieces = kSlotBytes / kPieceBytes;

/// Loops that lie as one, the last: its coordinate counts all of them.
void count_as_one(Expressions& e, const std::vector<std::size_t>& loops, const std::string& number) {
  for (const std::size_t loop : loops) e.coordinates[loop] = "0";
  e.coordinates[loops.back()] = e.index(number);
}

void write_copies_of(Expressions& e, const TiledLoops& loops, const FactorPlace& place) {
  const ir::Expr& load = e.kernel.exprs[place.factor.value];
  const int size = static_cast<int>(size_of(load.dtype)), elements = kPieceBytes / size;
  // Along k a line is a row (column); across it an element of k, of as many rows (columns) as fit into one.
  const int neighbours = kSlotBytes / size, lines = subgroup_lanes(e.kernel.tiling) / kPieces;
  const bool across = place.factor.across;
  const std::vector<std::string> coordinates = e.coordinates;
  const auto text = [](int number) { return std::to_string(number); };
  const std::string bytes_each = text(size), each = text(elements);
  // A lane's first piece; what is beyond the ends is found, and nothing of it read.
  e.open("");
  e.out.line("const int line = loader / 8, piece = loader % 8;");
  e.out.line("const int own = " + place.start + (across ? " + piece * " + each : " + line") +
             ", k = depth + " + (across ? "line" : "piece * " + each) + ";");
  split_loops(e, "at.z", loops.batch);
  count_as_one(e, place.own, "own");
  count_as_one(e, loops.depth, "k");
  e.out.line("const char* const from = (const char*)(b" + std::to_string(load.buffer) + " + (" +
             e.position(load.map) + "));");
  const std::vector<ir::IntRef>& strides = e.kernel.maps[load.map].steps.front().strides;
  e.out.line("const long long apart = (long long)(" +
             e.integer(strides[(across ? loops.depth : place.own).back()]) + ") * " + bytes_each + ";");
  e.out.line("const int along = " + (across ? place.end + " - own" : "size_k - k") +
             ", others = " + (across ? "size_k - k" : place.end + " - own") + ";");
  e.open_unrolled("i", place.size * kPieces / subgroup_lanes(e.kernel.tiling));
  if (across)
    e.out.line("const int chunk = int(i) * " + text(lines) + " / " + text(neighbours) + ", next = int(i) * " +
               text(lines) + " % " + text(neighbours) + ";");
  else
    e.out.line("const int next = int(i) * " + text(lines) + ";");
  const std::string left = across ? "along - chunk * " + text(neighbours) : "along";
  e.out.line("const int bytes = next < others ? max(0, min(" + left + ", " + each + ")) * " + bytes_each +
             " : 0;");
  const bool is_swapped = !across || !e.kernel.tiling.exact;
  e.out.line("tc_copy_" + std::to_string(int{place.factor.lane_bytes}) + "(to_" + place.which +
             (across ? " + chunk * " + text(neighbours * kSlotBytes) : "") + " + (line + next) * 128 + ((" +
             (is_swapped ? "piece ^ (line + next) & 7" : "piece") + ") << 4), from + next * apart" +
             (across ? " + chunk * 128" : "") + ", bytes);");
  e.close();
  e.close();
  e.coordinates = coordinates;
}

}  // namespace

std::string multiplication(DType multiplied, const std::string& name) {
  const bool has_halves = is_half(multiplied);
  const std::string dtype = has_halves ? std::string(name_of(multiplied)) : "tf32";
  return "SN_FN void " + name +
         "(float* d, const unsigned* a, const unsigned* b) {\n"
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
  const std::string rows = define("SN_WARP_ROWS", t.subgroup_rows);
  if (t.exact) return rows;
  const bool rounds = !is_half(t.multiplied);
  return rows + define("SN_ROUND_A", is_set(rounds && !t.computes(t.a))) +
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
