// Which passes a scan has. Where few elements lie side by side across the scanned axis, workgroups take tiles
// of sequences: a sequence each or, of few long sequences, a tile each, which waits for the tiles before it.
// Where no workgroup may wait for another one, chunks of these are added up, their totals are scanned, and
// each chunk is scanned from what is before it. Elsewhere lanes lie side by side across the axis, and each
// goes over a chunk.
#include <algorithm>
#include <bit>
#include <limits>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime {

namespace {

using library::ScanKind;
using Of = PassBuffer::Of;

constexpr int kLanes = 256;
// From so many elements side by side on, lanes across the axis read whole sectors of 32 bytes.
constexpr std::int64_t kLeastAcross = 8;

// A sequence of up to so many tiles is done by one workgroup, which takes less time than three launches. Of
// so many sequences all are: they fill a device, and no element is read twice. (The last limit is that of
// loops.)
constexpr std::int64_t kFewTiles = 4, kManySequences = 512, kMostTiles = 512;

// Tiles that wait for those before them: of so many a device has its fill; fewer elements make smaller tiles.
// So many of them stand in a group, whose total the next group waits for: a group takes longer to read than
// that total to come from one workgroup to another one (about 1 us).
constexpr std::int64_t kManyTiles = 512;
constexpr int kGroup = 128, kGroupLanes = 32;

// Across the axis: elements of a lane's chunk, more where there are lanes enough to fill a device.
constexpr std::int64_t kChunk = 32, kManyLanes = std::int64_t{1} << 17;

constexpr std::int64_t kMostOfWord = std::numeric_limits<std::uint32_t>::max();

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string flag(const char* name, bool is_set) {
  return std::string("#define ") + name + (is_set ? " 1\n" : " 0\n");
}

/// Words of 32 bits that a state has in the memory of a workgroup.
int words_of(const library::ScanOp& op) {
  return static_cast<int>(size_of(op.x_dtype)) / 4 + (library::gives_positions(op.scan) ? 1 : 0);
}

/// Elements of one lane, such that those of 256 and one state of each lane take at most 16 KiB, which every
/// device has. An odd number: 32 lanes that read their rows of elements find them in different banks.
int items_of(int words) { return words == 1 ? 15 : words == 2 ? 7 : 3; }

/// What two states come to, whichever of them comes first, and how states lie in memory.
std::string defines_of(const library::ScanOp& op, int slots) {
  std::string text = flag("REVERSE", op.reverse) + flag("INNER", op.inner > 1);
  const bool wide = size_of(op.x_dtype) == 8;
  const std::string second = "memory[" + std::to_string(slots) + " + (i)]",
                    third = "memory[" + std::to_string(2 * slots) + " + (i)]";
  if (library::gives_positions(op.scan)) {
    const std::string of = op.scan == ScanKind::MaxPosition ? "key_of" : "reversed_key_of";
    return text + "#define KEYED(value, at) state_of(" + of +
           "(value), int(at))\n#define KNOWN(result) KEYED(x(x_base + Index(result) * x_step), result)\n"
           "#define RESULT(state) ((state).at)\n#define COMBINE(a, b) extreme_of(a, b)\n" +
           (wide ? "#define PUT(i, s) { memory[i] = Word((s).key); " + second + " = Word((s).key >> 32); " +
                       third + " = Word((s).at); }\n#define GET(i) state_of((Key(" + second +
                       ") << 32) | Key(memory[i]), int(" + third + "))\n"
                 : "#define PUT(i, s) { memory[i] = Word((s).key); " + second +
                       " = Word((s).at); }\n#define GET(i) state_of(Key(memory[i]), int(" + second + "))\n");
  }
  text +=
      "#define State T\n#define KEYED(value, at) (value)\n#define KNOWN(result) (result)\n"
      "#define RESULT(state) (state)\n#define COMBINE(a, b) ";
  text += op.scan == ScanKind::Sum    ? "((a) + (b))\n"
          : op.scan == ScanKind::Prod ? "((a) * (b))\n"
                                      : "log_add(a, b)\n";
  return text + (wide ? "#define PUT(i, s) { memory[i] = LOW(s); " + second +
                            " = HIGH(s); }\n#define GET(i) JOINED(memory[i], " + second + ")\n"
                      : "#define PUT(i, s) memory[i] = Word(BITS(s))\n"
                        "#define GET(i) FROM_BITS(Key(memory[i]))\n");
}

std::string functions_of(const library::ScanOp& op) {
  // The state is the extreme's key and where it lies in x: of equal ones the later one.
  if (library::gives_positions(op.scan))
    return key_functions(op.x_dtype, true) +
           "struct State { Key key; int at; };\n"
           "SN_FN State state_of(Key key, int at) {\n  State state;\n  state.key = key;\n  state.at = at;\n"
           "  return state;\n}\n"
           "SN_FN State extreme_of(State a, State b) {\n  if (b.key > a.key || (b.key == a.key && b.at " +
           (op.reverse ? "<" : ">") + " a.at)) return b;\n  return a;\n}\n";
  if (op.scan != ScanKind::LogSumExp) return "";
  const std::string dtype(name_of(op.x_dtype));
  // Equal numbers are told apart first: infinities have no difference. NaN comes in by the difference alone,
  // as a compiler may take the maximum to be one that leaves NaN out.
  return "SN_FN T log_add(T a, T b) {\n"
         "  const T high = a < b ? b : a, apart = a < b ? a - b : b - a;\n"
         "  return high + sn_log1p_" +
         dtype + "(a == b ? T(1) : sn_exp_" + dtype + "(apart));\n}\n";
}

/// How `width` lanes go over `length` elements, `each` of each lane at a time.
struct Tiling {
  std::int64_t width, each, rounds;
};
Tiling tiling_of(std::int64_t length, int items) {
  const auto power = [](std::int64_t least) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(least)));
  };
  Tiling tiling;
  // Eight lanes read a sector of 32 bytes.
  tiling.width = std::min<std::int64_t>(
      std::max(power(divide_up(length, items)), std::min<std::int64_t>(power(length), 8)), kLanes);
  tiling.rounds = divide_up(length, tiling.width * items);
  tiling.each = divide_up(length, tiling.rounds * tiling.width) | 1;
  return tiling;
}

