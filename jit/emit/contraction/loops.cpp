// Writes what lanes do to bring a factor.
#include "jit/emit/contraction/loops.h"

#include <algorithm>
#include <utility>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/walker/work.h"
#include "jit/ir/made_of.h"

namespace sinter::emit {

using ir::ExprId;

namespace {

// Bytes that a lane stores at once.
constexpr int kPieceBytes = 16, kPieces = kSlotBytes / kPieceBytes;
// That a lane may hold at once, beside what it finds them by.
constexpr int kMostValues = 64;

/// The text for one factor. Neighbouring lanes read neighbours in memory.
class ComputedFactor {
 public:
  ComputedFactor(Expressions& e, const TiledLoops& loops, bool is_a, int lanes)
      : e_(e),
        loops_(loops),
        place_(loops, e.kernel.tiling, is_a),
        factor_(place_.factor),
        lanes_(lanes),
        elements_(kPieceBytes / static_cast<int>(size_of(e.kernel.tiling.multiplied))),
        type_(is_half(e.kernel.tiling.multiplied)         ? "unsigned short"
              : ir::are_bytes(e.kernel.tiling.multiplied) ? "unsigned char"
                                                          : "float") {}

  /// That a lane holds at once.
  int values() const { return pieces() * elements_; }

  void declare() const {
    const std::string sizes = is_square()
                                  ? "[" + std::to_string(pieces() / 4) + "][4][4]"
                                  : "[" + std::to_string(pieces()) + "][" + std::to_string(elements_) + "]";
    e_.out.line(type_ + " " + part() + sizes + ";");
  }

  /// Piece by piece, where all of a slot would take more registers than there are.
  void write_pieces() const {
    e_.out.line("#pragma unroll 2");
    e_.open(e_.dialect.rounds("i", pieces()));
    e_.out.line(type_ + " " + part() + "[1][" + std::to_string(elements_) + "];");
    write_one("0");
    store_one("0");
    e_.close();
  }

  void write_values() const {
    if (is_square()) return write_squares();
    if (is_across()) return write_pieces_across();
    e_.open_unrolled("i", pieces());
    write_one("i");
    e_.close();
  }

  void write_stores() const {
    if (is_square()) {
      e_.open_unrolled("i", pieces() / 4);
      e_.out.line(where(place_.size / 4));
      e_.out.line("tc_put_square(to_" + place_.which + ", own * 4, piece, " + part() + "[i]);");
      e_.close();
      return;
    }
    e_.open_unrolled("i", pieces());
    if (is_across()) {
      e_.out.line(where_across());
      e_.out.line("tc_put_piece(to_" + place_.which + " + piece / 8 * " + std::to_string(64 * kSlotBytes) +
                  " + step * 128 + ((piece % 8 ^ step & 7) << 4), " + part() + "[i]);");
    } else {
      e_.out.line(where());
      store_one("i");
    }
    e_.close();
  }

 private:
  /// Defines `own` and `piece`, and takes piece number i into number `at` of those at hand.
  void write_one(const std::string& at) const {
    const std::string each = std::to_string(elements_);
    e_.out.line(where());
    // What is beyond the ends is read elsewhere: rows of it are not stored, and of k it counts as 0.
    e_.out.line("const int from_own = min(" + place_.start + " + own, " + place_.end + " - 1);");
    e_.out.line("const int from_k = depth + piece * " + each + ";");
    split_loops(e_, "at.z", loops_.batch);
    split_loops(e_, "from_own", place_.own);
    if (factor_.vector > 0 && is_load())
      write_vectors(at);
    else if (factor_.pieces)
      write_piece(at);
    else
      write_elements(at);
  }
  void store_one(const std::string& at) const {
    e_.out.line("tc_put_piece(to_" + place_.which + " + own * 128 + ((piece ^ own & 7) << 4), " + part() +
                "[" + at + "]);");
  }

