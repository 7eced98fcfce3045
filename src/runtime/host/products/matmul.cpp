// Divides a matrix product into tiles. Who multiplies a tile packs its rows of A: lines that another core has
// written come slowly. B is packed once where several tiles share columns, otherwise panel by panel where it
// is used.
#include "src/runtime/host/products/matmul.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "src/runtime/host/products/gemm.h"
#include "src/runtime/host/products/gemm_fours.h"
#include "src/runtime/host/products/gemm_pairs.h"

namespace sinter::runtime::host {
namespace {

constexpr std::int64_t kPackedElements = std::int64_t{4} << 20;  // of B, packed at a time
// Of B in a range of k, unless its rows are longer: they are in the caches when they are multiplied.
constexpr std::int64_t kRangeElements = std::int64_t{1} << 20;
/// Where A's neighbours in memory are rows, panels of a tile share cache lines: so many steps along k are
/// packed for all panels before the next.
constexpr std::int64_t kStepsTogether = 16;
constexpr double kWorthSharing = 1e6;  // floating-point operations
/// The largest tile, in panels: its rows of A, of a block along k, fit in a second-level cache.
constexpr std::int64_t kMostRowBytes = 240 << 10, kMostColumnPanels = 32;
/// Cycles for each element along k, beside those of multiplying: a panel of A is packed, a panel of B comes
/// to the first-level cache. And those of beginning a tile.
constexpr double kPackRows = 4, kBringColumns = 4, kStart = 2000;
/// Of a tile, that one thread is expected to be later than others.
constexpr double kUneven = 0.1;

/// Neighbours along k that are packed into one element.
template <class P>
constexpr int kJoined = std::is_same_v<P, Int8Four>       ? 4
                        : std::is_same_v<P, Bfloat16Pair> ? 2
                                                          : 1;

/// What panels of B are as wide as.
template <class T>
std::int64_t columns_of() {
  if constexpr (std::is_same_v<T, std::int32_t>)
    return panel_columns<float>();
  else
    return panel_columns<T>();
}

/// An operand of a product that is packed into elements of T: of T, or of fewer bits, which are widened or
/// joined when they are packed.
template <class T>
struct Factor {
  const std::byte* data;
  DType dtype;
  FourSide side;

