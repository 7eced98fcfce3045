// What losses of sequences share.
#include "src/nn/sequence_loss.h"

#include <limits>

namespace sinter::nn::detail {
namespace {

using A = AnyTensor;

/// What is less is the logarithm of 0, plus something.
constexpr double kPossible = -1e29;

}  // namespace

AnyTensor Logarithms::plus(const A& a, const A& b) const {
  const A most = A::maximum(a, b, where).detach();
  const auto part = [&](const A& x) { return A::sub(x, most, where).exp(where); };
  return A::add(A::add(part(a), part(b), where).log(where), most, where);
}

AnyTensor Logarithms::plus(const A& a, const A& b, const A& c) const {
  const A most = A::maximum(A::maximum(a, b, where), c, where).detach();
  const auto part = [&](const A& x) { return A::sub(x, most, where).exp(where); };
  return A::add(A::add(A::add(part(a), part(b), where), part(c), where).log(where), most, where);
}

AnyTensor Logarithms::from_before(const A& x) const {
  return x.pad({0, 1}, {0, 0}, kNever, where).narrow(1, 0, x.shape()[1], where);
}

AnyTensor Logarithms::from_behind(const A& x) const {
  return x.pad({0, 0}, {0, 1}, kNever, where).narrow(1, 1, x.shape()[1], where);
}

AnyTensor Logarithms::share(const A& a, const A& total) const {
  const A difference = A::sub(a, total.reshape({total.numel(), 1}, where), where);
  return A::minimum(difference, 0.0, where).exp(where);
}

AnyTensor Logarithms::at(const A& x, std::int64_t step) const {
  return x.narrow(1, step, 1, where).squeeze(1, where);
}

AnyTensor Logarithms::never(std::int64_t n, std::int64_t states, const A& like) const {
  return A::full({n, states}, kNever, like.dtype(), like.device().inner(), where);
}

Lengths lengths_of(const AnyTensor& lengths, std::int64_t least, std::int64_t most, const Location& where) {
  const A values = lengths.inner().cast(DType::i64, where);
  const A fit =
      A::logical_and(A::greater_equal(values, least, where), A::less_equal(values, most, where), where);
  return {values.reshape({values.numel(), 1}, where), fit};
}

AnyTensor positions(std::int64_t count, std::size_t axis, std::size_t rank, const Device& device,
                    const Location& where) {
  Dims sizes = Dims::filled(rank, 1);
  sizes[axis] = count;
  return A::arange(0, count, 1, device.inner(), where).reshape(sizes, where);
}

void require_blank(const char* loss, std::int64_t blank, std::int64_t classes, const Location& where) {
  if (blank < 0 || blank >= classes)
    throw Error("[" + std::string(loss) + "] the blank is " + std::to_string(blank) + ", and there are " +
                    std::to_string(classes) + " classes",
                where);
}

void throw_shapes(const char* loss, const char* expected, const AnyTensor& x, const AnyTensor& targets,
                  const AnyTensor& input_lengths, const AnyTensor& target_lengths, const Location& where) {
  throw ShapeError("[" + std::string(loss) + "] inputs " + to_string(x.shape()) + ", targets " +
                       to_string(targets.shape()) + " and lengths " + to_string(input_lengths.shape()) +
                       " and " + to_string(target_lengths.shape()) + " are not " + expected,
                   where);
}

AnyTensor losses_of(const AnyTensor& log_probability, const AnyTensor& fit, bool zero_infinity,
                    const Location& where) {
  const double impossible = zero_infinity ? 0.0 : std::numeric_limits<double>::infinity();
  const A possible = A::greater(log_probability, kPossible, where);
  const A loss = A::where(possible, log_probability.neg(where), impossible, where);
  return A::where(fit, loss, std::numeric_limits<double>::quiet_NaN(), where);
}

AnyTensor reduced(const char* name, const AnyTensor& losses, Reduction reduction, const Location& where) {
  if (reduction == Reduction::none) return losses;
  const A sum = losses.sum(0, where).reshape({}, where);
  if (reduction == Reduction::sum) return sum;
  if (losses.numel() == 0)
    throw ShapeError("[" + std::string(name) + "] there is no mean over a batch of 0", where);
  return A::mul(sum, 1.0 / static_cast<double>(losses.numel()), where);
}

}  // namespace sinter::nn::detail
