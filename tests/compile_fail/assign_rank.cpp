// expect: conversion from|cannot convert|no match for .operator=|could not convert|no matching function
// The rank is part of the type, so a tensor of another rank is another type.
#include <sinter/tensor.h>

sinter::Tensor<2> matrix();
sinter::Tensor<3> batch();
sinter::Tensor<2, sinter::Bool> mask();

#ifdef SINTER_CONTROL
sinter::Tensor<3> copy = batch();
#else
sinter::Tensor<3> copy = matrix();
#endif
