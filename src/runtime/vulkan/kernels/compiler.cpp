// Compiles sources in parallel and caches the results.
#include "src/runtime/vulkan/kernels/compiler.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <xxhash.h>

#include "jit/compile/shaderc.h"
#include "jit/emit/attention/attention.h"
#include "jit/emit/dialects/table.h"
#include "src/base/cores.h"

namespace sinter::runtime::vulkan {
namespace {

emit::Target target_of(const DeviceInfo& info, bool has_workgroups) {
  emit::Target target(emit::dialect("glsl"));
  // Without barriers, a workgroup is only a unit of scheduling: large enough to outweigh the cost of starting
  // one.
  target.workgroup_size =
      static_cast<int>(std::bit_floor(std::min(info.max_invocations, has_workgroups ? 256u : 64u)));
  target.has_workgroups = has_workgroups;
  if (!info.cpu_kernels)
    target.large_workgroup_size = static_cast<int>(std::bit_floor(std::min(info.max_invocations, 1024u)));
  target.has_f64 = info.has_f64;
  target.has_i64 = info.has_i64;
  target.has_byte_storage = info.has_bytes;
  target.has_half_storage = info.has_halves;
  target.fuses_fma = info.fuses_fma;
  target.casts_f16 = info.casts_f16;
  // A power of two that divides the smallest workgroup.
  if (has_workgroups && info.full_subgroups && std::has_single_bit(info.subgroup_size) &&
      info.subgroup_size > 1 && info.subgroup_size <= 64)
    target.subgroup = static_cast<int>(info.subgroup_size);
  target.vectors = !info.cpu_kernels;
  if (has_workgroups) target.tile_bytes = info.shared_bytes;
  if (!info.matrices.empty()) target.tensor_units = info.compute_units;
  target.max_workgroups = std::min<std::int64_t>(info.max_groups[0], 65535);
  target.wanted_workgroups = std::max<std::int64_t>(info.lanes / target.workgroup_size, 1);
  return target;
}

std::pair<std::uint64_t, std::uint64_t> key_of(const std::string& source) {
  const XXH128_hash_t hash = XXH3_128bits(source.data(), source.size());
  return {hash.low64, hash.high64};
}

/// Calls `work(0 .. count-1)` on as many threads as there are cores; rethrows the first exception.
template <class Work>
void for_each_in_parallel(std::size_t count, Work work) {
  const std::size_t threads = std::min<std::size_t>(count, base::usable_cores());
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> errors(count);
  auto loop = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> helpers;
  try {
    for (std::size_t t = 1; t < threads; ++t) helpers.emplace_back(loop);
  } catch (const std::system_error&) {
    // Those that could be started do it, and this one.
  }
  loop();
  for (std::thread& helper : helpers) helper.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

std::uint32_t bindings_of(const ir::Kernel& kernel, const emit::Target& target) {
  const std::size_t buffers = kernel.members > 1 ? 0 : kernel.buffers.size();
  return static_cast<std::uint32_t>(buffers) + 1 + (emit::takes_parts(kernel, target) ? 2 : 0) +
         (kernel.faults > 0 ? 1 : 0);
}

/// Guesses the workgroup size of a kernel before its sizes are known.
std::uint32_t usual_lanes(const ir::Kernel& kernel, const emit::Target& target) {
  const bool small = target.has_workgroups && !emit::has_attention(kernel, target) &&
                     emit::schedule_on(kernel, target) == ir::Schedule::LanesOuter;
  return static_cast<std::uint32_t>(small ? std::min(target.workgroup_size, 64)
                                          : emit::workgroup_lanes(kernel, target));
}

}  // namespace

KernelCompiler::KernelCompiler(const Device& device)
    : pipelines_(device),
      target_(target_of(device.info(), !device.info().cpu_kernels)),
      grouped_target_(target_of(device.info(), true)) {}

std::size_t CompiledText::held_bytes() const {
  // The driver has machine code of some times the size, with notes of its own.
  constexpr std::size_t kPipeline = 16 * 1024;
  return sizeof *this + (1 + 4 * pipelines.size()) * spirv.size() * sizeof spirv[0] +
         pipelines.size() * kPipeline;
}

CompiledTextRef KernelCompiler::build(const std::string& source, std::uint32_t bindings,
                                      std::uint32_t lanes) {
  auto text = std::make_shared<CompiledText>();
  compile::Origin origin{};
  text->spirv = compile::compile_glsl(source, &origin);
  text->bindings = bindings;
  // Most kernels have one workgroup size; pipelines for others are made when their first launch is prepared.
  pipeline(*text, lanes);
  counts_.add(origin);
  return text;
}

std::vector<CompiledTextRef> KernelCompiler::compile(std::span<const ir::Kernel* const> kernels) {
  struct Wanted {
    Key key;
    std::string source;
    const ir::Kernel* kernel;
  };
  std::vector<Wanted> wanted;
  std::vector<std::size_t> of_kernel;
  for (const ir::Kernel* kernel : kernels) {
    std::string source = emit::emit(*kernel, target_).text;
    const Key key = key_of(source);
    const auto known =
        std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& other) { return other.key == key; });
    of_kernel.push_back(static_cast<std::size_t>(known - wanted.begin()));
    if (known == wanted.end()) wanted.push_back({key, std::move(source), kernel});
  }
  std::vector<CompiledTextRef> texts(wanted.size());
  for_each_in_parallel(wanted.size(), [&](std::size_t i) {
    const ir::Kernel& kernel = *wanted[i].kernel;
    texts[i] = texts_.get(wanted[i].key, [&] {
      return build(wanted[i].source, bindings_of(kernel, target_), usual_lanes(kernel, target_));
    });
  });
  std::vector<CompiledTextRef> result;
  for (std::size_t i : of_kernel) result.push_back(texts[i]);
  return result;
}

CompiledTextRef KernelCompiler::compile(const std::string& source, std::uint32_t bindings,
                                        std::uint32_t lanes) {
  return texts_.get(key_of(source), [&] { return build(source, bindings, lanes); });
}

CompiledTextRef KernelCompiler::compile(const ir::Kernel& kernel, const emit::Target& target) {
  return compile(emit::emit(kernel, target).text, bindings_of(kernel, target), usual_lanes(kernel, target));
}

const Pipeline& KernelCompiler::pipeline(CompiledText& text, std::uint32_t lanes, std::uint32_t row) {
  return text.pipelines.get({lanes, row},
                            [&] { return pipelines_.make(text.spirv, text.bindings, lanes, row); });
}

void pack_words(const ir::Kernel& kernel, const LaunchArguments& arguments,
                std::vector<std::uint32_t>& words) {
  auto push = [&](std::uint64_t bits, bool two) {
    words.push_back(static_cast<std::uint32_t>(bits));
    if (two) words.push_back(static_cast<std::uint32_t>(bits >> 32));
  };
  for (std::int64_t value : arguments.ints) push(static_cast<std::uint64_t>(value), kernel.wide);
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    push(bits_of(arguments.scalars[i], kernel.scalars[i]), size_of(kernel.scalars[i]) == 8);
  }
}

}  // namespace sinter::runtime::vulkan
