// What a kernel is tried on: how much memory, what is in it, and how far two variants' results may differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::tune {

/// Elements of a buffer that a launch may touch, counted from where the buffer's maps count from.
struct Touched {
  std::int64_t low = 0, end = 0;  // low <= 0: maps with predicates may lead before the start
};
/// Of each buffer; a little more where maps are tested.
std::vector<Touched> touched_by(const ir::Kernel& kernel, std::span<const std::int64_t> ints);

/// Part of the content of an operand, to be repeated: pseudo-random numbers, so that power and rounding are
/// those of real data; an odd count of them, so that no two tiles are alike. Floats lie in [-amplitude,
/// amplitude]; integers are 0, as they may be indices.
std::vector<std::byte> pattern_of(DType dtype, double amplitude, std::uint64_t seed);

/// Of a buffer of the kernel: such that sums of products are about 1, whatever their depth.
double amplitude_of(const ir::Kernel& kernel, std::size_t buffer, std::int64_t depth);

/// What results may differ by, as a part of the greatest: sums of `depth` products in another order, and the
/// roundings of the dtypes on the way. `other`: the kernel's variant whose results they are compared with.
double tolerance_of(const ir::Kernel& kernel, const ir::Tiling& other, std::int64_t depth);

/// Compares results of two variants, part by part.
class Comparison {
 public:
  Comparison(DType dtype, double tolerance, double greatest) : dtype_(dtype), bound_(tolerance * greatest) {}
  void add(std::span<const std::byte> reference, std::span<const std::byte> result);
  /// How they differ; empty: by rounding at most. Of integers and bools, which jump, few may differ.
  std::string verdict() const;

 private:
  DType dtype_;
  double bound_;
  std::size_t count_ = 0, different_ = 0;
  double first_reference_ = 0, first_result_ = 0;
};

/// The greatest finite magnitude; at least the smallest number that is not 0.
double greatest_of(DType dtype, std::span<const std::byte> values);

}  // namespace sinter::tune
