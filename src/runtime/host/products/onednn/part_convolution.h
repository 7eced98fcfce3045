// One direction of a convolution over some of its images and channels, by one primitive of oneDNN.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "jit/library/conv2d.h"
#include "src/runtime/host/products/onednn/execution.h"

namespace sinter::runtime::host {

/// Where oneDNN's layout of a tensor is another than the one it is given in, the part's share of the tensor
/// is brought there and back, while it is in the cache.
class PartConvolution {
 public:
  /// Of `images` images and `channels` channels of what `op` gives, for x, weight and y of `dtypes`. Throws
  /// dnnl::error, too where `winograd` is not to be had on this processor or in this version.
  PartConvolution(const library::Conv2dOp& op, const std::array<DType, 3>& dtypes, std::int64_t images,
                  std::int64_t channels, bool winograd);

  /// Of the memory that `run` works in.
  std::size_t bytes() const { return bytes_; }

  /// The first elements of the part in x, weight and y; the direction's result is written, the others are
  /// read.
  void run(std::byte* working_memory, const std::array<std::byte*, 3>& data) const;

 private:
  using Descs = std::array<dnnl::memory::desc, 3>;  // of x, weight, y

  /// `convolved`: of the convolution itself, where `wanted` is of a gradient of it.
  void create(const library::Conv2dOp& op, const Descs& wanted, const Descs& convolved,
              dnnl::algorithm algorithm);

  dnnl::primitive primitive_;
  std::string implementation_;
  Descs given_, own_;  // ours, and what the primitive works on
  std::array<std::optional<dnnl::reorder>, 3> reorders_;
  std::array<std::size_t, 3> offsets_{};  // of reordered tensors in the working memory
  std::array<int, 3> names_{};
  std::size_t out_ = 0;
  dnnl::memory::desc scratch_;
  std::size_t bytes_ = 0;
};

}  // namespace sinter::runtime::host
