// expect: no matching function for call to .*where
// The condition is a mask, not a number.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
Tensor<1> f(const Tensor<1>& a) { return where(a != 0, a, 1); }
#else
Tensor<1> f(const Tensor<1>& a) { return where(a, a, 1); }
#endif
