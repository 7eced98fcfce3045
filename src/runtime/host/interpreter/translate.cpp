// Translates kernel IR for given sizes into instructions.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "src/runtime/host/interpreter/blocking.h"
#include "src/runtime/host/interpreter/code.h"
#include "src/runtime/host/interpreter/dependence.h"

namespace sinter::runtime::host {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

class Translator {
 public:
  Translator(const ir::Kernel& kernel, std::span<const std::int64_t> ints, bool resident_rows)
      : kernel_(kernel),
        ints_(ints),
        table_(block_functions()),
        code_(bound(kernel, ints)),
        depends_(kernel, code_.space) {
    code_.phases = kernel.phases;
    const Blocking blocking = choose_blocking(kernel, code_.space, resident_rows);
    code_.lanes_inner = blocking.lanes_inner;
    code_.resident = blocking.resident;
    code_.blocks = blocking.blocks;
    row_dims_ = blocking.row_dims;
  }

  Code translate() {
    code_.unit.resize(code_.phases);
    code_.inner.resize(code_.phases);
    slots_.assign(kernel_.exprs.size(), kNoSlot);
    add_reductions();
    for (std::uint16_t phase = 0; phase < code_.phases; ++phase) {
      // Values of the unit, in the first phase that can compute them.
      for (ExprId id = 0; id < kernel_.exprs.size(); ++id)
        if (depends_.needed(id) && scope_of(id) == Scope::Unit && kernel_.exprs[id].phase == phase)
          emit(id, phase);
      for (const ir::Store& store : kernel_.stores)
        if (store.phase == phase && !inner_store(store))
          emit_stored(store, phase, code_.unit[phase], Area::Unit);
      for (const ir::Store& store : kernel_.stores)
        if (store.phase == phase && !inner_store(store)) emit_store(store, code_.unit[phase]);
      if (code_.space.inner_count == 0) continue;
      if (!code_.resident) forget_inner_values();
      Section& section = code_.inner[phase];
      for (std::size_t i = 0; i < code_.reductions.size(); ++i)
        if (code_.reductions[i].phase == phase) emit_accumulate(code_.reductions[i], reduced_[i], phase);
      for (const ir::Store& store : kernel_.stores)
        if (store.phase == phase && inner_store(store)) emit_stored(store, phase, section, Area::Scratch);
      for (const ir::Store& store : kernel_.stores)
        if (store.phase == phase && inner_store(store)) emit_store(store, section);
    }
    return std::move(code_);
  }

 private:
  static Code bound(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
    Code code;
    code.space = bind_space(kernel, ints);
    return code;
  }
  const std::vector<std::int64_t>& extents() const { return code_.space.extents; }
  const BoundMap& map(std::size_t index) const { return code_.space.maps[index]; }

  static bool inner_store(const ir::Store& store) { return store.level == ir::Level::Inner; }

  Scope scope_of(ExprId id) const { return depends_.scope_of(id); }
  bool single(ExprId id) const { return depends_.single(id, row_dims_); }

  // ---- registers and instructions

  Slot new_slot(Area area, bool is_single, std::size_t size, std::uint16_t lanes = 0) {
    if (code_.registers.size() >= kNoSlot)
      throw std::length_error("[host] a kernel needs more than " + std::to_string(kNoSlot) + " values");
    code_.registers.push_back({area, is_single, false, lanes, static_cast<std::uint8_t>(size), 0});
    return static_cast<Slot>(code_.registers.size() - 1);
  }

  Section& section_of(Scope scope, ExprId id, std::uint16_t phase) {
    if (scope == Scope::Constant) return code_.constants;
    return scope == Scope::Unit ? code_.unit[kernel_.exprs[id].phase] : code_.inner[phase];
  }
  static Area area_of(Scope scope) {
    return scope == Scope::Constant ? Area::Constants : scope == Scope::Unit ? Area::Unit : Area::Scratch;
  }

  void forget_inner_values() {
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id)
      if (scope_of(id) == Scope::Inner) slots_[id] = kNoSlot;
  }

