// Who holds a row in registers.
#include "jit/plan/lower/rows.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

#include "jit/ir/products/row_product.h"
#include "jit/ir/row_words.h"

namespace sinter::plan {
namespace {

// Elements that a lane reads of a row at once where rows are a multiple of that.
constexpr std::int64_t kVectorOfRow = 4;
// Lanes of one row alone.
constexpr std::int64_t kFewestOfOneRow = 256;
constexpr std::int64_t kMostPlaces = 16;
// Fewer lanes read ragged rows element by element.
constexpr std::int64_t kFewestShifting = 32;

/// How the lanes of a device may hold rows, from few lanes to many.
struct RowForm {
  std::int64_t elements, lanes, cluster;
  std::int64_t capacity() const { return elements * lanes * cluster; }
};

// Of several rows in a workgroup, and of one: a lane has one vector, or a few.
constexpr RowForm kFewVectors[] = {{4, 2, 1},   {4, 4, 1},    {4, 8, 1},   {8, 8, 1},   {8, 16, 1},
                                   {8, 32, 1},  {16, 32, 1},  {24, 32, 1}, {32, 32, 1}, {40, 32, 1},
                                   {8, 128, 1}, {12, 128, 1}, {16, 128, 1}};
// Where they are 16-bit floats, vectors of half the bytes: with twice as many a lane has as much under way,
// and half as many lanes have to exchange what they reduced.
constexpr RowForm kFewVectorsOfHalves[] = {{8, 2, 1}, {8, 4, 1}, {16, 4, 1}, {16, 8, 1}, {16, 16, 1}};
// Of rows that are read and not stored, loads are all that memory has to do: fewer lanes, each with more of
// them under way, exchange less, and the lanes of a subgroup wait for no others. As many registers of a lane
// may hold them.
struct ReadForm {
  RowForm form;
  bool whole = false;  // for rows of whole vectors alone: of others so few lanes read each element by itself
};
constexpr ReadForm kVectorsRead[] = {
    {{4, 2, 1}},        {{8, 2, 1}},        {{8, 4, 1}},         {{12, 4, 1}}, {{16, 4, 1}},
    {{32, 4, 1}, true}, {{32, 8, 1}, true}, {{32, 16, 1}, true}, {{16, 8, 1}}, {{16, 16, 1}},
    {{16, 32, 1}},      {{24, 32, 1}},      {{32, 32, 1}},       {{40, 32, 1}}};
constexpr std::int64_t kMostWordsRead = 40;
// Lanes that are a workgroup, whatever a subgroup has.
constexpr std::int64_t kLeastWorkgroup = 128;
// More elements of a lane in a subgroup are for rows of 16 bits that are read once: their workgroups would
// wait for each other longer than for so few bytes. A ragged row of 1,023 takes 40.
constexpr std::int64_t kMostOfSubgroup = 16, kMostOfHalves = 40;
// Of a row whose columns are added up too: so few lanes for a row leave few parts to add, and as many rows
// under way as the registers hold.
constexpr std::int64_t kMostOfParts = 24;
constexpr int kMostClusterOfParts = 4;  // larger ones wait for each other too long

/// True iff a lane has registers for its elements of a row and for sums of its columns, so that the compiler
/// spills none beside those for addresses and what is computed. Rows of a whole workgroup, and what lies
/// around ragged ones, take more (nvrtc_test).
bool fits_with_sums(const ir::Kernel& kernel, const RowForm& form, bool is_ragged) {
  const std::int64_t words = ir::words_of_row(kernel, form.elements);
  if (form.lanes < kLeastWorkgroup) return words <= (is_ragged ? 64 : 100);
  return form.elements <= 20 && words <= (is_ragged ? 56 : 64);
}

/// Values of 16 bits that are read for each element of a row; 0 where some have more.
int halves_of_rows(const ir::Kernel& kernel) {
  int halves = 0;
  for (const ir::Expr& expr : kernel.exprs) {
    if (!ir::is_load_of_row(kernel, expr)) continue;
    if (!is_half(expr.dtype)) return 0;
    ++halves;
  }
  return halves;
}

/// True iff the kernel stores rows, or one that would do the same and store rows, too, is to add up in the
/// same order.
bool stores_rows(const Draft& draft, const ir::Kernel& kernel) {
  return draft.feeds_recipe ||
         std::any_of(kernel.stores.begin(), kernel.stores.end(),
                     [](const ir::Store& store) { return store.level == ir::Level::Inner; });
}

bool has_partials(const ir::Kernel& kernel) {
  return std::any_of(kernel.exprs.begin(), kernel.exprs.end(),
                     [](const ir::Expr& expr) { return expr.kind == ir::ExprKind::Partial; });
}

// Of products of one row of so many elements exactly: vectors of 16 bytes of 16-bit floats, few enough for
// all to be under way at once, and the fewest lanes that have no more of them.
constexpr RowForm kWholeProducts[] = {{8, 8, 1},    {8, 16, 1},   {8, 32, 1},   {16, 32, 1},  {24, 32, 1},
                                      {32, 32, 1},  {16, 128, 1}, {24, 128, 1}, {16, 256, 1}, {24, 256, 1},
                                      {16, 512, 1}, {24, 512, 1}, {16, 1024, 1}};

// Where the matrix is bytes, from which floats are made first: half as many lanes wait for each other, each
// with as many bytes under way.
constexpr RowForm kWholeProductsOfBytes[] = {{16, 8, 1},   {16, 16, 1},  {16, 32, 1},  {32, 32, 1},
                                             {48, 32, 1},  {64, 32, 1},  {32, 128, 1}, {48, 128, 1},
                                             {32, 256, 1}, {48, 256, 1}, {32, 512, 1}};

bool reads_bytes(const ir::Kernel& kernel) {
  return std::any_of(kernel.exprs.begin(), kernel.exprs.end(), [&](const ir::Expr& expr) {
    return ir::is_load_of_row(kernel, expr) && size_of(expr.dtype) == 1;
  });
}

/// Appends the forms of few vectors for each lane, for devices whose subgroups have rows of their own.
void add_few_vectors(std::vector<RowForm>& forms, const Draft& draft, const ir::Kernel& kernel,
                     std::int64_t inner, const LowerLimits& limits) {
  const bool has_sums = has_partials(kernel), is_whole = inner % kVectorOfRow == 0;
  const int halves = halves_of_rows(kernel);
  const auto of_subgroup = [&](const RowForm& form) { return form.lanes <= limits.short_row_lanes; };
  if (!has_sums && !stores_rows(draft, kernel)) {
    for (const auto& [form, for_whole] : kVectorsRead)
      if (of_subgroup(form) && (is_whole || !for_whole) &&
          ir::words_of_row(kernel, form.elements) <= kMostWordsRead)
        forms.push_back(form);
  } else if (!has_sums && halves > 0 && is_whole) {
    std::copy_if(std::begin(kFewVectorsOfHalves), std::end(kFewVectorsOfHalves), std::back_inserter(forms),
                 of_subgroup);
  }
  const std::int64_t most = has_sums ? kMostOfParts : halves == 1 ? kMostOfHalves : kMostOfSubgroup;
  for (const RowForm& form : kFewVectors)
    if ((of_subgroup(form) && form.elements <= most) || form.lanes >= kLeastWorkgroup) forms.push_back(form);
}

std::vector<RowForm> row_forms(const Draft& draft, const ir::Kernel& kernel, std::int64_t inner,
                               const LowerLimits& limits) {
  std::vector<RowForm> forms;
  const auto add_whole = [&](std::span<const RowForm> whole) {
    for (const RowForm& form : whole)
      if (form.capacity() == inner && form.lanes <= limits.row_lanes) forms.push_back(form);
  };
  if (limits.lone_rows && limits.short_row_lanes > 0 && ir::is_row_product(kernel)) {
    if (reads_bytes(kernel)) add_whole(kWholeProductsOfBytes);
    add_whole(kWholeProducts);
  }
  if (limits.short_row_lanes > 0) add_few_vectors(forms, draft, kernel, inner, limits);
  // Small groups, so that several share a core and one loads while another computes.
  constexpr std::int64_t kFewLanes = 256;
  const auto add = [&](std::int64_t lanes, std::int64_t cluster) {
    // Fewer rounds are another text, and with fewer empty ones faster.
    const std::int64_t step = limits.short_row_lanes > 0 ? 4 : 8;
    for (std::int64_t elements = 8; elements <= 32; elements += step)
      forms.push_back({elements, lanes, cluster});
  };
  for (std::int64_t lanes = std::min<std::int64_t>(kFewLanes, limits.row_lanes); lanes <= limits.row_lanes;
       lanes *= 2) {
    add(lanes, 1);
    // A further group costs less than more lanes, for which registers would be short.
    const int widest =
        has_partials(kernel) ? std::min(limits.row_cluster, kMostClusterOfParts) : limits.row_cluster;
    for (std::int64_t cluster = 2; cluster <= widest; cluster *= 2) add(lanes, cluster);
  }
  return forms;
}

}  // namespace

void choose_row_elements(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel) {
  const bool has_sums = has_partials(kernel);
  if (limits.row_lanes == 0 || kernel.schedule != ir::Schedule::LanesInner || kernel.split) {
    if (has_sums) throw Cut{"sums over rows, of rows that do not lie along the lanes of a group"};
    return;
  }
  std::int64_t outer = 1, inner = 1;
  for (std::size_t k = 0; k < draft.extents.size(); ++k)
    (k < draft.outer_rank ? outer : inner) *= draft.extents[k];
  // A reduction of everything is over the batch too, another size of which shall find its kernels: one form
  // serves lengths of all kinds there, and time is short anyway.
  const bool is_ragged = outer > 1 && inner % kVectorOfRow != 0,
             has_ragged_stretches = outer > 1 && draft.extents.back() % kVectorOfRow != 0;
  for (const RowForm& form : row_forms(draft, kernel, inner, limits)) {
    if (outer == 1 && (form.lanes < kFewestOfOneRow || form.elements % 8 != 0)) continue;
    // Ragged rows may begin within a vector.
    const bool shifts = is_ragged && form.lanes >= kFewestShifting;
    if (inner + (shifts ? kVectorOfRow - 1 : 0) > form.capacity()) continue;
    if (has_sums && !fits_with_sums(kernel, form, is_ragged)) continue;
    kernel.row_elements = static_cast<std::uint16_t>(form.elements);
    kernel.row_lanes = static_cast<std::uint16_t>(form.lanes);
    kernel.row_cluster = static_cast<std::uint8_t>(form.cluster);
    kernel.row_full = inner == form.capacity();
    // A row of ragged stretches is read element by element; the compiler keeps the place of each in a
    // register.
    kernel.row_ragged = is_ragged || (has_ragged_stretches && form.elements <= kMostPlaces);
    // Every fourth row begins at the same distance from a vector.
    if (has_sums && shifts && kernel.outer_rank == 1) kernel.part_step = kVectorOfRow;
    return;
  }
  if (has_sums) throw Cut{"sums over rows, for which registers are too few beside the row"};
}

}  // namespace sinter::plan