  bool is_load() const { return e_.kernel.exprs[factor_.value].kind == ir::ExprKind::Load; }
  int pieces() const { return place_.size * kPieces / lanes_; }
  std::string part() const { return "part_" + place_.which; }

  /// Vectors lie across the sum, and pieces along it: a lane loads those of four rows (columns) together.
  bool is_square() const {
    return factor_.across && factor_.vector > 0 && !is_half(e_.kernel.tiling.multiplied);
  }
  /// Likewise of 16 bits, which the tensor cores read across the sum: as the copy engine lays them down, in
  /// boxes of 64 neighbours.
  bool is_across() const {
    return factor_.across && factor_.vector > 0 && is_half(e_.kernel.tiling.multiplied);
  }

  /// A lane's piece number i: of which step of the sum, and which of those of a slot.
  std::string where_across() const {
    const std::string number = "(int(i) * " + std::to_string(lanes_) + " + loader)",
                      row = std::to_string(place_.size / elements_);
    return "const int step = " + number + " / " + row + ", piece = " + number + " % " + row + ";";
  }

  void write_pieces_across() const {
    e_.open_unrolled("i", pieces());
    e_.out.line(where_across());
    e_.out.line("const int from_k = depth + step;");
    split_loops(e_, "at.z", loops_.batch);
    split_loops(e_, "min(from_k, size_k - 1)", loops_.depth);
    over_vectors([&](const std::string& first) {
      // What is beyond the ends is read elsewhere: rows of it are not stored, and of k it counts as 0.
      e_.out.line("const int from_own = min(" + place_.start + " + piece * " + std::to_string(elements_) +
                  " + " + first + ", " + place_.end + " - " + std::to_string(factor_.vector) + ");");
      split_loops(e_, "from_own", place_.own);
      take_vector("i", first, "from_k");
    });
    e_.close();
  }

  /// The vectors of a piece: `body` is for the one that begins at an element of it.
  template <class Body>
  void over_vectors(Body body) const {
    e_.open_unrolled("v", elements_ / factor_.vector);
    body("int(v) * " + std::to_string(factor_.vector));
    e_.close();
  }

  /// Loads the vector at the coordinates at hand to element `first` of piece `at`.
  void take_vector(const std::string& at, const std::string& first, const std::string& from) const {
    e_.out.line(e_.dialect.declare_vector(e_.kernel.exprs[factor_.value].dtype, factor_.vector, "loaded"));
    load_vector("loaded");
    e_.open_unrolled("j", factor_.vector);
    e_.out.line(part() + "[" + at + "][" + first + " + j] = " + from + " < size_k ? loaded[j] : (" + type_ +
                ")0;");
    e_.close();
  }

  void write_squares() const {
    e_.open_unrolled("i", pieces() / 4);
    e_.out.line(where(place_.size / 4));
    e_.out.line("const int from_own = min(" + place_.start + " + own * 4, " + place_.end + " - 4);");
    e_.out.line("const int from_k = depth + piece * 4;");
    split_loops(e_, "at.z", loops_.batch);
    split_loops(e_, "from_own", place_.own);
    const std::size_t last = loops_.depth.back();
    const std::string coordinate = std::exchange(e_.coordinates[last], "first");
    split_loops(e_, "min(from_k, size_k - 4)", loops_.depth);
    e_.coordinates[last] = coordinate;
    e_.open_unrolled("j", elements_);
    e_.out.line(e_.dialect.constant(e_.index_type, coordinate, "first + int(j)"));
    load_vector(part() + "[i][j]");
    e_.out.line("if (from_k >= size_k)");
    e_.out.line("  for (int r = 0; r < 4; ++r) " + part() + "[i][j][r] = 0.f;");
    e_.close();
    e_.close();
  }