  /// The slot that holds the value in `phase`; emits its code where there is none yet. Iterative, operands
  /// first: expression chains may be thousands of operations long.
  Slot emit(ExprId root, std::uint16_t phase) {
    std::vector<ExprId> stack{root};
    while (!stack.empty()) {
      const ExprId id = stack.back();
      const Expr& e = kernel_.exprs[id];
      bool ready = true;
      if (slots_[id] == kNoSlot) {
        auto want = [&](ExprId arg) {
          if (arg != ir::kNone && slots_[arg] == kNoSlot) {
            stack.push_back(arg);
            ready = false;
          }
        };
        want(e.predicate);
        for (std::size_t i = 3; i-- > 0;) want(e.args[i]);
        if (!ready) continue;
        const Scope scope = scope_of(id);
        slots_[id] = emit_expr(id, section_of(scope, id, phase), scope);
      }
      stack.pop_back();
    }
    return slots_[root];
  }

  Slot emit_expr(ExprId id, Section& section, Scope scope) {
    const Expr& e = kernel_.exprs[id];
    const std::size_t size = size_of(e.dtype);
    if (e.kind == ExprKind::Scalar) return scalar_slot(e.scalar, e.dtype);
    if (e.kind == ExprKind::Load && e.predicate == ir::kNone && is_pointer(map(e.map), single(id))) {
      const Slot slot = new_slot(Area::None, single(id), size);
      section.pointers.push_back({slot, kNoSlot, e.buffer, e.map, static_cast<std::uint8_t>(size)});
      // A later phase may store to this buffer; a value that must survive that is copied.
      if (!kernel_.buffers[e.buffer].written || kernel_.inner_rank == 0 || scope == Scope::Inner) return slot;
      Instruction copy = instruction(InstructionKind::Copy, id, scope);
      copy.a = slot;
      section.code.push_back(copy);
      return copy.out;
    }
    switch (e.kind) {
      case ExprKind::Elementwise: return emit_elementwise(id, section, scope);
      case ExprKind::Load:
      case ExprKind::LoadAt: return emit_load(id, section, scope);
      case ExprKind::Index: return emit_mapped(InstructionKind::Index, id, section, scope);
      case ExprKind::InBounds: return emit_mapped(InstructionKind::InBounds, id, section, scope);
      case ExprKind::Random: return emit_mapped(InstructionKind::Random, id, section, scope);
      case ExprKind::RandomNormal: return emit_mapped(InstructionKind::RandomNormal, id, section, scope);
      default:
        throw std::logic_error("[host] expression e" + std::to_string(id) + " is used before it is known");
    }
  }

  Instruction instruction(InstructionKind kind, ExprId id, Scope scope) {
    const Expr& e = kernel_.exprs[id];
    Instruction result;
    result.kind = kind;
    result.single = single(id);
    result.size = static_cast<std::uint8_t>(size_of(e.dtype));
    result.out = new_slot(area_of(scope), result.single, result.size);
    result.buffer = e.buffer;
    result.map = e.map;
    const bool mapped = kind != InstructionKind::Call && kind != InstructionKind::Copy;
    result.consecutive = mapped && !result.single && is_pointer(map(e.map), false);
    return result;
  }

  Slot scalar_slot(std::uint16_t scalar, DType dtype) {
    for (const Code::ScalarSlot& known : code_.scalars)
      if (known.scalar == scalar) return known.slot;
    const Slot slot = new_slot(Area::Constants, true, size_of(dtype));
    code_.scalars.push_back({slot, dtype, scalar});
    return slot;
  }

  /// True iff the values of a block are contiguous in memory (a single one always is).
  bool is_pointer(const BoundMap& m, bool is_single) const {
    if (!m.affine()) return false;
    if (is_single) return true;
    std::int64_t stride = 1;
    const BlockSpace& blocks = code_.blocks;
    for (std::size_t k = blocks.last; k-- > blocks.inside;) {
      if (m.strides[k] != stride) return false;
      stride *= extents()[k];
    }
    return true;
  }

  Slot filled(Slot from, std::size_t size, Section& section, Area area) {
    Instruction fill;
    fill.kind = InstructionKind::Fill;
    fill.size = static_cast<std::uint8_t>(size);
    fill.a = from;
    fill.out = new_slot(area, false, size);
    section.code.push_back(fill);
    return fill.out;
  }

