// Finds matrices in index maps.
#include "jit/ir/products/plain_product.h"

#include <utility>
#include <vector>

#include "jit/ir/products/product_rest.h"

namespace sinter::ir {
namespace {

/// Loops that a matrix goes along as if they were one: of `size` points, `stride` elements apart.
struct Axis {
  std::int64_t size = 1, stride = 0;  // of one point the stride is 0
};

class Reader {
 public:
  /// `rows`, `columns`: loops that are counted as one each; the other outer loops are the batch.
  Reader(const Kernel& kernel, std::span<const std::int64_t> ints, std::uint32_t rows, std::uint32_t columns)
      : kernel_(kernel), t_(kernel.tiling), ints_(ints), rows_(rows), columns_(columns) {
    const std::uint32_t outer = (1u << kernel.outer_rank) - 1, all = (1u << kernel.extents.size()) - 1;
    batch_ = outer & ~(rows_ | columns_);
    sum_ = all & ~outer;
  }

  /// The kernel as a product and nothing else.
  std::optional<PlainProduct> read() {
    if (kernel_.stores.size() != 1 || !read_sizes() || !read_result() || !read_factors()) return std::nullopt;
    return product_;
  }

  /// The product of its factors.
  std::optional<PlainProduct> read_sums() {
    if (!read_sizes() || !read_factors()) return std::nullopt;
    product_.has_rest = true;
    product_.result.dtype = sum_dtype(kernel_);
    product_.result.leading = product_.columns;
    product_.result.batch_stride = product_.rows * product_.columns;
    const double bytes = static_cast<double>(product_.batches) *
                         static_cast<double>(product_.result.batch_stride) *
                         static_cast<double>(sinter::size_of(product_.result.dtype));
    if (bytes > static_cast<double>(kMostSumBytes)) return std::nullopt;
    return product_;
  }

  /// Strides of the outer loops in the sums.
  std::vector<std::int64_t> sum_strides() const {
    std::vector<std::int64_t> strides(kernel_.outer_rank);
    std::int64_t stride = 1;
    for (const std::uint32_t set : {columns_, rows_, batch_}) {
      const std::vector<std::size_t> loops = loops_of(set);
      for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
        strides[*loop] = stride;
        stride *= value(kernel_.extents[*loop]);
      }
    }
    return strides;
  }

 private:
  std::int64_t value(IntRef ref) const {
    if (ref.is_zero()) return 0;
    return ref.is_one() ? 1 : ints_[ref.index];
  }
  std::int64_t size_of(std::uint32_t loops) const {
    std::int64_t size = 1;
    for (const std::size_t loop : loops_of(loops)) size *= value(kernel_.extents[loop]);
    return size;
  }

  /// False where there is nothing to compute, or faults to tell.
  bool read_sizes() {
    if (kernel_.faults > 0 || kernel_.members > 1) return false;
    for (const IntRef extent : kernel_.extents)
      if (value(extent) < 1) return false;
    product_.rows = size_of(rows_);
    product_.columns = size_of(columns_);
    product_.depth = size_of(sum_);
    product_.batches = size_of(batch_);
    product_.exact = t_.exact;
    return true;
  }

  bool read_factors() {
    return read_factor(t_.a, rows_, product_.a, product_.a_along_sum) &&
           read_factor(t_.b, columns_, product_.b, product_.b_along_sum);
  }

  /// Nothing where the map does not go along the loops as along one.
  std::optional<Axis> axis(const MapStep& step, std::uint32_t loops) const {
    Axis axis;
    const std::vector<std::size_t> order = loops_of(loops);
    for (auto loop = order.rbegin(); loop != order.rend(); ++loop) {
      const std::int64_t size = value(kernel_.extents[*loop]), stride = value(step.strides[*loop]);
      if (size == 1) continue;
      if (axis.size == 1)
        axis.stride = stride;
      else if (stride != axis.stride * axis.size)
        return std::nullopt;
      axis.size *= size;
    }
    return axis;
  }

  /// A matrix with neighbours along one axis and lines along the other. False where elements lie elsewhere,
  /// or lines overlap.
  bool read_matrix(const MapStep& step, std::uint32_t lines, std::uint32_t along, PlainMatrix& matrix) const {
    const auto line = axis(step, lines), neighbour = axis(step, along), batch = axis(step, batch_);
    if (!line || !neighbour || !batch || batch->stride < 0) return false;
    if (neighbour->size > 1 && neighbour->stride != 1) return false;
    if (line->size > 1 && line->stride < neighbour->size) return false;
    matrix.offset = value(step.offset);
    matrix.leading = line->size > 1 ? line->stride : neighbour->size;
    matrix.batch_stride = batch->stride;
    return matrix.offset >= 0;
  }

  const MapStep* only_step(std::uint16_t map) const {
    const std::vector<MapStep>& steps = kernel_.maps[map].steps;
    return steps.size() == 1 ? &steps.front() : nullptr;
  }

  bool read_factor(const TiledFactor& factor, std::uint32_t own, PlainMatrix& matrix, bool& along_sum) const {
    const Expr& load = kernel_.exprs[factor.value];
    if (load.kind != ExprKind::Load || load.predicate != kNone) return false;
    if (are_bytes(load.dtype)) return false;  // the library's own scales are not asked for
    const MapStep* step = only_step(load.map);
    if (step == nullptr) return false;
    matrix.buffer = load.buffer;
    matrix.dtype = load.dtype;
    along_sum = read_matrix(*step, own, sum_, matrix);
    return along_sum || read_matrix(*step, sum_, own, matrix);
  }

