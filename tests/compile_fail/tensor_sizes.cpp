// expect: cannot convert .* to .const sinter::Sizes<2>|no matching function
// A matrix has two sizes.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
Tensor<2> f(const Device& device) { return Tensor<2>::zeros({2, 3}, device); }
#else
Tensor<2> f(const Device& device) { return Tensor<2>::zeros({2, 3, 4}, device); }
#endif
