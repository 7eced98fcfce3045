// Units, phases, blocks and leaves: the loops around a kernel's instructions.
#include "src/runtime/host/interpreter/run.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include <sinter/error.h>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/interpreter/step.h"

namespace sinter::runtime::host {
namespace {

// Less work than this, in ns, is not worth waking other threads.
constexpr double kWorthSharing = 12e3;
constexpr double kPiece = 25e3;

/// Row-major coordinates of point `index` in the dims [first, last).
void decode(const Space& space, std::size_t first, std::size_t last, std::int64_t index, std::int64_t* at) {
  for (std::size_t k = last; k-- > first;) {
    const std::int64_t quotient = k == first ? 0 : index / space.extents[k];
    at[k] = index - quotient * space.extents[k];
    index = quotient;
  }
}

void advance(const Space& space, std::size_t first, std::size_t last, std::int64_t* at) {
  for (std::size_t k = last; k-- > first;) {
    if (++at[k] < space.extents[k]) return;
    at[k] = 0;
  }
}

/// The pieces of a launch. Depends on the code alone.
struct Division {
  std::int64_t per_piece = 1;  // units; split: 1
  std::int64_t pieces = 1;     // 1: the caller alone
  std::int64_t chunks = 1;     // split: pieces of a unit
};

Division divide(const Code& code) {
  Division d;
  if (code.split) {
    d.chunks = (code.steps + code.chunk_steps - 1) / code.chunk_steps;
    d.pieces = code.units * d.chunks;
    return d;
  }
  const double unit = code.unit_cost + code.step_cost * static_cast<double>(code.steps) + 20;
  d.per_piece = std::max<std::int64_t>(static_cast<std::int64_t>(kPiece / unit), 1);
  const std::int64_t group = code.lanes_inner ? 1 : code.blocks.group;  // a piece has whole groups
  d.per_piece = (d.per_piece + group - 1) / group * group;
  if (unit * static_cast<double>(code.units) >= kWorthSharing)
    d.pieces = (code.units + d.per_piece - 1) / d.per_piece;
  return d;
}

std::size_t values_of(const Code& code, const Reduction& r, std::int64_t n) {
  return code.lanes_inner ? kLanes : r.single ? 1 : static_cast<std::size_t>(n);
}

/// Of one chunk's partial result of a reduction.
std::size_t partial_bytes(const Code& code, const Reduction& r) {
  return whole_units(values_of(code, r, code.blocks.block) * size_of(r.dtype));
}

/// The registers of one thread.
struct alignas(kMemoryUnit) ThreadState {
  std::byte** slots;
  bool ready;
};

std::size_t slot_bytes(const Code& code) { return whole_units(code.registers.size() * sizeof(std::byte*)); }
std::size_t thread_bytes(const Code& code) {
  return sizeof(ThreadState) + slot_bytes(code) + code.scratch_bytes + code.unit_bytes;
}

}  // namespace

std::size_t working_bytes(const Code& code, std::size_t threads) {
  if (code.space.outer_count == 0) return 0;
  const Division d = divide(code);
  std::size_t bytes = whole_units(code.constant_bytes) +
                      Workers::threads_for(threads, d.pieces) * whole_units(thread_bytes(code));
  if (!code.split) return bytes;
  const std::size_t units = static_cast<std::size_t>(code.units);
  std::size_t chunk_bytes = 0;
  for (const Reduction& r : code.reductions) chunk_bytes += partial_bytes(code, r);
  return bytes + whole_units(units * code.unit_bytes) + static_cast<std::size_t>(d.pieces) * chunk_bytes;
}

/// One launch of one kernel. Each thread sets up its slots when it starts its first piece.
class Launch {
 public:
  Launch(const Code& code, Workers& workers, const LaunchArguments& arguments, std::uint32_t* faults)
      : code_(code),
        space_(code.space),
        workers_(workers),
        division_(divide(code)),
        faults_(faults),
        constants_(workers.take(code.constant_bytes)),
        states_(workers.take_each(workers.threads(division_.pieces), thread_bytes(code))) {
    for (std::size_t i = 0; i < arguments.buffers.size() && i < kMostBuffers; ++i)
      bases_[i] = data_of(arguments.buffers[i]);
    if (arguments.buffers.size() > kMostBuffers)
      throw DeviceError("[host] a kernel has " + std::to_string(arguments.buffers.size()) +
                        " buffers; the most are " + std::to_string(kMostBuffers));
    for (const Code::ScalarSlot& scalar : code.scalars) {
      const std::uint64_t bits = bits_of(arguments.scalars[scalar.scalar], scalar.dtype);
      std::memcpy(constants_ + code.registers[scalar.slot].offset, &bits, size_of(scalar.dtype));
    }
    for (std::size_t thread = 0; thread < workers.threads(division_.pieces); ++thread)
      new (states_.of(thread)) ThreadState{
          .slots = reinterpret_cast<std::byte**>(states_.of(thread) + sizeof(ThreadState)), .ready = false};
  }

