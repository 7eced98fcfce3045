// expect: no match for .operator\+|invalid operands to binary expression
// A fraction is no operand of an integer tensor.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
auto f(const Tensor<1, Int>& a) { return a + 1; }
#else
auto f(const Tensor<1, Int>& a) { return a + 1.5; }
#endif
