// Products of panels: what matrix products and convolutions by the unit of tiles have in common.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "src/runtime/host/products/amx/panel.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host::amx {

/// One or several products of as many panels of rows and columns.
struct TiledShape {
  Pieces pieces;
  std::int64_t products = 1, row_panels = 0, column_panels = 0;
  std::int64_t depth = 0;  // along k: most numbers of a block, what is packed into a panel
  std::int64_t k = 0;      // of all blocks
  double work = 0;         // floating-point operations of all products
  /// Cycles of an element along k of a panel: to pack its rows, its columns.
  std::array<double, 2> pack_cycles{};
  /// Likewise for all tiles, before the first one; 0: columns are packed by who multiplies them.
  double prepare_cycles = 0;
};

/// The most numbers along k of a block: two panels fit in a first-level cache.
std::int64_t most_depth(const Pieces& pieces);
/// For a program's description: by tiles, and by how many products of bf16 for one.
std::string by_tiles(const Pieces& pieces);
/// Cycles to split and pack an element along k of a panel of a factor.
double split_cycles(const Pieces& pieces, std::size_t factor);

/// Divides products into tiles of panels. Who multiplies a tile packs its rows and columns, block by block
/// along k: panels that another core has packed come more slowly than they are packed. Where a panel has
/// numbers that are not packed, another program computes the launch.
class TiledProgram : public ProductProgram {
 public:
  void use_threads(std::size_t most) override;
  std::size_t held_bytes() const override;
  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const override;
  void compute(Workers& workers, const ProductData& data) override;

  /// Of all products, in one core, about.
  double cycles() const;

 protected:
  /// `otherwise`: of the same op; null where no factor has several pieces.
  TiledProgram(Unit unit, const TiledShape& shape, std::shared_ptr<ProductProgram> otherwise);

  const TiledShape& shape() const { return shape_; }

  /// What a launch works on: its buffers, and memory that `prepare` fills. `leaves`: it is left to the other
  /// program, and what is computed still is not used.
  struct Launch {
    const ProductData& data;
    std::byte* prepared;
    std::atomic<bool> leaves{false};
  };

  /// Before the first tile.
  virtual void prepare(Workers& /*workers*/, Launch&) const {}
  virtual std::size_t prepared_bytes() const { return 0; }

  // Of a product, a panel, and a block along k. A panel may have no rows.
  virtual std::int64_t rows(std::int64_t product, std::int64_t panel) const = 0;
  virtual std::int64_t columns(std::int64_t panel) const = 0;
  virtual std::int64_t blocks(std::int64_t product) const = 0;  // 0: the result is zeros
  virtual std::int64_t depth(std::int64_t product, std::int64_t block) const = 0;
  /// False: as pack_panel.
  virtual bool pack_rows(const Launch&, std::int64_t product, std::int64_t panel, std::int64_t block,
                         std::byte* to) const = 0;
  /// A panel of columns, packed at `room` unless there is one already; null where pack_panel gives false.
  virtual const std::byte* columns_of(const Launch&, std::int64_t product, std::int64_t panel,
                                      std::int64_t block, std::byte* room) const = 0;
  /// Where whole tiles of two panels' product may be written, rows `row` apart; null: to store_sums.
  struct InPlace {
    float* c = nullptr;
    std::int64_t row = 0;
  };
  virtual InPlace in_place(const Launch&, std::int64_t product, std::int64_t row_panel,
                           std::int64_t column_panel) const = 0;
  virtual void store_sums(const Launch&, std::int64_t product, std::int64_t row_panel,
                          std::int64_t column_panel, const Sums& sums) const = 0;

  /// Work that is shared among threads; small work is not.
  bool is_shared() const;
  /// Columns are packed for all tiles: there are several which have the same.
  bool prepares_columns() const { return shape_.prepare_cycles > 0 && row_tiles_ > 1; }

 private:
  void choose_tiles(std::int64_t threads);
  double columns_cycles(std::int64_t row_tiles) const;
  std::int64_t shared_tiles() const { return is_shared() ? shape_.products * row_tiles_ * column_tiles_ : 1; }
  std::int64_t row_bytes() const { return panel_bytes(shape_.depth, shape_.pieces.of[0]); }
  std::int64_t column_bytes() const { return panel_bytes(shape_.depth, shape_.pieces.of[1]); }
  std::size_t own_bytes() const;
  void multiply_tile(Launch& launch, std::int64_t number, std::byte* own) const;

  const Unit unit_;
  const TiledShape shape_;
  const std::shared_ptr<ProductProgram> otherwise_;
  std::int64_t tile_m_ = 1, tile_n_ = 1, row_tiles_ = 1, column_tiles_ = 1;  // panels in a tile; tiles
};

}  // namespace sinter::runtime::host::amx
