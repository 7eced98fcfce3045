// The messages of sizes that do not fit.
#include "src/base/size_arithmetic.h"

#include <string>

namespace sinter::base {

void SizeArithmetic::throw_bytes(const Shape& shape, DType dtype) const {
  throw ShapeError("[" + std::string(op_) + "] a tensor of shape " + to_string(shape) + " and dtype " +
                       std::string(name_of(dtype)) + " has 2^63 bytes or more",
                   where_);
}

void SizeArithmetic::throw_overflow(std::int64_t a, char sign, std::int64_t b) const {
  throw ShapeError("[" + std::string(op_) + "] a size does not fit into 64 bits: " + std::to_string(a) + " " +
                       sign + " " + std::to_string(b),
                   where_);
}

}  // namespace sinter::base
