// Shapes and sizes of counts.
#include "jit/library/counting.h"

#include "jit/library/segments.h"

namespace sinter::library {
namespace {

class CountingKind final : public Kind {
 public:
  CountingKind(const char* name, Op op, Counting counting) : Kind(name, 1, op), counting_(counting) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const auto& [shape, dtype] = operands[0];
    if (dtype != DType::i32)
      throw DTypeError("[" + name() + "] takes i32, not " + std::string(sinter::name_of(dtype)), where);
    if (shape.rank() != 1)
      throw ShapeError("[" + name() + "] takes one axis, not shape " + to_string(shape), where);
    if (shape[0] > kMostSegmentRows || ints[0] < 0 || ints[0] > kMostSegmentRows)
      throw ShapeError("[" + name() + "] " + std::to_string(shape[0]) + " numbers to " +
                           std::to_string(ints[0]) + ": there may be up to " +
                           std::to_string(kMostSegmentRows) + " of each",
                       where);
    results[0] = {Shape{ints[0]}, DType::i32};
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<CountingOp>();
    op->dtype = DType::i32;
    op->counting = counting_;
    op->length = request.operands[0].shape[0];
    op->results = request.ints[0];
    return op;
  }

 private:
  const Counting counting_;
};

}  // namespace

const Kind& counting(Counting counting) {
  // In the order of the enum; never destroyed: threads may plan.
  static const CountingKind* const kinds[] = {
      new CountingKind("count_indices", Op::CountIndices, Counting::Indices),
      new CountingKind("last_positions", Op::LastPositions, Counting::LastPositions),
      new CountingKind("count_steps", Op::CountSteps, Counting::Steps)};
  return *kinds[static_cast<std::size_t>(counting)];
}

const Kind& CountingOp::kind() const { return library::counting(counting); }
std::string CountingOp::key() const { return joined({length, results}); }
std::string CountingOp::describe() const {
  return kind().name() + " " + std::to_string(length) + " to " + std::to_string(results);
}

}  // namespace sinter::library
