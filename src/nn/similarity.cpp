// How alike two vectors are.
#include <cmath>
#include <string>

#include <sinter/nn/similarity.h>

#include "src/base/number_text.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

void require_one_shape(const char* layer, const A& a, const A& b, const Location& where) {
  if (a.shape() != b.shape())
    throw ShapeError("[" + std::string(layer) + "] inputs " + to_string(a.shape()) + " and " +
                         to_string(b.shape()) + " are not of one shape",
                     where);
}

}  // namespace

AnyTensor detail::pairwise_distance(const AnyTensor& a, const AnyTensor& b, double p, double epsilon,
                                    Location where) {
  require_one_shape("pairwise_distance", a, b, where);
  if (!(p > 0)) throw Error("[pairwise_distance] p is " + text_of(p) + ", expected more than 0", where);
  const A difference = A::add(A::sub(a, b, where), epsilon, where);
  A norm;
  if (p == 2)
    norm = difference.square(where).sum(-1, where).sqrt(where);
  else if (std::isinf(p))
    norm = difference.abs(where).max(-1, where);
  else if (p == 1)
    norm = difference.abs(where).sum(-1, where);
  else
    norm = A::pow(A::pow(difference.abs(where), p, where).sum(-1, where), 1 / p, where);
  return norm.squeeze(-1, where);
}

}  // namespace sinter::nn
