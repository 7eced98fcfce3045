// expect: use of deleted function .*cast_one|selected deleted operator
// A mask is not a number.
#include <sinter/tensor.h>

sinter::Tensor<2> matrix();
sinter::Tensor<3> batch();
sinter::Tensor<2, sinter::Bool> mask();

#ifdef SINTER_CONTROL
auto sum = matrix() + matrix();
#else
auto sum = matrix() + mask();
#endif
