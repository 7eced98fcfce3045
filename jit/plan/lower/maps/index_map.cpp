// Composition of index maps.
#include "jit/plan/lower/maps/index_map.h"

#include <algorithm>

#include "jit/plan/lower/maps/map_steps.h"
#include "jit/plan/lower/word_hash.h"

namespace sinter::plan {
namespace {

// Digits of digits of digits: below so many, numbers are looked through for where they are used alone.
constexpr int kMostDepth = 6;

/// Numbers beyond stand for infinity.
constexpr std::int64_t kFar = std::int64_t{1} << 62;

std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return (a < 0) == (b < 0) ? kFar : -kFar;
  return std::clamp(product, -kFar, kFar);
}

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? -kFar : kFar;
  return std::clamp(sum, -kFar, kFar);
}

bool is_far(const Stretch& range) { return range.first <= -kFar || range.last >= kFar; }

std::int64_t floor_of(std::int64_t number, std::int64_t by) {
  return number / by - (number % by < 0 ? 1 : 0);
}

/// `range` and what `factor` times a number of `of` adds to it.
void widen(Stretch& range, const Stretch& of, std::int64_t factor) {
  const std::int64_t a = saturated_product(of.first, factor), b = saturated_product(of.last, factor);
  range.first = saturated_sum(range.first, std::min(a, b));
  range.last = saturated_sum(range.last, std::max(a, b));
}

/// The quotient that all numbers of `range` have, if there is one.
std::optional<std::int64_t> common_quotient(const Stretch& range, std::int64_t by) {
  if (is_far(range)) return std::nullopt;
  const std::int64_t quotient = floor_of(range.first, by);
  if (floor_of(range.last, by) != quotient) return std::nullopt;
  return quotient;
}

/// The numbers from 0 on that, times `factor`, are in `range`. Last below first: none, or the factor is below
/// 0.
Stretch times_within(const Stretch& range, std::int64_t factor) {
  if (factor < 0 || range.last < 0) return {0, -1};
  return {std::max<std::int64_t>(0, range.first + factor - 1) / factor, range.last / factor};
}

}  // namespace

// ---- digits

Digit::Digit(IndexMap number, std::int64_t by, bool is_rest)
    : number_(std::move(number)), by_(by), is_rest_(is_rest) {
  number_.use_ = {};
  hash_ = WordHash().add(number_.hash()).add(by_).add(is_rest_).result();
  dependence_ = number_.dependence();
  for (const DigitPart& part : number_.digits()) depth_ = std::max(depth_, part.digit->depth() + 1);
  range_ = IndexMap::range(*this, IndexMap::all());
}

bool operator==(const DigitPart& a, const DigitPart& b) {
  return a.stride == b.stride && (a.digit == b.digit || *a.digit == *b.digit);
}

namespace {

/// A quotient of a quotient is one by the product.
std::shared_ptr<const Digit> quotient_of(const IndexMap& number, std::int64_t by) {
  const MapStep& loops = number.loops();
  const auto is_zero = [](std::int64_t stride) { return stride == 0; };
  if (number.digits().size() == 1 && loops.offset == 0 && loops.moving.empty() &&
      std::all_of(loops.strides.begin(), loops.strides.end(), is_zero)) {
    const DigitPart& only = number.digits().front();
    const std::int64_t product = saturated_product(only.digit->by(), by);
    if (only.stride == 1 && !only.digit->is_rest() && product < kFar)
      return std::make_shared<const Digit>(only.digit->number(), product, false);
  }
  return std::make_shared<const Digit>(number, by, false);
}

}  // namespace

// ---- sums

/// A coordinate, a start or a digit, times a factor; how far it goes where it counts and anywhere.
struct IndexMap::Term {
  std::size_t loop = 0;                // of a coordinate
  Start start;                         // of a start
  std::shared_ptr<const Digit> digit;  // of a digit
  enum class Kind : std::uint8_t { Loop, Start, Digit } kind = Kind::Loop;
  std::int64_t factor = 0;
  Stretch used{0, 0}, all{0, 0};
};

