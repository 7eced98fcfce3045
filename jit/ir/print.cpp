// Kernel IR as text: one line for each buffer, map, expression and store.
#include <string>
#include <string_view>

#include "jit/ir/kernel.h"

namespace sinter::ir {
namespace {

std::string_view text_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::Pointwise: return "pointwise";
    case Schedule::LanesOuter: return "lanes_outer";
    case Schedule::LanesInner: return "lanes_inner";
  }
  return "?";
}

std::string_view text_of(ExprKind kind) {
  switch (kind) {
    case ExprKind::Load: return "load";
    case ExprKind::LoadAt: return "load_at";
    case ExprKind::Scalar: return "scalar";
    case ExprKind::Index: return "index";
    case ExprKind::InBounds: return "in_bounds";
    case ExprKind::Random: return "random";
    case ExprKind::RandomNormal: return "random_normal";
    case ExprKind::Elementwise: return "elementwise";
    case ExprKind::Reduce: return "reduce";
    case ExprKind::Row: return "row";
    case ExprKind::Dot: return "dot";
    case ExprKind::Combine: return "combine";
    case ExprKind::Partial: return "partial";
  }
  return "?";
}

class Printer {
 public:
  std::string print(const Kernel& k) {
    word("kernel").word(text_of(k.schedule));
    word("outer").number(k.outer_rank).word("inner").number(k.inner_rank).word("phases").number(k.phases);
    word("ints").number(k.ints);
    if (k.members > 1) word("members").number(k.members);
    if (k.row_elements) word("row").number(k.row_elements).word("x").number(k.row_lanes);
    if (k.row_cluster > 1) word("cluster").number(k.row_cluster);
    if (k.row_full) word("full");
    if (k.row_ragged) word("ragged");
    if (has_parts(k)) word("parts").word(text_of(k.parts)).word("step").number(k.part_step);
    if (k.tile != Kernel::kNoTile) word("tile").number(k.tile);
    if (!k.inner_sizes.empty()) word("inner_sizes");
    for (const std::uint16_t size : k.inner_sizes) number(size);
    if (k.split) word("split");
    if (k.tiling.any()) print_tiling(k.tiling);
    if (k.attention.any()) {
      word("attention").number(k.attention.rows).word("x").number(k.attention.columns);
      word("slots").number(k.attention.slots).number(k.attention.row_slots);
      if (k.attention.by == Attention::By::Subgroups) word("subgroups");
      if (k.attention.by == Attention::By::Lanes) word("lanes");
      if (k.attention.by == Attention::By::Matrices) word("matrices");
      if (k.attention.by == Attention::By::Stripes) word("stripes");
      if (k.attention.by != Attention::By::Groups) word("workgroups").number(k.attention.workgroups);
      if (k.attention.layout.is_known()) word(describe(k.attention.layout));
    }
    if (k.lone_rows.any()) word("lone").number(k.lone_rows.lanes);
    if (k.wide) word("wide");
    if (k.faults) word("faults").number(k.faults);
    end_line();
    word("extents");
    for (const IntRef& extent : k.extents) word(text_of(extent));
    for (const Reciprocal& r : k.reciprocals)
      named('i', r.divisor).word("by").named('i', r.multiplier).named('i', r.shift);
    end_line();
    if (!k.flat_maps.empty()) {
      word("flat");
      for (const std::uint16_t map : k.flat_maps) named('m', map);
      end_line();
    }
    word("scalars");
    for (DType dtype : k.scalars) word(name_of(dtype));
    end_line();
    for (std::size_t i = 0; i < k.buffers.size(); ++i) {
      const BufferInfo& buffer = k.buffers[i];
      named('b', i).word(name_of(buffer.dtype));
      if (buffer.read) word("read");
      if (buffer.written) word("written");
      end_line();
    }
    for (std::size_t i = 0; i < k.maps.size(); ++i) {
      named('m', i).word("=");
      for (const MapStep& step : k.maps[i].steps) print_step(step);
      end_line();
    }
    for (std::size_t i = 0; i < k.exprs.size(); ++i) {
      named('%', i).word("=");
      print_expr(k.exprs[i]);
      end_line();
    }
    for (const Store& store : k.stores) {
      word("store").named('b', store.buffer).named('m', store.map).word("=").named('%', store.value);
      print_place(store.level, store.phase);
      end_line();
    }
    return std::move(text_);
  }

 private:
  Printer& word(std::string_view word) {
    if (!text_.empty() && text_.back() != '\n') text_ += ' ';
    text_ += word;
    return *this;
  }
  Printer& number(std::size_t value) { return word(std::to_string(value)); }
  Printer& named(char prefix, std::size_t index) { return word(prefix + std::to_string(index)); }
  void end_line() { text_ += '\n'; }

