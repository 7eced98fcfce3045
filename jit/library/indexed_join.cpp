// Shapes and sizes of values that are joined by an index.
#include "jit/library/indexed_join.h"

namespace sinter::library {
namespace {

class IndexedJoin final : public Kind {
 public:
  IndexedJoin() : Kind("indexed_join", 1, Op::IndexedJoin) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const TensorType &values = operands[0], &row_of = operands[1];
    if (values.dtype == DType::boolean)
      throw DTypeError("[indexed_join] joins floats and integers, not " + std::string(name_of(values.dtype)) +
                           "; cast first",
                       where);
    if (row_of.dtype != DType::i32)
      throw DTypeError("[indexed_join] indices are i32, not " + std::string(name_of(row_of.dtype)), where);
    const std::size_t rank = values.shape.rank();
    if (rank < 2 || rank > 3 || row_of.shape.rank() != 1 || values.shape[rank - 2] != row_of.shape[0])
      throw ShapeError("[indexed_join] values of shape " + to_string(values.shape) + " and indices of " +
                           to_string(row_of.shape) + " do not fit",
                       where);
    if (row_of.shape[0] > kMostSegmentRows || ints[0] > kMostSegmentRows)
      throw ShapeError("[indexed_join] " + std::to_string(row_of.shape[0]) + " indices into " +
                           std::to_string(ints[0]) + " rows: there may be up to " +
                           std::to_string(kMostSegmentRows) + " of each",
                       where);
    Shape shape(values.shape);
    shape[rank - 2] = ints[0];
    results[0] = {shape, values.dtype};
  }

  LibraryOpRef make(const Request& request) const override {
    const Shape& values = request.operands[0].shape;
    auto op = std::make_shared<IndexedJoinOp>();
    op->dtype = request.results[0].dtype;
    op->outer = values.rank() == 3 ? values[0] : 1;
    op->count = values[values.rank() - 2];
    op->columns = values.back();
    op->rows = request.ints[0];
    op->reduction = static_cast<SegmentReduction>(request.ints[1]);
    op->any_order = request.ints[2] != 0;
    return op;
  }
};

}  // namespace

const Kind& indexed_join() {
  static const IndexedJoin& kind = *new IndexedJoin;  // never destroyed: threads may plan
  return kind;
}

const Kind& IndexedJoinOp::kind() const { return indexed_join(); }
std::string IndexedJoinOp::key() const {
  return joined(
      {static_cast<int>(dtype), outer, count, columns, rows, static_cast<int>(reduction), any_order ? 1 : 0});
}
std::string IndexedJoinOp::describe() const {
  const char* names[] = {"sum", "prod", "max", "min"};
  return "indexed_join " + std::string(names[static_cast<std::size_t>(reduction)]) + " " +
         joined({outer, count, columns}, "x") + " to " + joined({outer, rows, columns}, "x") +
         (any_order ? ", in any order" : "");
}
std::int64_t IndexedJoinOp::elements_read(std::size_t operand) const {
  return operand == 0 ? outer * count * columns : count;
}
std::int64_t IndexedJoinOp::elements_written(std::size_t) const { return outer * rows * columns; }

}  // namespace sinter::library
