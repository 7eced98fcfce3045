// Keeps comparisons by the shapes that they are about.
#include "jit/plan/reuse/size_checks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "jit/plan/lower/limits.h"
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

void add(std::vector<std::uint64_t>& words, const Shape& shape) {
  words.push_back(shape.rank());
  for (const std::int64_t size : shape) words.push_back(static_cast<std::uint64_t>(size));
}

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

void SizeChecks::compare(Is is, std::vector<Term> terms, double constant, bool outcome) {
  // Terms of one shape are one: how many there are is the program's, not the sizes'.
  std::vector<Term> joined;
  for (Term& term : terms) {
    const auto known = std::find_if(joined.begin(), joined.end(),
                                    [&](const Term& other) { return other.shape == term.shape; });
    if (known == joined.end())
      joined.push_back(std::move(term));
    else
      known->times += term.times;
  }
  Words words{static_cast<std::uint64_t>(is) << 1 | outcome, std::bit_cast<std::uint64_t>(constant)};
  for (const Term& term : joined) {
    words.push_back(std::bit_cast<std::uint64_t>(term.times));
    add(words, term.shape);
  }
  if (is_new(std::move(words))) comparisons_.push_back({is, outcome, constant, std::move(joined)});
}

std::uint8_t SizeChecks::answers_of(double elements, double results) const {
  // Beyond what integers hold nothing is shared or all of it is; such programs do not run.
  if (elements > 9e18 || results > 9e18) return 0xff;
  const LowerLimits limits = limits_of(traits_);
  const auto few = static_cast<std::int64_t>(results);
  const std::int64_t each = few ? static_cast<std::int64_t>(elements) / few : 0;
  std::uint8_t answers = 0;
  for (const bool contiguous : {false, true})
    answers = static_cast<std::uint8_t>(answers << 2 | sharing_pays(few, each, contiguous, limits) << 1 |
                                        sharing_is_worth_launches(few, each, contiguous, limits));
  return answers;
}

void SizeChecks::sharing(const Shape& elements, const Shape& results) {
  Words words{1u << 8};
  add(words, elements);
  add(words, results);
  if (is_new(std::move(words)))
    reductions_.push_back({elements, results, answers_of(numel_of(elements, same), numel_of(results, same))});
}

void SizeChecks::cut(const Shape& in, std::int64_t bits, std::size_t dim, std::int64_t pieces) {
  Words words{2u << 8, static_cast<std::uint64_t>(bits)};
  add(words, in);
  if (is_new(std::move(words))) cuts_.push_back({in, bits, dim, pieces});
}

bool SizeChecks::hold(const Sizes& sizes) const {
  for (const Comparison& comparison : comparisons_) {
    double sum = comparison.constant;
    for (const Term& term : comparison.terms) sum += term.times * numel_of(term.shape, sizes);
    if (is_so(comparison.is, sum) != comparison.outcome) return false;
  }
  for (const Reduction& reduction : reductions_)
    if (answers_of(numel_of(reduction.elements, sizes), numel_of(reduction.results, sizes)) !=
        reduction.answers)
      return false;
  return std::all_of(cuts_.begin(), cuts_.end(), [&](const Cut& cut) {
    Shape in = cut.in;
    for (std::int64_t& size : in) size = sizes(size);
    const ReductionCut now = choose_reduction_cut(in, cut.bits, traits_);
    return (now.pieces > 1) == (cut.pieces > 1) && (now.pieces == 1 || now.dim == cut.dim);
  });
}

}  // namespace sinter::plan
