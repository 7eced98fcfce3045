// Writes what differs from contraction to contraction, and counts tiles.
#include "jit/emit/contraction/contraction.h"

#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/vectors.h"
#include "kernels/embedded.h"

namespace sinter::emit {

using ir::ExprId;
using ir::ExprKind;

namespace {

// Rows of a warpgroup's instruction, bytes of k in a slot, lanes of a warpgroup.
constexpr int kRows = 64, kSlotBytes = 128, kWarpgroup = 128;
// Neighbours of a row that a lane finishes together.
constexpr int kNeighbours = 8;
// Rows that are done together, so that their factors are still in the second-level cache.
constexpr int kBandRows = 2048;
constexpr std::size_t kBarriers = 1024 + 256;  // with what the slots are aligned by
constexpr std::size_t kStaging = 4 * 4096;     // where a warpgroup's lanes exchange results
constexpr int kRegisters = 65536;              // of a compute unit

/// The loops of rows, columns and the sum.
struct Loops {
  explicit Loops(const ir::Kernel& k) : row(k.outer_rank - 2u), column(row + 1), depth(column + 1) {}
  std::size_t row, column, depth;
};

int consumers(const ir::Tiling& t) { return t.turns ? 2 : t.rows / kRows; }
int lanes(const ir::Tiling& t) { return (consumers(t) + 1) * kWarpgroup; }

std::size_t shared_bytes(const ir::Tiling& t) {
  return std::size_t{t.slots} * (t.rows + t.columns) * kSlotBytes +
         static_cast<std::size_t>(consumers(t)) * kStaging + kBarriers;
}

std::int64_t value_of(ir::IntRef ref, std::span<const std::int64_t> ints) {
  if (ref.is_zero()) return 0;
  return ref.is_one() ? 1 : ints[ref.index];
}

std::string define(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}
std::string define(const std::string& name, int value) { return define(name, std::to_string(value)); }

/// Of a factor the loops that its tensor map has dims for, beyond the two of the matrix: those of the batch.
std::vector<std::size_t> batch_loops(const ir::Kernel& kernel, ExprId load) {
  std::vector<std::size_t> loops;
  const std::vector<ir::IntRef>& strides = kernel.maps[kernel.exprs[load].map].steps.front().strides;
  for (std::size_t loop = Loops(kernel).row; loop-- > 0;)
    if (!strides[loop].is_zero()) loops.push_back(loop);
  return loops;
}

class Contraction {
 public:
  Contraction(const ir::Kernel& kernel, const Target& target)
      : k_(kernel),
        t_(kernel.tiling),
        loops_(kernel),
        e_(kernel, target),
        live_(live_of(kernel)),
        sums_(e_, ir::Schedule::Pointwise, live_),
        vectors_(e_, sums_, ir::Schedule::Pointwise, live_) {}

  Source write() {
    e_.out = Writer();  // what `vectors_` has said of vectors, the tiling knows
    e_.dialect.add_functions(e_.target, e_.functions);
    for (int depth = 0; depth < 4; ++depth) e_.out.indent();
    write_finish();
    const std::string finish = e_.out.text();
    const std::array<std::string_view, 3> parts = parts_of_template();
    Source result;
    result.entry = e_.dialect.entry;
    result.text = e_.dialect.preamble(k_, e_.target) + functions_for(finish, e_.dialect, e_.functions) +
                  definitions() + multiply() + std::string(parts[0]) + head() + std::string(parts[1]) +
                  finish + std::string(parts[2]) + "}\n";
    return result;
  }

 private:
  /// What is computed for each element of a finished tile: all that the sum has come into, and what it meets.
  static std::vector<bool> live_of(const ir::Kernel& kernel) {
    std::vector<bool> live(kernel.exprs.size());
    for (const ir::Store& store : kernel.stores) live[store.value] = true;
    for (ExprId id = static_cast<ExprId>(kernel.exprs.size()); id-- > 0;) {
      if (!live[id] || kernel.exprs[id].kind == ExprKind::Reduce) continue;
      for_operands(kernel.exprs[id], [&](ExprId operand) { live[operand] = true; });
    }
    return live;
  }

