#include "src/runtime/host/products/amx/tiled.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace sinter::runtime::host::amx {
namespace {

/// The largest tile, in panels: its sums and its rows of A, of a block, fit in a second-level cache, of which
/// processors with tiles have 2 MiB for each core.
constexpr std::int64_t kMostRowPanels = 16, kMostColumnPanels = 32, kMostPanels = 256;
constexpr double kWorthSharing = 1e6;  // floating-point operations

// Cycles, from a Xeon with 2 MiB of second-level cache (docs/benchmarks/host.md). Of an element along k: of
// two panels for each term, of packing a panel of one piece and of each further one, of bringing one that
// another thread has packed. And those of beginning a tile.
constexpr double kMultiply = 2.5, kPack = 8, kPackPiece = 9, kBring = 2, kStart = 1500;
/// Of a row of a tile whose last cache line another tile writes too.
constexpr double kSharedLine = 60;
/// Of a product, beside what is modelled.
constexpr double kOverhead = 4500;
/// Of a tile, that one thread is expected to be later than others.
constexpr double kUneven = 0.1;

}  // namespace

std::int64_t most_depth(const Pieces& pieces) { return pieces.term_count > 1 ? 96 : kMostDepth; }

std::string by_tiles(const Pieces& pieces) {
  const int terms = pieces.term_count;
  return " by tiles of the host" + (terms > 1 ? ", as " + std::to_string(terms) + " products of bf16" : "");
}

double split_cycles(const Pieces& pieces, std::size_t factor) {
  return kPack + kPackPiece * (pieces.of[factor] - 1);
}

TiledProgram::TiledProgram(Unit unit, const TiledShape& shape, std::shared_ptr<ProductProgram> otherwise)
    : unit_(unit), shape_(shape), otherwise_(std::move(otherwise)) {
  choose_tiles(1);
}

void TiledProgram::use_threads(std::size_t most) {
  ProductProgram::use_threads(most);
  if (otherwise_) otherwise_->use_threads(most);
  choose_tiles(static_cast<std::int64_t>(most));
}

std::size_t TiledProgram::held_bytes() const {
  return sizeof *this + (otherwise_ ? otherwise_->held_bytes() : 0);
}

bool TiledProgram::is_shared() const { return shape_.work >= kWorthSharing; }

/// Chooses tiles with which the last thread is expected to be done first. Sums do not depend on them.
void TiledProgram::choose_tiles(std::int64_t threads) {
  if (!is_shared()) threads = 1;
  const double shared_lines = threads > 1 ? kSharedLine * kPanelLanes : 0, k = static_cast<double>(shape_.k);
  double best = std::numeric_limits<double>::infinity();
  for (std::int64_t m = std::min(shape_.row_panels, kMostRowPanels); m >= 1; --m) {
    const std::int64_t row_tiles = parts(shape_.row_panels, m);
    if (parts(shape_.row_panels, row_tiles) != m) continue;
    for (std::int64_t n = std::min(shape_.column_panels, kMostColumnPanels); n >= 1; --n) {
      const std::int64_t column_tiles = parts(shape_.column_panels, n);
      if (parts(shape_.column_panels, column_tiles) != n || m * n > kMostPanels) continue;
      const std::int64_t rounds = parts(shape_.products * row_tiles * column_tiles, threads);
      const double once = kStart + (column_tiles > 1 ? shared_lines : 0) * static_cast<double>(m);
      const double cycles = static_cast<double>(m * n) * kMultiply * shape_.pieces.term_count +
                            static_cast<double>(m) * shape_.pack_cycles[0] +
                            static_cast<double>(n) * columns_cycles(row_tiles) + once / k;
      const double before = row_tiles == 1 ? 0
                                           : static_cast<double>(shape_.products * shape_.column_panels) *
                                                 shape_.prepare_cycles / static_cast<double>(threads);
      const double time = before + (static_cast<double>(rounds) + (threads > 1 ? kUneven : 0)) * cycles;
      if (time >= best) continue;
      best = time;
      tile_m_ = m, tile_n_ = n, row_tiles_ = row_tiles, column_tiles_ = column_tiles;
    }
  }
}

double TiledProgram::cycles() const {
  const double k = static_cast<double>(parts(shape_.k, kTileDepth) * kTileDepth);
  // Halves of panels take half as long. Of rows, the last panel alone may be one.
  const std::int64_t row_halves =
      2 * (shape_.row_panels - 1) + parts(rows(0, shape_.row_panels - 1), kTileRows);
  std::int64_t column_halves = 0;
  for (std::int64_t panel = 0; panel < shape_.column_panels; ++panel)
    column_halves += parts(columns(panel), kTileWords);
  const double tiles = static_cast<double>(row_halves) * static_cast<double>(column_halves) / 4;
  const double rows = static_cast<double>(shape_.row_panels * column_tiles_),
               columns = static_cast<double>(shape_.column_panels * row_tiles_);
  const double before =
      prepares_columns() ? shape_.prepare_cycles * static_cast<double>(shape_.column_panels) : 0;
  return static_cast<double>(shape_.products) *
         (k * (tiles * kMultiply * shape_.pieces.term_count + rows * shape_.pack_cycles[0] +
               columns * columns_cycles(row_tiles_) + before) +
          kOverhead);
}