  void run() {
    ThreadState& caller = prepare(0);
    std::int64_t at[kMaxLoops] = {};
    run_section(caller, code_.constants, at, code_.blocks.block);
    if (code_.split) return run_split();
    if (division_.pieces <= 1) return run_units(caller, 0, code_.units);
    const std::int64_t per_piece = division_.per_piece;
    workers_.pool().run(static_cast<std::size_t>(division_.pieces),
                        [&](std::size_t piece, std::size_t thread) {
                          const std::int64_t begin = static_cast<std::int64_t>(piece) * per_piece;
                          run_units(prepare(thread), begin, std::min(begin + per_piece, code_.units));
                        });
  }

 private:
  static constexpr std::size_t kMostBuffers = 256;

  /// Sets up a thread's registers for this launch.
  ThreadState& prepare(std::size_t index) {
    auto& thread = *reinterpret_cast<ThreadState*>(states_.of(index));
    if (thread.ready) return thread;
    std::byte* memory = states_.of(index) + sizeof(ThreadState) + slot_bytes(code_);
    for (Slot slot = 0; slot < code_.registers.size(); ++slot) {
      const Register& r = code_.registers[slot];
      if (r.area == Area::Constants) thread.slots[slot] = constants_ + r.offset;
      if (r.area == Area::Scratch) thread.slots[slot] = memory + r.offset;
    }
    use_unit_memory(thread, memory + code_.scratch_bytes);
    const std::int64_t origin[kMaxLoops] = {};
    set_pointers(thread, code_.constants, origin);
    thread.ready = true;
    return thread;
  }

  void use_unit_memory(ThreadState& thread, std::byte* memory) const {
    for (Slot slot = 0; slot < code_.registers.size(); ++slot)
      if (code_.registers[slot].area == Area::Unit)
        thread.slots[slot] = memory + code_.registers[slot].offset;
  }

  void set_pointers(ThreadState& thread, const Section& section, const std::int64_t* at) const {
    const std::size_t rank = space_.rank();
    for (const Pointer& p : section.pointers) {
      const BoundMap& map = space_.maps[p.map];
      const bool in_buffer = p.base == kNoSlot;
      std::int64_t position = in_buffer ? map.offset : 0;
      for (std::size_t k = in_buffer ? 0 : space_.outer; k < rank; ++k) position += at[k] * map.strides[k];
      thread.slots[p.slot] = (in_buffer ? bases_[p.buffer] : thread.slots[p.base]) + position * p.size;
    }
  }

  void run_section(ThreadState& thread, const Section& section, const std::int64_t* at, std::int64_t n) {
    set_pointers(thread, section, at);
    const Step step{code_, bases_, at, n, faults_};
    for (const Instruction& i : section.code) {
      std::byte** slots = thread.slots;
      if (i.kind == InstructionKind::Call) {
        auto operand = [&](Slot slot) { return slot == kNoSlot ? nullptr : slots[slot]; };
        i.function(slots[i.out], slots[i.a], operand(i.b), operand(i.c),
                   i.single ? 1 : static_cast<std::size_t>(n));
      } else {
        step.run(i, slots);
      }
    }
  }

