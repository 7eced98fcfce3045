// expect: no match for .operator-|invalid argument type
// Masks have no sign.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
auto f(const Tensor<1, Bool>& a) { return !a; }
#else
auto f(const Tensor<1, Bool>& a) { return -a; }
#endif
