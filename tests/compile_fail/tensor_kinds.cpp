// expect: use of deleted function .*cast_one|selected deleted operator
// Floats and integers do not mix without a cast.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
Tensor<1> f(const Tensor<1>& a, const Tensor<1, Int>& b) { return a * b.to_float(); }
#else
Tensor<1> f(const Tensor<1>& a, const Tensor<1, Int>& b) { return a * b; }
#endif