  Slot emit_elementwise(ExprId id, Section& section, Scope scope) {
    const Expr& e = kernel_.exprs[id];
    const std::size_t arity = info(e.op).arity;
    const DType from = kernel_.exprs[e.args[0]].dtype;
    Slot args[3] = {kNoSlot, kNoSlot, kNoSlot};
    bool ones[3] = {true, true, true};
    for (std::size_t i = 0; i < arity; ++i) {
      args[i] = slots_[e.args[i]];
      ones[i] = single(e.args[i]);
    }
    auto widen = [&](std::size_t i) {
      args[i] = filled(args[i], size_of(kernel_.exprs[e.args[i]].dtype), section, area_of(scope));
      ones[i] = false;
    };
    const bool block = !single(id);
    BlockFunction function = nullptr;
    if (e.op == Op::Cast) {
      function = table_.cast[static_cast<std::size_t>(from)][static_cast<std::size_t>(e.dtype)];
    } else {
      const DType operands = e.op == Op::Where ? e.dtype : from;
      const auto& forms =
          table_.elementwise[static_cast<std::size_t>(e.op)][static_cast<std::size_t>(operands)];
      Form form = Form::VV;
      if (block && arity == 3) {
        if (ones[0]) widen(0);
        form = ones[1] ? (ones[2] ? Form::VSS : Form::VSV) : (ones[2] ? Form::VVS : Form::VVV);
      } else if (block && arity == 2 && (ones[0] || ones[1])) {
        form = ones[0] ? Form::SV : Form::VS;
        if (forms[static_cast<std::size_t>(form)] == nullptr) {
          widen(ones[0] ? 0 : 1);
          form = Form::VV;
        }
      }
      function = forms[static_cast<std::size_t>(form)];
    }
    if (function == nullptr)
      throw DTypeError("[" + std::string(name_of(e.op)) + "] is not defined for " +
                       std::string(name_of(from)) + " on the host");
    Instruction call = instruction(InstructionKind::Call, id, scope);
    call.function = function;
    call.a = args[0];
    call.b = args[1];
    call.c = args[2];
    section.code.push_back(call);
    return call.out;
  }

  Slot emit_load(ExprId id, Section& section, Scope scope) {
    const Expr& e = kernel_.exprs[id];
    const bool at = e.kind == ExprKind::LoadAt;
    if (!at && e.predicate == ir::kNone && !single(id) && code_.blocks.group > 1 && scope == Scope::Unit &&
        needs_transpose(code_.blocks, map(e.map), size_of(e.dtype)))
      return emit_tile(id, section);
    if (!at && e.predicate == ir::kNone && !single(id) && code_.blocks.uniform && map(e.map).affine() &&
        reaches(map(e.map)) < (std::int64_t{1} << 31))
      return emit_gather(id, section, scope);
    Instruction load = instruction(at ? InstructionKind::LoadAt : InstructionKind::Load, id, scope);
    if (e.predicate != ir::kNone) {
      load.a = slots_[e.predicate];
      load.single_a = single(e.predicate);
    }
    if (at) {
      load.b = slots_[e.args[0]];
      load.single_b = single(e.args[0]);
      load.index_dtype = kernel_.exprs[e.args[0]].dtype;
      load.stride = value_of(e.stride, ints_);
      load.extent = value_of(e.extent, ints_);
      load.fault = e.fault;
    }
    section.code.push_back(load);
    return load.out;
  }

  /// The largest distance between two elements of a block.
  std::int64_t reaches(const BoundMap& m) const {
    std::int64_t sum = 0;
    for (std::size_t k = code_.blocks.first; k < code_.blocks.last; ++k)
      sum += std::abs(m.strides[k]) * (extents()[k] - 1);
    return sum;
  }

  /// Gathers a block by a table of offsets, from a buffer or from `base`.
  Slot emit_gather(ExprId id, Section& section, Scope scope, Slot base = kNoSlot) {
    const Expr& e = kernel_.exprs[id];
    Slot& offsets = offsets_.try_emplace(e.map, kNoSlot).first->second;
    if (offsets == kNoSlot) {
      Instruction find;
      find.kind = InstructionKind::Offsets;
      find.map = e.map;
      find.out = offsets = new_slot(Area::Constants, false, sizeof(std::int32_t));
      code_.constants.code.push_back(find);
    }
    Instruction gather = instruction(InstructionKind::Gather, id, scope);
    gather.a = offsets;
    gather.b = new_slot(Area::None, true, gather.size);
    section.pointers.push_back({gather.b, base, e.buffer, e.map, gather.size});
    section.code.push_back(gather);
    return gather.out;
  }