  bool is_converted() const {
    if constexpr ((kJoined<T>) > 1)
      return true;
    else
      return dtype != dtype_of<T>;
  }
  const T* plain() const { return reinterpret_cast<const T*>(data); }
  Factor from(std::int64_t element) const {
    return {data + element * static_cast<std::int64_t>(size_of(dtype)), dtype, side};
  }
  /// As pack_panel.
  void pack(T* to, std::int64_t lane_stride, std::int64_t k_stride, std::int64_t lanes, std::int64_t width,
            std::int64_t k) const {
    if constexpr (std::is_same_v<T, float>) {
      if (dtype == DType::bf16)
        return pack_panel(to, reinterpret_cast<const bfloat16*>(data), lane_stride, k_stride, lanes, width,
                          k);
      if (dtype == DType::f16)
        return pack_panel(to, reinterpret_cast<const float16*>(data), lane_stride, k_stride, lanes, width, k);
      if (dtype == DType::i8)
        return pack_panel(to, reinterpret_cast<const std::int8_t*>(data), lane_stride, k_stride, lanes, width,
                          k);
    }
    if constexpr (std::is_same_v<T, Bfloat16Pair>) {
      if (dtype == DType::f32)
        pack_panel(to, reinterpret_cast<const float*>(data), lane_stride, k_stride, lanes, width, k);
      else
        pack_panel(to, reinterpret_cast<const bfloat16*>(data), lane_stride, k_stride, lanes, width, k);
    } else if constexpr (std::is_same_v<T, Int8Four>)
      pack_panel(to, reinterpret_cast<const std::int8_t*>(data), lane_stride, k_stride, lanes, width, k,
                 side);
    else
      pack_panel(to, plain(), lane_stride, k_stride, lanes, width, k);
  }
};

/// True iff the product is one of pairs of bf16, of a factor that is not stored as such.
bool rounds(const library::MatMulOp& op) {
  const auto is = [&](std::size_t k, DType dtype) { return op.stored_dtype(k) == dtype; };
  return (is(0, DType::f32) || is(1, DType::f32)) && (is(0, DType::f32) || is(0, DType::bf16)) &&
         (is(1, DType::f32) || is(1, DType::bf16)) && op.precision == MatmulPrecision::Medium;
}

/// The op with so many neighbours along k in the place of an element.
library::MatMulOp joined(library::MatMulOp op, int neighbours) {
  op.k /= neighbours;
  op.a_column *= neighbours;
  op.b_row *= neighbours;
  return op;
}

/// Sums of T over packed elements of P: T itself, or several numbers of fewer bits. Sums of i32 are stored as
/// f32, which are of the same size.
template <class T, class P>
class MatMulProgram final : public ProductProgram {
 public:
  explicit MatMulProgram(const library::MatMulOp& op)
      : whole_(op), op_(joined(op, kJoined<P>)), panels_(row_panels(op.m)), columns_(columns_of<T>()) {
    for (std::int64_t row = 0; std::int64_t rows : panels_) {
      rows_before_.push_back(row);
      row += rows;
    }
    // Even blocks. They follow from k alone, and with them how sums are rounded.
    const std::int64_t blocks = std::max<std::int64_t>((op_.k + kPanelDepth - 1) / kPanelDepth, 1);
    block_ = std::max<std::int64_t>((op_.k + blocks - 1) / blocks, 1);
    work_ = 2.0 * static_cast<double>(op_.m) * static_cast<double>(op_.n) * static_cast<double>(op_.k);
    choose_tiles(1);
    choose_ranges();
  }

  void use_threads(std::size_t most) override {
    ProductProgram::use_threads(most);
    choose_tiles(static_cast<std::int64_t>(most));
    choose_ranges();
  }

  std::string describe() const override {
    return whole_.describe() + " by a kernel of the host" +
           (kJoined<P> == 4                     ? ", in fours"
            : kJoined<P> == 2 && rounds(whole_) ? ", in pairs rounded to bf16"
            : kJoined<P> == 2                   ? ", in pairs"
                                                : "");
  }
  std::size_t held_bytes() const override { return sizeof *this; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    if (op_.batch == 0 || op_.m == 0 || op_.n == 0 || op_.k == 0) return 0;
    return whole_units(packed_bytes()) + this->threads(most_tiles()) * whole_units(own_bytes());
  }

  void compute(Workers& workers, const ProductData& data) override {
    const Factor<P> a{data[0], op_.stored_dtype(0), FourSide::First},
        b{data[1], op_.stored_dtype(1), FourSide::Second};
    T* const c = reinterpret_cast<T*>(data[2]);
    if (op_.batch == 0 || op_.m == 0 || op_.n == 0) return;
    if (op_.k == 0) {
      std::fill_n(c, op_.batch * op_.m * op_.n, T{0});
      return;
    }
    const std::int64_t depth = depth_, batches = batches_;
    P* const packed = reinterpret_cast<P*>(workers.take(packed_bytes()));
    const Workers::PerThread own = workers.take_each(workers.threads(most_tiles()), own_bytes());
    for (std::int64_t first = 0; first < op_.batch; first += batches) {
      const std::int64_t count = std::min(batches, op_.batch - first);
      for (std::int64_t k = 0; k < op_.k; k += depth)
        run_k_range(workers, packed, own, a.from(first * op_.a_batch + k * op_.a_column),
                    b.from(first * op_.b_batch + k * op_.b_row), c + first * op_.m * op_.n, count,
                    std::min(depth, op_.k - k), k > 0, k + depth >= op_.k);
    }
  }

