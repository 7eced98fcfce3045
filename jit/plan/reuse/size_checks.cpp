// Keeps comparisons by the shapes that they are about.
#include "jit/plan/reuse/size_checks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "jit/plan/lower/limits.h"
#include "jit/plan/reuse/questions.h"
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

double numel_of(const Shape& shape, const SizeChecks::Sizes& sizes) {
  double count = 1;
  for (const std::int64_t size : shape) count *= static_cast<double>(sizes(size));
  return count;
}

std::int64_t same(std::int64_t size) { return size; }

bool is_so(SizeChecks::Is is, double sum) {
  switch (is) {
    case SizeChecks::Is::More: return sum > 0;
    case SizeChecks::Is::AtLeast: return sum >= 0;
    case SizeChecks::Is::Equal: break;
  }
  return sum == 0;
}

}  // namespace

SizeChecks::SizeChecks(const ir::DeviceTraits& traits)
    : traits_(traits), questions_(std::make_unique<Questions>()) {}
SizeChecks::~SizeChecks() = default;

void SizeChecks::ask(const Graph& graph, std::uint32_t node, Question question) {
  questions_->ask(graph, node, question, traits_);
}

std::uint32_t SizeChecks::place_of(const Shape& shape) {
  std::array<std::int64_t, kMaxRank + 1> key{static_cast<std::int64_t>(shape.rank())};
  std::copy(shape.begin(), shape.end(), key.begin() + 1);
  const auto [known, added] = places_.try_emplace(key, static_cast<std::uint32_t>(shapes_.size()));
  if (added) shapes_.push_back(shape);
  return known->second;
}

void SizeChecks::compare(Is is, std::vector<Term> terms, double constant, bool outcome) {
  // Terms of one shape are one: how many there are is the program's, not the sizes'.
  std::vector<PlacedTerm> joined;
  for (const Term& term : terms) {
    const std::uint32_t shape = place_of(term.shape);
    const auto known = std::find_if(joined.begin(), joined.end(),
                                    [&](const PlacedTerm& other) { return other.shape == shape; });
    if (known == joined.end())
      joined.push_back({shape, term.times});
    else
      known->times += term.times;
  }
  Words words{static_cast<std::uint64_t>(is) << 1 | outcome, std::bit_cast<std::uint64_t>(constant)};
  for (const PlacedTerm& term : joined) {
    words.push_back(std::bit_cast<std::uint64_t>(term.times));
    words.push_back(term.shape);
  }
  if (is_new(std::move(words))) comparisons_.push_back({is, outcome, constant, std::move(joined)});
}

std::uint16_t SizeChecks::answers_of(double elements, double results) const {
  // Beyond what integers hold nothing is shared or all of it is; such programs do not run.
  if (elements > 9e18 || results > 9e18) return 0xffff;
  const LowerLimits limits = limits_of(traits_);
  const auto few = static_cast<std::int64_t>(results);
  const std::int64_t each = few ? static_cast<std::int64_t>(elements) / few : 0;
  std::uint16_t answers = 0;
  const auto add = [&](bool answer) { answers = static_cast<std::uint16_t>(answers << 1 | answer); };
  for (const bool contiguous : {false, true}) {
    add(sharing_pays(few, each, contiguous, limits));
    for (int work = 1; work <= kMostWork; work *= 2)
      add(sharing_is_worth_launches(few, each, contiguous, work, limits));
  }
  return answers;
}

void SizeChecks::sharing(const Shape& elements, const Shape& results) {
  const std::uint32_t of_elements = place_of(elements), of_results = place_of(results);
  if (is_new({1u << 8, of_elements, of_results}))
    reductions_.push_back(
        {of_elements, of_results, answers_of(numel_of(elements, same), numel_of(results, same))});
}

void SizeChecks::cut(const Shape& in, std::int64_t bits, std::size_t dim, std::int64_t pieces) {
  if (is_new({2u << 8, static_cast<std::uint64_t>(bits), place_of(in)}))
    cuts_.push_back({in, bits, dim, pieces});
}

bool SizeChecks::hold(const Sizes& sizes) const {
  std::vector<double> counts;
  counts.reserve(shapes_.size());
  for (const Shape& shape : shapes_) counts.push_back(numel_of(shape, sizes));
  for (const Comparison& comparison : comparisons_) {
    double sum = comparison.constant;
    for (const PlacedTerm& term : comparison.terms) sum += term.times * counts[term.shape];
    if (is_so(comparison.is, sum) != comparison.outcome) return false;
  }
  for (const Reduction& reduction : reductions_)
    if (answers_of(counts[reduction.elements], counts[reduction.results]) != reduction.answers) return false;
  return std::all_of(cuts_.begin(), cuts_.end(), [&](const Cut& cut) {
    Shape in = cut.in;
    for (std::int64_t& size : in) size = sizes(size);
    const ReductionCut now = choose_reduction_cut(in, cut.bits, traits_);
    return (now.pieces > 1) == (cut.pieces > 1) && (now.pieces == 1 || now.dim == cut.dim);
  });
}

}  // namespace sinter::plan