  static std::array<std::string_view, 3> parts_of_template() {
    constexpr std::string_view kMark = "//---\n";
    std::string_view rest = kernels::source("contraction_sm90.cu");
    std::array<std::string_view, 3> parts;
    for (std::string_view& part : parts) {
      const std::size_t end = std::min(rest.find(kMark), rest.size());
      part = rest.substr(0, end);
      rest.remove_prefix(std::min(end + kMark.size(), rest.size()));
    }
    return parts;
  }

  // ---- what stands before the template

  std::string definitions() const {
    const int workgroup = lanes(t_), count = consumers(t_);
    const std::string turns = t_.turns ? "1" : "0";
    std::string text;
    text += define("SN_BM", t_.rows) + define("SN_BN", t_.columns) + define("SN_STAGES", t_.slots) +
            define("SN_CONSUMERS", count) + define("SN_TAKE_TURNS", turns) +
            define("SN_A_ACROSS", t_.a_across ? 1 : 0) + define("SN_B_ACROSS", t_.b_across ? 1 : 0) +
            define("SN_BAND", std::max(1, kBandRows / t_.rows)) + define("SN_TOGETHER", together()) +
            define("SN_LOAD_A", load(t_.a, t_.a_across, "a", loops_.row, t_.rows)) +
            define("SN_LOAD_B", load(t_.b, t_.b_across, "b", loops_.column, t_.columns));
    // The lanes that load hand their registers to those that multiply.
    const int each = std::min(255, kRegisters / (workgroup * t_.workgroups)) / 8 * 8;
    const int fewer = t_.workgroups > 1 ? 24 : count == 2 ? 40 : 32;
    const int more = std::min(232, (each * workgroup - fewer * kWarpgroup) / (kWarpgroup * count) / 8 * 8);
    const auto set = [](const char* change, int registers) {
      return "asm volatile(\"setmaxnreg." + std::string(change) + ".sync.aligned.u32 " +
             std::to_string(registers) + ";\")";
    };
    text += define("SN_FEWER_REGISTERS", set("dec", fewer)) + define("SN_MORE_REGISTERS", set("inc", more));
    return text;
  }

  /// Brings a factor's part of a slot: rows of k, or across them a box for each 64 neighbours.
  std::string load(ExprId id, bool across, const std::string& which, std::size_t own, int size) const {
    const std::string place = own == loops_.row ? "at.m" : "at.n";
    const std::vector<std::size_t> batch = batch_loops(k_, id);
    const std::string call = "tc_load_" + std::to_string(2 + batch.size()) + "d(to_" + which;
    std::string coordinates;
    for (const std::size_t loop : batch) coordinates += ", " + coordinate(loop);
    if (!across) return call + ", t_" + which + ", arrived, depth, " + place + coordinates + ")";
    std::string text;
    for (int from = 0; from < size; from += kRows)
      text += (from ? "; " : "") + call + " + " + std::to_string(from * kSlotBytes) + ", t_" + which +
              ", arrived, " + place + " + " + std::to_string(from) + ", depth" + coordinates + ")";
    return text;
  }

  /// Of a loop of the batch, from the number at.z of all of them.
  std::string coordinate(std::size_t loop) const {
    std::string text = "at.z";
    for (std::size_t after = loops_.row; after-- > loop + 1;)
      text = "(" + text + " / int(" + e_.integer(k_.extents[after]) + "))";
    return loop == 0 ? text : text + " % int(" + e_.integer(k_.extents[loop]) + ")";
  }

  std::string multiply() const {
    const int sums = t_.columns / 2;
    const std::string dtype(name_of(k_.exprs[t_.a].dtype));
    std::string registers, outputs;
    for (int i = 0; i < sums; ++i) {
      registers += (i ? ", %" : "%") + std::to_string(i);
      outputs += (i ? ", \"+f\"(d[" : "\"+f\"(d[") + std::to_string(i) + "])";
    }
    const auto operand = [&](int after) { return "%" + std::to_string(sums + after); };
    return "SN_FN void tc_multiply(float (&d)[" + std::to_string(sums) + "], u64 a, u64 b, int more) {\n" +
           "  asm volatile(\"{\\n\\t.reg .pred p;\\n\\tsetp.ne.b32 p, " + operand(2) + ", 0;\\n\\t\"\n" +
           "      \"wgmma.mma_async.sync.aligned.m64n" + std::to_string(t_.columns) + "k16.f32." + dtype +
           "." + dtype + " {" + registers + "}, " + operand(0) + ", " + operand(1) + ", p, 1, 1, " +
           (t_.a_across ? "1, " : "0, ") + (t_.b_across ? "1" : "0") + ";\\n\\t}\"\n      : " + outputs +
           " : \"l\"(a), \"l\"(b), \"r\"(more));\n}\n";
  }