 private:
  /// Chooses tiles of whole panels: those with which the last thread is expected to be done first. Sums do
  /// not depend on them.
  void choose_tiles(std::int64_t threads) {
    const std::int64_t m_panels = std::max<std::int64_t>(static_cast<std::int64_t>(panels_.size()), 1);
    const std::int64_t n_panels = std::max<std::int64_t>(panels_of_b(), 1);
    const auto even = [](std::int64_t whole, std::int64_t each) {
      const std::int64_t parts = (whole + each - 1) / each;
      return (whole + parts - 1) / parts;
    };
    constexpr std::int64_t most_panels = kMostRowBytes / (kPanelDepth * kPanelRows * sizeof(P));
    if (!is_shared(op_.batch)) threads = 1;
    double best = std::numeric_limits<double>::infinity();
    for (std::int64_t m = std::min(m_panels, most_panels); m >= 1; --m) {
      if (even(m_panels, m) != m) continue;
      for (std::int64_t n = std::min(n_panels, kMostColumnPanels); n >= 1; --n) {
        if (even(n_panels, n) != n) continue;
        const std::int64_t m_tiles = (m_panels + m - 1) / m, n_tiles = (n_panels + n - 1) / n;
        const std::int64_t rounds = (op_.batch * m_tiles * n_tiles + threads - 1) / threads;
        const double cycles = static_cast<double>(m * n) * kPanelRows + static_cast<double>(m) * kPackRows +
                              static_cast<double>(n) * kBringColumns +
                              kStart / static_cast<double>(std::max<std::int64_t>(op_.k, 1));
        const double time = (static_cast<double>(rounds) + (threads > 1 ? kUneven : 0)) * cycles;
        if (time >= best) continue;
        best = time;
        tile_m_ = m, tile_n_ = n, m_tiles_ = m_tiles, n_tiles_ = n_tiles;
      }
    }
  }

  /// Chooses how much of k and of the batch is packed at a time: whole blocks, as what a block comes to is
  /// rounded.
  void choose_ranges() {
    if (op_.batch == 0 || op_.m == 0 || op_.n == 0 || op_.k == 0) return;
    const bool is_reused = m_tiles_ > 1;
    depth_ = op_.k;
    if (is_reused)
      depth_ = std::clamp(kRangeElements / op_.n / block_ * block_, std::min(block_, op_.k), op_.k);
    shared_b_ = is_reused && op_.n <= kPackedElements / depth_;
    batches_ =
        std::clamp<std::int64_t>(shared_b_ ? kPackedElements / depth_ / op_.n : op_.batch, 1, op_.batch);
  }

  /// Packed elements of a range of k of some matrices.
  std::int64_t elements_of_b(std::int64_t batches, std::int64_t k) const {
    return shared_b_ ? (op_.b_batch == 0 ? 1 : batches) * panels_of_b() * k * columns_ : 0;
  }
  /// Of the first range, which is the largest.
  std::size_t packed_bytes() const {
    return static_cast<std::size_t>(elements_of_b(batches_, depth_)) * sizeof(P);
  }
  bool is_shared(std::int64_t batches) const { return work_ * static_cast<double>(batches) >= kWorthSharing; }
  /// Tiles that threads share, of the first range.
  std::int64_t most_tiles() const { return is_shared(batches_) ? batches_ * m_tiles_ * n_tiles_ : 1; }
  /// A panel of B, and the rows of a tile of A, of a block along k.
  std::size_t own_bytes() const {
    const std::int64_t rows = reads_a_in_place() ? 0 : tile_m_ * kPanelRows;
    return static_cast<std::size_t>(block_ * (columns_ + rows)) * sizeof(P);
  }

  std::int64_t panels_of_b() const { return (op_.n + columns_ - 1) / columns_; }
  /// Rows of A that are read only once are not packed, unless that converts them.
  bool reads_a_in_place() const {
    return op_.n <= columns_ && !Factor<P>{nullptr, op_.stored_dtype(0), {}}.is_converted();
  }

