// Shapes and sizes of the halves of a scatter.
#include "jit/library/segments.h"

#include <algorithm>

namespace sinter::library {
namespace {

void check_counts(const std::string& name, std::int64_t count, std::int64_t rows, const Location& where) {
  if (count > kMostSegmentRows || rows > kMostSegmentRows)
    throw ShapeError("[" + name + "] " + std::to_string(count) + " indices into " + std::to_string(rows) +
                         " rows: there may be up to " + std::to_string(kMostSegmentRows) + " of each",
                     where);
}

class SortIndices final : public Kind {
 public:
  SortIndices() : Kind("sort_indices", 1, Op::SortIndices) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const auto& [shape, dtype] = operands[0];
    if (dtype != DType::i32)
      throw DTypeError("[sort_indices] indices are i32, not " + std::string(name_of(dtype)), where);
    if (shape.rank() != 1)
      throw ShapeError("[sort_indices] indices have one axis, not shape " + to_string(shape), where);
    check_counts(name(), shape[0], ints[0], where);
    results[0] = {Shape{ints[0] + 2 * shape[0]}, DType::i32};
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<SortIndicesOp>();
    op->dtype = DType::i32;
    op->count = request.operands[0].shape[0];
    op->rows = request.ints[0];
    return op;
  }
};

class SegmentSum final : public Kind {
 public:
  SegmentSum() : Kind("segment_sum", 1, Op::SegmentSum) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const TensorType &values = operands[0], &sorted = operands[1];
    if (values.dtype == DType::boolean)
      throw DTypeError("[segment_sum] adds floats and integers, not " + std::string(name_of(values.dtype)) +
                           "; cast first",
                       where);
    if (values.shape.rank() != 2 || sorted.dtype != DType::i32 || sorted.shape.rank() != 1 ||
        sorted.shape[0] != ints[0] + 2 * values.shape[0])
      throw ShapeError("[segment_sum] values of shape " + to_string(values.shape) +
                           " and sorted indices of " + to_string(sorted.shape) + " do not fit " +
                           std::to_string(ints[0]) + " rows",
                       where);
    check_counts(name(), values.shape[0], ints[0], where);
    results[0] = {Shape{ints[1] != 0 ? ints[0] : values.shape[0] + 1, values.shape[1]}, values.dtype};
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<SegmentSumOp>();
    op->dtype = request.results[0].dtype;
    op->count = request.operands[0].shape[0];
    op->columns = request.operands[0].shape[1];
    op->rows = request.ints[0];
    op->dense = request.ints[1] != 0;
    op->reduction = static_cast<SegmentReduction>(request.ints[2]);
    return op;
  }
};

}  // namespace

const Kind& sort_indices() {
  static const SortIndices& kind = *new SortIndices;  // never destroyed: threads may plan
  return kind;
}
const Kind& segment_sum() {
  static const SegmentSum& kind = *new SegmentSum;
  return kind;
}

const Kind& SortIndicesOp::kind() const { return sort_indices(); }
std::string SortIndicesOp::key() const { return joined({count, rows}); }
std::string SortIndicesOp::describe() const {
  return "sort_indices " + std::to_string(count) + " of " + std::to_string(rows);
}
std::int64_t SortIndicesOp::elements_read(std::size_t) const { return count; }
std::int64_t SortIndicesOp::elements_written(std::size_t) const { return rows + 2 * count; }

const Kind& SegmentSumOp::kind() const { return segment_sum(); }
std::string SegmentSumOp::key() const {
  return joined({static_cast<int>(dtype), count, columns, rows, dense, static_cast<int>(reduction)});
}
std::string SegmentSumOp::describe() const {
  const char* names[] = {"sum", "prod", "max", "min"};
  return "segment_" + std::string(names[static_cast<std::size_t>(reduction)]) + " " +
         joined({count, columns}, "x") + " to " + joined({results(), columns}, "x");
}
std::int64_t SegmentSumOp::elements_read(std::size_t operand) const {
  return operand == 0 ? count * columns : lists();
}
std::int64_t SegmentSumOp::elements_written(std::size_t) const { return results() * columns; }

}  // namespace sinter::library