void bind(Pass& pass, PassBuffer buffer, const char* name, bool written) {
  buffer.name = name;
  buffer.written = written;
  pass.buffers.push_back(std::move(buffer));
}

std::string element_of(bool bottom) {
  return std::string("#define ELEMENT(i, at) ") + (bottom ? "KEYED(x(i), at)\n" : "KNOWN(from(i))\n");
}

/// Elements of one lane whose tile waits for others: twice as many or more, which stay in the memory of the
/// workgroup meanwhile (up to 40 KiB).
int waiting_items_of(const library::ScanOp& op) {
  const int words = words_of(op);
  int items = words == 1 ? 31 : words == 2 ? 15 : 9;
  // Texts of this one are long.
  if (op.scan == ScanKind::LogSumExp) items = items / 2 | 1;
  while (items > (words == 1 ? 7 : 3) &&
         op.outer * op.inner * divide_up(op.length, kLanes * items) < kManyTiles)
    items = items / 2 | 1;
  return items;
}

/// A pass over few long sequences, each element of which is read once, and one that clears what workgroups
/// show each other.
void add_waiting_passes(PassList& list, const library::ScanOp& op, const PassBuffer& x,
                        const PassBuffer& result) {
  const int words = words_of(op), items = waiting_items_of(op), each = kGroup / kGroupLanes;
  const int slots = kLanes * (items + 1) + kGroupLanes * (each + 1);
  const std::int64_t sequences = op.outer * op.inner, chunks = divide_up(op.length, kLanes * items),
                     groups = divide_up(chunks, kGroup), tiles = sequences * chunks;
  const PassBuffer shown{"", DType::i64, Of::Workspace, 0, 0, 1 + (tiles + sequences * groups) * words, true};
  list.workspace_bytes = static_cast<std::size_t>(shown.numel) * sizeof(std::int64_t);

  list.passes.push_back(fill_zeros(shown));

  const auto number = [](const char* name, int value) {
    return std::string("#define ") + name + " " + std::to_string(value) + "\n";
  };
  Pass scan;
  scan.name = "scan_once";
  scan.body = "scan_once.inc";
  scan.defines = defines_of(op, slots) + element_of(true) + number("ITEMS", items) + number("GROUP", kGroup) +
                 number("EACH", each) + number("WORDS", words) + "#define WORD(slot, w) memory[(w) * " +
                 std::to_string(slots) + " + (slot)]\n#define X_STEP " + (op.x_step == 1 ? "1" : "x_step") +
                 "\n" + flag("EXCLUSIVE", op.exclusive);
  scan.rows = tiles;
  scan.columns = scan.lanes = kLanes;
  scan.shared_words = slots * words;
  scan.least_groups = op.scan == ScanKind::LogSumExp || op.x_step != 1 || op.inner > 1 ? 2 : 4;
  scan.most_rounds = 7 * items + kGroup;
  scan.ints = {{"length", op.length}, {"inner", op.inner},    {"chunks", chunks},
               {"groups", groups},    {"groups_from", tiles}, {"x_outer", op.x_outer},
               {"x_step", op.x_step}, {"x_inner", op.x_inner}};
  bind(scan, x, "x", false);
  bind(scan, shown, "shown", true);
  bind(scan, result, "to", true);
  list.passes.push_back(std::move(scan));
}

