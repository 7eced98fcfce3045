// expect: from .Tensor<2|no viable conversion
// The braces of reshape are the rank of its result.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
Tensor<2> f(const Tensor<3>& a) { return a.reshape({4, -1}); }
#else
Tensor<1> f(const Tensor<3>& a) { return a.reshape({4, -1}); }
#endif
