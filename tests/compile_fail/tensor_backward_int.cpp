// expect: backward|constraints not satisfied
// Integers have no gradients.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
auto f(const Tensor<0>& a) { return a.backward(); }
#else
auto f(const Tensor<0, Int>& a) { return a.backward(); }
#endif