  void load_vector(const std::string& to) const {
    const ir::Expr& load = e_.kernel.exprs[factor_.value];
    e_.use.in_vectors.insert(load.buffer);
    const auto take = [&] {
      e_.out.line(e_.dialect.load_vector(e_.kernel, factor_.vector, load.buffer, e_.position(load.map), to));
    };
    if (load.predicate == ir::kNone) return take();
    e_.open("");
    for (const ExprId part : ir::made_of(e_.kernel, load.predicate)) e_.define(part);
    e_.open(e_.dialect.when(e_.value(load.predicate)));
    take();
    e_.close();
    e_.open(e_.dialect.otherwise());
    e_.open_unrolled("r", factor_.vector);
    e_.out.line(to + "[r] = 0;");
    e_.close();
    e_.close();
    e_.close();
  }

  /// A lane's piece number i: of which row (column), and which of those of a slot.
  std::string where() const { return where(place_.size); }
  std::string where(int rows) const {
    const std::string number = "(int(i) * " + std::to_string(lanes_) + " + loader)";
    if (!factor_.across) return "const int own = " + number + " / 8, piece = loader % 8;";
    const std::string size = std::to_string(rows);
    return "const int own = " + number + " % " + size + ", piece = " + number + " / " + size + ";";
  }

  void write_vectors(const std::string& at) const {
    over_vectors([&](const std::string& first) {
      const std::string from = "from_k + " + first;
      split_loops(e_, "min(" + from + ", size_k - " + std::to_string(factor_.vector) + ")", loops_.depth);
      take_vector(at, first, from);
    });
  }

  /// The last loop goes on within the piece.
  void write_piece(const std::string& at) const {
    const std::size_t last = loops_.depth.back();
    const std::string coordinate = std::exchange(e_.coordinates[last], "first");
    split_loops(e_, "min(from_k, size_k - " + std::to_string(elements_) + ")", loops_.depth);
    e_.coordinates[last] = coordinate;
    e_.open_unrolled("j", elements_);
    e_.out.line(e_.dialect.constant(e_.index_type, coordinate, "first + int(j)"));
    define();
    take(at, "from_k", e_.value(factor_.value));
    e_.close();
  }

  void write_elements(const std::string& at) const {
    e_.open_unrolled("j", elements_);
    split_loops(e_, "min(from_k + int(j), size_k - 1)", loops_.depth);
    define();
    take(at, "from_k + int(j)", e_.value(factor_.value));
    e_.close();
  }

  void define() const {
    for (const ExprId id : ir::made_of(e_.kernel, factor_.value)) e_.define(id);
  }
  void take(const std::string& at, const std::string& from, const std::string& value) const {
    e_.out.line(part() + "[" + at + "][j] = " + from + " < size_k ? " + value + " : (" + type_ + ")0;");
  }

  Expressions& e_;
  const TiledLoops& loops_;
  const FactorPlace place_;
  const ir::TiledFactor& factor_;
  const int lanes_, elements_;  // that share the work; of a piece
  const std::string type_;
};

std::vector<ComputedFactor> computed_factors(Expressions& e, const TiledLoops& loops, int lanes) {
  const ir::Tiling& t = e.kernel.tiling;
  std::vector<ComputedFactor> factors;
  if (t.computes(t.a)) factors.emplace_back(e, loops, true, lanes);
  if (t.computes(t.b)) factors.emplace_back(e, loops, false, lanes);
  return factors;
}

}  // namespace

TiledLoops::TiledLoops(const ir::Kernel& kernel)
    : rows(ir::loops_of(kernel.tiling.row_loops)),
      columns(ir::loops_of(kernel.tiling.column_loops)),
      repeats(ir::loops_of(kernel.tiling.repeat_loops)) {
  const std::uint32_t of_tiles =
      kernel.tiling.row_loops | kernel.tiling.column_loops | kernel.tiling.repeat_loops;
  for (std::size_t loop = 0; loop < kernel.outer_rank; ++loop)
    if ((of_tiles >> loop & 1) == 0) batch.push_back(loop);
  for (std::size_t loop = kernel.outer_rank; loop < kernel.extents.size(); ++loop) depth.push_back(loop);
}

std::string_view next_part(std::string_view& rest) {
  constexpr std::string_view kMark = "//---\n";
  const std::size_t end = std::min(rest.find(kMark), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + kMark.size(), rest.size()));
  return part;
}

