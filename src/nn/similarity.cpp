// How alike two vectors are.
#include <cmath>
#include <string>

#include <sinter/nn/similarity.h>

#include "src/base/number_text.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

void require_one_shape(const char* layer, const A& a, const A& b, const Location& where) {
  if (a.shape() != b.shape())
    throw ShapeError("[" + std::string(layer) + "] inputs " + to_string(a.shape()) + " and " +
                         to_string(b.shape()) + " are not of one shape",
                     where);
}

/// sum^(1/p), whose gradient is 0 where the sum is: that of the root is infinite there.
A root_of(const A& sum, double p, const Location& where) {
  const A is_zero = A::equal(sum, 0, where);
  const A positive = A::where(is_zero, 1.0, sum, where);
  const A root = p == 2 ? positive.sqrt(where) : A::pow(positive, 1 / p, where);
  return A::where(is_zero, 0.0, root, where);
}

}  // namespace

AnyTensor detail::pairwise_distance(const AnyTensor& a, const AnyTensor& b, double p, double epsilon,
                                    Location where) {
  require_one_shape("pairwise_distance", a, b, where);
  if (!(p > 0)) throw Error("[pairwise_distance] p is " + text_of(p) + ", expected more than 0", where);
  const DType dtype = tensor::promoted_dtype("pairwise_distance", a.dtype(), b.dtype(), where);
  const A apart = A::sub(tensor::widened(a, where), tensor::widened(b, where), where),
          difference = A::add(apart, epsilon, where);
  A norm;
  if (p == 2)
    norm = root_of(difference.square(where).sum(-1, where), p, where);
  else if (std::isinf(p))
    norm = difference.abs(where).max(-1, where);
  else if (p == 1)
    norm = difference.abs(where).sum(-1, where);
  else
    norm = root_of(A::pow(difference.abs(where), p, where).sum(-1, where), p, where);
  return norm.squeeze(-1, where).cast(tensor::autocast_wide(dtype), where);
}

}  // namespace sinter::nn
