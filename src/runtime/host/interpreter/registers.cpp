// Assigns memory to values: directly in a buffer, or in registers, which are reused as soon as they are free.
#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "src/runtime/host/interpreter/code.h"

namespace sinter::runtime::host {
namespace {

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// The part of the first-level cache for the registers of a block; the rest is for the buffers.
constexpr std::size_t kBlockBytes = std::size_t{24} << 10;
constexpr std::int64_t kLeastBlock = 256, kMostBlock = 2048;
constexpr std::int64_t kLeafPoints = 16384;   // lanes inner: points accumulated in a leaf, kLanes at a time
constexpr std::int64_t kChunkPoints = 32768;  // lanes inner: points per piece when threads share a row
constexpr std::int64_t kLeafSteps = 256;      // lanes outer
constexpr std::int64_t kManyUnits = 16;  // enough to resident all threads busy without sharing inner loops

template <class F>
void for_each_operand(const Instruction& instruction, F&& f) {
  for (Slot slot : {instruction.a, instruction.b, instruction.c})
    if (slot != kNoSlot) f(slot);
}

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Rough time of one instruction in ns for n values.
double cost(const Instruction& i, double n) {
  double each = 0.1;
  switch (i.kind) {
    case InstructionKind::Call: each = i.c == kNoSlot && i.b == kNoSlot ? 0.5 : 0.12; break;
    case InstructionKind::Random:
    case InstructionKind::RandomNormal: each = 1.0; break;
    case InstructionKind::Load:
    case InstructionKind::LoadAt:
    case InstructionKind::Store:
    case InstructionKind::InBounds: each = 1.0; break;
    case InstructionKind::Gather: each = 0.4; break;
    default: break;
  }
  return 6 + each * (i.size / 4.0) * (i.single ? 1 : n);
}

double cost(const Section& section, double n) {
  double sum = 0;
  for (const Instruction& i : section.code) sum += cost(i, n);
  for (const Pointer& p : section.pointers) sum += 4 + 0.02 * p.size * n;
  return sum;
}

/// Removes copies to buffers: computes the value directly where it is stored.
class InPlace {
 public:
  InPlace(Code& code, const ir::Kernel& kernel) : code_(code), kernel_(kernel) {
    auto count = [&](const Section& section) {
      for (const Instruction& i : section.code) {
        for_each_operand(i, [&](Slot slot) { sections_[slot].push_back(&section); });
      }
    };
    for (const Section& section : code.unit) count(section);
    for (const Section& section : code.inner) count(section);
    pointer_buffer_.assign(code.registers.size(), -1);
    auto pointers = [&](const Section& section) {
      for (const Pointer& p : section.pointers) pointer_buffer_[p.slot] = p.buffer;
    };
    for (const Section& section : code.unit) pointers(section);
    for (const Section& section : code.inner) pointers(section);
  }

