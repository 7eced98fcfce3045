// Launches whose threads share inner loops: few outer points, or columns that are read row by row.
#include <algorithm>

#include "src/runtime/host/machine_code/jit_program.h"

namespace sinter::runtime::host {
namespace {

// Fewer pieces than this do not keep many cores busy.
constexpr std::int64_t kFewPieces = 8;
constexpr double kWorthSplitting = 100e3;
constexpr std::int64_t kLongColumn = 512;
constexpr double kLittleWork = 0.4;  // ns for a point
// How many slices, and how many bytes for what they come to: a function of sizes alone, as the slices of a
// sum are rounded each by itself.
constexpr std::int64_t kMostSlices = 64;
constexpr std::size_t kMostPartials = std::size_t{8} << 20;
// f32 sums go into double after so many steps, and whole vectors are faster.
constexpr std::int64_t kWholeSteps = 64;
constexpr std::int64_t kLastPoints = 4096;  // outer points whose results a thread stores at a time

}  // namespace

const char* JitProgram::reason_to_split(const Member& m) const {
  if (kernel_.inner_rank == 0 || m.work() <= kWorthSplitting) return nullptr;
  const emit::LlvmSource& source = m.code->source;
  const bool by_lane = kernel_.schedule == ir::Schedule::LanesInner;
  if (kernel_.schedule == ir::Schedule::LanesOuter && m.inner >= kLongColumn &&
      source.inner_cost < kLittleWork)
    return "code would jump from row to row of long columns, the interpreter reads rows";
  if (m.outer < kFewPieces * (by_lane ? 1 : source.register_lanes))
    return "few results over long loops, which the interpreter deals out to all threads";
  return nullptr;
}

bool JitProgram::use_split(Member& m) const {
  const std::int64_t steps = m.ints[kernel_.extents[kernel_.outer_rank].index];
  if (!emit::can_split(kernel_) || steps < 2 || m.inner == 0) return false;
  const JitKernel* code = find_or_compile(split_, emit::LlvmLoops::Split);
  if (code == nullptr) return false;
  const double work = code->source.inner_cost * static_cast<double>(m.inner) * static_cast<double>(m.outer);
  const std::int64_t wanted =
      std::clamp(static_cast<std::int64_t>(work / kPiece), std::int64_t{2}, kMostSlices);
  std::int64_t each = (steps + wanted - 1) / wanted;
  if (each > kWholeSteps / 2) each = (each + kWholeSteps - 1) / kWholeSteps * kWholeSteps;
  Member divided = m;
  divided.code = code;
  divided.slice_steps = each;
  divided.slices = (steps + each - 1) / each;
  divided.scratch = 0;
  if (divided.slices < 2 || partial_bytes(divided) > kMostPartials) return false;
  m = divided;
  return true;
}

std::size_t JitProgram::partial_bytes(const Member& m) const {
  return m.code->source.reductions * static_cast<std::size_t>(m.slices * m.outer) * sizeof(std::int64_t);
}

bool JitProgram::overwrites_outer(const Member& m) const {
  for (const std::uint16_t store : inner_stores_)
    for (const std::uint16_t load : outer_loads_)
      if (m.buffers[store] == m.buffers[load]) return true;
  return false;
}

void JitProgram::run_split(Workers workers, const Member& m) const {
  std::byte* const partials = workers.take(partial_bytes(m));
  const emit::LlvmSource& source = m.code->source;
  const std::int64_t steps = m.ints[kernel_.extents[kernel_.outer_rank].index];
  const auto call = [&](std::int64_t phase, std::int64_t slice, std::int64_t first, std::int64_t last) {
    std::int64_t fields[emit::kSplitFields];
    fields[emit::kSplitPhase] = phase;
    fields[emit::kSplitBegin] = slice * m.slice_steps;
    fields[emit::kSplitEnd] = std::min((slice + 1) * m.slice_steps, steps);
    fields[emit::kSplitSlice] = slice;
    fields[emit::kSplitSlices] = m.slices;
    fields[emit::kSplitPoints] = m.outer;
    fields[emit::kSplitPartials] = reinterpret_cast<std::intptr_t>(partials);
    m.code->code->function(m.buffers, m.ints, m.scalars, jit_functions(), first, last, fields, m.cached,
                           m.faults);
  };
  for (std::size_t phase = 0; phase < source.walks.size(); ++phase)
    if (source.walks[phase])
      workers.pool().run(static_cast<std::size_t>(m.slices), [&](std::size_t slice, std::size_t) {
        call(static_cast<std::int64_t>(phase), static_cast<std::int64_t>(slice), 0, m.outer);
      });
  if (std::none_of(kernel_.stores.begin(), kernel_.stores.end(),
                   [](const ir::Store& store) { return store.level == ir::Level::Outer; }))
    return;
  const std::int64_t pieces = (m.outer + kLastPoints - 1) / kLastPoints;
  workers.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t piece, std::size_t) {
    const std::int64_t first = static_cast<std::int64_t>(piece) * kLastPoints;
    call(kernel_.phases, 0, first, std::min(first + kLastPoints, m.outer));
  });
}

}  // namespace sinter::runtime::host
