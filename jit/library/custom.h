// Library ops whose programs come from outside.
#pragma once

#include <sinter/custom_kernel.h>

#include "jit/library/library_op.h"

namespace sinter::library {

class Custom;

struct CustomOp final : LibraryOp {
  const Custom* custom = nullptr;
  std::vector<TensorType> operands, results;
  std::vector<std::int64_t> sizes;
  std::int64_t threads = 0;

  const Kind& kind() const override;
  DType dtype_of_operand(std::size_t operand) const override { return operands[operand].dtype; }
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override { return operands[operand].shape.numel(); }
  std::int64_t elements_written(std::size_t result) const override { return results[result].shape.numel(); }
};

/// Attributes: threads, the sizes, then dtype, rank and dims of each result.
class Custom final : public Kind {
 public:
  explicit Custom(CustomKernelSource source)
      : Kind(source.name, source.outputs.size()), source_(std::move(source)) {}

  const CustomKernelSource& source() const { return source_; }

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override;
  LibraryOpRef make(const Request& request) const override;

 private:
  const CustomKernelSource source_;
};

}  // namespace sinter::library