void add_tile_passes(PassList& list, const library::ScanOp& op, const PassBuffer& x, const PassBuffer& result,
                     PassDevice device) {
  const int words = words_of(op), items = items_of(words), slots = kLanes * (items + 1);
  const std::int64_t sequences = op.outer * op.inner, tile = kLanes * items;
  const std::string defines = defines_of(op, slots) + "#define ITEMS " + std::to_string(items) +
                              "\n#define X_STEP " + (op.x_step == 1 ? "1" : "x_step") + "\n";
  const auto scan_of = [&](std::string name, std::int64_t length, const Tiling& tiling, bool bottom) {
    Pass pass;
    pass.name = std::move(name);
    pass.body = "scan_tiles.inc";
    pass.defines = defines + element_of(bottom) + flag("BOTTOM", bottom) + flag("TEAMS", tiling.width > 32) +
                   flag("EXCLUSIVE", bottom && op.exclusive);
    pass.rows = sequences;
    pass.columns = tiling.width;
    pass.lanes = kLanes;
    pass.shared_words = slots * words;
    // Tiles that are read while others are scanned; with fewer registers, some are spilled.
    const bool several = tiling.rounds > 1;
    pass.defines += flag("SEVERAL", several);
    pass.least_groups = op.scan == ScanKind::LogSumExp || op.x_step != 1 || op.inner > 1 ? 2
                        : several                                                        ? 3
                                                                                         : 4;
    pass.most_rounds = tiling.rounds * (7 * items + 13);
    bind(pass, x, "x", false);
    pass.ints = {{"ends", pass.rows},       {"length", length},     {"inner", op.inner},
                 {"rounds", tiling.rounds}, {"each", tiling.each},  {"x_outer", op.x_outer},
                 {"x_step", op.x_step},     {"x_inner", op.x_inner}};
    return pass;
  };
  const Tiling whole = tiling_of(op.length, items);
  if (whole.rounds <= kFewTiles || (sequences >= kManySequences && whole.rounds <= kMostTiles)) {
    Pass pass = scan_of(whole.width > 32 ? "scan_rows" : "scan_short_rows", op.length, whole, true);
    pass.defines += flag("CHUNKED", false);
    bind(pass, result, "to", true);
    list.passes.push_back(std::move(pass));
    return;
  }
  if (device.waits) return add_waiting_passes(list, op, x, result);
  // As many chunks of a sequence as a tile has room for, or fewer.
  const std::int64_t chunk = tile * divide_up(op.length, tile * tile), chunks = divide_up(op.length, chunk);
  const auto in_workspace = [&](std::int64_t first) {
    return PassBuffer{"", op.dtype, Of::Workspace, 0, first, sequences * chunks, false};
  };
  const PassBuffer totals = in_workspace(0), scanned = in_workspace(sequences * chunks);
  list.workspace_bytes = static_cast<std::size_t>(2 * sequences * chunks) * size_of(op.dtype);

  const Tiling in_chunk{kLanes, items, chunk / tile};
  Pass add_up = scan_of("scan_totals", op.length, in_chunk, true);
  add_up.body = "scan_totals.inc";
  add_up.rows *= chunks;
  add_up.ints.insert(add_up.ints.end(), {{"chunks", chunks}, {"chunk", chunk}});
  add_up.most_rounds = 2 * chunk / kLanes + 8;
  bind(add_up, totals, "to", true);
  list.passes.push_back(std::move(add_up));

  Pass scan_totals = scan_of("scan_of_totals", chunks, tiling_of(chunks, items), false);
  scan_totals.defines += flag("CHUNKED", false);
  bind(scan_totals, totals, "from", false);
  bind(scan_totals, scanned, "to", true);
  list.passes.push_back(std::move(scan_totals));

  Pass scan_chunks = scan_of("scan_chunks", op.length, in_chunk, true);
  scan_chunks.defines += flag("CHUNKED", true);
  scan_chunks.rows *= chunks;
  scan_chunks.ints.front().second = scan_chunks.rows;
  scan_chunks.ints.insert(scan_chunks.ints.end(), {{"chunks", chunks}, {"chunk", chunk}});
  bind(scan_chunks, scanned, "before", false);
  bind(scan_chunks, result, "to", true);
  list.passes.push_back(std::move(scan_chunks));
}

