// Weights in 8 or 4 bits a number, with a scale for each tensor, row or block of a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/dtype.h>
#include <sinter/module.h>
#include <sinter/shape.h>
#include <sinter/state.h>
#include <sinter/tensor.h>

namespace sinter {

/// What a code stands for, times its scale. `a` is the largest absolute value of the numbers that share the
/// scale; no number changes by more than the error.
///
/// | scheme | numbers | scale | error |
/// | int8 | -127 to 127 | a / 127 | a / 254 |
/// | int4 | -7 to 7 | a / 7 | a / 14 |
/// | nf4 | 16 quantiles of a normal distribution | a | 0.152 a; 0.04 a near 0 |
/// | fp8 | those of f8_e4m3, -448 to 448 | a / 448 | a / 28; 2^-4 of the number from a / 28672 on |
///
/// NF4 is that of T. Dettmers et al., "QLoRA: efficient finetuning of quantized LLMs", NeurIPS 2023, appendix
/// E. All are symmetric, but for NF4's one number more above 0, and hold 0 itself.
enum class QuantScheme : std::uint8_t { int8, int4, nf4, fp8 };
constexpr std::string_view name_of(QuantScheme scheme) {
  constexpr std::string_view names[] = {"int8", "int4", "nf4", "fp8"};
  return names[static_cast<std::size_t>(scheme)];
}

/// Which numbers share a scale: all of them; a row, that is what has one index in the first dimension, as the
/// weights of one output; or a block of a row.
enum class QuantGranularity : std::uint8_t { tensor, channel, block };

struct QuantOptions {
  QuantScheme scheme = QuantScheme::nf4;
  QuantGranularity granularity = QuantGranularity::block;
  /// Numbers of a block, a power of two: 16 or more. The last block of a row may have fewer.
  std::int64_t block = 64;
  /// The scales in 8 bits, too, as their mean and differences from it, 256 of which share a scale: QLoRA's
  /// double quantization, with integers where the paper has 8-bit floating-point numbers. A number then
  /// changes by that of its scale more.
  bool double_quantization = false;
};

/// Scales in 8 bits: mean + code * scale of their block.
struct QuantizedScales {
  Buffer<2, Int> codes;  // i8 (rows, groups)
  Buffer<1> scales;      // f32, one for each 256 codes, row by row
  Buffer<0> mean;        // f32
};

/// A tensor in few bits; see quantize(). A module of buffers: no optimizer changes it, and records have it
/// under its path and the name of its scheme, "quantized.nf4", "quantized.scales". A tensor (d0, d1, ..) has
/// d0 rows, and one of rank 1 is a row.
struct QuantizedTensor {
  /// Of the tensor that was quantized.
  Shape shape;
  DType dtype = DType::f32;
  QuantOptions options;
  /// i8 (rows, columns), or two codes in a byte, u8 (rows, (columns + 1) / 2): the first half of a row is in
  /// the upper bits. Empty with fp8, which has `numbers`.
  Buffer<2, Int> codes;
  /// f8_e4m3 (rows, columns); empty with other schemes.
  Buffer<2> numbers;
  /// f32: (1, 1), (rows, 1), or (rows, blocks). Empty with double quantization, which has the others.
  Buffer<2> scales;
  QuantizedScales quantized_scales;

  template <class F>
  void visit_fields(F&& f) {
    visit(*this, f);
  }
  template <class F>
  void visit_fields(F&& f) const {
    visit(*this, f);
  }

 private:
  template <class Self, class F>
  static void visit(Self& self, F& f) {
    if (self.options.scheme == QuantScheme::fp8)
      f(name_of(self.options.scheme), self.numbers);
    else
      f(name_of(self.options.scheme), self.codes);
    if (self.options.double_quantization)
      f("scales", self.quantized_scales);
    else
      f("scales", self.scales);
  }
};

namespace detail {
SINTER_API QuantizedTensor quantize(const AnyTensor& x, const QuantOptions& options, Location where);
}  // namespace detail

/// The tensor in few bits, on its device. Reads it, to see whether all its numbers are finite: a number that
/// is not throws Error, as does a block that is no power of two. ShapeError for a tensor without elements or
/// of rank 0.
template <std::size_t Rank>
QuantizedTensor quantize(const Tensor<Rank>& x, const QuantOptions& options = {},
                         Location where = Location::current()) {
  return detail::quantize(x.dynamic(), options, where);
}

/// What the codes stand for, in f32 rounded to `dtype`, which defaults to that of the tensor that was
/// quantized: plain operations, which the planner fuses with what reads them.
SINTER_API AnyTensor dequantize(const QuantizedTensor& x, std::optional<DType> dtype = std::nullopt,
                                Location where = Location::current());

}  // namespace sinter
