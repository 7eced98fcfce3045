// Chooses the code for a launch, divides the launch into pieces and runs them.
#include "src/runtime/host/machine_code/jit_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <type_traits>

#include <sinter/error.h>

#include "jit/ir/held_bytes.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/members.h"

namespace sinter::runtime::host {
namespace {

constexpr double kWorthJoining = 50e3;
// Larger results are mostly evicted from the caches before their first read.
constexpr double kLargeResults = 8 << 20;
constexpr std::size_t kMostScratch = std::size_t{8} << 20;

/// n elements, on the stack where n is small, else in the launch's memory.
template <class T, std::size_t kFew>
class SmallBuffer {
 public:
  static std::size_t working_bytes(std::size_t n) { return n > kFew ? whole_units(n * sizeof(T)) : 0; }
  SmallBuffer(Workers& workers, std::size_t n)
      : data_(n > kFew ? reinterpret_cast<T*>(workers.take(n * sizeof(T))) : few_.data()) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (n > kFew) std::uninitialized_default_construct_n(data_, n);
  }
  SmallBuffer(const SmallBuffer&) = delete;
  SmallBuffer& operator=(const SmallBuffer&) = delete;
  T& operator[](std::size_t i) { return data_[i]; }
  T* at(std::size_t i) { return data_ + i; }

 private:
  std::array<T, kFew> few_;
  T* data_;
};
using Addresses = SmallBuffer<void*, 64>;
using Scalars = SmallBuffer<std::uint64_t, 64>;
constexpr std::size_t kFewMembers = 8;

/// The fraction of lanes in use for rows of `row` points.
double lane_utilisation(std::int64_t row, std::int64_t lanes) {
  return static_cast<double>(row) / static_cast<double>((row + lanes - 1) / lanes * lanes);
}

JitKernel compile(const ir::Kernel& kernel, Jit& jit, compile::OriginCounts& counts, emit::LlvmLoops loops) {
  JitKernel made = jit.compile(kernel, loops);
  counts.add(made.origin);
  return made;
}

}  // namespace

JitProgram::JitProgram(const ir::Kernel& kernel, Jit& jit, compile::OriginCounts& counts, bool always)
    : kernel_(kernel),
      jit_(jit),
      counts_(counts),
      always_(always),
      code_(compile(kernel, jit, counts, emit::LlvmLoops::Whole)),
      interpreted_(kernel, "") {
  for (const ir::Store& store : kernel.stores)
    (store.level == ir::Level::Inner ? inner_result_bytes_ : outer_result_bytes_) +=
        static_cast<double>(size_of(kernel.exprs[store.value].dtype));
  for (const ir::Store& store : kernel.stores)
    if (store.level == ir::Level::Inner) inner_stores_.push_back(store.buffer);
  for (const ir::Expr& e : kernel.exprs)
    if ((e.kind == ir::ExprKind::Load || e.kind == ir::ExprKind::LoadAt) && e.level == ir::Level::Outer)
      outer_loads_.push_back(e.buffer);
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

std::size_t JitProgram::held_bytes() const {
  // Code, constants and writable data have pages of their own, and LLVM notes of them.
  constexpr std::size_t kLoaded = 16 * 1024;
  std::size_t bytes = sizeof *this + ir::held_bytes(kernel_) + interpreted_.held_bytes();
  bytes += kLoaded + code_.code->bytes;
  for (const Variant* variant : {&joined_, &split_})
    if (const JitKernel* made = variant->made.load(std::memory_order_acquire))
      bytes += kLoaded + made->code->bytes;
  return bytes;
}

JitProgram::Member JitProgram::member_of(std::span<const std::int64_t> ints) const {
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
    if (const JitKernel* other = find_or_compile(joined_, emit::LlvmLoops::Joined)) use(m, *other);
  }
  m.reason = reason_to_interpret(m);
  if (const char* few = m.reason == nullptr ? reason_to_split(m) : nullptr; few != nullptr)
    if (!use_split(m) && !always_) m.reason = few;
  if (m.reason != nullptr) m.code = nullptr;
  m.large = static_cast<double>(m.outer) *
                (outer_result_bytes_ + inner_result_bytes_ * static_cast<double>(m.inner)) >=
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

/// Null where compiling fails. Two threads may both compile it; the kernel cache gives them the same code.
const JitKernel* JitProgram::find_or_compile(Variant& variant, emit::LlvmLoops loops) const {
  if (const JitKernel* known = variant.made.load(std::memory_order_acquire)) return known;
  if (variant.failed.load(std::memory_order_relaxed)) return nullptr;
  try {
    auto made = std::make_unique<const JitKernel>(compile(kernel_, jit_, counts_, loops));
    const JitKernel* first = nullptr;
    return variant.made.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel) ? made.release()
                                                                                              : first;
  } catch (const CompileError&) {
    if (always_) throw;
    variant.failed.store(true, std::memory_order_relaxed);
    return nullptr;
  }
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
  return nullptr;
}

std::string JitProgram::how(std::span<const std::int64_t> ints, std::size_t members) {
  std::string text;
  std::size_t others = 0;
  for (std::size_t i = 0; i < members; ++i) {
    const Member m = member_of(ints.subspan(i * kernel_.ints, kernel_.ints));
    std::string own = m.code == nullptr ? std::string("interpreted: ") + m.reason
                                        : "machine code by " + jit_.describe() +
                                              (is_joined(m)   ? ", lanes over two loops"
                                               : m.slices > 0 ? ", threads share the inner loops"
                                                              : "");
    if (i == 0)
      text = std::move(own);
    else if (own != text)
      ++others;
  }
  if (others > 0)
    text += " (" + std::to_string(others) + " of " + std::to_string(members) + " members otherwise)";
  return text;
}

