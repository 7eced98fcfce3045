// Matrix products and convolutions: which text, which tile, how many parts a sum is split into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jit/library/conv2d.h"
#include "jit/library/matmul.h"
#include "src/runtime/library_table.h"

namespace sinter::runtime::cuda {

/// kernels/matmul_problem.cu's Problem, as the kernel takes it.
struct MatMulProblem {
  std::int64_t batch, m, n, k;
  std::int64_t k_per_split, splits;
  std::int64_t first_block;
  std::int64_t a_batch, a_row, a_column;
  std::int64_t b_batch, b_row, b_column;
  std::int32_t a_along_k, b_along_k;
  std::int32_t a_vector, b_vector, c_vector;
};

/// kernels/conv2d.cu's Problem.
struct Conv2dProblem {
  std::int64_t batch, m, n, k;
  std::int64_t k_per_split, splits;
  std::int64_t first_block;
  std::int32_t channels_in, height_in, width_in;
  std::int32_t channels_out, height_out, width_out;
  std::int32_t kernel_height, kernel_width;
  std::int32_t stride_y, stride_x, padding_y, padding_x, dilation_y, dilation_x;
};

/// What products are planned for.
struct ProductDevice {
  int multiprocessors = 1;
  /// Shared memory that a launch may ask for; 0 where there are no asynchronous copies, which came with
  /// compute capability 8.0.
  std::size_t shared_bytes = 0;
  bool has_clusters = false;  // of up to 8 blocks
};

/// What is fixed before a launch: all but the addresses and the first block.
struct ProductPlan {
  bool is_conv = false;
  DType dtype = DType::f32;
  MatMulProblem matmul{};
  Conv2dProblem conv{};
  std::string source;
  std::int64_t blocks = 0;  // 0: the result has no elements; a grid takes up to kMostBlocks of them
  std::int64_t result_numel = 0;
  std::int64_t splits = 1;
  unsigned shared_bytes = 0;  // that a launch asks for
  static constexpr unsigned kThreads = 256;
  static constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

  std::size_t workspace_bytes() const {
    return splits > 1 ? static_cast<std::size_t>(splits * result_numel) * size_of(dtype) : 0;
  }
};

/// Plans a product of f32 by tiles that asynchronous copies bring (kernels/matmul_async.cu), where the device
/// has them and the product has rows and columns enough. `plan` has the problem's sizes and strides.
bool plan_async(const ProductDevice& device, ProductPlan& plan);

/// Functions of the op and the device's sizes, so that a result's bits are the same on every run.
/// Throw DeviceError for convolutions whose pictures have too many rows, columns or channels, or that sum
/// over too many elements.
ProductPlan plan_product(const library::MatMulOp& op, const ProductDevice& device);
ProductPlan plan_product(const library::Conv2dOp& op, const ProductDevice& device);

/// Kind to plan.
LibraryTable<ProductPlan(const library::LibraryOp&, const ProductDevice&)>& product_table();

/// Sets which operands can be read and written four elements at once, by the addresses.
void set_vectors(MatMulProblem& problem, DType dtype, std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// All texts there are, those with asynchronous copies apart: for tests that compile each.
std::vector<std::string> all_product_sources();
std::vector<std::string> all_async_product_sources();

}  // namespace sinter::runtime::cuda
