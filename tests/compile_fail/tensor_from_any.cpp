// expect: could not convert .* to .*Tensor<2>|no viable conversion
// Conversion from a tensor of dynamic rank is checked, so it must be explicit.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
Tensor<2> f(const AnyTensor& a) { return Tensor<2>(a); }
#else
Tensor<2> f(const AnyTensor& a) { return a; }
#endif