  /// Computes the coordinates of a block along its dims; returns its number of points.
  std::int64_t enter_block(std::int64_t index, std::int64_t* at) const {
    const BlockSpace& b = code_.blocks;
    if (b.first == b.last) return 1;
    const std::int64_t row_group = index / (b.per_row * b.group),
                       in_group = index - row_group * b.per_row * b.group;
    const std::int64_t rows = std::min(b.group, b.count / b.per_row - row_group * b.group);
    const std::int64_t block = in_group / rows;
    const std::int64_t row = row_group * b.group + in_group - block * rows, begin = block * b.block;
    if (b.by_row) {
      decode(space_, b.first, b.last - 1, row, at);
      at[b.last - 1] = begin;
    } else {
      decode(space_, b.first, b.last, begin, at);
    }
    return std::min(b.block, b.row - begin);
  }

  /// Computes the coordinates of a unit; returns the number of points of its block, or 1.
  std::int64_t enter_unit(std::int64_t unit, std::int64_t* at) const {
    if (!code_.lanes_inner) return enter_block(unit, at);
    decode(space_, 0, space_.outer, unit, at);
    return 1;
  }

  void run_units(ThreadState& thread, std::int64_t begin, std::int64_t end) {
    std::int64_t at[kMaxLoops] = {};
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const std::int64_t n = enter_unit(unit, at);
      for (std::uint16_t phase = 0; phase < code_.phases; ++phase) {
        if (phase > 0) finish(thread, phase);
        run_section(thread, code_.unit[phase], at, n);
        if (!code_.one_leaf)
          start_totals(thread, phase, n);
        else if (!walks(phase))
          start_leaves(thread, phase, n);
        if (walks(phase)) run_steps(thread, phase, at, n, 0, code_.steps);
      }
    }
  }

  bool walks(std::uint16_t phase) const { return !code_.inner[phase].code.empty() && code_.steps > 0; }

  // ---- reductions

  std::size_t values_of(const Reduction& r, std::int64_t n) const { return host::values_of(code_, r, n); }

  void start(const Reduction& r, std::byte* to, std::int64_t n) const {
    std::byte identity[8];
    write_identity(r.op, r.dtype, identity);
    fill(to, identity, size_of(r.dtype), values_of(r, n));
  }
  void start_totals(ThreadState& thread, std::uint16_t phase, std::int64_t n) const {
    for (const Reduction& r : code_.reductions)
      if (r.phase == phase) start(r, thread.slots[r.total], n);
  }
  void start_leaves(ThreadState& thread, std::uint16_t phase, std::int64_t n) const {
    for (const Reduction& r : code_.reductions)
      if (r.phase == phase) start(r, thread.slots[r.leaf], n);
  }
  void end_leaves(ThreadState& thread, std::uint16_t phase, std::int64_t n) const {
    for (const Reduction& r : code_.reductions)
      if (r.phase == phase)
        r.combine(thread.slots[r.total], thread.slots[r.total], thread.slots[r.leaf], nullptr,
                  values_of(r, n));
  }
  /// Computes the results of the previous phase's reductions.
  void finish(ThreadState& thread, std::uint16_t phase) const {
    if (!code_.lanes_inner) return;
    for (const Reduction& r : code_.reductions)
      if (r.phase + 1 == phase)
        r.fold(thread.slots[r.result], thread.slots[code_.one_leaf ? r.leaf : r.total]);
  }

  /// Steps [begin, end) of the inner loop; `begin` is where a leaf starts.
  void run_steps(ThreadState& thread, std::uint16_t phase, std::int64_t* at, std::int64_t n,
                 std::int64_t begin, std::int64_t end) {
    const Section& section = code_.inner[phase];
    const bool walks_points = !code_.lanes_inner;
    if (walks_points) decode(space_, space_.outer, space_.rank(), begin, at);
    for (std::int64_t leaf = begin; leaf < end; leaf += code_.leaf_steps) {
      start_leaves(thread, phase, n);
      const std::int64_t last = std::min(leaf + code_.leaf_steps, end);
      for (std::int64_t step = leaf; step < last; ++step) {
        if (walks_points) {
          run_section(thread, section, at, n);
          advance(space_, space_.outer, space_.rank(), at);
        } else {
          const std::int64_t points = enter_block(step, at);
          run_section(thread, section, at, points);
        }
      }
      if (!code_.one_leaf) end_leaves(thread, phase, n);
    }
  }