struct IndexMap::Division {
  IndexMap quotient, rest;
};

const IndexMap::Use& IndexMap::all() {
  static const Use all;
  return all;
}

IndexMap IndexMap::nothing() const {
  IndexMap zero;
  zero.loops_.extents = loops_.extents;
  zero.loops_.strides.assign(loops_.strides.size(), 0);
  return zero;
}

void IndexMap::add(const IndexMap& other, std::int64_t times) {
  for (std::size_t d = 0; d < loops_.strides.size(); ++d)
    loops_.strides[d] += times * other.loops_.strides[d];
  loops_.offset += times * other.loops_.offset;
  loops_.moving.add(other.loops_.moving, times);
  for (const DigitPart& part : other.digits_) add(part.digit, times * part.stride);
}

/// A quotient times its divisor and the rest are the number itself.
void IndexMap::add(const std::shared_ptr<const Digit>& digit, std::int64_t times) {
  if (times == 0) return;
  auto own = std::find_if(digits_.begin(), digits_.end(),
                          [&](const DigitPart& part) { return *part.digit == *digit; });
  if (own == digits_.end())
    own = digits_.insert(digits_.end(), {digit, times});
  else
    own->stride += times;
  if (own->stride == 0) {
    digits_.erase(own);
    return;
  }
  const auto other = std::find_if(digits_.begin(), digits_.end(), [&](const DigitPart& part) {
    return part.digit->is_rest() != digit->is_rest() && part.digit->by() == digit->by() &&
           part.digit->number() == digit->number();
  });
  if (other == digits_.end()) return;
  const std::int64_t quotient = digit->is_rest() ? other->stride : own->stride,
                     rest = digit->is_rest() ? own->stride : other->stride;
  if (quotient % digit->by() != 0 || quotient / digit->by() != rest) return;
  digits_.erase(std::max(own, other));
  digits_.erase(std::min(own, other));
  add(digit->number(), rest);
}

void IndexMap::add(const Term& term, std::int64_t times) {
  switch (term.kind) {
    case Term::Kind::Loop: loops_.strides[term.loop] += times; return;
    case Term::Kind::Start: loops_.moving.add(term.start, times); return;
    case Term::Kind::Digit: add(term.digit, times); return;
  }
}

std::vector<IndexMap::Term> IndexMap::terms(const Use& use) const {
  std::vector<Term> terms;
  for (std::size_t d = 0; d < loops_.strides.size(); ++d) {
    if (loops_.strides[d] == 0 || loops_.extents[d] <= 1) continue;
    Term term;
    term.loop = d;
    term.factor = loops_.strides[d];
    term.all = {0, loops_.extents[d] - 1};
    term.used = use.loops.empty() ? term.all : use.loops[d];
    terms.push_back(std::move(term));
  }
  for (const Moving& part : loops_.moving) {
    Term term;
    term.kind = Term::Kind::Start;
    term.start = part.by;
    term.factor = part.factor;
    term.all = term.used = {0, part.by.reach};
    terms.push_back(std::move(term));
  }
  for (const DigitPart& part : digits_) {
    Term term;
    term.kind = Term::Kind::Digit;
    term.digit = part.digit;
    term.factor = part.stride;
    term.all = part.digit->range();
    const bool is_known = (use.loops.empty() && use.sums.empty()) || part.digit->depth() > kMostDepth;
    term.used = is_known ? term.all : range(*part.digit, use);
    terms.push_back(std::move(term));
  }
  return terms;
}

Stretch IndexMap::range(const Digit& digit, const Use& use) {
  const Stretch number = digit.number().range(use);
  const std::int64_t by = digit.by();
  if (!digit.is_rest()) return {floor_of(number.first, by), floor_of(number.last, by)};
  if (const auto quotient = common_quotient(number, by))
    return {number.first - *quotient * by, number.last - *quotient * by};
  return {0, by - 1};
}

Stretch IndexMap::range(const Use& use) const { return range(terms(use), loops_.offset, &use); }