void JitProgram::Sum::add(const Member& m) {
  if (m.code == nullptr || m.slices > 0) return;
  work += m.work();
  pieces += m.pieces;
  scratch = std::max(scratch, m.scratch);
}
bool JitProgram::Sum::shared() const { return work >= kWorthSharing && pieces > 1; }

/// A result in the place of an operand finds its line in the cache, where the load has brought it. Written
/// past the caches, the line would be thrown out and then read again for the next vector.
std::int64_t JitProgram::cached_of(const Member& m) const {
  if (!m.large) return -1;
  std::uint64_t bits = 0;
  for (std::size_t b = 0; b < kernel_.buffers.size(); ++b) {
    bool is_read = false;
    for (std::size_t other = 0; other < kernel_.buffers.size(); ++other)
      is_read |= kernel_.buffers[other].read && m.buffers[other] == m.buffers[b];
    if (is_read || !kernel_.buffers[b].written) bits |= std::uint64_t{1} << emit::llvm_cached_bit(b);
  }
  return static_cast<std::int64_t>(bits | ~std::uint64_t{0} << emit::llvm_cached_bit(kernel_.buffers.size()));
}

void JitProgram::compute(const Member& m, std::int64_t piece, std::byte* scratch) const {
  const std::int64_t first = piece * m.per_piece;
  m.code->code->function(m.buffers, m.ints, m.scalars, jit_functions(), first,
                         std::min(first + m.per_piece, m.outer), m.scratch == 0 ? nullptr : scratch, m.cached,
                         m.faults);
}

std::string JitProgram::describe_launch(std::span<const std::int64_t> ints, std::size_t members) const {
  std::string text = "compiled kernel over ";
  for (std::size_t i = 0; i < members; ++i) {
    const Member m = member_of(ints.subspan(i * kernel_.ints, kernel_.ints));
    if (i < 3) text += (i > 0 ? ", " : "") + std::to_string(m.outer) + " x " + std::to_string(m.inner);
    if (m.code == nullptr) text += " (interpreted)";
    if (m.slices > 0) text += " (inner loops in " + std::to_string(m.slices) + " slices)";
    if (is_joined(m)) text += " (loops joined)";
  }
  return text;
}

std::size_t JitProgram::workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const {
  std::size_t interpreted = 0;
  Sum sum;
  for (std::size_t i = 0; i < members; ++i) {
    const auto own = ints.subspan(i * kernel_.ints, kernel_.ints);
    const Member m = member_of(own);
    // Where buffers turn out to overlap, a member is interpreted after all.
    if (m.code == nullptr || m.slices > 0)
      interpreted = std::max(interpreted, interpreted_.member_bytes(own, most_threads()));
    if (m.slices > 0) interpreted = std::max(interpreted, whole_units(partial_bytes(m)));
    sum.add(m);
  }
  // Members that are interpreted or split run before the others, and work in the same memory.
  return Addresses::working_bytes(members * kernel_.buffers.size()) +
         Scalars::working_bytes(members * kernel_.scalars.size()) +
         SmallBuffer<Member, kFewMembers>::working_bytes(members) +
         std::max(interpreted, threads(sum.shared_pieces()) * whole_units(sum.scratch));
}

void JitProgram::run(Workers& workers, const LaunchArguments& arguments, std::uint32_t* faults) {
  const std::size_t count = arguments.members, per_member = kernel_.buffers.size();
  if (count == 0 || count > kernel_.members || arguments.buffers.size() != count * per_member ||
      arguments.ints.size() != count * kernel_.ints ||
      arguments.scalars.size() != count * kernel_.scalars.size())
    return interpreted_.run(workers, arguments, faults);  // throws the error
  Addresses buffers(workers, arguments.buffers.size());
  for (std::size_t i = 0; i < arguments.buffers.size(); ++i) buffers[i] = data_of(arguments.buffers[i]);
  Scalars scalars(workers, arguments.scalars.size());
  for (std::size_t i = 0; i < arguments.scalars.size(); ++i)
    scalars[i] = bits_of(arguments.scalars[i], kernel_.scalars[i % kernel_.scalars.size()]);
  SmallBuffer<Member, kFewMembers> members(workers, count);
  Sum sum;
  for (std::size_t i = 0; i < count; ++i) {
    const LaunchArguments own = arguments_of(kernel_, arguments, i);
    std::uint32_t* own_faults = faults + i * kernel_.faults;
    Member& m = members[i] = member_of(own.ints);
    m.buffers = buffers.at(i * per_member);
    if (m.code == nullptr || (m.slices > 0 && overwrites_outer(m))) {
      interpreted_.run_member(workers, own, own_faults);
      m.pieces = 0;
      continue;
    }
    m.scalars = arguments.scalars.empty() ? nullptr : scalars.at(i * kernel_.scalars.size());
    m.faults = own_faults;
    m.cached = cached_of(m);
    if (m.slices > 0) {
      run_split(workers, m);
      m.pieces = 0;
    } else {
      sum.add(m);
    }
  }
  const Workers::PerThread scratch = workers.take_each(workers.threads(sum.shared_pieces()), sum.scratch);
  if (!sum.shared()) {
    for (std::size_t i = 0; i < count; ++i)
      for (std::int64_t piece = 0; piece < members[i].pieces; ++piece)
        compute(members[i], piece, scratch.of(0));
    return;
  }
  workers.pool().run(static_cast<std::size_t>(sum.pieces), [&](std::size_t piece, std::size_t thread) {
    const Member* m = members.at(0);
    std::int64_t own = static_cast<std::int64_t>(piece);
    for (; own >= m->pieces; ++m) own -= m->pieces;
    compute(*m, own, scratch.of(thread));
  });
}

}  // namespace sinter::runtime::host
