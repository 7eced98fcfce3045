// expect: (no matching function for call to|invalid reference to function) .*conv2d
// A convolution takes (batch, channels, height, width).
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
auto f(const Tensor<4>& a) { return a.conv2d(a); }
#else
auto f(const Tensor<3>& a) { return a.conv2d(a); }
#endif