/// What is known of a sum of coordinates is less than what each of them may be.
Stretch IndexMap::range(std::span<const Term> terms, std::int64_t offset, const Use* use) {
  Stretch range{offset, offset};
  std::vector<bool> is_done(terms.size(), false);
  for (const Sum& sum : use ? use->sums : all().sums) {
    std::vector<std::size_t> own;  // the terms that are this sum times a factor
    std::int64_t factor = 0;
    for (const auto& [loop, part] : sum.parts)
      for (std::size_t i = 0; i < terms.size(); ++i) {
        if (is_done[i] || terms[i].kind != Term::Kind::Loop || terms[i].loop != loop) continue;
        if (own.empty() && terms[i].factor % part == 0) factor = terms[i].factor / part;
        if (factor != 0 && terms[i].factor == saturated_product(factor, part)) own.push_back(i);
      }
    if (own.size() != sum.parts.size()) continue;
    for (const std::size_t i : own) is_done[i] = true;
    widen(range, sum.range, factor);
  }
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!is_done[i]) widen(range, use ? terms[i].used : terms[i].all, terms[i].factor);
  return range;
}

// ---- division

/// What the divisor divides is a part of the quotient. The other terms leave it alone where they stay between
/// two of its multiples, or where those of small factors do so for a factor that divides the divisor and all
/// larger factors: in a number that was put together from the coordinates of dims this finds them again. Else
/// there is a digit; its number is counted from the multiple below the least that occurs on the loop, so that
/// it is never negative, and the same for all that are multiples apart.
IndexMap::Division IndexMap::divided(std::int64_t by, const Use& use) const {
  Division result{nothing(), nothing()};
  std::vector<Term> left;
  for (Term& term : terms(use)) {
    if (term.factor % by == 0)
      result.quotient.add(term, term.factor / by);
    else
      left.push_back(std::move(term));
  }
  const std::int64_t offset = loops_.offset;
  const auto range_from = [&](std::size_t first, const Use* of) {
    return range(std::span<const Term>(left).subspan(first), offset, of);
  };
  const auto sum_from = [&](std::size_t first, std::int64_t less) {
    IndexMap sum = nothing();
    for (std::size_t i = first; i < left.size(); ++i) sum.add(left[i], left[i].factor);
    sum.loops_.offset = offset - less;
    return sum;
  };
  if (const auto quotient = common_quotient(range_from(0, &use), by)) {
    result.quotient.loops_.offset += *quotient;
    result.rest = sum_from(0, *quotient * by);
    return result;
  }
  std::stable_sort(left.begin(), left.end(),
                   [](const Term& a, const Term& b) { return std::abs(a.factor) > std::abs(b.factor); });
  for (std::size_t large = 1; large <= left.size(); ++large) {
    const std::int64_t unit = std::abs(left[large - 1].factor);
    if (unit == 1) break;
    bool divides = by % unit == 0;
    for (std::size_t i = 0; i < large; ++i) divides &= left[i].factor % unit == 0;
    const auto below = common_quotient(range_from(large, &use), unit);
    if (!divides || !below) continue;
    IndexMap number = nothing();
    for (std::size_t i = 0; i < large; ++i) number.add(left[i], left[i].factor / unit);
    number.loops_.offset += *below;
    const Division division = number.divided(by / unit, use);
    result.quotient.add(division.quotient, 1);
    result.rest = sum_from(large, *below * unit);
    result.rest.add(division.rest, unit);
    return result;
  }
  const Stretch everywhere = range_from(0, nullptr);
  const std::int64_t below = is_far(everywhere) ? 0 : floor_of(everywhere.first, by);
  const IndexMap number = sum_from(0, below * by);
  result.quotient.add(quotient_of(number, by), 1);
  result.quotient.loops_.offset += below;
  result.rest.add(std::make_shared<const Digit>(number, by, true), 1);
  return result;
}

IndexMap IndexMap::through(const Shape& shape, const ViewLayout& layout) const& {
  return IndexMap(*this).through(shape, layout);
}