/// Lanes side by side across the axis: chunks are added up, their totals are scanned likewise, and each
/// element is joined with the total of what is before its chunk.
void add_lane_passes(PassList& list, const library::ScanOp& op, const PassBuffer& x,
                     const PassBuffer& result) {
  const std::string defines = defines_of(op, 0);
  const std::int64_t columns = op.outer * op.inner;
  std::vector<std::int64_t> lengths = {op.length}, chunk;  // of each level
  for (;;) {
    const std::int64_t wanted = columns >= kManyLanes ? 1 : divide_up(2 * kManyLanes, columns);
    chunk.push_back(std::max(kChunk, divide_up(lengths.back(), wanted)));
    if (lengths.back() <= chunk.back()) break;
    lengths.push_back(divide_up(lengths.back(), chunk.back()));
  }
  const std::size_t top = lengths.size() - 1;
  // The workspace: what the chunks of each level come to, then the scans of that.
  std::int64_t used = 0;
  std::vector<PassBuffer> totals(lengths.size()), scanned(lengths.size());
  for (std::size_t k = 1; k <= top; ++k)
    for (PassBuffer* buffer : {&totals[k], &scanned[k]}) {
      *buffer = {"", op.dtype, Of::Workspace, 0, used, columns * lengths[k], false};
      used += buffer->numel;
    }
  list.workspace_bytes = static_cast<std::size_t>(used) * size_of(op.dtype);
  scanned[0] = result;

  const auto add = [&](std::size_t k, bool sums) {
    const bool bottom = k == 0, carry = !sums && k < top;
    const std::int64_t chunks = divide_up(lengths[k], chunk[k]);
    Pass pass;
    pass.name = std::string(bottom ? "scan_x" : "scan") + (sums ? "_totals" : carry ? "" : "_whole");
    pass.body = "scan.inc";
    pass.defines = defines + element_of(bottom) + flag("BOTTOM", bottom) + flag("TOTALS", sums) +
                   flag("CARRY", carry) + flag("EXCLUSIVE", bottom && op.exclusive);
    bind(pass, x, "x", false);
    if (!bottom) bind(pass, totals[k], "from", false);
    if (carry) bind(pass, scanned[k + 1], "before", false);
    bind(pass, sums ? totals[k + 1] : scanned[k], "to", true);
    pass.rows = columns * chunks;
    pass.defines += std::string("#define Count ") + (pass.rows <= kMostOfWord ? "Word\n" : "Index\n");
    pass.ints = {{"ends", pass.rows},   {"length", lengths[k]}, {"inner", op.inner},
                 {"chunks", chunks},    {"chunk", chunk[k]},    {"x_outer", op.x_outer},
                 {"x_step", op.x_step}, {"x_inner", op.x_inner}};
    pass.most_rounds = chunk[k];
    list.passes.push_back(std::move(pass));
  };
  for (std::size_t k = 0; k < top; ++k) add(k, true);
  for (std::size_t k = top + 1; k-- > 0;) add(k, false);
}

}  // namespace

std::string key_functions(DType dtype, bool nan_last) {
  if (!is_float(dtype))
    return "SN_FN Key key_of(T x) { return x; }\nSN_FN Key reversed_key_of(T x) { return ~x; }\n";
  const bool wide = dtype == DType::f64;
  const std::string most = wide ? "0x7fffffffffffffffL" : "0x7fffffff",
                    infinity = wide ? "0x7ff0000000000000L" : "0x7f800000";
  std::string text =
      "SN_FN Key key_of(T x) {\n"
      "  const Key bits = BITS(x), size = bits & " +
      most + ";\n  return size > " + infinity + " ? " + most + " : bits < Key(0) ? -size : size;\n}\n";
  return text + "SN_FN Key reversed_key_of(T x) {\n  const Key key = key_of(x);\n  return " +
         (nan_last ? "key == " + most + " ? key : " : "") + "-key;\n}\n";
}

PassList passes_of(const library::ScanOp& op, PassDevice device) {
  PassList list;
  list.dtype = op.x_dtype;
  if (op.numel() == 0) return list;
  list.functions = functions_of(op);
  const PassBuffer x{"x", op.x_dtype, Of::Operand, 0, 0, op.x_span(), false};
  const PassBuffer result{"to", op.dtype, Of::Result, 0, 0, op.numel(), true};
  if (op.inner < kLeastAcross)
    add_tile_passes(list, op, x, result, device);
  else
    add_lane_passes(list, op, x, result);
  return list;
}

}  // namespace sinter::runtime
