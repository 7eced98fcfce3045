// What is known of a value before it is computed.
#pragma once

#include <sinter/dtype.h>
#include <sinter/shape.h>

namespace sinter::trace {

struct TensorType {
  Shape shape;
  DType dtype = DType::f32;
};

}  // namespace sinter::trace
