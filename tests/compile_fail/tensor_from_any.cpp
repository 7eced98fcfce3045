// expect: could not convert .* to .*Tensor<2>|no viable conversion
// A tensor whose rank is known at run time only is checked, and that is to be seen.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
Tensor<2> f(const AnyTensor& a) { return Tensor<2>(a); }
#else
Tensor<2> f(const AnyTensor& a) { return a; }
#endif
