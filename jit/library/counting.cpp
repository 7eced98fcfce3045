// Shapes and sizes of counts.
#include "jit/library/counting.h"

#include "jit/library/segments.h"

namespace sinter::library {
namespace {

/// One operand of i32 along one axis, one result of as many as the attribute says.
template <class OpOf>
class Counting final : public Kind {
 public:
  Counting(const char* name, Op op) : Kind(name, 1, op) {}

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
    auto op = std::make_shared<OpOf>();
    op->dtype = DType::i32;
    from(*op) = request.operands[0].shape[0];
    to(*op) = request.ints[0];
    return op;
  }

 private:
  static std::int64_t& from(CountIndicesOp& op) { return op.count; }
  static std::int64_t& to(CountIndicesOp& op) { return op.rows; }
  static std::int64_t& from(LastPositionsOp& op) { return op.count; }
  static std::int64_t& to(LastPositionsOp& op) { return op.rows; }
  static std::int64_t& from(CountStepsOp& op) { return op.length; }
  static std::int64_t& to(CountStepsOp& op) { return op.steps; }
};

}  // namespace

// Kinds are never destroyed: threads may plan.
const Kind& count_indices() {
  static const Kind& kind = *new Counting<CountIndicesOp>("count_indices", Op::CountIndices);
  return kind;
}
const Kind& last_positions() {
  static const Kind& kind = *new Counting<LastPositionsOp>("last_positions", Op::LastPositions);
  return kind;
}
const Kind& count_steps() {
  static const Kind& kind = *new Counting<CountStepsOp>("count_steps", Op::CountSteps);
  return kind;
}

const Kind& CountIndicesOp::kind() const { return count_indices(); }
std::string CountIndicesOp::key() const { return joined({count, rows}); }
std::string CountIndicesOp::describe() const {
  return "count_indices " + std::to_string(count) + " of " + std::to_string(rows);
}
std::int64_t CountIndicesOp::elements_read(std::size_t) const { return count; }
std::int64_t CountIndicesOp::elements_written(std::size_t) const { return rows; }

const Kind& LastPositionsOp::kind() const { return last_positions(); }
std::string LastPositionsOp::key() const { return joined({count, rows}); }
std::string LastPositionsOp::describe() const {
  return "last_positions of " + std::to_string(rows) + " in " + std::to_string(count);
}
std::int64_t LastPositionsOp::elements_read(std::size_t) const { return count; }
std::int64_t LastPositionsOp::elements_written(std::size_t) const { return rows; }

const Kind& CountStepsOp::kind() const { return count_steps(); }
std::string CountStepsOp::key() const { return joined({length, steps}); }
std::string CountStepsOp::describe() const {
  return "count_steps " + std::to_string(steps) + " in " + std::to_string(length);
}
std::int64_t CountStepsOp::elements_read(std::size_t) const { return length; }
std::int64_t CountStepsOp::elements_written(std::size_t) const { return steps; }

}  // namespace sinter::library