  /// Random numbers where the inner loop reads many times from a short range of elements (a pooling window
  /// over dropout): the unit generates the range once, instead of computing a counter for each read.
  bool emit_random_range(ExprId id, Section& section, Scope scope, Slot& result) {
    const Expr& e = kernel_.exprs[id];
    const Space& space = code_.space;
    if (code_.lanes_inner || scope != Scope::Inner || single(id) || !code_.blocks.uniform ||
        !map(e.map).affine())
      return false;
    if (auto known = random_ranges_.find(id); known != random_ranges_.end()) {
      result = emit_gather(id, section, scope, known->second);
      return true;
    }
    std::int64_t reach = 1;
    for (std::size_t k = code_.blocks.inside; k < space.rank(); ++k) {
      const std::int64_t stride = map(e.map).strides[k];
      if (stride < 0) return false;
      reach += stride * ((k == code_.blocks.inside ? code_.blocks.steps_inside : extents()[k]) - 1);
    }
    if (reach > 16384 || reach > 2 * code_.blocks.block * space.inner_count) return false;
    Instruction range;
    range.kind = e.kind == ExprKind::Random ? InstructionKind::Random : InstructionKind::RandomNormal;
    range.map = e.map;
    range.extent = reach;
    range.a = scalar_slot(e.scalar, DType::i64);
    range.b = scalar_slot(static_cast<std::uint16_t>(e.scalar + 1), DType::i64);
    range.out = new_slot(Area::Unit, false, sizeof(float), static_cast<std::uint16_t>(reach));
    code_.unit[0].code.push_back(range);
    random_ranges_[id] = range.out;
    result = emit_gather(id, section, scope, range.out);
    return true;
  }

  Slot emit_tile(ExprId id, Section& section) {
    const Expr& e = kernel_.exprs[id];
    const std::size_t size = size_of(e.dtype);
    Instruction tile;
    tile.kind = InstructionKind::Tile;
    tile.size = static_cast<std::uint8_t>(size);
    tile.buffer = e.buffer;
    tile.map = e.map;
    tile.extent = kTileBlock;
    tile.a = new_slot(Area::Unit, false, size, static_cast<std::uint16_t>(code_.blocks.group * kTileBlock));
    code_.registers[tile.a].lasting = true;
    tile.out = new_slot(Area::None, false, size);
    section.code.push_back(tile);
    return tile.out;
  }

  Slot emit_mapped(InstructionKind kind, ExprId id, Section& section, Scope scope) {
    const Expr& e = kernel_.exprs[id];
    if (kind == InstructionKind::Random || kind == InstructionKind::RandomNormal) {
      Slot result = kNoSlot;
      if (!is_pointer(map(e.map), single(id)) && emit_random_range(id, section, scope, result)) return result;
    }
    Instruction made = instruction(kind, id, scope);
    if (kind == InstructionKind::InBounds) {
      std::vector<BoundValues> bounds;
      for (const ir::Bound& b : e.bounds)
        bounds.push_back({std::max<std::int64_t>(value_of(b.extent, ints_), 1), value_of(b.lower, ints_),
                          value_of(b.step, ints_), value_of(b.size, ints_)});
      made.bounds = static_cast<std::uint16_t>(code_.bounds.size());
      code_.bounds.push_back(std::move(bounds));
    } else if (kind != InstructionKind::Index) {
      made.a = scalar_slot(e.scalar, DType::i64);
      made.b = scalar_slot(static_cast<std::uint16_t>(e.scalar + 1), DType::i64);
    }
    section.code.push_back(made);
    return made.out;
  }

  /// Emits the value of a store. A section computes all values before its first store. An address in a buffer
  /// that another store of the section writes must therefore not stand for a value: it is copied.
  void emit_stored(const ir::Store& store, std::uint16_t phase, Section& section, Area area) {
    const Slot slot = emit(store.value, phase);
    const Expr& e = kernel_.exprs[store.value];
    if (code_.registers[slot].area != Area::None || e.kind != ExprKind::Load || e.buffer == store.buffer ||
        !kernel_.buffers[e.buffer].written)
      return;
    Instruction copy;
    copy.kind = InstructionKind::Copy;
    copy.single = single(store.value);
    copy.size = static_cast<std::uint8_t>(size_of(e.dtype));
    copy.a = slot;
    copy.out = slots_[store.value] = new_slot(area, copy.single, copy.size);
    section.code.push_back(copy);
  }

