// expect: (no matching function for call to|invalid reference to function) .*\bexp\b
// Only floats have an exponential function.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
auto f(const Tensor<1, Int>& a) { return a.to_float().exp(); }
#else
auto f(const Tensor<1, Int>& a) { return a.exp(); }
#endif
