// Tensors made of numbers and of positions; Tensor<Rank, Kind> has them as static functions where they say
// the rank: Tensor<1>::linspace(0, 1, 5, device).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/random.h>

namespace sinter {

/// start, start + step, ... before stop, of any numeric dtype; ceil((stop - start) / step) numbers, which is
/// computed in f64.
SINTER_API AnyTensor arange(double start, double stop, double step, DType dtype, const Device& device,
                            Location where = Location::current());
/// `count` numbers from start to stop, both included. Counted from both ends, so that the last one is exact.
SINTER_API AnyTensor linspace(double start, double stop, std::int64_t count, DType dtype,
                              const Device& device, Location where = Location::current());
/// base to the power of linspace(start, stop, count).
SINTER_API AnyTensor logspace(double start, double stop, std::int64_t count, double base, DType dtype,
                              const Device& device, Location where = Location::current());
/// Ones on the main diagonal of [rows, columns], zeros elsewhere.
SINTER_API AnyTensor eye(std::int64_t rows, std::int64_t columns, DType dtype, const Device& device,
                         Location where = Location::current());
/// Bool: true on one diagonal of [rows, columns].
SINTER_API AnyTensor diag_mask(std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                               const Device& device, Location where = Location::current());
/// Bool: true with the given probability.
SINTER_API AnyTensor bernoulli(const Shape& shape, double probability, const Device& device,
                               Location where = Location::current());
/// Drawn from a generator.
SINTER_API AnyTensor bernoulli(const Shape& shape, double probability, const Device& device,
                               Generator& generator, Location where = Location::current());

/// How meshgrid numbers its axes: Matrix, the first vector along axis 0 ("ij"); Cartesian, the first vector
/// along axis 1 and the second along axis 0 ("xy").
enum class GridIndexing : std::uint8_t { Matrix, Cartesian };
/// For each of the vectors a tensor of the grid that they span.
SINTER_API std::vector<AnyTensor> meshgrid(std::span<const AnyTensor> vectors,
                                           GridIndexing indexing = GridIndexing::Matrix,
                                           Location where = Location::current());
/// The indices of each element of a shape, i64: the shape with the rank as a further axis.
SINTER_API AnyTensor cartesian_grid(const Shape& shape, const Device& device,
                                    Location where = Location::current());

}  // namespace sinter