std::vector<bool> live_behind_sum(const ir::Kernel& kernel) {
  std::vector<bool> live(kernel.exprs.size());
  for (const ir::Store& store : kernel.stores) live[store.value] = true;
  for (ExprId id = static_cast<ExprId>(kernel.exprs.size()); id-- > 0;) {
    if (!live[id] || kernel.exprs[id].kind == ir::ExprKind::Reduce) continue;
    for_operands(kernel.exprs[id], [&](ExprId operand) { live[operand] = true; });
  }
  return live;
}

std::string sizes_of_loops(const Expressions& e, const TiledLoops& loops) {
  std::string text;
  const auto size = [&](const char* name, const std::vector<std::size_t>& of) {
    std::string product;
    for (const std::size_t loop : of)
      product += (product.empty() ? "int(" : " * int(") + e.integer(e.kernel.extents[loop]) + ")";
    text += "  const int " + std::string(name) + " = " + (product.empty() ? "1" : product) + ";\n";
  };
  size("size_m", loops.rows);
  size("size_n", loops.columns);
  size("size_k", loops.depth);
  size("size_batch", loops.batch);
  if (!loops.repeats.empty()) size("size_repeat", loops.repeats);
  return text;
}

std::vector<std::size_t> mapped_batch(const ir::Kernel& kernel, const TiledLoops& loops,
                                      const ir::TiledFactor& factor) {
  std::vector<std::size_t> mapped;
  const std::vector<ir::IntRef>& strides = kernel.maps[kernel.exprs[factor.value].map].steps.front().strides;
  for (std::size_t k = loops.batch.size(); k-- > 0;)
    if (!strides[loops.batch[k]].is_zero()) mapped.push_back(loops.batch[k]);
  return mapped;
}

void split_loops(Expressions& e, const std::string& from, const std::vector<std::size_t>& loops) {
  if (loops.empty()) return;
  if (loops.size() == 1) {
    e.out.line(e.dialect.constant(e.index_type, e.coordinates[loops.front()], e.index(from)));
    return;
  }
  const std::string rest = "t" + std::to_string(loops.front());
  e.out.line(e.dialect.variable(e.flat_type, rest, e.flat(from)));
  for (std::size_t k = loops.size(); k-- > 1;)
    e.split_off(rest, e.kernel.extents[loops[k]], e.coordinates[loops[k]], true, loops[k]);
  e.out.line(e.dialect.constant(e.index_type, e.coordinates[loops.front()], e.index(rest)));
}

void write_computed_factors(Expressions& e, const TiledLoops& loops) {
  const std::vector<ComputedFactor> factors = computed_factors(e, loops, kWarpgroup);
  int values = 0;
  for (const ComputedFactor& factor : factors) values += factor.values();
  e.open("");
  if (ir::are_bytes(e.kernel.tiling.multiplied)) {
    for (const ComputedFactor& factor : factors) factor.write_pieces();
  } else if (values <= kMostValues) {
    // All loads are under way before the first value is used.
    for (const ComputedFactor& factor : factors) factor.declare(), factor.write_values();
    for (const ComputedFactor& factor : factors) factor.write_stores();
  } else {
    for (const ComputedFactor& factor : factors) {
      factor.declare();
      factor.write_values();
      factor.write_stores();
    }
  }
  e.close();
}

void declare_computed_values(Expressions& e, const TiledLoops& loops, int lanes) {
  for (const ComputedFactor& factor : computed_factors(e, loops, lanes)) factor.declare();
}

void write_computed_values(Expressions& e, const TiledLoops& loops, int lanes) {
  for (const ComputedFactor& factor : computed_factors(e, loops, lanes)) factor.write_values();
}

void write_computed_stores(Expressions& e, const TiledLoops& loops, int lanes) {
  for (const ComputedFactor& factor : computed_factors(e, loops, lanes)) factor.write_stores();
}

}  // namespace sinter::emit