  void run_k_range(Workers& workers, P* packed_b, const Workers::PerThread& own, const Factor<P>& a,
                   const Factor<P>& b, T* c, std::int64_t batches, std::int64_t k, bool accumulate,
                   bool is_last) {
    const std::int64_t b_panels = shared_b_ ? panels_of_b() : 0;
    const std::int64_t b_batches = op_.b_batch == 0 ? 1 : batches;
    const std::int64_t b_panel = k * columns_;
    auto pack = [&](std::size_t piece, std::size_t) {
      const std::int64_t number = static_cast<std::int64_t>(piece);
      const std::int64_t batch = number / b_panels, column = number % b_panels * columns_;
      b.from(batch * op_.b_batch + column * op_.b_column)
          .pack(packed_b + number * b_panel, op_.b_column, op_.b_row, std::min(columns_, op_.n - column),
                columns_, k);
    };
    auto multiply = [&](std::size_t piece, std::size_t thread) {
      const std::int64_t tiles = m_tiles_ * n_tiles_;
      const std::int64_t batch = static_cast<std::int64_t>(piece) / tiles;
      const std::int64_t tile = static_cast<std::int64_t>(piece) % tiles;
      KRange s{k,       a.from(batch * op_.a_batch), b.from(batch * op_.b_batch),
               nullptr, c + batch * op_.m * op_.n,   accumulate,
               is_last};
      if (shared_b_) s.packed_b = packed_b + (op_.b_batch == 0 ? 0 : batch * b_panels * b_panel);
      run_tile(reinterpret_cast<P*>(own.of(thread)), s, tile / n_tiles_, tile % n_tiles_);
    };
    const std::size_t packs = static_cast<std::size_t>(b_batches * b_panels);
    const std::size_t tiles = static_cast<std::size_t>(batches * m_tiles_ * n_tiles_);
    if (!is_shared(batches)) {
      for (std::size_t i = 0; i < packs; ++i) pack(i, 0);
      for (std::size_t i = 0; i < tiles; ++i) multiply(i, 0);
    } else {
      if (packs > 0) workers.pool().run(packs, pack);
      workers.pool().run(tiles, multiply);
    }
  }

  /// A range of k of one matrix product.
  struct KRange {
    std::int64_t k;
    Factor<P> a, b;
    const P* packed_b;  // panels of b; null: they are packed where they are needed
    T* c;
    bool accumulate, is_last;  // there are ranges in front; there is none behind
  };

