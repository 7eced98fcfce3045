// expect: incomplete type .*DTypeOf
// Only the C++ types that tensors hold have a dtype.
#include <sinter/dtype.h>

#ifdef SINTER_CONTROL
auto dtype = sinter::dtype_of<float>;
#else
auto dtype = sinter::dtype_of<float*>;
#endif
