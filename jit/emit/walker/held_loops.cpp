// Writes the loops over held rows: by vectors, by vectors that begin before a row, by elements.
#include "jit/emit/walker/held_loops.h"

#include <algorithm>
#include <vector>

namespace sinter::emit {

using ir::ExprId;
using ir::ExprKind;

namespace {

// Elements of a row that a lane loads before it uses one, beside its sums of columns: with more some kernels
// spill (nvrtc_test).
constexpr int kMostBesideSums = 16;

}  // namespace

void HeldLoops::choose_rows(const std::vector<InnerWork>& work) {
  rows_ = hold_rows(k_, work, e_.dialect.pairs_halves);
  e_.use.held_words = rows_.words;
}

void HeldLoops::declare(HeldForm form) {
  for (std::size_t s = 0; s < rows_.slot_dtypes.size(); ++s)
    e_.out.line(e_.dialect.declare_vector(rows_.slot_dtypes[s], e_.width, HeldRows::slot(s),
                                          k_.row_elements / e_.width));
  if (form == HeldForm::Shifted) e_.out.line(e_.dialect.constant(e_.index_type, "shift", vectors_.shift()));
}

void HeldLoops::write(const InnerWork& work, std::uint16_t phase, HeldForm form) {
  if (form != HeldForm::Vectors) return write_elements(work, phase, form == HeldForm::Shifted);
  write_vectors(work, phase);
}

/// The dealt loop over a row that a lane's registers hold: unrolled, so that each element has its register.
void HeldLoops::write_vectors(const InnerWork& work, std::uint16_t phase) {
  InnerWork rest = work;
  rest.values = rows_.values[phase];
  sums_.declare_parts(work, e_.width);
  const std::vector<ExprId> first = loads_before(rest, phase);
  if (!first.empty())
    over_vectors([&] {
      for (ExprId id : first) vectors_.load(id, "y", rows_.place(id));
    });
  over_vectors([&] { vectors_.write_points(rest, "y", rows_, rows_.taken[phase], first); });
  for (ExprId id : first)
    if (!rows_.is_held(id)) rows_.elsewhere.erase(id);
  sums_.add_parts(work, e_.width);
}

/// The loads of a phase that come before what is computed of them, so that one vector's do not wait for
/// those before it. What is loaded and not held lies where a value of its phase will, which is computed after
/// it, or in an array of its own, if lanes have registers for that.
std::vector<ExprId> HeldLoops::loads_before(const InnerWork& work, std::uint16_t phase) {
  std::vector<ExprId> first, others;
  for (ExprId id : work.values) {
    if (!vectors_.is_load(id)) continue;
    if (rows_.is_held(id))
      first.push_back(id);
    else if (vectors_.is_shifted(id))
      others.push_back(id);
  }
  const bool has_room = !ir::has_parts(k_) || k_.row_elements <= kMostBesideSums;
  const bool stops = e_.dialect.stops_at_branches && !has_whole_rows() && has_room;
  if (!stops) return e_.dialect.loads_rows_first ? first : std::vector<ExprId>{};
  std::vector<std::string> busy;
  for (const std::vector<ExprId>* ids : {&first, &rows_.taken[phase]})
    for (ExprId id : *ids) busy.push_back(rows_.name(id));
  std::vector<ExprId> alone;
  for (ExprId id : others) {
    const auto takes_over = [&](ExprId value) {
      return value > id && rows_.is_held(value) && k_.exprs[value].dtype == k_.exprs[id].dtype &&
             std::find(busy.begin(), busy.end(), rows_.name(value)) == busy.end();
    };
    const auto value = std::find_if(work.values.begin(), work.values.end(), takes_over);
    if (value == work.values.end()) {
      alone.push_back(id);
      continue;
    }
    busy.push_back(rows_.name(*value));
    rows_.elsewhere[id] = busy.back() + "[i]";
    first.push_back(id);
  }
  if (!rows_.have_room(k_, alone)) return first;
  for (ExprId id : alone) {
    const std::string name = "f" + std::to_string(id) + "_" + std::to_string(phase);
    e_.out.line(e_.dialect.declare_vector(k_.exprs[id].dtype, e_.width, name, k_.row_elements / e_.width));
    rows_.elsewhere[id] = name + "[i]";
    first.push_back(id);
  }
  return first;
}

bool HeldLoops::has_whole_rows() const { return k_.row_full && !has_short_rows(k_, e_.target); }

/// The same of a row that is no whole vectors.
void HeldLoops::write_elements(const InnerWork& work, std::uint16_t phase, bool shifted) {
  sums_.declare_parts(work, e_.width);
  std::vector<ExprId> held = rows_.taken[phase];
  const auto is_loaded_first = [&](ExprId id) {
    if (shifted) return rows_.has(id) && vectors_.is_shifted(id);
    return rows_.has(id) && k_.exprs[id].kind == ExprKind::Load && k_.exprs[id].predicate == ir::kNone;
  };
  std::vector<ExprId> first, values;
  for (ExprId id : rows_.values[phase]) (is_loaded_first(id) ? first : values).push_back(id);
  held.insert(held.end(), first.begin(), first.end());
  if (shifted) {
    if (!first.empty())
      over_shifted_vectors([&] {
        for (ExprId id : first) vectors_.load(id, "y", rows_.name(id) + "[i]");
      });
    over_shifted_vectors([&] { vectors_.write_shifted_points(work, "y", rows_, values, held); });
    return sums_.add_parts(work, e_.width);
  }
  if (!first.empty())
    over_elements([&] {
      for (ExprId id : first) {
        const std::string at = e_.position(k_.exprs[id].map);
        e_.out.line(e_.dialect.set_element(k_.exprs[id].dtype, e_.width, rows_.name(id) + "[i]",
                                           e_.dialect.read(k_, k_.exprs[id].buffer, at)));
      }
    });
  over_elements([&] {
    for (ExprId id : held) e_.define_as(id, e_.element(id, rows_.name(id) + "[i]"));
    for (ExprId id : values) {
      e_.define(id);
      if (rows_.has(id)) e_.out.line(e_.set_element(id, rows_.name(id) + "[i]"));
    }
    for (const ir::Store* store : work.stores) e_.store(*store);
    sums_.take(work, "[k]");
  });
  sums_.add_parts(work, e_.width);
}

/// A lane's elements of a row, unrolled.
void HeldLoops::over_elements(const std::function<void()>& body) {
  e_.open_unrolled("i", k_.row_elements / e_.width);
  e_.open_unrolled("k", e_.width);
  const std::string turn =
      turn_of("(" + e_.flat("i") + " * " + e_.flat(std::to_string(e_.width)) + " + " + e_.flat("k") + ")");
  e_.out.line(constant("j", turn + " * " + e_.flat(e_.lanes()) + " + " + e_.flat(e_.dialect.lane)));
  e_.open(e_.dialect.when("j < inner"));
  split("j", k_.outer_rank, k_.inner_rank, "");
  body();
  e_.close();
  e_.close();
  e_.close();
}

/// A lane's vectors of a row that begins within one, unrolled.
void HeldLoops::over_shifted_vectors(const std::function<void()>& body) {
  e_.open_unrolled("i", k_.row_elements / e_.width);
  const std::string number =
      turn_of(e_.flat("i")) + " * " + e_.flat(e_.lanes()) + " + " + e_.flat(e_.dialect.lane);
  e_.out.line(e_.dialect.constant(
      e_.index_type, "y", e_.index("(" + number + ") * " + e_.flat(std::to_string(e_.width))) + " - shift"));
  e_.open(e_.dialect.when("y < " + e_.index("inner")));
  body();
  e_.close();
  e_.close();
}

/// A lane's vectors of a row, unrolled.
void HeldLoops::over_vectors(const std::function<void()>& body) {
  const std::string width = e_.flat(std::to_string(e_.width));
  e_.open_unrolled("i", k_.row_elements / e_.width);
  const std::string number =
      turn_of(e_.flat("i")) + " * " + e_.flat(e_.lanes()) + " + " + e_.flat(e_.dialect.lane);
  const bool numbered = e_.dialect.numbers_vectors && k_.inner_rank == 1;
  if (numbered) e_.out.line(e_.dialect.constant(Type::U32, "vector", e_.dialect.cast(Type::U32, number)));
  e_.out.line(constant("j", (numbered ? e_.flat("vector") : "(" + number + ")") + " * " + width));
  e_.open(has_whole_rows() ? "" : e_.dialect.when("j < inner"));
  split("j", k_.outer_rank, k_.inner_rank, "y", k_.inner_rank == 1);
  body();
  e_.close();
  e_.close();
}

}  // namespace sinter::emit
