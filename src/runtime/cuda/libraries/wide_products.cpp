// Products of f64 by cuBLASLt, which multiplies on tensor cores where a device has some for f64.
#include <algorithm>
#include <exception>

#include "jit/library/matmul.h"
#include "src/base/env.h"
#include "src/runtime/cuda/libraries/lt_products.h"

namespace sinter::runtime::cuda {

namespace {

/// Smaller ones do not gain by the library, which takes a tenth of a second to open; those with few rows or
/// columns, or short sums, are as slow as their operands and results are read and written.
bool gains(const library::MatMulOp& op) {
  constexpr std::int64_t kLeastSide = 16;
  constexpr double kLeastMultiplications = 1 << 24;
  const double multiplications = static_cast<double>(op.batch) * static_cast<double>(op.m) *
                                 static_cast<double>(op.n) * static_cast<double>(op.k);
  return std::min({op.m, op.n, op.k}) >= kLeastSide && multiplications >= kLeastMultiplications;
}

/// Elements `near` apart are neighbours along one axis of `size`, of lines that do not overlap.
bool are_lines(std::int64_t near, std::int64_t size, std::int64_t between) {
  return near == 1 && between >= size;
}

/// False where a factor has no lines.
bool describe(const library::MatMulOp& op, ir::PlainProduct& product) {
  product.rows = op.m, product.columns = op.n, product.depth = op.k, product.batches = op.batch;
  product.a_along_sum = are_lines(op.a_column, op.k, op.a_row);
  product.b_along_sum = are_lines(op.b_row, op.k, op.b_column);
  if (!product.a_along_sum && !are_lines(op.a_row, op.m, op.a_column)) return false;
  if (!product.b_along_sum && !are_lines(op.b_column, op.n, op.b_row)) return false;
  product.a = {0, DType::f64, 0, product.a_along_sum ? op.a_row : op.a_column, op.a_batch};
  product.b = {1, DType::f64, 0, product.b_along_sum ? op.b_column : op.b_row, op.b_batch};
  product.result = {2, DType::f64, 0, op.n, op.m * op.n};
  product.anywhere = true;
  return true;
}

}  // namespace

std::shared_ptr<const LtProduct> wide_product(const library::LibraryOp& any, LtProducts& products) noexcept {
  try {
    const auto* op = dynamic_cast<const library::MatMulOp*>(&any);
    if (!op || op->dtype != DType::f64 || op->is_stored_otherwise() || !gains(*op)) return nullptr;
    ir::PlainProduct product;
    if (!base::environment().cublaslt || !describe(*op, product) || !cublaslt()) return nullptr;
    auto found = products.prepare(product);
    return found->ways() > 0 ? found : nullptr;
  } catch (const std::exception& error) {
    if (base::logs("device")) base::log_line("device", error.what());
    return nullptr;
  }
}

}  // namespace sinter::runtime::cuda
