// Packs panels of a stripe's factors, and multiplies them.
#include "src/runtime/host/attention/stripe_products.h"

#include <algorithm>
#include <type_traits>

#include <sinter/half.h>

#include "src/runtime/host/products/gemm.h"
#include "src/runtime/host/threads/workers.h"

namespace sinter::runtime::host {
namespace {

// Of a sum over columns: a panel of so many stays in the first-level cache while rows go over it.
constexpr std::int64_t kDepth = 256;

/// What of `v` is packed is packed by this: `lanes` of its vectors side by side, or, `across`, so many
/// elements of `k` vectors.
template <class To, class From>
void pack_as(To* to, const Vectors& v, bool across, std::int64_t lanes, std::int64_t width, std::int64_t k) {
  constexpr std::int64_t kJoined = std::is_same_v<To, Bfloat16Pair> ? 2 : 1;
  pack_panel(to, reinterpret_cast<const From*>(v.first), across ? v.step : v.stride,
             (across ? v.stride : v.step) * kJoined, lanes, width, k / kJoined);
}
void pack(float* to, const Vectors& v, bool across, std::int64_t lanes, std::int64_t width, std::int64_t k) {
  if (v.dtype == DType::bf16) return pack_as<float, bfloat16>(to, v, across, lanes, width, k);
  if (v.dtype == DType::f16) return pack_as<float, float16>(to, v, across, lanes, width, k);
  pack_as<float, float>(to, v, across, lanes, width, k);
}
void pack(Bfloat16Pair* to, const Vectors& v, bool across, std::int64_t lanes, std::int64_t width,
          std::int64_t k) {
  pack_as<Bfloat16Pair, bfloat16>(to, v, across, lanes, width, k);
}

std::size_t bytes_of(std::int64_t elements) {
  return whole_units(static_cast<std::size_t>(elements) * sizeof(float));
}

/// Calls work(row, rows) for each panel of a stripe's rows.
template <class Work>
void for_panels(const std::vector<std::int64_t>& panels, Work&& work) {
  std::int64_t row = 0;
  for (const std::int64_t rows : panels) {
    work(row, rows);
    row += rows;
  }
}

/// As StripeProducts::multiply, over packed elements P.
template <class P>
void multiply_as(std::int64_t rows, std::int64_t columns, const Vectors& a, const Vectors& b, float* lines,
                 std::int64_t line, P* packed, P* panel) {
  const std::int64_t width = panel_columns<float>(),
                     length = std::is_same_v<P, Bfloat16Pair> ? a.length / 2 : a.length;
  const std::vector<std::int64_t> panels = row_panels(rows);
  for_panels(panels, [&](std::int64_t row, std::int64_t n) {
    pack(packed + row * length, a.from(row, 0), false, n, n, a.length);
  });
  for (std::int64_t j = 0; j < columns; j += width) {
    const std::int64_t lanes = std::min(width, columns - j);
    pack(panel, b.from(j, 0), false, lanes, width, a.length);
    for_panels(panels, [&](std::int64_t row, std::int64_t n) {
      multiply_panel(n, lanes, length, packed + row * length, panel, width, lines + row * line + j, line,
                     false);
    });
  }
}

}  // namespace

StripeProducts::StripeProducts(std::int64_t rows, std::int64_t length)
    : packed_bytes_(bytes_of(rows * std::max(length, kDepth))),
      panel_bytes_(bytes_of(std::max(length, kDepth) * panel_columns<float>())),
      rounded_bytes_(multiplies_pairs() ? bytes_of(rows * kDepth / 2) : 0) {}

void StripeProducts::multiply(std::int64_t rows, std::int64_t columns, const Vectors& a, const Vectors& b,
                              float* lines, std::int64_t line, std::byte* memory) const {
  std::byte* const panel = memory + packed_bytes_;
  if (a.dtype == DType::bf16 && b.dtype == DType::bf16 && a.length % 2 == 0 && multiplies_pairs())
    multiply_as(rows, columns, a, b, lines, line, reinterpret_cast<Bfloat16Pair*>(memory),
                reinterpret_cast<Bfloat16Pair*>(panel));
  else
    multiply_as(rows, columns, a, b, lines, line, reinterpret_cast<float*>(memory),
                reinterpret_cast<float*>(panel));
}

void StripeProducts::combine(std::int64_t rows, std::int64_t columns, const float* weights, std::int64_t line,
                             const Vectors& b, float* sums, std::byte* memory) const {
  const std::int64_t width = panel_columns<float>();
  const std::vector<std::int64_t> panels = row_panels(rows);
  if (columns == 0) std::fill_n(sums, rows * b.length, 0.0f);
  const bool has_pairs = b.dtype == DType::bf16 && multiplies_pairs();
  const auto for_columns = [&](auto&& multiply) {
    for (std::int64_t c = 0; c < b.length; c += width) multiply(c, std::min(width, b.length - c));
  };
  for (std::int64_t p = 0; p < columns; p += kDepth) {
    const std::int64_t depth = std::min(kDepth, columns - p), paired = has_pairs ? depth / 2 * 2 : 0;
    if (paired > 0) {
      auto* const packed = reinterpret_cast<Bfloat16Pair*>(memory);
      auto* const panel = reinterpret_cast<Bfloat16Pair*>(memory + packed_bytes_);
      pack_rounded(panels, weights + p, line, paired, packed, memory + packed_bytes_ + panel_bytes_);
      for_columns([&](std::int64_t c, std::int64_t lanes) {
        pack(panel, b.from(p, c), true, lanes, width, paired);
        for_panels(panels, [&](std::int64_t row, std::int64_t n) {
          multiply_panel(n, lanes, paired / 2, packed + row * (paired / 2), panel, width,
                         sums + row * b.length + c, b.length, p > 0);
        });
      });
    }
    if (paired == depth) continue;
    auto* const panel = reinterpret_cast<float*>(memory + packed_bytes_);
    for_columns([&](std::int64_t c, std::int64_t lanes) {
      pack(panel, b.from(p + paired, c), true, lanes, width, depth - paired);
      for_panels(panels, [&](std::int64_t row, std::int64_t n) {
        multiply_strided(n, lanes, depth - paired, weights + row * line + p + paired, line, 1, panel, width,
                         sums + row * b.length + c, b.length, p + paired > 0);
      });
    });
  }
}

void StripeProducts::pack_rounded(const std::vector<std::int64_t>& panels, const float* weights,
                                  std::int64_t line, std::int64_t depth, Bfloat16Pair* packed,
                                  std::byte* rounded) const {
  const Vectors rows{rounded, DType::bf16, kDepth, 1, depth};
  for_panels(panels, [&](std::int64_t row, std::int64_t n) {
    for (std::int64_t r = row; r < row + n; ++r)
      round_to_multiply(reinterpret_cast<bfloat16*>(rounded) + r * kDepth, weights + r * line, depth);
    pack(packed + row * (depth / 2), rows.from(row, 0), false, n, n, depth);
  });
}

}  // namespace sinter::runtime::host