  /// Blocks along k in turn: the tile's rows of A are packed by the thread that multiplies them, and stay in
  /// its second-level cache, a panel of B in its first.
  void run_tile(P* own, const KRange& s, std::int64_t m_tile, std::int64_t n_tile) const {
    const std::size_t first = static_cast<std::size_t>(m_tile * tile_m_);
    const std::size_t last = std::min(first + static_cast<std::size_t>(tile_m_), panels_.size());
    const std::int64_t begin = n_tile * tile_n_ * columns_, end = std::min(begin + tile_n_ * columns_, op_.n);
    P* const own_a = own + block_ * columns_;
    for (std::int64_t p = 0; p < s.k; p += block_) {
      const std::int64_t depth = std::min(block_, s.k - p);
      const auto rows_of = [&](std::size_t i) {
        return own_a + (rows_before_[i] - rows_before_[first]) * depth;
      };
      if (!reads_a_in_place()) {
        const std::int64_t step = op_.a_row == 1 ? kStepsTogether : depth;
        for (std::int64_t q = 0; q < depth; q += step)
          for (std::size_t i = first; i < last; ++i)
            s.a.from(rows_before_[i] * op_.a_row + (p + q) * op_.a_column)
                .pack(rows_of(i) + q * panels_[i], op_.a_row, op_.a_column, panels_[i], panels_[i],
                      std::min(step, depth - q));
      }
      for (std::int64_t j = begin; j < end; j += columns_) {
        const std::int64_t columns = std::min(columns_, op_.n - j);
        // With few panels of A, packing costs more than it saves where rows of B are contiguous.
        const bool direct =
            op_.b_column == 1 && columns == columns_ && last - first <= 2 && !s.b.is_converted();
        const P* panel = own;
        std::int64_t row = columns_;
        if (s.packed_b != nullptr) {
          panel = s.packed_b + j * s.k + p * columns_;
        } else if (direct) {
          panel = s.b.from(p * op_.b_row + j).plain();
          row = op_.b_row;
        } else {
          s.b.from(p * op_.b_row + j * op_.b_column)
              .pack(own, op_.b_column, op_.b_row, columns, columns_, depth);
        }
        for (std::size_t i = first; i < last; ++i) {
          T* to = s.c + rows_before_[i] * op_.n + j;
          if constexpr (kJoined<P> == 1) {
            if (reads_a_in_place()) {
              multiply_strided(panels_[i], columns, depth,
                               s.a.plain() + rows_before_[i] * op_.a_row + p * op_.a_column, op_.a_row,
                               op_.a_column, panel, row, to, op_.n, s.accumulate || p > 0);
              continue;
            }
          }
          if constexpr (std::is_same_v<P, Int8Four>)
            multiply_panel(panels_[i], columns, depth, rows_of(i), panel, row, to, op_.n,
                           s.accumulate || p > 0, s.is_last && p + depth == s.k);
          else
            multiply_panel(panels_[i], columns, depth, rows_of(i), panel, row, to, op_.n,
                           s.accumulate || p > 0);
        }
      }
    }
  }

  library::MatMulOp whole_, op_;  // as it was asked for, and over packed elements
  std::vector<std::int64_t> panels_, rows_before_;
  std::int64_t columns_;
  std::int64_t tile_m_ = 1, tile_n_ = 1, m_tiles_ = 1, n_tiles_ = 1;  // panels in a tile; tiles
  std::int64_t block_ = 1;                // of k: what is summed up before it is added to the result
  std::int64_t depth_ = 1, batches_ = 1;  // packed at a time
  bool shared_b_ = false;                 // B is packed once for all tiles
  double work_ = 0;                       // floating-point operations of one matrix
};

}  // namespace

bool rounds_to_pairs(const library::MatMulOp& op) {
  return op.dtype == DType::f32 && op.k % 2 == 0 && rounds(op) && multiplies_pairs();
}

std::shared_ptr<ProductProgram> make_matmul(const library::MatMulOp& op) {
  if (op.dtype == DType::f64 && !op.is_stored_otherwise())
    return std::make_shared<MatMulProgram<double, double>>(op);
  if (op.dtype != DType::f32)
    throw DeviceError("[matmul] the host multiplies f32 and f64, not " + std::string(name_of(op.dtype)) +
                      op.stored_text());
  std::array<Conversion, 3> rounded{};
  if (op.stored[2]) rounded[2] = {*op.stored[2], op.elements_written(0)};
  const bool is_of_pairs =
      op.stored_dtype(0) == DType::bf16 && op.stored_dtype(1) == DType::bf16 && multiplies_pairs();
  const bool is_paired = op.k % 2 == 0 && (is_of_pairs || rounds_to_pairs(op));
  // An i32 holds the sum of fewer of the largest products.
  constexpr std::int64_t kMostInFours = std::int64_t{1} << 17;
  const bool is_in_fours = op.stored_dtype(0) == DType::i8 && op.stored_dtype(1) == DType::i8 &&
                           op.k % 4 == 0 && op.k < kMostInFours && multiplies_fours();
  if (is_in_fours)
    return with_conversions(std::make_shared<MatMulProgram<std::int32_t, Int8Four>>(op), rounded);
  if (is_paired) return with_conversions(std::make_shared<MatMulProgram<float, Bfloat16Pair>>(op), rounded);
  return with_conversions(std::make_shared<MatMulProgram<float, float>>(op), rounded);
}

}  // namespace sinter::runtime::host
