// The operations of shape-bench, each for any shape: what they read, and how a program writes them with
// Sinter. peers_shapes.py has the same names for PyTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sinter/any_tensor.h>

namespace bench {

using Tensors = std::vector<sinter::AnyTensor>;

struct ShapeOperation {
  std::string name;
  std::size_t sizes;  // numbers in a row's shape
  /// What it reads, in memory, with other numbers at each call.
  std::function<Tensors(const sinter::Dims& shape, sinter::DType dtype, const sinter::Device& device)> inputs;
  /// Records it; the results are what a program would hold.
  std::function<Tensors(const Tensors& inputs)> record;
  /// Bytes of the inputs that have to be read; by default all of them.
  std::function<std::int64_t(const Tensors& inputs, const Tensors& results)> bytes_read = nullptr;
};

/// The operation of that name. Throws Error that lists the names.
const ShapeOperation& shape_operation(const std::string& name);

std::int64_t bytes_of(const Tensors& tensors);

}  // namespace bench
