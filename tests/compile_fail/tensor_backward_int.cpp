// expect: (no matching function for call to|invalid reference to function) .*backward
// Integers have no gradients.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
auto f(const Tensor<0>& a) { return a.backward(); }
#else
auto f(const Tensor<0, Int>& a) { return a.backward(); }
#endif
