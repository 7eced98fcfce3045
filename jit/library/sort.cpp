// Shapes and sizes of sorts and searches.
#include "jit/library/sort.h"

#include <algorithm>

#include "jit/library/scan.h"

namespace sinter::library {
namespace {

void check_sorted(const std::string& name, DType dtype, const Location& where) {
  if (dtype == DType::boolean)
    throw DTypeError("[" + name + "] is not defined for " + std::string(name_of(dtype)), where);
}

void check_length(const std::string& name, const Shape& shape, std::size_t axis, const Location& where) {
  if (shape[axis] > kMostSorted)
    throw ShapeError("[" + name + "] axis " + std::to_string(axis) + " of shape " + to_string(shape) +
                         " is longer than the " + std::to_string(kMostSorted) + " that can be sorted",
                     where);
}

class Sort final : public Kind {
 public:
  explicit Sort(bool with_values)
      : Kind(with_values ? "sort_with_values" : "sort", with_values ? 2 : 1,
             with_values ? Op::SortWithValues : Op::Sort),
        with_values_(with_values) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const auto& [shape, dtype] = operands[0];
    check_sorted(name(), dtype, where);
    const auto axis = static_cast<std::size_t>(ints[0]);
    if (axis >= shape.rank())
      throw ShapeError("[sort] shape " + to_string(shape) + " has no axis " + std::to_string(axis), where);
    check_length(name(), shape, axis, where);
    if (ints[1] < 0 || ints[1] > shape[axis])
      throw ShapeError("[sort] " + std::to_string(ints[1]) + " of the " + std::to_string(shape[axis]) +
                           " elements along axis " + std::to_string(axis) + " cannot be kept",
                       where);
    std::int64_t outer = 1, inner = 1;
    for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
    for (std::size_t d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
    results[0] = {Shape{outer, inner, ints[1] > 0 ? ints[1] : shape[axis]}, DType::i32};
    if (with_values_) results[1] = {results[0].shape, dtype};
  }

  bool reads_in_place(const Signature& signature, std::size_t k, const Layout& layout) const override {
    return along_axis(signature.operands[k].shape, layout, static_cast<std::size_t>(signature.ints[0]))
        .has_value();
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<SortOp>();
    op->dtype = DType::i32;
    op->x_dtype = arithmetic_of(request.operands[0].dtype);
    op->descending = request.ints[2] != 0;
    op->numbers = static_cast<DType>(request.ints[3]);
    op->with_values = with_values_;
    const AlongAxis x =
        *along_axis(request.operands[0].shape, request.layouts[0], static_cast<std::size_t>(request.ints[0]));
    op->outer = x.outer, op->length = x.length, op->inner = x.inner;
    op->x_outer = x.outer_stride, op->x_step = x.stride, op->x_inner = x.inner_stride;
    op->keep = request.results[0].shape[2];
    return op;
  }

 private:
  bool with_values_;
};

class SearchSorted final : public Kind {
 public:
  SearchSorted() : Kind("searchsorted", 1, Op::SearchSorted) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t>,
             std::span<TensorType> results, const Location& where) const override {
    const TensorType &sorted = operands[0], &values = operands[1];
    check_sorted(name(), sorted.dtype, where);
    const std::size_t rank = sorted.shape.rank();
    if (sorted.dtype != values.dtype || values.shape.rank() != 2 || rank < 1 || rank > 2 ||
        (rank == 2 && sorted.shape[0] != values.shape[0]))
      throw ShapeError("[searchsorted] " + std::string(name_of(values.dtype)) + " values of shape " +
                           to_string(values.shape) + " do not fit sorted " +
                           std::string(name_of(sorted.dtype)) + " of shape " + to_string(sorted.shape),
                       where);
    check_length(name(), sorted.shape, rank - 1, where);
    results[0] = {values.shape, DType::i32};
  }

  LibraryOpRef make(const Request& request) const override {
    const Shape& sorted = request.operands[0].shape;
    auto op = std::make_shared<SearchSortedOp>();
    op->dtype = DType::i32;
    op->x_dtype = arithmetic_of(request.operands[0].dtype);
    op->shared = sorted.rank() == 1;
    op->length = sorted.back();
    op->rows = request.operands[1].shape[0];
    op->count = request.operands[1].shape[1];
    op->right = request.ints[0] != 0;
    return op;
  }
};

}  // namespace

const Kind& sort() {
  static const Sort& kind = *new Sort(false);  // never destroyed: threads may plan
  return kind;
}
const Kind& sort_with_values() {
  static const Sort& kind = *new Sort(true);
  return kind;
}
const Kind& search_sorted() {
  static const SearchSorted& kind = *new SearchSorted;
  return kind;
}

const Kind& SortOp::kind() const { return with_values ? sort_with_values() : library::sort(); }
std::string SortOp::key() const {
  return joined({static_cast<int>(x_dtype), static_cast<int>(numbers), descending, outer, length, inner, keep,
                 x_outer, x_step, x_inner});
}
std::string SortOp::describe() const {
  const std::string kept = keep < length ? std::to_string(keep) + " of " : "";
  return (with_values ? "sort with values " : "sort ") + kept + joined({outer, length, inner}, "x") +
         (descending ? " descending" : "");
}

const Kind& SearchSortedOp::kind() const { return search_sorted(); }
std::string SearchSortedOp::key() const {
  return joined({static_cast<int>(x_dtype), rows, length, count, shared, right});
}
std::string SearchSortedOp::describe() const {
  return "searchsorted " + joined({rows, count}, "x") + " in " + std::to_string(length);
}

}  // namespace sinter::library
