// expect: no matching (member )?function for call to .*matmul
// A float matrix is multiplied by a float matrix.
#include <sinter/tensor.h>

using namespace sinter;

#ifdef SINTER_CONTROL
Tensor<2> f(const Tensor<2>& a, const Tensor<2>& b) { return a.matmul(b); }
#else
Tensor<2> f(const Tensor<2>& a, const Tensor<2, Int>& b) { return a.matmul(b); }
#endif
