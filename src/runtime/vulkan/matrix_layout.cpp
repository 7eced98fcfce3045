// Asks for the layout of cooperative matrices.
#include "src/runtime/vulkan/matrix_layout.h"

#include <bit>
#include <cmath>
#include <span>

#include <sinter/error.h>
#include <sinter/half.h>

#include "jit/emit/contraction/matrices.h"
#include "jit/emit/contraction/matrix_scopes.h"
#include "jit/emit/dialects/glsl/f16.h"
#include "kernels/embedded.h"
#include "src/base/env.h"
#include "src/runtime/vulkan/device_backend.h"

namespace sinter::runtime::vulkan {

using emit::MatrixUse;

std::string layout_source(const emit::Target& target, DType dtype) {
  const auto type = [&](int bits, MatrixUse use) {
    return "fcoopmatNV<" + std::to_string(bits) + ", " +
           std::to_string(emit::marked_scope(use, dtype == DType::bf16 && bits == 16)) + ", 16, 16>\n";
  };
  return "#version 450\n#extension GL_EXT_control_flow_attributes : require\n" + emit::matrix_extensions() +
         (target.casts_f16 ? emit::glsl_f16_modes() : "") + "#define SN_ELEMENTS " +
         std::to_string(256 / target.subgroup) + "\n#define SN_A " + type(16, MatrixUse::A) +
         "#define SN_SUM " + type(32, MatrixUse::Sum) + std::string(kernels::source("matrix_layout.comp"));
}

LayoutWords layout_question() {
  constexpr std::uint32_t kSpread = 0x9e3779b1, kBf16Middle = 0x8000, kF16Middle = 0x1000;
  constexpr std::uint32_t kSmallest = 127 - 20,
                          kSizes = 40;  // exponents, from subnormal f16 to beyond its end
  LayoutWords words;
  for (std::uint32_t i = 0; i < words.given.size(); ++i) {
    const std::uint32_t bits = (i + 1) * kSpread, fraction = bits & 0x7fffff;
    const std::uint32_t kinds[] = {fraction, (fraction & 0x7f0000) | kBf16Middle,
                                   (fraction & 0x7fe000) | kF16Middle, fraction | 0x7ff000};
    words.given[i] = (bits & 0x80000000) | (kSmallest + (bits >> 8) % kSizes) << 23 | kinds[i % 4];
  }
  return words;
}

std::optional<ir::MatrixLayout> layout_answered(const LayoutWords& words, DType dtype, int lanes) {
  if (words.elements * static_cast<std::uint32_t>(lanes) != words.places.size()) return std::nullopt;
  std::optional<ir::MatrixLayout> layout = ir::layout_of(words.places, lanes);
  if (!layout) return std::nullopt;
  bool rounds = true, cuts = dtype == DType::bf16;
  for (std::size_t i = 0; i < words.given.size(); ++i) {
    const float given = std::bit_cast<float>(words.given[i]);
    const std::uint32_t place = words.places[i],
                        found = words.rounded[place / 2] >> (place % 2 * 16) & 0xffff;
    rounds &= found == (dtype == DType::bf16 ? bfloat16(given).bits() : float16(given).bits());
    cuts &= found == words.given[i] >> 16;
  }
  if (!rounds && !cuts) return std::nullopt;
  layout->cuts_bf16 = cuts;
  return layout;
}

/// Of all dtypes that multiply tiles of scores, if it is the same. Not known where the driver refuses the
/// kernel that tells.
ir::MatrixLayout VulkanBackend::find_layout() {
  std::optional<ir::MatrixLayout> found;
  std::string why;
  for (const DType dtype : {DType::f16, DType::bf16}) {
    if (!why.empty() || !traits_.tensor_cores.has_score_matrices(dtype)) continue;
    try {
      const std::optional<ir::MatrixLayout> layout = ask_for_layout(dtype);
      if (!layout)
        why = "those of " + std::string(name_of(dtype)) + " have none that is made use of";
      else if (found && found->bits != layout->bits)
        why = "it differs from dtype to dtype";
      found = layout;
    } catch (const Error& error) {
      why = error.what();
    }
  }
  if (base::logs("device") && (found || !why.empty()))
    base::log_line("device", "the layout of cooperative matrices on " + traits_.name +
                                 (why.empty() ? ": " + ir::describe(*found) : " is not known: " + why));
  return why.empty() ? found.value_or(ir::MatrixLayout{}) : ir::MatrixLayout{};
}

std::optional<ir::MatrixLayout> VulkanBackend::ask_for_layout(DType dtype) {
  const emit::Target& target = compiler_.target();
  LayoutWords words = layout_question();
  const auto bytes = std::as_writable_bytes(std::span(&words, 1));
  const CompiledTextRef text =
      compiler_.compile(layout_source(target, dtype), 1, static_cast<std::uint32_t>(target.subgroup));
  const BufferRef buffer = allocate(bytes.size());
  const BufferView view{buffer.get(), 0};
  upload(view, bytes);
  {
    const Commands::Lock lock = commands_.lock();
    const Pipeline& pipeline = compiler_.pipeline(*text, static_cast<std::uint32_t>(target.subgroup));
    bindings_.clear();
    accesses_.clear();
    make_room(0, 0, {&pipeline});
    bindings_.push_back(bind(view, static_cast<std::int64_t>(bytes.size()), true));
    commands_.dispatch(pipeline, bindings_, accesses_, 1, 1, bytes.size());
  }
  download(view, bytes);
  return layout_answered(words, dtype, target.subgroup);
}

}  // namespace sinter::runtime::vulkan
