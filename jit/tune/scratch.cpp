// Bounds of index maps, contents of operands, differences of results.
#include "jit/tune/scratch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <sinter/half.h>

namespace sinter::tune {
namespace {

// A prime, and with 8 bytes each 4 MiB.
constexpr std::size_t kPatternElements = 524287;

struct Range {
  std::int64_t low = 0, high = 0;  // both included
  void add(std::int64_t stride, std::int64_t last) { (stride < 0 ? low : high) += stride * last; }
};

Range range_of(const ir::Kernel& kernel, const ir::IndexMap& map, std::span<const std::int64_t> ints) {
  Range range;
  for (std::size_t s = 0; s < map.steps.size(); ++s) {
    const ir::MapStep& step = map.steps[s];
    for (std::size_t k = 0; k < step.maps.size(); ++k) {
      const Range part = range_of(kernel, kernel.maps[step.maps[k]], ints);
      const std::int64_t stride = value_of(step.strides[k], ints);
      range.low += std::min(stride * part.low, stride * part.high);
      range.high += std::max(stride * part.low, stride * part.high);
    }
    if (!step.maps.empty()) continue;
    const std::vector<ir::IntRef>& extents = s == 0 ? kernel.extents : step.extents;
    const Range number = range;
    range.low = range.high = value_of(step.offset, ints);
    std::int64_t inner = 1;
    for (std::size_t k = extents.size(); k-- > 0;) {
      const std::int64_t extent = value_of(extents[k], ints);
      std::int64_t last = std::max<std::int64_t>(extent, 1) - 1;
      // Where a number lies outside, a predicate says that nothing is read.
      if (s > 0 && k == 0) last = std::max(last, std::max<std::int64_t>(number.high, 0) / inner);
      range.add(value_of(step.strides[k], ints), last);
      inner *= std::max<std::int64_t>(extent, 1);
    }
  }
  return range;
}

double number_at(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::f32: {
      float value;
      std::memcpy(&value, at, sizeof value);
      return static_cast<double>(value);
    }
    case DType::f64: {
      double value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    case DType::bf16:
    case DType::f16: {
      std::uint16_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return static_cast<double>(dtype == DType::bf16 ? static_cast<float>(bfloat16::from_bits(bits))
                                                      : static_cast<float>(float16::from_bits(bits)));
    }
    case DType::f8_e4m3:
      return static_cast<double>(
          static_cast<float>(float8_e4m3::from_bits(std::to_integer<std::uint8_t>(*at))));
    case DType::f8_e5m2:
      return static_cast<double>(
          static_cast<float>(float8_e5m2::from_bits(std::to_integer<std::uint8_t>(*at))));
    case DType::i32: {
      std::int32_t value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    case DType::i64: {
      std::int64_t value;
      std::memcpy(&value, at, sizeof value);
      return static_cast<double>(value);
    }
    default: return static_cast<double>(std::to_integer<std::uint8_t>(*at));
  }
}

template <class T>
void put(std::vector<std::byte>& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
}

/// SplitMix64.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// Half the distance between 1 and the next number.
double rounding_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return 0x1p-8;
    case DType::f16: return 0x1p-11;
    case DType::f8_e4m3: return 0x1p-4;
    case DType::f8_e5m2: return 0x1p-3;
    default: return 0x1p-24;
  }
}

}  // namespace

std::vector<Touched> touched_by(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  std::vector<Touched> touched(kernel.buffers.size());
  const auto add = [&](std::size_t buffer, const Range& range) {
    touched[buffer].low = std::min(touched[buffer].low, range.low);
    touched[buffer].end = std::max(touched[buffer].end, range.high + 1);
  };
  for (const ir::Expr& expr : kernel.exprs) {
    if (expr.kind != ir::ExprKind::Load && expr.kind != ir::ExprKind::LoadAt) continue;
    Range range = range_of(kernel, kernel.maps[expr.map], ints);
    if (expr.kind == ir::ExprKind::LoadAt)
      range.add(value_of(expr.stride, ints), std::max<std::int64_t>(value_of(expr.extent, ints), 1) - 1);
    add(expr.buffer, range);
  }
  for (const ir::Store& store : kernel.stores)
    add(store.buffer, range_of(kernel, kernel.maps[store.map], ints));
  return touched;
}