  static std::string text_of(const IntRef& ref) {
    if (ref.is_zero()) return "0";
    if (ref.is_one()) return "1";
    return "i" + std::to_string(ref.index);
  }
  static std::string_view text_of(Schedule schedule) { return ir::text_of(schedule); }

  void print_tiling(const Tiling& t) {
    word("tiles").number(t.rows).word("x").number(t.columns).word("slots").number(t.slots);
    if (t.workgroups > 1) word("workgroups").number(t.workgroups);
    if (t.turns > 0) word(std::to_string(t.turns) + " turns");
    if (t.cluster > 1) word("cluster").number(t.cluster);
    if (t.vectors) word("vectors");
    if (t.loaders > 1) word("loaders").number(t.loaders);
    if (t.subgroup_rows > 0) word("subgroup").number(t.subgroup_rows);
    if (t.sharers > 0) word("sharers").number(t.sharers);
    if (t.near_rows) word("near");
    if (t.matrices.any()) {
      word("by").number(t.matrices.columns).word("lanes").number(t.matrices.lanes);
      word("matrices").number(t.matrices.m).number(t.matrices.n).number(t.matrices.k);
    }
    word(name_of(t.multiplied)).word("rows").number(t.row_loops).word("columns").number(t.column_loops);
    if (t.repeat_loops != 0) word("repeats").number(t.repeat_loops);
    if (t.exact) word("exact");
    if (t.blocks.any()) word("blocks").number(t.blocks.count).number(t.blocks.depth).number(t.blocks.columns);
    if (t.short_sums) word("short");
    named('%', t.sum).word("=");
    print_factor(t.a);
    print_factor(t.b);
    for (const Tiling::OtherSum& other : t.others) {
      named('%', other.sum).word("=");
      named('%', other.b);
    }
    for (const Tiling::Term& term : t.terms) {
      named('%', term.sum).word("+=");
      named('%', term.a);
      named('%', term.b);
    }
    if (t.library > 0) word("library").number(t.library).word("of").number(t.library_version);
  }

  void print_factor(const TiledFactor& factor) {
    named('%', factor.value).word(factor.across ? "across" : "along");
    if (factor.windows) word(factor.windows == 3 ? "windows of planes" : "windows");
    if (factor.computed) word("computed");
    if (factor.pieces) word("pieces");
    if (factor.vector > 0) word("vectors").number(factor.vector);
    if (factor.lane_bytes > 0) word("bytes").number(factor.lane_bytes);
  }

  // "split(extents) at(strides) + offset" or "plus(maps) at(strides) + offset"; the first step does neither.
  void print_step(const MapStep& step) {
    if (!step.extents.empty()) {
      word("split(");
      for (const IntRef& extent : step.extents) word(text_of(extent));
      word(")");
    }
    if (!step.maps.empty()) {
      word("plus(");
      for (const std::uint16_t map : step.maps) named('m', map);
      word(")");
    }
    word("at(");
    for (const IntRef& stride : step.strides) word(text_of(stride));
    word(") +").word(text_of(step.offset));
  }

  // "@o0": Outer, phase 0.
  void print_place(Level level, std::uint16_t phase) {
    word(level == Level::Outer ? "@o" : "@i");
    text_ += std::to_string(phase);
  }

  void print_expr(const Expr& e) {
    word(ir::text_of(e.kind));
    if (e.kind == ExprKind::Elementwise || e.kind == ExprKind::Reduce) word(name_of(e.op));
    word(name_of(e.dtype));
    switch (e.kind) {
      case ExprKind::Load: named('b', e.buffer).named('m', e.map); break;
      case ExprKind::Row:
        named('b', e.buffer).named('m', e.map);
        word("stride").word(text_of(e.stride)).word("length").number(e.length);
        break;
      case ExprKind::LoadAt:
        named('b', e.buffer).named('m', e.map);
        word("stride").word(text_of(e.stride)).word("extent").word(text_of(e.extent));
        break;
      case ExprKind::Scalar: named('s', e.scalar); break;
      case ExprKind::Index: named('m', e.map); break;
      case ExprKind::InBounds:
        named('m', e.map);
        for (const Bound& bound : e.bounds) {
          word("(").word(text_of(bound.extent)).word(text_of(bound.lower));
          word(text_of(bound.step)).word(text_of(bound.size)).word(")");
        }
        break;
      case ExprKind::Random:
      case ExprKind::RandomNormal: named('m', e.map).named('s', e.scalar); break;
      case ExprKind::Elementwise:
      case ExprKind::Reduce:
      case ExprKind::Dot:
      case ExprKind::Combine:
      case ExprKind::Partial: break;
    }
    for (ExprId arg : e.args)
      if (arg != kNone) named('%', arg);
    if (e.predicate != kNone) word("if").named('%', e.predicate);
    print_place(e.level, e.phase);
  }

  std::string text_;
};

}  // namespace

std::string to_string(const Kernel& kernel) { return Printer().print(kernel); }

}  // namespace sinter::ir