/// Of a panel of columns: to pack it, or to bring it.
double TiledProgram::columns_cycles(std::int64_t row_tiles) const {
  return shape_.prepare_cycles > 0 && row_tiles > 1 ? kBring : shape_.pack_cycles[1];
}

/// Rows of a tile, a panel of columns, and the tile's sums.
std::size_t TiledProgram::own_bytes() const {
  return static_cast<std::size_t>(tile_m_ * row_bytes() + column_bytes()) +
         static_cast<std::size_t>(tile_m_ * tile_n_) * sizeof(Sums);
}

std::size_t TiledProgram::workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const {
  const std::size_t own =
      whole_units(prepared_bytes()) + this->threads(shared_tiles()) * whole_units(own_bytes());
  return otherwise_ ? std::max(own, otherwise_->workspace_bytes(ints, members)) : own;
}

void TiledProgram::compute(Workers& workers, const ProductData& data) {
  Workers of_other = workers;
  Launch launch{data, workers.take(prepared_bytes())};
  prepare(workers, launch);
  const std::int64_t tiles = shape_.products * row_tiles_ * column_tiles_;
  const Workers::PerThread own = workers.take_each(workers.threads(shared_tiles()), own_bytes());
  if (!is_shared()) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) multiply_tile(launch, tile, own.of(0));
  } else {
    workers.pool().run(static_cast<std::size_t>(tiles), [&](std::size_t tile, std::size_t thread) {
      multiply_tile(launch, static_cast<std::int64_t>(tile), own.of(thread));
    });
  }
  if (!launch.leaves) return;
  if (!otherwise_) throw std::logic_error("tiles have no program for numbers that they do not take");
  otherwise_->compute(of_other, data);
}

void TiledProgram::multiply_tile(Launch& launch, std::int64_t number, std::byte* own) const {
  const std::int64_t product = number / (row_tiles_ * column_tiles_),
                     tile = number % (row_tiles_ * column_tiles_);
  const std::int64_t first_row = tile / column_tiles_ * tile_m_,
                     first_column = tile % column_tiles_ * tile_n_;
  std::int64_t end_row = std::min(first_row + tile_m_, shape_.row_panels);
  while (end_row > first_row && rows(product, end_row - 1) <= 0) --end_row;
  const std::int64_t end_column = std::min(first_column + tile_n_, shape_.column_panels);
  std::byte* const room = own + tile_m_ * row_bytes();
  auto* const own_sums = reinterpret_cast<Sums*>(room + column_bytes());
  const std::int64_t last_block = blocks(product) - 1;
  if (last_block < 0) {
    own_sums[0] = {};
    for (std::int64_t j = first_column; j < end_column; ++j)
      for (std::int64_t i = first_row; i < end_row; ++i) store_sums(launch, product, i, j, own_sums[0]);
    return;
  }
  const TileScope scope(unit_);
  for (std::int64_t block = 0; block <= last_block; ++block) {
    if (launch.leaves.load(std::memory_order_relaxed)) return;
    for (std::int64_t i = first_row; i < end_row; ++i)
      if (!pack_rows(launch, product, i, block, own + (i - first_row) * row_bytes())) {
        launch.leaves = true;
        return;
      }
    for (std::int64_t j = first_column; j < end_column; ++j) {
      const std::byte* const b = columns_of(launch, product, j, block, room);
      if (b == nullptr) {
        launch.leaves = true;
        return;
      }
      for (std::int64_t i = first_row; i < end_row; ++i) {
        const PanelProduct panels{unit_, &shape_.pieces, rows(product, i), columns(j), depth(product, block)};
        const std::byte* const a = own + (i - first_row) * row_bytes();
        if (last_block == 0) {
          if (const InPlace to = in_place(launch, product, i, j); to.c != nullptr) {
            multiply_panels(panels, a, b, to.c, to.row, false);
            continue;
          }
        }
        // What is stored at once is in the first-level cache.
        Sums& sums = own_sums[last_block == 0 ? 0 : (j - first_column) * tile_m_ + i - first_row];
        multiply_panels(panels, a, b, sums.of[0], kPanelLanes, block > 0);
        if (last_block == 0) store_sums(launch, product, i, j, sums);
      }
    }
  }
  if (last_block == 0) return;
  // Row by row: those of a weight's gradient have their taps side by side.
  for (std::int64_t i = first_row; i < end_row; ++i)
    for (std::int64_t j = first_column; j < end_column; ++j)
      store_sums(launch, product, i, j, own_sums[(j - first_column) * tile_m_ + i - first_row]);
}

}  // namespace sinter::runtime::host::amx
