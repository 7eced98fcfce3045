// Shapes and sizes of indexed sums into few rows.
#include "jit/library/indexed_sum.h"

#include <algorithm>

#include "jit/library/segments.h"

namespace sinter::library {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class IndexedSum final : public Kind {
 public:
  IndexedSum() : Kind("indexed_sum", 1, Op::IndexedSum) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const TensorType &values = operands[0], &row_of = operands[1];
    if (values.dtype == DType::boolean)
      throw DTypeError("[indexed_sum] adds floats and integers, not " + std::string(name_of(values.dtype)) +
                           "; cast first",
                       where);
    if (row_of.dtype != DType::i32)
      throw DTypeError("[indexed_sum] indices are i32, not " + std::string(name_of(row_of.dtype)), where);
    if (values.shape.rank() != 2 || row_of.shape.rank() != 1 || values.shape[0] != row_of.shape[0])
      throw ShapeError("[indexed_sum] values of shape " + to_string(values.shape) + " and indices of " +
                           to_string(row_of.shape) + " do not fit",
                       where);
    // A position in a stretch and a row of a tile share a word (kernels/passes/indexed_sums.inc).
    constexpr std::int64_t kMostOfStretch = std::int64_t{1} << 26;
    if (divide_up(values.shape[0], ints[1]) > kMostOfStretch)
      throw ShapeError("[indexed_sum] " + std::to_string(values.shape[0]) + " values in " +
                           std::to_string(ints[1]) + " stretches, of which each has up to " +
                           std::to_string(kMostOfStretch),
                       where);
    results[0] = {Shape{ints[1], ints[0], values.shape[1]}, values.dtype};
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<IndexedSumOp>();
    op->dtype = request.results[0].dtype;
    op->count = request.operands[0].shape[0];
    op->columns = request.operands[0].shape[1];
    op->rows = request.ints[0];
    op->stretches = request.ints[1];
    return op;
  }
};

}  // namespace

IndexedSumTile tile_of_sum(DType dtype, std::int64_t columns) {
  // As much as 16 KiB of memory have room for, beside lists of indices. Numbers of 64 bits have fewer rows.
  const std::int64_t wide = columns > 32 ? 64 : columns > 16 ? 32 : 16;
  const std::int64_t rows = wide == 16 ? 32 : 16;
  return {size_of(dtype) == 8 ? rows / 4 : rows, wide};
}

std::int64_t stretches_of_sum(DType dtype, std::int64_t count, std::int64_t columns, std::int64_t rows) {
  // Workgroups that fill a GPU, and the fewest values that are worth one; the most that one has, and the most
  // workgroups, so that sums of stretches take no more memory than values do.
  constexpr std::int64_t kGroups = 1024, kLeast = 1024, kMost = 65'536, kMostGroups = 8192;
  // Looks at an index that take as long as the passes of a sort do, about, and tiles that take as long
  // whatever they look at. Few tiles look no longer than reading the values takes.
  constexpr std::int64_t kMostLooks = std::int64_t{1} << 24, kMostTiles = 1024, kFewTiles = 64;
  if (rows > 4 * count) return 0;
  const IndexedSumTile tile = tile_of_sum(dtype, columns);
  const double all_tiles =
      static_cast<double>(divide_up(rows, tile.rows)) * static_cast<double>(divide_up(columns, tile.columns));
  if (all_tiles > kMostTiles) return 0;
  const auto tiles = std::max<std::int64_t>(static_cast<std::int64_t>(all_tiles), 1);
  if (tiles > kFewTiles && tiles * count > kMostLooks) return 0;
  const std::int64_t wanted = std::min(kGroups / tiles, divide_up(count, kLeast));
  const std::int64_t stretches = std::max({wanted, divide_up(count, kMost), std::int64_t{1}});
  return stretches * tiles <= kMostGroups ? stretches : 0;
}

const Kind& indexed_sum() {
  static const IndexedSum& kind = *new IndexedSum;  // never destroyed: threads may plan
  return kind;
}

const Kind& IndexedSumOp::kind() const { return indexed_sum(); }
std::string IndexedSumOp::key() const {
  return joined({static_cast<int>(dtype), count, columns, rows, stretches});
}
std::string IndexedSumOp::describe() const {
  return "indexed_sum " + joined({count, columns}, "x") + " to " + joined({rows, columns}, "x") + " in " +
         std::to_string(stretches) + (stretches == 1 ? " stretch" : " stretches");
}
std::int64_t IndexedSumOp::elements_read(std::size_t operand) const {
  return operand == 0 ? count * columns : count;
}
std::int64_t IndexedSumOp::elements_written(std::size_t) const { return stretches * rows * columns; }

}  // namespace sinter::library
