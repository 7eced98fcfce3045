// shape-bench's convolutions and their gradients.
#pragma once

#include <vector>

#include "shape_operations.h"

namespace bench {

std::vector<ShapeOperation> convolutions();

}  // namespace bench
