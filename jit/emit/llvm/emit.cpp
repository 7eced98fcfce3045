// A module of LLVM IR around a kernel's function.
#include "jit/emit/llvm/emit.h"

#include <cstdio>
#include <stdexcept>

#include <xxhash.h>

#include "jit/emit/llvm/cost.h"
#include "jit/emit/llvm/kernel_writer.h"

namespace sinter::emit {
namespace {

std::string hash_of(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digits[40];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

/// A kernel of a single outer point gets a loop around it.
ir::Kernel with_outer_loop(ir::Kernel kernel) {
  kernel.outer_rank = 1;
  kernel.extents.insert(kernel.extents.begin(), ir::IntRef::one());
  for (ir::IndexMap& map : kernel.maps) {
    std::vector<ir::IntRef>& strides = map.steps.front().strides;
    strides.insert(strides.begin(), ir::IntRef::zero());
  }
  return kernel;
}

}  // namespace

bool can_join_lanes(const ir::Kernel& kernel) {
  return (kernel.schedule == ir::Schedule::LanesInner ? kernel.inner_rank : kernel.outer_rank) >= 2;
}

bool can_split(const ir::Kernel& kernel) { return kernel.inner_rank > 0; }

LlvmSource emit_llvm(const ir::Kernel& kernel, const LlvmTarget& target, LlvmLoops loops) {
  if (kernel.outer_rank == 0) return emit_llvm(with_outer_loop(kernel), target, loops);
  if (loops == LlvmLoops::Joined && !can_join_lanes(kernel))
    throw std::logic_error("[llvm] there is no loop to join the lanes' loop with");
  if (loops == LlvmLoops::Split && !can_split(kernel))
    throw std::logic_error("[llvm] there is no inner loop to split");
  const LlvmShape shape = llvm_shape(kernel, target, loops);
  LlvmModule module;
  module.typed_pointers = target.typed_pointers;
  const std::string width = std::to_string(8 * target.vector_bytes);
  std::string rest = LlvmKernelWriter(kernel, target, module, shape, loops).run("@");
  for (const auto& [name, text] : module.functions) rest += text;
  for (const std::string& declaration : module.declarations) rest += declaration + "\n";
  // Some processors are said to prefer narrower vectors than they have; the text was made for the full width.
  rest += "attributes #0 = { nounwind \"prefer-vector-width\"=\"" + width +
          "\" \"min-legal-vector-width\"=\"" + width + "\" }\n";
  LlvmSource source;
  // Modules that are alive at once need names of their own.
  source.entry = "sinter_" + hash_of(rest);
  const std::size_t at = rest.find("@@");
  source.text = rest.replace(at, 2, "@" + source.entry);
  source.lanes = shape.lanes;
  source.register_lanes = target.vector_bytes / 4;
  source.scratch_bytes_per_point = shape.scratch_bytes;
  source.gathers = shape.gathers;
  source.point_cost = shape.point_cost;
  source.inner_cost = shape.inner_cost;
  source.walks = shape.walks;
  for (const auto& of_phase : shape.reductions) source.reductions += of_phase.size();
  return source;
}

}  // namespace sinter::emit