IndexMap IndexMap::through(const Shape& shape, const ViewLayout& layout) && {
  if (is_contiguous(shape, layout)) return std::move(*this);
  return std::move(*this).through(simplified(shape, layout));
}

IndexMap IndexMap::through(const MapStep& next) && {
  IndexMap result = nothing();
  result.loops_.offset = next.offset;
  result.loops_.moving = next.moving;
  // A single element, or none: wherever the loop stands, it is this one.
  const bool is_empty =
      std::any_of(next.extents.begin(), next.extents.end(), [](std::int64_t extent) { return extent == 0; });
  if (next.extents.empty() || is_empty) return result;
  if (digits_.empty() && merge(loops_, next, use_.loops)) return std::move(*this);
  IndexMap number = *this;
  for (std::size_t d = next.extents.size(); d-- > 0;) {
    const auto outer = next.strides.begin() + static_cast<std::ptrdiff_t>(d);
    if (d == 0) {
      result.add(number, next.strides[0]);
      break;
    }
    Division division = number.divided(next.extents[d], use_);
    if (next.strides[d] != 0) result.add(division.rest, next.strides[d]);
    if (std::all_of(next.strides.begin(), outer, [](std::int64_t stride) { return stride == 0; })) break;
    number = std::move(division.quotient);
  }
  result.use_ = std::move(use_);
  return result;
}

std::size_t IndexMap::hash() const {
  WordHash hash;
  hash.add(loops_.extents.size());
  for (const std::int64_t extent : loops_.extents) hash.add(extent);
  for (const std::int64_t stride : loops_.strides) hash.add(stride);
  hash.add(loops_.offset);
  for (const Moving& part : loops_.moving) hash.add(part.by.start).add(part.factor);
  for (const DigitPart& part : digits_) hash.add(part.digit->hash()).add(part.stride);
  return hash.result();
}

std::uint32_t IndexMap::dependence() const {
  std::uint32_t loops = 0;
  for (std::size_t d = 0; d < loops_.strides.size(); ++d)
    if (loops_.strides[d] != 0) loops |= 1u << d;
  for (const DigitPart& part : digits_) loops |= part.digit->dependence();
  return loops;
}

void IndexMap::restrict(const IndexMap& coordinate, std::int64_t first, std::int64_t last) {
  narrow(coordinate, first, last);
}

/// Where the number depends on coordinates alone, or on one quotient that does so.
void IndexMap::narrow(const IndexMap& number, std::int64_t first, std::int64_t last) {
  const MapStep& step = number.loops_;
  if (!step.moving.empty()) return;
  Sum sum{{}, {first - step.offset, last - step.offset}};
  for (std::size_t d = 0; d < step.strides.size(); ++d)
    if (step.strides[d] != 0 && step.extents[d] > 1) sum.parts.emplace_back(d, step.strides[d]);
  if (sum.parts.empty() && number.digits_.size() == 1) {
    const DigitPart& part = number.digits_[0];
    const Stretch digits = times_within(sum.range, part.stride);
    const std::int64_t end = saturated_product(digits.last + 1, part.digit->by());
    if (!part.digit->is_rest() && digits.first <= digits.last)
      narrow(part.digit->number(), digits.first * part.digit->by(), end - 1);
    return;
  }
  if (sum.parts.empty() || !number.digits_.empty()) return;
  if (sum.parts.size() > 1) {
    Stretch anywhere{0, 0};
    for (const auto& [loop, factor] : sum.parts) widen(anywhere, {0, step.extents[loop] - 1}, factor);
    sum.range = {std::max(sum.range.first, anywhere.first), std::min(sum.range.last, anywhere.last)};
    if (sum.range.first <= sum.range.last) use_.sums.push_back(std::move(sum));
    return;
  }
  const auto [loop, factor] = sum.parts[0];
  const Stretch known = times_within(sum.range, factor);
  if (use_.loops.empty())
    for (std::int64_t extent : step.extents) use_.loops.push_back({0, extent - 1});
  Stretch& stretch = use_.loops[loop];
  const Stretch narrowed{std::max(stretch.first, known.first), std::min(stretch.last, known.last)};
  if (narrowed.first <= narrowed.last) stretch = narrowed;  // else it is never used, and anything is right
}

