// Decompositions by the device's own library of linear algebra.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/tensor/matrix/host.h"

namespace sinter::runtime {
class DeviceCore;
}

namespace sinter::tensor {

/// What `compute` and `upload` give (vectors without their last axis), computed where the operands are, whose
/// batches are equal. Nothing where the device does not compute the function, or not for such sizes. Throws
/// Error where a matrix has no such result, naming the function and the matrix: for that one number of each
/// matrix is read, except of functions that always have a result.
std::optional<std::vector<AnyTensor>> compute_on_device(MatrixFunction function, std::string_view name,
                                                        const std::vector<AnyTensor>& operands,
                                                        const Location& where);

/// Why that device left a function to the host, as the end of a sentence.
std::string why_on_host(MatrixFunction function, const runtime::DeviceCore& device);

}  // namespace sinter::tensor