  void apply(Section& section) {
    for (std::size_t at = section.code.size(); at-- > 0;) {
      const Instruction copy = section.code[at];
      if (copy.kind != InstructionKind::Copy || pointer_buffer_[copy.out] < 0) continue;
      const std::size_t definition = definition_of(copy.a, section, at);
      if (definition == kNever || !safe(section, copy, definition, at)) continue;
      for (Pointer& p : section.pointers)
        if (p.slot == copy.out) p.slot = copy.a;
      pointer_buffer_[copy.a] = pointer_buffer_[copy.out];
      code_.registers[copy.a].area = Area::None;
      section.code.erase(section.code.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

 private:
  std::size_t definition_of(Slot slot, const Section& section, std::size_t before) const {
    const Register& r = code_.registers[slot];
    if (r.area == Area::None || r.area == Area::Constants || r.lanes != 0) return kNever;
    for (std::size_t i = 0; i < before; ++i)
      if (section.code[i].out == slot)
        return section.code[i].kind == InstructionKind::Accumulate ? kNever : i;
    return kNever;
  }

  bool safe(const Section& section, const Instruction& copy, std::size_t definition, std::size_t at) const {
    if (code_.registers[copy.a].single != copy.single) return false;
    // Another section must not use the value: only this section sets its address.
    if (auto used = sections_.find(copy.a); used != sections_.end())
      for (const Section* other : used->second)
        if (other != &section) return false;
    const int buffer = pointer_buffer_[copy.out];
    if (!kernel_.buffers[static_cast<std::size_t>(buffer)].read) return true;
    // No later instruction may read the buffer's old contents.
    for (std::size_t i = definition + 1; i < section.code.size(); ++i) {
      if (i == at) continue;
      const Instruction& later = section.code[i];
      bool reads = later.kind == InstructionKind::Load && later.buffer == buffer;
      for_each_operand(
          later, [&](Slot slot) { reads = reads || (pointer_buffer_[slot] == buffer && slot != copy.a); });
      if (reads) return false;
    }
    return section.code[definition].kind == InstructionKind::Call;
  }

  Code& code_;
  const ir::Kernel& kernel_;
  std::map<Slot, std::vector<const Section*>> sections_;  // the users of each slot
  std::vector<int> pointer_buffer_;                       // by slot; -1: a register
};

/// Assigns registers to slots; slots of one kind (area, size, lanes) share registers when their lifetimes do
/// not overlap.
class Allocator {
 public:
  explicit Allocator(Code& code) : code_(code) {}

  void allocate(Slot slot) {
    Register& r = code_.registers[slot];
    if (r.area == Area::None || placed(slot)) return;
    auto& free = free_[key(r)];
    if (free.empty()) {
      kinds_.push_back(r);
      free.push_back(kinds_.size() - 1);
    }
    place_[slot] = free.back();
    free.pop_back();
  }
  void release(Slot slot) {
    if (auto found = place_.find(slot); found != place_.end() && !gone_[slot]) {
      free_[key(code_.registers[slot])].push_back(found->second);
      gone_[slot] = true;
    }
  }
  bool placed(Slot slot) const { return place_.contains(slot); }

  /// Bytes that all registers together need per value of a block.
  std::size_t bytes_per_lane() const {
    std::size_t bytes = 0;
    for (const Register& r : kinds_)
      if (!r.single && r.lanes == 0) bytes += r.size;
    return bytes;
  }

  void assign_offsets(std::int64_t block) {
    std::size_t used[4] = {};
    std::vector<std::size_t> offsets;
    for (const Register& r : kinds_) {
      std::size_t& end = used[static_cast<std::size_t>(r.area)];
      const std::size_t count = r.lanes != 0 ? r.lanes : r.single ? 1 : static_cast<std::size_t>(block);
      // Blocks start 128 bytes apart modulo the page, so that equal positions do not map to equal cache sets.
      const std::size_t bytes = r.single ? 16 : (count * r.size + 63) / 64 * 64 + 128;
      offsets.push_back(end);
      end += bytes;
    }
    for (auto [slot, at] : place_) code_.registers[slot].offset = offsets[at];
    code_.constant_bytes = used[static_cast<std::size_t>(Area::Constants)];
    code_.unit_bytes = (used[static_cast<std::size_t>(Area::Unit)] + 63) / 64 * 64;
    code_.scratch_bytes = (used[static_cast<std::size_t>(Area::Scratch)] + 63) / 64 * 64;
  }

 private:
  using Key = std::tuple<Area, bool, std::uint16_t, std::uint8_t>;
  static Key key(const Register& r) { return {r.area, r.single, r.lanes, r.size}; }

  Code& code_;
  std::map<Key, std::vector<std::size_t>> free_;
  std::vector<Register> kinds_;
  std::map<Slot, std::size_t> place_;
  std::map<Slot, bool> gone_;
};

/// Walks all sections in the order in which a unit runs them and allocates each slot from its first to its
/// last use.
void place(Code& code, Allocator& allocator) {
  std::vector<std::pair<const Section*, bool>> order;  // section, is inner
  for (std::uint16_t phase = 0; phase < code.phases; ++phase) {
    order.push_back({&code.unit[phase], false});
    order.push_back({&code.inner[phase], true});
  }
  std::vector<std::size_t> last(code.registers.size(), 0);
  std::size_t position = 0;
  for (auto [section, inner] : order) {
    const std::size_t end = position + section->code.size() + 1;
    for (const Instruction& i : section->code) {
      auto use = [&](Slot slot) {
        // An inner section runs many times: it needs outside values until its last iteration.
        last[slot] =
            std::max(last[slot], inner && code.registers[slot].area == Area::Unit ? end - 1 : position);
      };
      for_each_operand(i, use);
      if (i.out != kNoSlot) use(i.out);
      ++position;
    }
    for (const Pointer& p : section->pointers)
      if (p.base != kNoSlot) last[p.base] = std::max(last[p.base], end - 1);
    for (const Reduction& r : code.reductions) {
      if (section == &code.inner[r.phase]) last[r.leaf] = end - 1;
      // The next section reads the total at its start and writes the result there, before its code.
      if (r.phase + 1 < code.phases && section == &code.unit[r.phase + 1])
        for (Slot slot : {r.total, r.result})
          last[slot] = std::max(last[slot], end - section->code.size() - 1);
    }
    position = end;
  }

  for (Slot slot = 0; slot < code.registers.size(); ++slot)
    if (code.registers[slot].area == Area::Constants || code.registers[slot].lasting)
      allocator.allocate(slot);
  position = 0;
  std::vector<Slot> alive;
  auto allocate = [&](Slot slot) {
    if (slot == kNoSlot || code.registers[slot].area == Area::None || allocator.placed(slot)) return;
    allocator.allocate(slot);
    alive.push_back(slot);
  };
  auto release_until = [&](std::size_t now) {
    std::erase_if(alive, [&](Slot slot) {
      if (last[slot] > now) return false;
      allocator.release(slot);
      return true;
    });
  };
  for (auto [section, inner] : order) {
    for (const Reduction& r : code.reductions) {
      if (section == &code.unit[r.phase]) {
        // Reductions of one phase must not share a total, so they are allocated before any value of the
        // section ends.
        allocate(r.total);
      }
      if (section == &code.inner[r.phase]) allocate(r.leaf);
      if (r.phase + 1 < code.phases && section == &code.unit[r.phase + 1]) allocate(r.result);
    }
    for (const Instruction& i : section->code) {
      // A loop may overwrite an operand at its last use, if both have elements of one size.
      if (i.kind == InstructionKind::Call)
        std::erase_if(alive, [&](Slot slot) {
          if (last[slot] > position || slot == i.out || code.registers[slot].size != i.size) return false;
          allocator.release(slot);
          return true;
        });
      allocate(i.out);
      release_until(position);
      ++position;
    }
    release_until(position);
    ++position;
  }
}

/// Lanes outer with a single leaf: the leaf is the result.
void accumulate_into_results(Code& code) {
  for (Reduction& r : code.reductions) {
    for (Instruction& i : code.inner[r.phase].code) {
      if (i.out != r.leaf) continue;
      i.out = r.result;
      i.a = r.result;
    }
    r.leaf = r.result;
  }
}

void cut_blocks(Code& code, std::size_t bytes_per_lane) {
  BlockSpace& blocks = code.blocks;
  const Space& space = code.space;
  const std::int64_t points = code.lanes_inner ? space.inner_count : space.outer_count;
  const std::int64_t rows = blocks.row == 0 ? 0 : points / blocks.row;
  std::int64_t most = static_cast<std::int64_t>(kBlockBytes / std::max<std::size_t>(bytes_per_lane, 1));
  most = std::clamp(most / 64 * 64, kLeastBlock, kMostBlock);
  const bool reduces = !code.reductions.empty();
  if (blocks.group > 1) most = std::min(most, kTileBlock);
  // Inner loops too short for threads to share: make more units instead.
  if (!code.lanes_inner && reduces && space.inner_count <= 4 * kLeafSteps)
    most = std::clamp(round_up(points / kManyUnits, 64), kLeastBlock, most);
  if (blocks.uniform) most = blocks.block;
  if (code.resident) most = std::max<std::int64_t>(blocks.row, 1);
  blocks.per_row = std::max<std::int64_t>((blocks.row + most - 1) / most, 1);
  blocks.block = code.resident || blocks.uniform
                     ? most
                     : std::min(round_up((blocks.row + blocks.per_row - 1) / blocks.per_row, 64), most);
  blocks.block = std::max<std::int64_t>(blocks.block, 1);
  blocks.per_row = std::max<std::int64_t>((blocks.row + blocks.block - 1) / blocks.block, 1);
  blocks.count = rows * blocks.per_row;

  const double n = static_cast<double>(std::min(blocks.block, std::max<std::int64_t>(blocks.row, 1)));
  for (const Section& section : code.unit) code.unit_cost += cost(section, code.lanes_inner ? 1 : n);
  for (const Section& section : code.inner) code.step_cost += cost(section, n);
  if (code.lanes_inner) {
    code.units = space.outer_count;
    code.steps = blocks.count;
    code.leaf_steps = std::max<std::int64_t>(kLeafPoints / blocks.block, 1);
    code.chunk_steps = round_up(std::max<std::int64_t>(kChunkPoints / blocks.block, 1), code.leaf_steps);
    code.unit_cost += 40.0 * static_cast<double>(code.reductions.size());
  } else {
    code.units = blocks.count;
    code.steps = space.inner_count;
    code.leaf_steps = kLeafSteps;
    code.chunk_steps =
        kLeafSteps * std::max<std::int64_t>((code.steps + kLeafSteps * 64 - 1) / (kLeafSteps * 64), 1);
  }
  const bool loops = reduces && !code.resident;
  code.split = loops && code.units > 0 && code.units < kManyUnits && code.steps > code.chunk_steps;
  code.one_leaf = code.steps <= code.leaf_steps;
  if (code.one_leaf && !code.lanes_inner) accumulate_into_results(code);
}

}  // namespace

void store_in_place(Code& code, const ir::Kernel& kernel) {
  InPlace pass(code, kernel);
  for (Section& section : code.unit) pass.apply(section);
  for (Section& section : code.inner) pass.apply(section);
}

void place_registers(Code& code, const ir::Kernel&) {
  Allocator allocator(code);
  place(code, allocator);
  cut_blocks(code, allocator.bytes_per_lane());
  allocator.assign_offsets(code.blocks.block);
}

}  // namespace sinter::runtime::host