  std::string head() const {
    std::string text = e_.dialect.open(k_, e_.target, e_.use);
    const auto size = [&](const char* name, const std::string& value) {
      text += "  const int " + std::string(name) + " = " + value + ";\n";
    };
    const auto extent = [&](std::size_t loop) { return "int(" + e_.integer(k_.extents[loop]) + ")"; };
    std::string batches = "1";
    for (std::size_t loop = 0; loop < loops_.row; ++loop) batches += " * " + extent(loop);
    size("size_m", extent(loops_.row));
    size("size_n", extent(loops_.column));
    size("size_k", extent(loops_.depth));
    size("size_batch", batches);
    return text;
  }

  // ---- what becomes of a finished tile

  /// How many rows, so that what they meet is loaded together.
  int together() const { return t_.workgroups > 1 ? 1 : 2; }

  /// kNeighbours results of each of together() rows, 4 rows apart: what the lanes of a warp have exchanged.
  void write_finish() {
    InnerWork work;
    for (ExprId id = 0; id < k_.exprs.size(); ++id)
      if (live_[id] && id != t_.sum) work.values.push_back(id);
    for (const ir::Store& store : k_.stores) work.stores.push_back(&store);
    const bool in_vectors = t_.vectors && vectors_.any();
    const int width = in_vectors ? e_.width : 1, count = together() * kNeighbours / width;
    HeldRows rows;
    rows.held = {t_.sum};
    std::vector<ExprId> loads;
    for (ExprId id : work.values)
      if (in_vectors && vectors_.is_load(id)) loads.push_back(id);
    rows.held.insert(rows.held.end(), loads.begin(), loads.end());
    for (std::size_t slot = 0; slot < rows.held.size(); ++slot) rows.slots.push_back(slot);

    const std::string sums = rows.name(t_.sum), each = std::to_string(kNeighbours / width);
    e_.out.line("float " + sums + "[" + std::to_string(count) + "][" + std::to_string(width) + "];");
    e_.open_unrolled("p", together());
    e_.out.line("tc_get(stage, turn + p * 4, " + sums + "[p * " + each + "]);");
    e_.close();
    if (loops_.row > 0) e_.split("at.z", 0, loops_.row);
    // All loads are under way before the first is used.
    for (ExprId id : loads)
      e_.out.line(e_.dialect.declare_vector(k_.exprs[id].dtype, width, rows.name(id), count));
    if (!loads.empty()) {
      open_columns(count, width);
      for (ExprId id : loads) e_.out.line(vectors_.load(id, "y", rows.name(id) + "[i]"));
      close_columns();
    }
    open_columns(count, width);
    if (in_vectors) {
      vectors_.write_points(work, "y", rows, {t_.sum}, loads);
    } else {
      e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loops_.column], "y"));
      e_.out.line(e_.dialect.exact(DType::f32, e_.value(t_.sum), sums + "[i][0]"));
      for (ExprId id : work.values) e_.define(id);
      for (const ir::Store* store : work.stores) e_.store(*store);
    }
    close_columns();
  }

  /// A loop over the vectors that a lane finishes together; `y` is the first column of each.
  void open_columns(int count, int width) {
    e_.open_unrolled("i", count);
    const std::string each = std::to_string(kNeighbours / width);
    e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loops_.row],
                                    e_.index("row + turn + int(i) / " + each + " * 4")));
    e_.out.line(e_.dialect.constant(e_.index_type, "y",
                                    e_.index("column + int(i) % " + each + " * " + std::to_string(width))));
    e_.open(e_.dialect.when(e_.coordinates[loops_.row] + " < size_m && y < size_n"));
  }
  void close_columns() {
    e_.close();
    e_.close();
  }

  const ir::Kernel& k_;
  const ir::Tiling& t_;
  const Loops loops_;
  Expressions e_;
  const std::vector<bool> live_;
  Accumulators sums_;
  Vectors vectors_;
};

}  // namespace