std::vector<std::byte> pattern_of(DType dtype, double amplitude, std::uint64_t seed) {
  std::vector<std::byte> bytes(kPatternElements * size_of(dtype));
  if (dtype == DType::i32 || dtype == DType::i64) return bytes;
  for (std::size_t i = 0; i < kPatternElements; ++i) {
    const std::uint64_t random = next(seed);
    const double value = amplitude * (static_cast<double>(random >> 11) * 0x1p-52 - 1);
    switch (dtype) {
      case DType::f32: put(bytes, i, static_cast<float>(value)); break;
      case DType::f64: put(bytes, i, value); break;
      case DType::bf16: put(bytes, i, bfloat16(static_cast<float>(value)).bits()); break;
      case DType::f16: put(bytes, i, float16(static_cast<float>(value)).bits()); break;
      case DType::f8_e4m3: put(bytes, i, float8_e4m3(static_cast<float>(value)).bits()); break;
      case DType::f8_e5m2: put(bytes, i, float8_e5m2(static_cast<float>(value)).bits()); break;
      case DType::boolean: bytes[i] = std::byte(random & 1); break;
      default: bytes[i] = std::byte(random & 0xff); break;
    }
  }
  return bytes;
}

double amplitude_of(const ir::Kernel& kernel, std::size_t buffer, std::int64_t depth) {
  const bool is_factor = std::any_of(kernel.exprs.begin(), kernel.exprs.end(), [&](const ir::Expr& expr) {
    return expr.kind == ir::ExprKind::Load && expr.level == ir::Level::Inner && expr.buffer == buffer;
  });
  if (is_factor) return 1.5 * std::pow(static_cast<double>(std::max<std::int64_t>(depth, 1)), -0.25);
  return 1;
}

double tolerance_of(const ir::Kernel& kernel, const ir::Tiling& other, std::int64_t depth) {
  // Tensor cores cut off digits of each 16 products that they add; an error grows with their number.
  double sums = (static_cast<double>(depth) / 8 + 64) * 0x1p-24;
  // Of 8 bits they keep some 14 bits of what they add up: a slot of each sum, or all of it.
  if (is_f8(kernel.tiling.multiplied))
    sums = 0x1p-9 + (kernel.tiling.short_sums ? 0 : static_cast<double>(depth) * 0x1p-18);
  double rounding = 0x1p-24;
  for (const ir::Expr& expr : kernel.exprs)
    if (expr.kind == ir::ExprKind::Elementwise) rounding = std::max(rounding, rounding_of(expr.dtype));
  for (const ir::Store& store : kernel.stores)
    rounding = std::max(rounding, rounding_of(kernel.buffers[store.buffer].dtype));
  // Of f32 a library may cut off what tf32 does not have, where tiles round.
  if (kernel.tiling.multiplied == DType::f32 && !kernel.tiling.exact &&
      (kernel.tiling.library > 0) != (other.library > 0))
    rounding = std::max(rounding, 0x1p-11);
  return sums + 4 * rounding;
}

void Comparison::add(std::span<const std::byte> reference, std::span<const std::byte> result) {
  const std::size_t size = size_of(dtype_), count = reference.size() / size;
  count_ += count;
  if (std::memcmp(reference.data(), result.data(), reference.size()) == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    const double a = number_at(dtype_, reference.data() + i * size);
    const double b = number_at(dtype_, result.data() + i * size);
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= bound_) continue;
    if (different_++ > 0) continue;
    first_reference_ = a;
    first_result_ = b;
  }
}

std::string Comparison::verdict() const {
  // Where a sum lies next to the number that it is compared with, rounding decides.
  const bool jumps = !is_float(dtype_);
  if (different_ <= (jumps ? 1 + count_ / 10'000 : 0)) return "";
  return std::to_string(different_) + " of " + std::to_string(count_) +
         " results differ from those of the cost model's choice, the first is " +
         std::to_string(first_result_) + " and not " + std::to_string(first_reference_) +
         (jumps ? "" : "; rounding allows for " + std::to_string(bound_));
}

double greatest_of(DType dtype, std::span<const std::byte> values) {
  double greatest = std::numeric_limits<double>::min();
  const std::size_t size = size_of(dtype);
  for (std::size_t i = 0; i + size <= values.size(); i += size) {
    const double value = std::abs(number_at(dtype, values.data() + i));
    if (std::isfinite(value)) greatest = std::max(greatest, value);
  }
  return greatest;
}

}  // namespace sinter::tune