void IndexMap::move_loop(std::size_t k, std::int64_t first, std::int64_t step, std::int64_t count,
                         const MovingParts& moving) {
  MovedDigits moved;
  move_loop(k, first, step, count, moving, moved);
}

void IndexMap::move_loop(std::size_t k, std::int64_t first, std::int64_t step, std::int64_t count,
                         const MovingParts& moving, MovedDigits& moved) {
  use_ = {};
  loops_.offset += first * loops_.strides[k];
  loops_.moving.add(moving, loops_.strides[k]);
  loops_.strides[k] *= step;
  loops_.extents[k] = count;
  for (DigitPart& part : digits_) {
    const Digit* const digit = part.digit.get();
    const auto known =
        std::find_if(moved.begin(), moved.end(), [&](const auto& each) { return each.first == digit; });
    if (known != moved.end()) {
      part.digit = known->second;
      continue;
    }
    IndexMap number = digit->number();
    number.move_loop(k, first, step, count, moving, moved);
    auto own = std::make_shared<const Digit>(std::move(number), digit->by(), digit->is_rest());
    moved.emplace_back(digit, own);
    part.digit = std::move(own);
  }
}

std::optional<std::pair<std::size_t, std::int64_t>> IndexMap::helpful_split() const {
  for (const DigitPart& part : digits_) {
    if (part.digit->depth() > kMostDepth) continue;
    const IndexMap& number = part.digit->number();
    if (const auto split = number.is_affine() ? number.split_for(part.digit->by()) : number.helpful_split())
      return split;
  }
  return std::nullopt;
}

/// A loop of which an inner part, with all other terms that the divisor does not divide, stays below it.
std::optional<std::pair<std::size_t, std::int64_t>> IndexMap::split_for(std::int64_t by) const {
  if (!loops_.moving.empty()) return std::nullopt;
  for (std::size_t d = 0; d < loops_.strides.size(); ++d) {
    const std::int64_t stride = loops_.strides[d], extent = loops_.extents[d];
    if (stride <= 0 || extent <= 1 || by % stride != 0) continue;
    const std::int64_t part = by / stride;
    if (part <= 1 || part >= extent || extent % part != 0) continue;
    Stretch rest{loops_.offset, loops_.offset};
    for (std::size_t k = 0; k < loops_.strides.size(); ++k)
      if (loops_.strides[k] % by != 0 && loops_.extents[k] > 1)
        widen(rest, {0, k == d ? part - 1 : loops_.extents[k] - 1}, loops_.strides[k]);
    if (common_quotient(rest, by)) return std::make_pair(d, part);
  }
  return std::nullopt;
}

void IndexMap::divide(std::int64_t by) {
  placed_.count = floor_of(range(all()).last, by) + 1;
  placed_.by = by;
}

std::int64_t IndexMap::at(const std::vector<std::int64_t>& point,
                          std::span<const std::int64_t> starts) const {
  std::int64_t number = loops_.offset + loops_.moving.at(starts);
  for (std::size_t d = 0; d < loops_.strides.size(); ++d) number += point[d] * loops_.strides[d];
  for (const DigitPart& part : digits_) {
    const std::int64_t of = part.digit->number().at(point, starts), by = part.digit->by();
    number += part.stride * (part.digit->is_rest() ? of % by : of / by);
  }
  return number;
}

bool same_points(const IndexMap& a, const IndexMap& b) {
  if (a == b) return true;
  if (!a.is_affine() || !b.is_affine()) return false;
  const MapStep &x = a.loops(), &y = b.loops();
  for (std::size_t d = 0; d < x.strides.size(); ++d)
    if (x.extents[d] != 1 && x.strides[d] != y.strides[d]) return false;
  return x.offset == y.offset && x.moving == y.moving;
}

}  // namespace sinter::plan