  bool read_result() {
    const Store& store = kernel_.stores.front();
    const BufferInfo& buffer = kernel_.buffers[store.buffer];
    const MapStep* step = only_step(store.map);
    if (buffer.read || step == nullptr) return false;
    product_.result.buffer = store.buffer;
    product_.result.dtype = buffer.dtype;
    // Products of a batch have to lie apart, as each writes its own.
    const auto batch = axis(*step, batch_);
    if (!batch || (batch->size > 1 && batch->stride == 0)) return false;
    if (!read_matrix(*step, rows_, columns_, product_.result)) return false;
    return is_result(store.value);
  }

  /// The value of 16 bits below a cast to f32, which changes nothing, or else the value itself.
  ExprId below_widening(ExprId id) const {
    const Expr& expr = kernel_.exprs[id];
    const bool widens = expr.kind == ExprKind::Elementwise && expr.op == Op::Cast && expr.dtype == DType::f32;
    return widens && is_half(kernel_.exprs[expr.args[0]].dtype) ? expr.args[0] : id;
  }

  /// True iff the value is the sum, perhaps with a bias, rounded to the result's dtype.
  bool is_result(ExprId id) {
    const DType dtype = product_.result.dtype;
    if (is_half(dtype)) {
      // f32 factors have results of f32 in the libraries that there are.
      if (t_.multiplied != dtype) return false;
      const Expr& rounded = kernel_.exprs[id];
      if (rounded.kind != ExprKind::Elementwise || rounded.op != Op::Cast || rounded.dtype != dtype)
        return false;
      id = rounded.args[0];
    } else if (dtype != DType::f32) {
      return false;
    }
    if (id == t_.sum) return true;
    const Expr& expr = kernel_.exprs[id];
    if (expr.kind != ExprKind::Elementwise || expr.op != Op::Add) return false;
    if (is_sum(expr.args[0])) return is_bias(expr.args[1]);
    return is_sum(expr.args[1]) && is_bias(expr.args[0]);
  }

  /// True iff the value is the sum, perhaps rounded to the result's dtype.
  bool is_sum(ExprId id) const {
    id = below_widening(id);
    const Expr& expr = kernel_.exprs[id];
    const bool rounds =
        expr.kind == ExprKind::Elementwise && expr.op == Op::Cast && expr.dtype == product_.result.dtype;
    return (rounds ? expr.args[0] : id) == t_.sum;
  }

  bool is_bias(ExprId id) {
    const Expr& load = kernel_.exprs[below_widening(id)];
    if (load.kind != ExprKind::Load || load.predicate != kNone || load.dtype != product_.result.dtype)
      return false;
    const MapStep* step = only_step(load.map);
    if (step == nullptr) return false;
    const auto along = axis(*step, columns_), rows = axis(*step, rows_), batch = axis(*step, batch_);
    if (!along || !rows || !batch || rows->stride != 0 || batch->stride != 0) return false;
    if (along->size > 1 && along->stride != 1) return false;
    product_.has_bias = true;
    product_.bias.buffer = load.buffer;
    product_.bias.dtype = load.dtype;
    product_.bias.offset = value(step->offset);
    return product_.bias.offset >= 0;
  }

  const Kernel& kernel_;
  const Tiling& t_;
  const std::span<const std::int64_t> ints_;
  const std::uint32_t rows_, columns_;
  std::uint32_t batch_ = 0, sum_ = 0;
  PlainProduct product_;
};

/// The set of loops, the same without its first, and so on, down to its last loop.
std::vector<std::uint32_t> without_first(std::uint32_t loops) {
  std::vector<std::uint32_t> sets;
  for (; loops != 0; loops &= loops - 1) sets.push_back(loops);
  return sets;
}

/// What `read` first finds: loops that do not lie as one are products of a batch that share a factor.
template <class Read>
auto first_found(const Kernel& kernel, std::span<const std::int64_t> ints, const Read& read) {
  for (const std::uint32_t columns : without_first(kernel.tiling.column_loops))
    for (const std::uint32_t rows : without_first(kernel.tiling.row_loops)) {
      Reader reader(kernel, ints, rows, columns);
      if (auto found = read(reader)) return found;
    }
  return decltype(read(std::declval<Reader&>()))();
}

/// True iff results are made of one product, each of another element of it, of all that its factors have.
bool has_one_sum(const Tiling& tiling) {
  return tiling.any() && tiling.others.empty() && tiling.terms.empty() && tiling.repeat_loops == 0 &&
         !tiling.blocks.any();
}

std::optional<PlainProduct> sums_of(Reader& reader) { return reader.read_sums(); }

}  // namespace

std::optional<PlainProduct> plain_product(const Kernel& kernel, std::span<const std::int64_t> ints) {
  if (!has_one_sum(kernel.tiling)) return std::nullopt;
  return first_found(kernel, ints, [](Reader& reader) { return reader.read(); });
}

std::optional<PlainProduct> library_product(const Kernel& kernel, std::span<const std::int64_t> ints) {
  if (auto plain = plain_product(kernel, ints)) return plain;
  if (!has_one_sum(kernel.tiling)) return std::nullopt;
  return first_found(kernel, ints, sums_of);
}

std::vector<std::int64_t> rest_ints(const Kernel& kernel, std::span<const std::int64_t> ints) {
  const auto strides = first_found(kernel, ints, [](Reader& reader) {
    return sums_of(reader) ? std::optional(reader.sum_strides()) : std::nullopt;
  });
  std::vector<std::int64_t> all(ints.begin(), ints.end());
  all.insert(all.end(), strides.value().begin(), strides.value().end());
  return all;
}

}  // namespace sinter::ir
