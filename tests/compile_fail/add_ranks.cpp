// expect: use of deleted function .*unsqueeze|selected deleted operator
// A matrix and a rank-3 tensor do not add: broadcasting across ranks needs an explicit unsqueeze or expand.
#include <sinter/tensor.h>

sinter::Tensor<2> matrix();
sinter::Tensor<3> batch();
sinter::Tensor<2, sinter::Bool> mask();

#ifdef SINTER_CONTROL
auto sum = matrix() + matrix();
#else
auto sum = matrix() + batch();
#endif
