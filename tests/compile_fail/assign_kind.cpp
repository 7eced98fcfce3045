// expect: conversion from|cannot convert|no match for .operator=|could not convert|no matching function
// A mask converts to numbers only by an explicit cast.
#include <sinter/tensor.h>

sinter::Tensor<2> matrix();
sinter::Tensor<3> batch();
sinter::Tensor<2, sinter::Bool> mask();

#ifdef SINTER_CONTROL
sinter::Tensor<2, sinter::Bool> copy = mask();
#else
sinter::Tensor<2> copy = mask();
#endif
