// Gradient rules of scans; sorts give positions, by which values are gathered.
//
// y is the result, g its gradient; `back` adds up in the other direction: an element has a part in its own
// result and in all behind it.
#include <array>
#include <limits>

#include "src/autodiff/rule.h"
#include "src/tensor/apply.h"
#include "src/tensor/indices/scan.h"

namespace sinter::autodiff {

namespace {

using library::ScanKind;

AnyTensor scan(ScanKind kind, const AnyTensor& x, const Step& s, bool back, bool exclusive = false) {
  const bool reverse = (s.integer(1) != 0) != back;
  return tensor::scan_along(kind, x, static_cast<std::size_t>(s.integer(0)), {reverse, exclusive}, s.where());
}

Term cumsum(const Step& s) {
  return s.gradient().with([&](const AnyTensor& g, const Location&) {
    return scan(ScanKind::Sum, g, s, true, s.integer(2) != 0);
  });
}

/// The gradient of a running product as products of the others, which can be differentiated whatever is zero:
/// element k gets the product of those before it times, for each result i from k on, g_i times the product of
/// those between k and i. Takes n^2 elements for an axis of n.
AnyTensor cumprod_by_products(const AnyTensor& given_x, const AnyTensor& given_g, std::int64_t axis,
                              bool reverse, const Location& w) {
  using A = AnyTensor;
  const auto last = static_cast<std::int64_t>(given_x.rank()) - 1;
  const auto arranged = [&](const A& t) {
    const A moved = t.movedim(axis, last, w);
    return reverse ? moved.flip(-1, w) : moved;
  };
  const A x = arranged(given_x), g = arranged(given_g);
  const std::int64_t n = x.shape().back();
  const std::size_t rank = x.rank() + 1;
  const A k = tensor::iota_along(rank - 2, rank, n, x.device().inner(), w);
  const A i = tensor::iota_along(rank - 1, rank, n, x.device().inner(), w);
  const A behind = A::where(A::less(k, i, w), x.unsqueeze(-2, w), 1, w);
  const A between = tensor::scan_along(ScanKind::Prod, behind, rank - 1, {}, w);
  const A sums = A::mul(A::where(A::less_equal(k, i, w), between, 0, w), g.unsqueeze(-2, w), w)
                     .sum(-1, w)
                     .squeeze(-1, w);
  Shape first = x.shape();
  first[first.rank() - 1] = 1;
  const A one = A::full(first, 1, x.dtype(), x.device().inner(), w);
  const A before_all = A::cat(std::array{one, x.narrow(-1, 0, n - 1, w)}, -1, w);
  const A before = tensor::scan_along(ScanKind::Prod, before_all, x.rank() - 1, {}, w);
  const A gradient = A::mul(before, sums, w);
  return (reverse ? gradient.flip(-1, w) : gradient).movedim(last, axis, w);
}

/// Up to the first zero back(g y) / x, since y is 0 from there on; at the first zero back(g times the product
/// of the others); 0 behind it, where each product has that zero.
Term cumprod(const Step& s) {
  const Location& w = s.where();
  const AnyTensor g = s.gradient().tensor(), x = s.operand(0).tensor(), y = s.result().tensor();
  if (x.requires_grad())  // the gradient is differentiated itself, and zeros would be constants to it
    return {cumprod_by_products(x, g, s.integer(0), s.integer(1) != 0, w), w};
  const AnyTensor zero = AnyTensor::equal(x, 0, w);
  const AnyTensor zeros = scan(ScanKind::Sum, zero.cast(DType::i32, w), s, false);
  const AnyTensor first = AnyTensor::logical_and(zero, AnyTensor::equal(zeros, 1, w), w);
  const AnyTensor others =
      scan(ScanKind::Prod,
           AnyTensor::where(AnyTensor::equal(zeros, 1, w), AnyTensor::where(zero, 1, x, w), x, w), s, false);
  const auto back = [&](const AnyTensor& product) {
    return scan(ScanKind::Sum, AnyTensor::mul(g, product, w), s, true);
  };
  const AnyTensor before = AnyTensor::div(back(y), AnyTensor::where(zero, 1, x, w), w);
  return {
      AnyTensor::where(AnyTensor::equal(zeros, 0, w), before, AnyTensor::where(first, back(others), 0, w), w),
      w};
}

/// exp(x) back(g exp(-y)), by logarithms: of the positive and of the negative part of g.
Term logcumsumexp(const Step& s) {
  const Location& w = s.where();
  const AnyTensor g = s.gradient().tensor(), x = s.operand(0).tensor(), y = s.result().tensor();
  const auto part = [&](const AnyTensor& size, const AnyTensor& there) {
    const double none = -std::numeric_limits<double>::infinity();
    const AnyTensor terms =
        AnyTensor::where(there, AnyTensor::sub(AnyTensor::where(there, size, 1, w).log(w), y, w), none, w);
    return AnyTensor::add(scan(ScanKind::LogSumExp, terms, s, true), x, w).exp(w);
  };
  return {AnyTensor::sub(part(g, AnyTensor::less(0, g, w)), part(g.neg(w), AnyTensor::less(g, 0, w)), w), w};
}

constexpr Rule kTable[] = {
    {Op::CumSum, {{{cumsum}}}}, {Op::CumProd, {{{cumprod, kFirst | kResult}}}},
    {Op::CumMax, {}},  // positions; the values are gathered
    {Op::CumMin, {}},           {Op::Sort, {}},
    {Op::SortWithValues, {}},  // recorded without a history; the values get that of a gather
    {Op::SearchSorted, {}},     {Op::LogCumSumExp, {{{logcumsumexp, kFirst | kResult}}}},
};

}  // namespace

const std::span<const Rule> kScanRules = kTable;

}  // namespace sinter::autodiff
