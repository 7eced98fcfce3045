// What functions with several results give.
#pragma once

#include <sinter/any_tensor.h>

namespace sinter {

/// Values and where they came from: i64 positions along the axis that was asked for.
struct AnyIndexed {
  AnyTensor values, indices;
};

/// What unique() gives.
struct AnyUnique {
  AnyTensor values, inverse, counts;
};

/// What histogram() gives.
template <class T>
struct HistogramOf {
  T counts, edges;
};
using AnyHistogram = HistogramOf<AnyTensor>;

}  // namespace sinter
