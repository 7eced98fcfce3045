// Programs of products, whose operands and result lie in buffers or in the memory of a launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "jit/library/library_op.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

/// The first elements of the operands and of the result.
using ProductData = std::array<std::byte*, 3>;

class ProductProgram : public HostExecutable {
 public:
  virtual void compute(Workers& workers, const ProductData& data) = 0;

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) final {
    compute(workers,
            {data_of(arguments.buffers[0]), data_of(arguments.buffers[1]), data_of(arguments.buffers[2])});
  }
};

/// Elements that are converted between `computed`, which a program has, and `stored`; none: they are as the
/// program has them.
struct Conversion {
  DType stored = DType::f32;
  std::int64_t elements = 0;
  DType computed = DType::f32;
};

/// A program for elements that are stored otherwise than `program` has them: whole operands are converted
/// before it, and the result after it. `program` itself where nothing is to be converted.
std::shared_ptr<ProductProgram> with_conversions(std::shared_ptr<ProductProgram> program,
                                                 const std::array<Conversion, 3>& conversions);

}  // namespace sinter::runtime::host
