// Compiled kernels by the function itself: the fault words that the oracle sets and no others, positions of
// 64 bits, and inner loops in slices.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/runtime/host/machine_code/jit.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
namespace host = sinter::runtime::host;

/// Words around those of the kernel, which must stay 0.
constexpr std::size_t kGuard = 2;

std::int64_t product_of(const testing::KernelCase& c, std::size_t from, std::size_t to) {
  std::int64_t count = 1;
  for (std::size_t k = from; k < to; ++k) count *= c.bindings.ints[c.kernel.extents[k].index];
  return count;
}

/// Calls `run(scratch)` for each phase and slice, in their order.
template <class Run>
void in_slices(const testing::KernelCase& c, const host::JitKernel& compiled, std::int64_t slices,
               std::int64_t points, Run run) {
  std::vector<std::int64_t> partials(compiled.source.reductions * static_cast<std::size_t>(slices * points));
  std::int64_t fields[emit::kSplitFields] = {};
  fields[emit::kSplitSlices] = slices;
  fields[emit::kSplitPoints] = points;
  fields[emit::kSplitPartials] = reinterpret_cast<std::intptr_t>(partials.data());
  const std::int64_t steps = c.bindings.ints[c.kernel.extents[c.kernel.outer_rank].index],
                     each = (steps + slices - 1) / slices;
  for (std::size_t phase = 0; phase < compiled.source.walks.size(); ++phase)
    for (std::int64_t slice = 0; compiled.source.walks[phase] && slice < slices; ++slice) {
      fields[emit::kSplitPhase] = static_cast<std::int64_t>(phase);
      fields[emit::kSplitSlice] = slice;
      fields[emit::kSplitBegin] = std::min(slice * each, steps);
      fields[emit::kSplitEnd] = std::min((slice + 1) * each, steps);
      run(fields);
    }
  fields[emit::kSplitPhase] = c.kernel.phases;
  run(fields);
}

/// Also checks what the kernel writes.
std::vector<std::uint32_t> words_of(const testing::KernelCase& c, const testing::ReferenceResult& want,
                                    emit::LlvmLoops loops, std::int64_t slices = 1) {
  const host::JitKernel compiled = host::jit()->compile(c.kernel, loops);
  std::vector<std::vector<std::byte>> contents = c.bindings.buffers;
  std::vector<void*> buffers;
  for (std::vector<std::byte>& bytes : contents) {
    bytes.resize(bytes.size() + 64);
    buffers.push_back(bytes.data());
  }
  std::vector<std::uint64_t> scalars(1);
  for (std::size_t s = 0; s < c.kernel.scalars.size(); ++s) {
    scalars.resize(s + 1);
    scalars[s] = runtime::bits_of(c.bindings.scalars[s], c.kernel.scalars[s]);
  }
  const std::int64_t outer = product_of(c, 0, c.kernel.outer_rank),
                     inner = product_of(c, c.kernel.outer_rank, c.kernel.extents.size());
  std::vector<std::byte> scratch(compiled.source.scratch_bytes_per_point * static_cast<std::size_t>(inner) +
                                 64);
  std::vector<std::uint32_t> words(kGuard + c.kernel.faults + kGuard);
  const auto run = [&](void* memory) {
    compiled.code->function(buffers.data(), c.bindings.ints.data(), scalars.data(), host::jit_functions(), 0,
                            outer, memory, 1, words.data() + kGuard);
  };
  if (outer > 0 && loops == emit::LlvmLoops::Split)
    in_slices(c, compiled, slices, outer, run);
  else if (outer > 0)
    run(scratch.data());
  for (std::size_t b = 0; b < contents.size(); ++b) {
    contents[b].resize(c.bindings.buffers[b].size());
    CHECK(testing::difference(c.kernel.buffers[b].dtype, contents[b], want.buffers[b], want.errors[b]) == "");
  }
  CHECK(std::count(words.begin(), words.begin() + kGuard, 0u) == kGuard);
  CHECK(std::count(words.end() - kGuard, words.end(), 0u) == kGuard);
  return {words.begin() + kGuard, words.end() - kGuard};
}

}  // namespace

TEST_CASE("compiled kernels with indexed reads or 64-bit positions do what the oracle does") {
  if (host::jit() == nullptr) return;
  std::vector<testing::KernelCase> cases = testing::handmade_kernels();
  for (std::uint64_t seed = 0; seed < 200; ++seed) cases.push_back(testing::random_kernel(seed));
  std::size_t kernels = 0, set = 0, several = 0;
  for (const testing::KernelCase& c : cases) {
    if (c.kernel.faults == 0 && !c.kernel.wide) continue;
    const testing::ReferenceResult result = testing::evaluate(c.kernel, c.bindings);
    const std::vector<std::uint32_t>& want = result.faults;
    INFO(c.name << "\n" << ir::to_string(c.kernel));
    CHECK(words_of(c, result, emit::LlvmLoops::Whole) == want);
    if (emit::can_join_lanes(c.kernel)) CHECK(words_of(c, result, emit::LlvmLoops::Joined) == want);
    const auto wrong = static_cast<std::size_t>(std::count(want.begin(), want.end(), 1u));
    ++kernels;
    set += wrong > 0;
    several += wrong > 0 && wrong < want.size();
  }
  CHECK(kernels > 30);
  CHECK(set > 10);
  CHECK(several > 5);
}

TEST_CASE("compiled kernels whose inner loops come in slices do what the oracle does") {
  if (host::jit() == nullptr) return;
  std::vector<testing::KernelCase> cases = testing::handmade_kernels();
  for (std::uint64_t seed = 0; seed < 300; ++seed) cases.push_back(testing::random_kernel(seed));
  std::size_t kernels = 0, phases = 0;
  for (const testing::KernelCase& c : cases) {
    if (!emit::can_split(c.kernel)) continue;
    const testing::ReferenceResult result = testing::evaluate(c.kernel, c.bindings);
    INFO(c.name << "\n" << ir::to_string(c.kernel));
    for (const std::int64_t slices : {1, 2, 5})
      CHECK(words_of(c, result, emit::LlvmLoops::Split, slices) == result.faults);
    ++kernels;
    phases += c.kernel.phases > 2;
  }
  CHECK(kernels > 100);
  CHECK(phases > 20);
}