  // ---- few units: threads share their inner loops in chunks, phase after phase

  void run_split() {
    const std::int64_t chunks = division_.chunks;
    const std::size_t units = static_cast<std::size_t>(code_.units);
    std::byte* states = workers_.take(units * code_.unit_bytes);
    // Of each reduction in turn: a partial result of each piece.
    std::byte* partials = nullptr;
    for (const Reduction& r : code_.reductions) {
      std::byte* own = workers_.take(static_cast<std::size_t>(division_.pieces) * partial_bytes(code_, r));
      if (partials == nullptr) partials = own;
    }
    auto partial_of = [&](std::size_t piece, std::size_t reduction) {
      std::byte* own = partials;
      for (std::size_t i = 0; i < reduction; ++i)
        own += static_cast<std::size_t>(division_.pieces) * partial_bytes(code_, code_.reductions[i]);
      return own + piece * partial_bytes(code_, code_.reductions[reduction]);
    };
    for (std::uint16_t phase = 0; phase < code_.phases; ++phase) {
      ThreadState& caller = prepare(0);
      for (std::size_t unit = 0; unit < units; ++unit) {
        use_unit_memory(caller, states + unit * code_.unit_bytes);
        std::int64_t at[kMaxLoops] = {};
        const std::int64_t n = enter_unit(static_cast<std::int64_t>(unit), at);
        // Earlier units have overwritten the addresses that earlier phases set.
        for (std::uint16_t earlier = 0; earlier < phase; ++earlier)
          set_pointers(caller, code_.unit[earlier], at);
        if (phase > 0) {
          for (std::size_t i = 0; i < code_.reductions.size(); ++i) {
            const Reduction& r = code_.reductions[i];
            if (r.phase + 1 != phase) continue;
            start(r, caller.slots[r.total], n);
            for (std::size_t chunk = 0; chunk < static_cast<std::size_t>(chunks); ++chunk)
              r.combine(caller.slots[r.total], caller.slots[r.total],
                        partial_of(unit * static_cast<std::size_t>(chunks) + chunk, i), nullptr,
                        values_of(r, n));
          }
          finish(caller, phase);
        }
        run_section(caller, code_.unit[phase], at, n);
      }
      if (!walks(phase)) continue;
      workers_.pool().run(
          units * static_cast<std::size_t>(chunks), [&](std::size_t piece, std::size_t index) {
            ThreadState& thread = prepare(index);
            const std::int64_t unit = static_cast<std::int64_t>(piece) / chunks;
            const std::int64_t begin = (static_cast<std::int64_t>(piece) - unit * chunks) * code_.chunk_steps;
            use_unit_memory(thread, states + static_cast<std::size_t>(unit) * code_.unit_bytes);
            std::int64_t at[kMaxLoops] = {};
            const std::int64_t n = enter_unit(unit, at);
            // The caller ran the unit's sections; this thread may use the addresses that they set.
            for (const Section& section : code_.unit) set_pointers(thread, section, at);
            for (std::size_t i = 0; i < code_.reductions.size(); ++i)
              if (code_.reductions[i].phase == phase)
                thread.slots[code_.reductions[i].total] = partial_of(piece, i);
            start_totals(thread, phase, n);
            run_steps(thread, phase, at, n, begin, std::min(begin + code_.chunk_steps, code_.steps));
          });
    }
  }

  const Code& code_;
  const Space& space_;
  Workers& workers_;
  const Division division_;
  std::uint32_t* const faults_;
  std::byte* const constants_;
  const Workers::PerThread states_;
  std::byte* bases_[kMostBuffers];
};

void run_code(const Code& code, Workers workers, const LaunchArguments& arguments, std::uint32_t* faults) {
  if (code.space.outer_count == 0) return;
  Launch(code, workers, arguments, faults).run();
}

}  // namespace sinter::runtime::host