  void emit_store(const ir::Store& store, Section& section) {
    const std::size_t size = size_of(kernel_.buffers[store.buffer].dtype);
    const bool one = (code_.space.dims_of(map(store.map)) & row_dims_) == 0;
    Instruction made;
    made.size = static_cast<std::uint8_t>(size);
    made.buffer = store.buffer;
    made.map = store.map;
    made.a = slots_[store.value];
    made.single = one;
    made.single_a = single(store.value);
    if (is_pointer(map(store.map), one)) {
      made.kind = made.single_a && !one ? InstructionKind::Fill : InstructionKind::Copy;
      made.out = new_slot(Area::None, one, size);
      section.pointers.push_back({made.out, kNoSlot, store.buffer, store.map, made.size});
    } else {
      made.kind = InstructionKind::Store;
    }
    section.code.push_back(made);
  }

  // ---- reductions

  void add_reductions() {
    if (ir::has_parts(kernel_))
      throw DeviceError("[host] sums of parts are not computed here: DeviceTraits::row_lanes is 0");
    for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
      const Expr& e = kernel_.exprs[id];
      if (!depends_.needed(id) || e.kind != ExprKind::Reduce) continue;
      if (e.op == Op::SquaredDeviations)
        throw DeviceError(
            "[host] squared deviations are not computed here: DeviceTraits::grid_reductions is off");
      Reduction r;
      r.op = e.op;
      r.dtype = e.dtype;
      r.phase = static_cast<std::uint16_t>(e.phase - 1);
      r.single = single(id);
      const std::size_t op = static_cast<std::size_t>(combining_op(e.op, e.dtype)),
                        dtype = static_cast<std::size_t>(e.dtype);
      r.combine = table_.elementwise[op][dtype][static_cast<std::size_t>(Form::VV)];
      r.fold = table_.fold[static_cast<std::size_t>(e.op)][dtype];
      const std::size_t size = size_of(e.dtype);
      const std::uint16_t lanes = code_.lanes_inner ? kLanes : 0;
      r.leaf = new_slot(Area::Scratch, r.single && lanes == 0, size, lanes);
      r.total = new_slot(Area::Unit, r.single && lanes == 0, size, lanes);
      r.result = code_.lanes_inner ? new_slot(Area::Unit, true, size) : r.total;
      slots_[id] = r.result;
      code_.reductions.push_back(r);
      reduced_.push_back(e.args[0]);
    }
  }

  void emit_accumulate(const Reduction& r, ExprId operand, std::uint16_t phase) {
    Slot value = emit(operand, phase);
    Section& section = code_.inner[phase];
    Instruction made;
    made.out = r.leaf;
    made.size = static_cast<std::uint8_t>(size_of(r.dtype));
    if (code_.lanes_inner) {
      if (single(operand)) value = filled(value, size_of(r.dtype), section, Area::Scratch);
      made.kind = InstructionKind::Accumulate;
      made.accumulate = table_.accumulate[static_cast<std::size_t>(r.op)][static_cast<std::size_t>(r.dtype)];
      made.a = value;
    } else {
      // The operand cannot be single where the result is a block: the result's dims are the operand's.
      made.function = r.combine;
      made.single = r.single;
      made.a = r.leaf;
      made.b = value;
    }
    section.code.push_back(made);
  }

  const ir::Kernel& kernel_;
  std::span<const std::int64_t> ints_;
  const BlockFunctions& table_;
  Code code_;
  const Dependence depends_;
  std::uint32_t row_dims_ = 0;  // dims that a block of any length moves along
  std::vector<Slot> slots_;
  std::map<ExprId, Slot> random_ranges_;   // ranges of random numbers
  std::map<std::uint16_t, Slot> offsets_;  // of maps, for uniform blocks
  std::vector<ExprId> reduced_;            // the operand of each reduction of the code
};

}  // namespace

Code make_code(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  constexpr std::size_t kMostScratch = std::size_t{384}
                                       << 10;  // of a resident row: half of a second-level cache
  for (bool resident : {true, false}) {
    Code code = Translator(kernel, ints, resident).translate();
    store_in_place(code, kernel);
    place_registers(code, kernel);
    if (!code.resident || code.scratch_bytes <= kMostScratch) return code;
  }
  throw std::logic_error("[host] a kernel could not be translated");
}

}  // namespace sinter::runtime::host
