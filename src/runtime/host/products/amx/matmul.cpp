#include "src/runtime/host/products/amx/matmul.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "src/runtime/host/products/amx/tiled.h"

namespace sinter::runtime::host::amx {
namespace {

/// Elements of a product that the vectors multiply in a cycle, and cycles in which they pack an element.
/// Instructions for pairs of bf16 are no faster where there are tiles.
constexpr double kVectors = 32, kVectorsPack = 0.3;

/// One block of so many is faster than two, of which the first one's sums are stored.
constexpr std::int64_t kDepthOfOneBlock = 128;

TiledShape shape_of(const library::MatMulOp& op) {
  TiledShape shape;
  shape.pieces = pieces_of(op.stored_dtype(0), op.stored_dtype(1), op.precision);
  shape.products = op.batch;
  shape.row_panels = parts(op.m, kPanelLanes);
  shape.column_panels = parts(op.n, kPanelLanes);
  // Even blocks. They follow from k alone, and with them how sums are rounded.
  const std::int64_t blocks = op.k <= kDepthOfOneBlock ? 1 : parts(op.k, most_depth(shape.pieces));
  shape.depth = parts(parts(op.k, blocks), kTileDepth) * kTileDepth;
  shape.k = op.k;
  shape.work = 2.0 * static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(op.k) *
               static_cast<double>(op.batch);
  for (const std::size_t factor : {0, 1}) shape.pack_cycles[factor] = split_cycles(shape.pieces, factor);
  return shape;
}

class MatMulProgram final : public TiledProgram {
 public:
  MatMulProgram(const library::MatMulOp& op, Unit unit, std::shared_ptr<ProductProgram> otherwise)
      : TiledProgram(unit, shape_of(op), std::move(otherwise)), op_(op) {}

  std::string describe() const override { return op_.describe() + by_tiles(shape().pieces); }

  std::size_t held_bytes() const override { return TiledProgram::held_bytes() + sizeof op_; }

 private:
  std::int64_t rows(std::int64_t, std::int64_t panel) const override {
    return std::min(kPanelLanes, op_.m - panel * kPanelLanes);
  }
  std::int64_t columns(std::int64_t panel) const override {
    return std::min(kPanelLanes, op_.n - panel * kPanelLanes);
  }
  std::int64_t blocks(std::int64_t) const override { return parts(op_.k, shape().depth); }
  std::int64_t depth(std::int64_t, std::int64_t block) const override {
    return std::min(shape().depth, op_.k - block * shape().depth);
  }

  bool pack_rows(const Launch& launch, std::int64_t product, std::int64_t panel, std::int64_t block,
                 std::byte* to) const override {
    return pack_lanes(0, launch.data[0], product * op_.a_batch, panel, block, op_.m, op_.a_row, op_.a_column,
                      to);
  }
  const std::byte* columns_of(const Launch& launch, std::int64_t product, std::int64_t panel,
                              std::int64_t block, std::byte* room) const override {
    const bool is_packed = pack_lanes(1, launch.data[1], product * op_.b_batch, panel, block, op_.n,
                                      op_.b_column, op_.b_row, room);
    return is_packed ? room : nullptr;
  }
  bool pack_lanes(std::size_t factor, const std::byte* from, std::int64_t first, std::int64_t panel,
                  std::int64_t block, std::int64_t lanes, std::int64_t lane_stride, std::int64_t k_stride,
                  std::byte* to) const {
    const auto size = static_cast<std::int64_t>(size_of(op_.stored_dtype(factor)));
    const std::int64_t lane = panel * kPanelLanes;
    const PanelShape panel_shape{op_.stored_dtype(factor), k_stride == 1, std::min(kPanelLanes, lanes - lane),
                                 depth(0, block)};
    const std::byte* const begin =
        from + (first + lane * lane_stride + block * shape().depth * k_stride) * size;
    const bool along_k = panel_shape.along_k;
    const std::int64_t stride = (along_k ? lane_stride : k_stride) * size;
    std::array<const std::byte*, kMostDepth> rows;
    for (std::int64_t i = 0; i < (along_k ? panel_shape.lanes : panel_shape.depth); ++i)
      rows[static_cast<std::size_t>(i)] = begin + i * stride;
    return pack_panel(to, panel_shape, rows.data(), shape().pieces,
                      factor == 0 ? PanelSide::First : PanelSide::Second);
  }

  float* result(const Launch& launch, std::int64_t product, std::int64_t row_panel,
                std::int64_t column_panel) const {
    return reinterpret_cast<float*>(launch.data[2]) + product * op_.m * op_.n +
           row_panel * kPanelLanes * op_.n + column_panel * kPanelLanes;
  }
  InPlace in_place(const Launch& launch, std::int64_t product, std::int64_t row_panel,
                   std::int64_t column_panel) const override {
    if (rows(product, row_panel) % kTileRows != 0 || columns(column_panel) % kTileWords != 0) return {};
    return {result(launch, product, row_panel, column_panel), op_.n};
  }
  void store_sums(const Launch& launch, std::int64_t product, std::int64_t row_panel,
                  std::int64_t column_panel, const Sums& sums) const override {
    store(sums, rows(product, row_panel), columns(column_panel),
          result(launch, product, row_panel, column_panel), op_.n, false);
  }

  const library::MatMulOp op_;
};

bool has_pieces(DType dtype) { return dtype == DType::f32 || dtype == DType::bf16; }

/// Of the kernels by vectors, in one core.
double cycles_of_vectors(const library::MatMulOp& op) {
  const double m = static_cast<double>(op.m), n = static_cast<double>(op.n), k = static_cast<double>(op.k);
  return static_cast<double>(op.batch) * (m * n * k / kVectors + (m + n) * k * kVectorsPack);
}

bool is_taken(Unit by, const library::MatMulOp& op) {
  if (by == Unit::None || op.dtype != DType::f32 || !has_pieces(op.stored_dtype(0)) ||
      !has_pieces(op.stored_dtype(1)) || op.batch == 0 || op.m == 0 || op.n == 0 || op.k == 0)
    return false;
  return (op.a_column == 1 || op.a_row == 1) && (op.b_row == 1 || op.b_column == 1);
}

}  // namespace

std::shared_ptr<ProductProgram> make_matmul_by(Unit by, const library::MatMulOp& op,
                                               const MakeOtherwise& otherwise) {
  if (!is_taken(by, op)) return nullptr;
  library::MatMulOp sums = op;
  sums.stored[2].reset();
  const bool has_several = shape_of(op).pieces.term_count > 1;
  std::array<Conversion, 3> conversions{};
  if (op.stored[2]) conversions[2] = {*op.stored[2], op.elements_written(0)};
  return with_conversions(std::make_shared<MatMulProgram>(sums, by, has_several ? otherwise(sums) : nullptr),
                          conversions);
}

std::shared_ptr<ProductProgram> make_matmul(const library::MatMulOp& op, const MakeOtherwise& otherwise) {
  const Unit by = unit();
  if (!is_taken(by, op) || MatMulProgram(op, by, nullptr).cycles() >= cycles_of_vectors(op)) return nullptr;
  return make_matmul_by(by, op, otherwise);
}

}  // namespace sinter::runtime::host::amx
