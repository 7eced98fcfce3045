// Tensors made of positions: ranges, grids, diagonals.
#include <algorithm>
#include <cmath>
#include <string>

#include <sinter/functions/creation.h>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

/// 0, 1, .. of a dtype.
AnyTensor positions(std::int64_t count, DType dtype, const Device& device, const Location& where) {
  return tensor::iota_along(0, 1, count, device, where).cast(dtype, where);
}

void check_count(std::string_view name, std::int64_t count, const Location& where) {
  if (count < 0)
    throw ShapeError("[" + std::string(name) + "] a count is zero or more, not " + std::to_string(count),
                     where);
}

void check_matrix(std::string_view name, std::int64_t rows, std::int64_t columns, const Location& where) {
  if (rows < 0 || columns < 0)
    throw ShapeError(
        "[" + std::string(name) + "] sizes are zero or more, not " + to_string(Dims{rows, columns}), where);
}

}  // namespace

AnyTensor arange(double start, double stop, double step, DType dtype, const Device& device, Location where) {
  tensor::check_numeric("arange", dtype, where);
  const double count = std::ceil((stop - start) / step);
  if (!(std::abs(count) < 0x1p62) || step == 0)
    throw ShapeError("[arange] from " + std::to_string(start) + " to " + std::to_string(stop) + " by " +
                         std::to_string(step) + " is no range",
                     where);
  const auto size = static_cast<std::int64_t>(std::max(0.0, count));
  const A index = positions(size, dtype, device, where);
  if (is_float(dtype)) return A::add(A::mul(index, step, where), start, where);
  if (start != std::floor(start) || step != std::floor(step))
    throw DTypeError(
        "[arange] integers do not start at " + std::to_string(start) + " or step by " + std::to_string(step),
        where);
  return A::add(A::mul(index, static_cast<std::int64_t>(step), where), static_cast<std::int64_t>(start),
                where);
}

AnyTensor linspace(double start, double stop, std::int64_t count, DType dtype, const Device& device,
                   Location where) {
  tensor::check_float("linspace", dtype, where);
  check_count("linspace", count, where);
  const double step = count > 1 ? (stop - start) / static_cast<double>(count - 1) : 0;
  const A index = tensor::iota_along(0, 1, count, device, where);
  const A from_start = A::add(A::mul(index.cast(dtype, where), step, where), start, where);
  if (count < 2) return from_start;
  const A left = A::sub(count - 1, index, where).cast(dtype, where);
  const A from_stop = A::add(A::mul(left, -step, where), stop, where);
  return A::where(A::less(index, count / 2, where), from_start, from_stop, where);
}

AnyTensor logspace(double start, double stop, std::int64_t count, double base, DType dtype,
                   const Device& device, Location where) {
  tensor::check_float("logspace", dtype, where);
  return A::pow(base, linspace(start, stop, count, dtype, device, where), where);
}

AnyTensor eye(std::int64_t rows, std::int64_t columns, DType dtype, const Device& device, Location where) {
  check_matrix("eye", rows, columns, where);
  tensor::check_supported("eye", dtype, device, where);
  return diag_mask(rows, columns, 0, device, where).cast(dtype, where);
}

AnyTensor diag_mask(std::int64_t rows, std::int64_t columns, std::int64_t diagonal, const Device& device,
                    Location where) {
  check_matrix("diag_mask", rows, columns, where);
  // Beyond the corners there is nothing, and the sum would not fit.
  const std::int64_t right = std::clamp(diagonal, -rows, columns);
  const A row = tensor::iota_along(0, 2, rows, device, where);
  const A column = tensor::iota_along(1, 2, columns, device, where);
  return A::equal(column, A::add(row, right, where), where);
}

AnyTensor bernoulli(const Shape& shape, double probability, const Device& device, Location where) {
  if (!(probability >= 0 && probability <= 1))
    throw Error("[bernoulli] a probability is between 0 and 1, not " + std::to_string(probability), where);
  return A::less(A::uniform(shape, 0, 1, device, where), probability, where);
}

AnyTensor bernoulli(const Shape& shape, double probability, const Device& device, Generator& generator,
                    Location where) {
  const DrawFrom draws(generator);
  return bernoulli(shape, probability, device, where);
}

std::vector<AnyTensor> meshgrid(std::span<const AnyTensor> vectors, GridIndexing indexing, Location where) {
  Shape shape;
  for (const A& vector : vectors) {
    const Shape& given = tensor::value_of("meshgrid", vector, where).shape;
    if (given.rank() != 1) throw ShapeError("[meshgrid] takes vectors, not shape " + to_string(given), where);
    shape.push_back(given[0]);
  }
  const bool swapped = indexing == GridIndexing::Cartesian && vectors.size() > 1;
  if (swapped) std::swap(shape[0], shape[1]);
  std::vector<AnyTensor> grids;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const std::size_t axis = swapped && i < 2 ? 1 - i : i;
    Shape aligned(Dims::filled(shape.rank(), 1));
    aligned[axis] = vectors[i].shape()[0];
    grids.push_back(vectors[i].reshape(aligned, where).expand(shape, where));
  }
  return grids;
}

AnyTensor cartesian_grid(const Shape& shape, const Device& device, Location where) {
  std::vector<AnyTensor> indices;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    indices.push_back(tensor::iota_along(i, shape.rank(), shape[i], device, where).expand(shape, where));
  if (indices.empty()) return A::full({0}, 0, DType::i64, device, where);
  return A::stack(indices, -1, where);
}

}  // namespace sinter
