// Chooses the code for a launch, divides the launch into pieces and runs them.
#include "src/runtime/host/machine_code/jit_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/members.h"

namespace sinter::runtime::host {
namespace {

// As for interpreted code (run.cpp): less work than this, in ns, is not worth waking other threads.
constexpr double kWorthSharing = 12e3;
constexpr double kPiece = 25e3;
// Fewer pieces than this do not keep many cores busy; the interpreter shares inner loops as well.
constexpr std::int64_t kFewPieces = 8;
constexpr double kWorthSplitting = 100e3;
constexpr double kWorthJoining = 50e3;
constexpr std::int64_t kLongColumn = 512;
constexpr double kLittleWork = 0.4;  // ns for a point
// Larger results are mostly evicted from the caches before their first read.
constexpr double kLargeResults = 8 << 20;
constexpr std::size_t kMostScratch = std::size_t{8} << 20;

/// A buffer of n elements, on the stack where n is small.
template <class T, std::size_t kFew>
class SmallBuffer {
 public:
  explicit SmallBuffer(std::size_t n) : more_(n > kFew ? n : 0) {}
  T* data() { return more_.empty() ? few_.data() : more_.data(); }

 private:
  std::array<T, kFew> few_;
  std::vector<T> more_;
};

/// The fraction of lanes in use for rows of `row` points.
double lane_utilisation(std::int64_t row, std::int64_t lanes) {
  return static_cast<double>(row) / static_cast<double>((row + lanes - 1) / lanes * lanes);
}

JitKernel compile(const ir::Kernel& kernel, Jit& jit, compile::OriginCounts& counts, bool join) {
  JitKernel made = jit.compile(kernel, join);
  counts.add(made.origin);
  return made;
}

}  // namespace

JitProgram::JitProgram(const ir::Kernel& kernel, Jit& jit, compile::OriginCounts& counts, bool always)
    : kernel_(kernel),
      jit_(jit),
      counts_(counts),
      always_(always),
      code_(compile(kernel, jit, counts, false)),
      interpreted_(kernel, "") {
  for (const ir::Store& store : kernel.stores)
    (store.level == ir::Level::Inner ? inner_result_bytes_ : outer_result_bytes_) +=
        static_cast<double>(size_of(kernel.exprs[store.value].dtype));
}

/// Computes cost and pieces of a member for this code.
void JitProgram::use(Member& m, const JitKernel& code) const {
  m.code = &code;
  m.unit = code.source.point_cost + code.source.inner_cost * static_cast<double>(m.inner) + 0.1;
  m.scratch = code.source.scratch_bytes_per_point * static_cast<std::size_t>(m.inner);
  const std::int64_t group =
      kernel_.schedule == ir::Schedule::LanesInner
          ? 1
          : std::max<std::int64_t>(code.source.lanes, std::int64_t{4} * code.source.register_lanes);
  m.per_piece = std::max<std::int64_t>(static_cast<std::int64_t>(kPiece / m.unit), 1);
  m.per_piece = (m.per_piece + group - 1) / group * group;
  m.pieces = (m.outer + m.per_piece - 1) / m.per_piece;
}

JitProgram::Member JitProgram::member_of(std::span<const std::int64_t> ints) {
  Member m;
  m.ints = ints.data();
  auto extent = [&](std::size_t k) { return ints[kernel_.extents[k].index]; };
  for (std::size_t k = 0; k < kernel_.extents.size(); ++k)
    (k < kernel_.outer_rank ? m.outer : m.inner) *= extent(k);
  const std::size_t last =
      kernel_.schedule == ir::Schedule::LanesInner ? kernel_.extents.size() : kernel_.outer_rank;
  if (last > 0) m.row = extent(last - 1);
  if (emit::can_join_lanes(kernel_)) m.before = extent(last - 2);
  use(m, code_);
  if (m.outer == 0) return m;
  if (is_better_joined(m)) {
    if (const JitKernel* other = joined()) use(m, *other);
  }
  m.reason = reason_to_interpret(m);
  if (m.reason != nullptr) m.code = nullptr;
  m.cached = static_cast<double>(m.outer) *
                 (outer_result_bytes_ + inner_result_bytes_ * static_cast<double>(m.inner)) <
             kLargeResults;
  return m;
}

bool JitProgram::is_better_joined(const Member& m) const {
  // Along inner loops, joined lanes recompute their addresses at every step; the interpreter is faster.
  if (kernel_.schedule == ir::Schedule::LanesInner && !always_) return false;
  const double alone = lane_utilisation(m.row, code_.source.register_lanes);
  return m.before > 1 && m.inner > 0 && alone <= 0.5 && (always_ || m.work() > kWorthJoining) &&
         lane_utilisation(m.row * m.before, code_.source.register_lanes) >= 1.5 * alone;
}

/// The code whose lanes run over two loops, compiled at first use; null where that fails.
const JitKernel* JitProgram::joined() {
  if (joined_.code == nullptr && !join_failed_) {
    try {
      joined_ = compile(kernel_, jit_, counts_, true);
    } catch (const CompileError&) {
      if (always_) throw;
      join_failed_ = true;
    }
  }
  return joined_.code == nullptr ? nullptr : &joined_;
}

const char* JitProgram::reason_to_interpret(const Member& m) const {
  if (m.scratch > kMostScratch) return "what its code would keep of a row is too large";
  if (always_) return nullptr;
  const emit::LlvmSource& source = m.code->source;
  const double work = m.work();
  if (m.code == &code_ && work > kWorthSharing) {
    if (source.gathers) return "the interpreter reads strided operands in tiles";
    if (lane_utilisation(m.row, source.register_lanes) < 0.25)
      return "rows are shorter than vectors, and the interpreter's blocks go on from row to row";
  }
  if (kernel_.schedule == ir::Schedule::LanesOuter && m.inner >= kLongColumn && work > kWorthSplitting &&
      (source.inner_cost < kLittleWork || kernel_.phases > 2))
    return "code would jump from row to row of long columns, the interpreter reads rows";
  const std::int64_t at_once = kernel_.schedule == ir::Schedule::LanesInner ? 1 : source.register_lanes;
  if (kernel_.inner_rank > 0 && m.outer < kFewPieces * at_once && work > kWorthSplitting)
    return "few results over long loops, which the interpreter deals out to all threads";
  return nullptr;
}

std::string JitProgram::how(std::span<const std::int64_t> ints, std::size_t members) {
  std::string text;
  std::size_t others = 0;
  for (std::size_t i = 0; i < members; ++i) {
    const Member m = member_of(ints.subspan(i * kernel_.ints, kernel_.ints));
    std::string own = m.code == nullptr ? std::string("interpreted: ") + m.reason
                                        : "machine code by " + jit_.describe() +
                                              (m.code == &joined_ ? ", lanes over two loops" : "");
    if (i == 0)
      text = std::move(own);
    else if (own != text)
      ++others;
  }
  if (others > 0)
    text += " (" + std::to_string(others) + " of " + std::to_string(members) + " members otherwise)";
  return text;
}

void JitProgram::compute(const Member& m, Workers& workers, std::int64_t piece, std::size_t thread,
                         std::uint32_t& fault) const {
  void* scratch = m.scratch == 0 ? nullptr : workers.workspace(thread).reserve(m.scratch);
  const std::int64_t first = piece * m.per_piece;
  m.code->code->function(m.buffers, m.ints, m.scalars, jit_functions(), first,
                         std::min(first + m.per_piece, m.outer), scratch, m.cached, &fault);
}

std::string JitProgram::describe() const { return "compiled kernel over " + last_; }

void JitProgram::run(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault) {
  const std::size_t count = arguments.members, per_member = kernel_.buffers.size();
  if (count == 0 || count > kernel_.members || arguments.buffers.size() != count * per_member ||
      arguments.ints.size() != count * kernel_.ints ||
      arguments.scalars.size() != count * kernel_.scalars.size())
    return interpreted_.run(workers, arguments, fault);  // throws the error
  SmallBuffer<void*, 64> buffers(arguments.buffers.size());
  for (std::size_t i = 0; i < arguments.buffers.size(); ++i)
    buffers.data()[i] = data_of(arguments.buffers[i]);
  SmallBuffer<std::uint64_t, 64> scalars(arguments.scalars.size());
  for (std::size_t i = 0; i < arguments.scalars.size(); ++i)
    scalars.data()[i] = bits_of(arguments.scalars[i], kernel_.scalars[i % kernel_.scalars.size()]);
  SmallBuffer<Member, 8> members(count);
  double work = 0;
  std::int64_t pieces = 0;
  const bool describes = base::logs("launch");
  last_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const LaunchArguments own = arguments_of(kernel_, arguments, i);
    Member& m = members.data()[i] = member_of(own.ints);
    if (describes && i < 3)
      last_ += (i > 0 ? ", " : "") + std::to_string(m.outer) + " x " + std::to_string(m.inner);
    if (m.code == nullptr) {
      if (describes) last_ += " (interpreted)";
      interpreted_.run_member(workers, own, fault);
      m.pieces = 0;
    } else if (describes && m.code == &joined_) {
      last_ += " (loops joined)";
    }
    m.buffers = buffers.data() + i * per_member;
    m.scalars = arguments.scalars.empty() ? nullptr : scalars.data() + i * kernel_.scalars.size();
    work += m.pieces == 0 ? 0 : m.work();
    pieces += m.pieces;
  }
  std::uint32_t faults = 0;
  if (work < kWorthSharing || pieces <= 1) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::int64_t piece = 0; piece < members.data()[i].pieces; ++piece)
        compute(members.data()[i], workers, piece, 0, faults);
  } else {
    workers.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t piece, std::size_t thread) {
      const Member* m = members.data();
      std::int64_t own = static_cast<std::int64_t>(piece);
      for (; own >= m->pieces; ++m) own -= m->pieces;
      compute(*m, workers, own, thread, faults);
    });
  }
  if (faults != 0) fault.store(true, std::memory_order_relaxed);
}

}  // namespace sinter::runtime::host