bool has_tiles(const ir::Kernel& kernel, const Target& target) {
  return kernel.tiling.any() && target.tensor_units > 0;
}

int contraction_lanes(const ir::Kernel& kernel) { return lanes(kernel.tiling); }

std::size_t contraction_shared_bytes(const ir::Kernel& kernel) { return shared_bytes(kernel.tiling); }

Source emit_contraction(const ir::Kernel& kernel, const Target& target) {
  return Contraction(kernel, target).write();
}

Geometry contraction_geometry(const ir::Kernel& kernel, const Target& target,
                              std::span<const std::int64_t> ints) {
  const ir::Tiling& t = kernel.tiling;
  const Loops loops(kernel);
  const auto extent = [&](std::size_t loop) { return ints[kernel.extents[loop].index]; };
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  constexpr double kMostTiles = 1 << 30;
  const std::int64_t in_rows = divide_up(extent(loops.row), t.rows),
                     in_columns = divide_up(extent(loops.column), t.columns);
  double count = static_cast<double>(in_rows) * static_cast<double>(in_columns);
  for (std::size_t loop = 0; loop < loops.row; ++loop) count *= static_cast<double>(extent(loop));
  if (count > kMostTiles)
    throw DeviceError("[launch] a product of " + std::to_string(extent(loops.row)) + " x " +
                      std::to_string(extent(loops.column)) + " results in " + std::to_string(t.rows) + " x " +
                      std::to_string(t.columns) + " tiles, of which there are more than a launch counts");
  const auto tiles = static_cast<std::int64_t>(count);
  Geometry shape;
  shape.lanes = static_cast<std::uint32_t>(lanes(t));
  shape.shared_bytes = static_cast<std::uint32_t>(shared_bytes(t));
  const std::int64_t at_once = std::int64_t{target.tensor_units} * t.workgroups;
  const std::int64_t parts =
      ir::tiles_in_parts(tiles, divide_up(extent(loops.depth), kSlotBytes / 2), at_once);
  shape.workgroups = static_cast<std::uint32_t>(std::min(tiles * parts, at_once));
  if (parts > 1) shape.cut = static_cast<std::uint32_t>(tiles);
  return shape;
}

std::size_t contraction_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape) {
  // Each workgroup leaves two parts at most, that of its first tile and that of its last.
  const std::size_t part = std::size_t{kernel.tiling.rows} * kernel.tiling.columns * sizeof(float);
  return shape.cut > 0 ? 2 * part * shape.workgroups : 0;
}

std::array<TensorMap, 2> tensor_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  const ir::Tiling& t = kernel.tiling;
  const Loops loops(kernel);
  const auto map_of = [&](ExprId id, bool across, std::size_t own, int size) {
    const ir::Expr& load = kernel.exprs[id];
    const ir::MapStep& step = kernel.maps[load.map].steps.front();
    const auto bytes = static_cast<std::int64_t>(size_of(load.dtype));
    TensorMap map;
    map.buffer = load.buffer;
    map.dtype = load.dtype;
    map.offset_bytes = value_of(step.offset, ints) * bytes;
    const auto dim = [&](std::size_t loop, std::uint32_t box) {
      map.sizes.push_back(static_cast<std::uint64_t>(value_of(kernel.extents[loop], ints)));
      map.strides.push_back(static_cast<std::uint64_t>(value_of(step.strides[loop], ints) * bytes));
      map.box.push_back(box);
    };
    const auto along = static_cast<std::uint32_t>(kSlotBytes / bytes);
    if (across) {
      dim(own, along);
      dim(loops.depth, along);
    } else {
      dim(loops.depth, along);
      dim(own, static_cast<std::uint32_t>(size));
    }
    map.strides.erase(map.strides.begin());
    for (const std::size_t loop : batch_loops(kernel, id)) dim(loop, 1);
    return map;
  };
  return {map_of(t.a, t.a_across, loops.row, t.rows), map_of(t.b, t.b_across, loops.column, t.columns)};
}

}  // namespace sinter::emit
