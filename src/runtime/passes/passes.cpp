// Which passes the halves of a scatter have.
#include "src/runtime/passes/passes.h"

#include <algorithm>
#include <bit>

#include "kernels/embedded.h"

namespace sinter::runtime {
namespace {

using Of = PassBuffer::Of;

// Terms that are added in one go. A longer segment is added part by part; with as many parts as terms in
// each, no lane has a long loop.
constexpr std::int64_t kLeastChunk = 64;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t chunk_of(std::int64_t count) {
  std::int64_t chunk = kLeastChunk;
  while (chunk * chunk < count) chunk *= 2;
  return chunk;
}

using library::SegmentReduction;

/// What a term comes to with those before it, of which there are none for the first one. Sums begin with 0,
/// which makes -0 of a segment 0.
std::string join_of(SegmentReduction reduction) {
  switch (reduction) {
    case SegmentReduction::Sum: return "#define JOIN(first, sum, x) (sum + (x))\n";
    case SegmentReduction::Prod: return "#define JOIN(first, sum, x) (first ? (x) : sum * (x))\n";
    case SegmentReduction::Max: return "#define JOIN(first, sum, x) (first ? (x) : greater_of(sum, x))\n";
    case SegmentReduction::Min: break;
  }
  return "#define JOIN(first, sum, x) (first ? (x) : lesser_of(sum, x))\n";
}

std::string functions_of(SegmentReduction reduction, DType dtype) {
  if (reduction == SegmentReduction::Sum || reduction == SegmentReduction::Prod) return "";
  const std::string nan = is_float(dtype) ? " || sn_is_nan_" + std::string(name_of(dtype)) + "(b)" : "";
  return reduction == SegmentReduction::Max
             ? "SN_FN T greater_of(T a, T b) { return b > a" + nan + " ? b : a; }\n"
             : "SN_FN T lesser_of(T a, T b) { return b < a" + nan + " ? b : a; }\n";
}

}  // namespace

int Pass::width_bits() const {
  const auto wanted = static_cast<std::uint64_t>(std::clamp<std::int64_t>(columns, 1, lanes));
  return std::bit_width(wanted - 1);
}

std::int64_t Pass::tiles() const { return divide_up(columns, (std::int64_t{1} << width_bits()) * kColumns); }

std::int64_t Pass::groups() const { return divide_up(rows, lanes >> width_bits()) * tiles(); }

Pass over_all(const std::string& name, const std::string& body, PassBuffer buffer) {
  Pass pass;
  const std::int64_t each = std::int64_t{pass.lanes} * 4;  // of a workgroup
  pass.name = name;
  pass.body = body;
  pass.rows = divide_up(buffer.numel, each) * pass.lanes;
  pass.ints = {{"ends", buffer.numel}};
  buffer.name = "shown";
  buffer.written = true;
  pass.buffers = {std::move(buffer)};
  return pass;
}

Pass fill(PassBuffer buffer, const std::string& number) {
  Pass pass = over_all("fill", "fill.inc", std::move(buffer));
  pass.defines = "#define FILLED " + number + "\n";
  return pass;
}

Pass fill_zeros(PassBuffer buffer) {
  Pass pass = fill(std::move(buffer), "0");
  pass.name = "fill_zeros";
  return pass;
}

Pass numbers_of_keys(PassBuffer keys, const std::string& function) {
  keys.shared = true;  // read as well
  Pass pass = over_all("numbers_of_keys", "numbers_of_keys.inc", std::move(keys));
  pass.defines = "#define NUMBER_OF " + function + "\n";
  return pass;
}

PassList passes_of(const library::SegmentSumOp& op) {
  PassList list;
  list.dtype = op.dtype;
  const std::int64_t chunk = chunk_of(op.count), chunks = divide_up(op.count, chunk);
  const PassBuffer values{"values", op.dtype, Of::Operand, 0, 0, op.count * op.columns, false};
  const PassBuffer sorted{"sorted", DType::i32, Of::Operand, 1, 0, op.lists(), false};
  PassBuffer parts{"parts", op.dtype, Of::Workspace, 0, 0, chunks * op.columns, true};
  list.functions = functions_of(op.reduction, op.dtype);
  const auto pass = [&](const char* name, const std::string& defines, const char* to, std::int64_t ends) {
    return Pass{
        name,
        "segment_sums.inc",
        join_of(op.reduction) + defines + "#define TO " + to + "\n",
        {values, sorted},
        ends,
        op.columns,
        {{"count", op.count}, {"columns", op.columns}, {"rows", op.rows}, {"chunk", chunk}, {"ends", ends}},
        (chunk + chunks + 16) * (Pass::kColumns + 1)};
  };
  const bool has_parts = chunks > 1;
  if (has_parts) {
    list.workspace_bytes = static_cast<std::size_t>(parts.numel) * size_of(op.dtype);
    list.passes.push_back(pass("chunk_sums", "#define CHUNKS 1\n#define PARTS 0\n", "parts", chunks));
    list.passes.back().buffers.push_back(parts);
  }
  list.passes.push_back(pass("segment_sums",
                             std::string("#define CHUNKS 0\n#define PARTS ") + (has_parts ? "1" : "0") +
                                 "\n#define DENSE " + (op.dense ? "1" : "0") + "\n",
                             "sums", op.results()));
  if (has_parts) {
    parts.written = false;
    list.passes.back().buffers.push_back(parts);
  }
  list.passes.back().buffers.push_back({"sums", op.dtype, Of::Result, 0, 0, op.results() * op.columns, true});
  return list;
}

PassList passes_of(const library::IndexedSumOp& op) {
  // Lanes of a workgroup; indices that are looked at in one go, and notes of some that are added up in one
  // go.
  constexpr std::int64_t kLanes = 256, kBatch = 1024, kChunk = 512, kAhead = 4;
  const library::IndexedSumTile tile = library::tile_of_sum(op.dtype, op.columns);
  const std::int64_t words = static_cast<std::int64_t>(size_of(op.dtype)) / 4, width = tile.columns / 2,
                     hands = kLanes / width;
  const std::int64_t row_tiles = divide_up(op.rows, tile.rows),
                     column_tiles = divide_up(op.columns, tile.columns);
  PassList list;
  list.dtype = op.dtype;
  Pass pass;
  pass.name = "indexed_sums";
  pass.body = "indexed_sums.inc";
  for (const auto& [name, value] : {std::pair("WORDS", words),
                                    {"ROWS", tile.rows},
                                    {"WIDTH", width},
                                    {"BATCH", kBatch},
                                    {"CHUNK", kChunk},
                                    {"AHEAD", kAhead}})
    pass.defines += std::string("#define ") + name + " " + std::to_string(value) + "\n";
  pass.buffers = {{"values", op.dtype, Of::Operand, 0, 0, op.count * op.columns, false},
                  {"row_of", DType::i32, Of::Operand, 1, 0, op.count, false},
                  {"sums", op.dtype, Of::Result, 0, 0, op.stretches * op.rows * op.columns, true}};
  pass.lanes = kLanes;
  pass.rows = op.stretches * row_tiles * column_tiles * kLanes;
  pass.least_groups = words == 1 ? 4 : 2;  // each waits for memory most of the time
  pass.shared_words =
      static_cast<int>(2 * (kBatch / 32 + kBatch / kLanes) + kChunk + kBatch + tile.rows * (kChunk / 32 + 1) +
                       kChunk + (tile.rows + hands) * tile.columns * words + hands);
  pass.ints = {{"count", op.count},      {"columns", op.columns},        {"rows", op.rows},
               {"row_tiles", row_tiles}, {"column_tiles", column_tiles}, {"stretch", op.stretch()}};
  pass.most_rounds = divide_up(op.stretch(), kBatch) * 512;
  list.passes.push_back(std::move(pass));
  return list;
}

std::string body_text(const std::string& file) {
  constexpr std::string_view kInclude = "#include \"";
  std::string text(kernels::source(file));
  for (std::size_t at = 0; (at = text.find(kInclude, at)) != std::string::npos;) {
    const std::size_t begin = at + kInclude.size(), end = text.find('"', begin);
    text.replace(at, end + 1 - at, body_text(text.substr(begin, end - begin)));
  }
  return text;
}

LibraryTable<PassList(const library::LibraryOp&, PassDevice)>& pass_table() {
  // Never destroyed: devices may outlive static objects.
  static auto* table = new LibraryTable<PassList(const library::LibraryOp&, PassDevice)>{
      {&library::sort_indices(),
       [](const library::LibraryOp& op, PassDevice) {
         return passes_of(library::as<library::SortIndicesOp>(op));
       }},
      {&library::segment_sum(), [](const library::LibraryOp& op,
                                   PassDevice) { return passes_of(library::as<library::SegmentSumOp>(op)); }},
      {&library::indexed_sum(), [](const library::LibraryOp& op,
                                   PassDevice) { return passes_of(library::as<library::IndexedSumOp>(op)); }},
      {&library::indexed_join(),
       [](const library::LibraryOp& op, PassDevice device) {
         return passes_of(library::as<library::IndexedJoinOp>(op), device);
       }},
      {&library::sort(),
       [](const library::LibraryOp& op, PassDevice device) {
         return passes_of(library::as<library::SortOp>(op), device);
       }},
      {&library::sort_with_values(),
       [](const library::LibraryOp& op, PassDevice device) {
         return passes_of(library::as<library::SortOp>(op), device);
       }},
      {&library::search_sorted(),
       [](const library::LibraryOp& op, PassDevice) {
         return passes_of(library::as<library::SearchSortedOp>(op));
       }},
  };
  [[maybe_unused]] static const bool more = [] {
    for (const library::Counting counting : library::kCountings)
      table->add(library::counting(counting), [](const library::LibraryOp& op, PassDevice) {
        return passes_of(library::as<library::CountingOp>(op));
      });
    for (const auto transform :
         {library::Fourier::Complex, library::Fourier::FromReal, library::Fourier::ToReal})
      table->add(library::fourier(transform), [](const library::LibraryOp& op, PassDevice device) {
        return passes_of(library::as<library::FourierOp>(op), device);
      });
    for (std::size_t kind = 0; kind < library::kScanKinds; ++kind)
      table->add(library::scan(static_cast<library::ScanKind>(kind)),
                 [](const library::LibraryOp& op, PassDevice device) {
                   return passes_of(library::as<library::ScanOp>(op), device);
                 });
    return true;
  }();
  return *table;
}

}  // namespace sinter::runtime
