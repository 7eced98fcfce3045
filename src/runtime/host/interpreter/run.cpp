// Units, phases, blocks and leaves: the loops around a kernel's instructions.
#include "src/runtime/host/interpreter/run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
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

}  // namespace

Workspace::~Workspace() { std::free(memory_); }

std::byte* Workspace::reserve(std::size_t bytes) {
  if (bytes > bytes_) {
    std::free(memory_);
    bytes_ = 0;
    const std::size_t size = (bytes + bytes / 4 + 4095) / 4096 * 4096;
    memory_ = static_cast<std::byte*>(std::aligned_alloc(4096, size));
    if (memory_ == nullptr)
      throw DeviceError("[host] no memory left for " + std::to_string(size) + " bytes of working space");
    bytes_ = size;
  }
  return memory_;
}

/// One launch of one kernel. Each thread sets up its slots when it starts its first piece.
class Launch {
 public:
  Launch(const Code& code, Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault)
      : code_(code), space_(code.space), workers_(workers), fault_(fault) {
    for (std::size_t i = 0; i < arguments.buffers.size() && i < kMostBuffers; ++i)
      bases_[i] = data_of(arguments.buffers[i]);
    if (arguments.buffers.size() > kMostBuffers)
      throw DeviceError("[host] a kernel has " + std::to_string(arguments.buffers.size()) +
                        " buffers; the most are " + std::to_string(kMostBuffers));
    constants_ = workers.shared().reserve(code.constant_bytes + 64);
    for (const Code::ScalarSlot& scalar : code.scalars) {
      const std::uint64_t bits = bits_of(arguments.scalars[scalar.scalar], scalar.dtype);
      std::memcpy(constants_ + code.registers[scalar.slot].offset, &bits, size_of(scalar.dtype));
    }
    ++workers.launches_;
  }

  void run() {
    Workers::Thread& caller = prepare(0);
    std::int64_t at[kMaxLoops] = {};
    run_section(caller, code_.constants, at, code_.blocks.block);
    if (code_.split) {
      run_split();
      return;
    }
    const double steps = static_cast<double>(code_.steps);
    const double unit = code_.unit_cost + code_.step_cost * steps + 20;
    std::int64_t per_piece = std::max<std::int64_t>(static_cast<std::int64_t>(kPiece / unit), 1);
    const std::int64_t group = code_.lanes_inner ? 1 : code_.blocks.group;  // a piece has whole groups
    per_piece = (per_piece + group - 1) / group * group;
    const std::int64_t pieces = (code_.units + per_piece - 1) / per_piece;
    if (unit * static_cast<double>(code_.units) < kWorthSharing || pieces == 1) {
      run_units(caller, 0, code_.units);
      return;
    }
    workers_.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t piece, std::size_t thread) {
      const std::int64_t begin = static_cast<std::int64_t>(piece) * per_piece;
      run_units(prepare(thread), begin, std::min(begin + per_piece, code_.units));
    });
  }

 private:
  static constexpr std::size_t kMostBuffers = 256;

  /// Sets up a thread's registers for this launch.
  Workers::Thread& prepare(std::size_t index) {
    Workers::Thread& thread = workers_.threads_[index];
    if (thread.launch == workers_.launches_ && thread.code == &code_) return thread;
    std::byte* memory = thread.memory.reserve(code_.scratch_bytes + code_.unit_bytes);
    thread.slots.resize(code_.registers.size());
    for (Slot slot = 0; slot < code_.registers.size(); ++slot) {
      const Register& r = code_.registers[slot];
      if (r.area == Area::Constants) thread.slots[slot] = constants_ + r.offset;
      if (r.area == Area::Scratch) thread.slots[slot] = memory + r.offset;
    }
    use_unit_memory(thread, memory + code_.scratch_bytes);
    const std::int64_t origin[kMaxLoops] = {};
    set_pointers(thread, code_.constants, origin);
    thread.launch = workers_.launches_;
    thread.code = &code_;
    return thread;
  }

  void use_unit_memory(Workers::Thread& thread, std::byte* memory) const {
    for (Slot slot = 0; slot < code_.registers.size(); ++slot)
      if (code_.registers[slot].area == Area::Unit)
        thread.slots[slot] = memory + code_.registers[slot].offset;
  }

  void set_pointers(Workers::Thread& thread, const Section& section, const std::int64_t* at) const {
    const std::size_t rank = space_.rank();
    for (const Pointer& p : section.pointers) {
      const BoundMap& map = space_.maps[p.map];
      const bool in_buffer = p.base == kNoSlot;
      std::int64_t position = in_buffer ? map.offset : 0;
      for (std::size_t k = in_buffer ? 0 : space_.outer; k < rank; ++k) position += at[k] * map.strides[k];
      thread.slots[p.slot] = (in_buffer ? bases_[p.buffer] : thread.slots[p.base]) + position * p.size;
    }
  }

  void run_section(Workers::Thread& thread, const Section& section, const std::int64_t* at, std::int64_t n) {
    set_pointers(thread, section, at);
    const Step step{code_, bases_, at, n, fault_};
    for (const Instruction& i : section.code) {
      std::byte** slots = thread.slots.data();
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

  void run_units(Workers::Thread& thread, std::int64_t begin, std::int64_t end) {
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

  std::size_t values_of(const Reduction& r, std::int64_t n) const {
    return code_.lanes_inner ? kLanes : r.single ? 1 : static_cast<std::size_t>(n);
  }

  void start(const Reduction& r, std::byte* to, std::int64_t n) const {
    std::byte identity[8];
    write_identity(r.op, r.dtype, identity);
    fill(to, identity, size_of(r.dtype), values_of(r, n));
  }
  void start_totals(Workers::Thread& thread, std::uint16_t phase, std::int64_t n) const {
    for (const Reduction& r : code_.reductions)
      if (r.phase == phase) start(r, thread.slots[r.total], n);
  }
  void start_leaves(Workers::Thread& thread, std::uint16_t phase, std::int64_t n) const {
    for (const Reduction& r : code_.reductions)
      if (r.phase == phase) start(r, thread.slots[r.leaf], n);
  }
  void end_leaves(Workers::Thread& thread, std::uint16_t phase, std::int64_t n) const {
    for (const Reduction& r : code_.reductions)
      if (r.phase == phase)
        r.combine(thread.slots[r.total], thread.slots[r.total], thread.slots[r.leaf], nullptr,
                  values_of(r, n));
  }
  /// Computes the results of the previous phase's reductions.
  void finish(Workers::Thread& thread, std::uint16_t phase) const {
    if (!code_.lanes_inner) return;
    for (const Reduction& r : code_.reductions)
      if (r.phase + 1 == phase)
        r.fold(thread.slots[r.result], thread.slots[code_.one_leaf ? r.leaf : r.total]);
  }

  /// Steps [begin, end) of the inner loop; `begin` is where a leaf starts.
  void run_steps(Workers::Thread& thread, std::uint16_t phase, std::int64_t* at, std::int64_t n,
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
    const std::int64_t chunks = (code_.steps + code_.chunk_steps - 1) / code_.chunk_steps;
    const std::size_t units = static_cast<std::size_t>(code_.units);
    std::vector<std::size_t> offsets;  // of each reduction within a chunk's partial results
    std::size_t chunk_bytes = 0;
    for (const Reduction& r : code_.reductions) {
      offsets.push_back(chunk_bytes);
      chunk_bytes += (values_of(r, code_.blocks.block) * size_of(r.dtype) + 63) / 64 * 64;
    }
    std::byte* states = workers_.partials().reserve(units * code_.unit_bytes +
                                                    units * static_cast<std::size_t>(chunks) * chunk_bytes);
    std::byte* partials = states + units * code_.unit_bytes;
    auto partial_of = [&](std::size_t piece, std::size_t reduction) {
      return partials + piece * chunk_bytes + offsets[reduction];
    };
    for (std::uint16_t phase = 0; phase < code_.phases; ++phase) {
      Workers::Thread& caller = prepare(0);
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
            Workers::Thread& thread = prepare(index);
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
  std::atomic<bool>& fault_;
  std::byte* bases_[kMostBuffers];
  std::byte* constants_ = nullptr;
};

void run_code(const Code& code, Workers& workers, const LaunchArguments& arguments,
              std::atomic<bool>& fault) {
  if (code.space.outer_count == 0) return;
  Launch(code, workers, arguments, fault).run();
}

}  // namespace sinter::runtime::host
