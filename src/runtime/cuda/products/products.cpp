// Plans matrix products and convolutions.
#include "src/runtime/cuda/products/products.h"

#include <algorithm>
#include <initializer_list>

#include <sinter/error.h>

#include "jit/emit/dialects/cuda/cuda.h"
#include "kernels/embedded.h"
#include "src/runtime/cuda/products/product_text.h"

namespace sinter::runtime::cuda {

namespace {

/// Elements that a thread computes, and how many of k a step takes.
struct Tile {
  int tm, tn, bk, blocks_per_core;
  std::int64_t rows() const { return 16 * tm; }
  std::int64_t columns() const { return 16 * tn; }
};
constexpr Tile kLarge = {8, 8, 8, 2};  // f32 only: f64 would not fit the registers
constexpr Tile kSmall = {4, 4, 16, 3};
constexpr Tile kFlat = {1, 8, 16, 3};  // few rows

/// `operands`: files that say what is multiplied.
std::string source_of(std::initializer_list<const char*> operands, DType dtype, const Tile& tile, bool wide,
                      const std::string& more) {
  std::string text = std::string(emit::cuda_head()) + "#define T " +
                     (dtype == DType::f64 ? "double" : "float") + "\n" + define("TM", tile.tm) +
                     define("TN", tile.tn) + define("BK", tile.bk) + define("WIDE", wide) +
                     define("BLOCKS_PER_CORE", dtype == DType::f64 ? 1 : tile.blocks_per_core);
  text += more + std::string(kernels::source("product_types.cu"));
  for (const char* name : operands) text += std::string(kernels::source(name));
  for (const char* name : {"product.cu", "sum_splits.cu"}) text += std::string(kernels::source(name));
  return text;
}

// The large tile has no register to spare for how its operands lie; the others have one text for all.
std::string matmul_source(DType dtype, const Tile& tile, bool a_along_k, bool b_along_k) {
  const bool fixed = tile.tm == kLarge.tm;
  return source_of({"matmul_problem.cu", "matmul.cu"}, dtype, tile, false,
                   define("A_ALONG_K", fixed ? (a_along_k ? "1" : "0") : "p.a_along_k") +
                       define("B_ALONG_K", fixed ? (b_along_k ? "1" : "0") : "p.b_along_k"));
}

std::string conv2d_source(DType dtype, const Tile& tile, int direction, bool wide) {
  return source_of({"conv2d.cu"}, dtype, tile, wide, define("DIRECTION", direction));
}

struct Shape {
  std::int64_t batch, m, n, k;
};

std::int64_t tiles(const Shape& s, const Tile& tile) {
  return s.batch * divide_up(s.m, tile.rows()) * divide_up(s.n, tile.columns());
}

Tile choose_tile(const Shape& s, DType dtype, int multiprocessors) {
  if (s.m <= 16 && s.n > 64) return kFlat;
  const bool fills = tiles(s, kLarge) >= multiprocessors;
  return dtype == DType::f32 && fills ? kLarge : kSmall;
}

/// Sets k_per_split and splits; gives the number of blocks.
template <class Problem>
std::int64_t split(Problem& p, const Shape& s, const Tile& tile, int multiprocessors, bool may_split) {
  const std::int64_t blocks = tiles(s, tile);
  std::int64_t splits = 1;
  if (may_split && blocks > 0 && blocks < multiprocessors)
    splits =
        std::clamp<std::int64_t>(std::min(2 * multiprocessors / blocks, s.k / kLeastDepth), 1, kMostSplits);
  if (may_split) splits = std::max(splits, divide_up(s.k, kMostDepth));
  p.k_per_split = std::max<std::int64_t>(divide_up(divide_up(s.k, splits), tile.bk) * tile.bk, tile.bk);
  p.splits = std::max<std::int64_t>(divide_up(s.k, p.k_per_split), 1);
  return blocks * p.splits;
}

ProductPlan plan(const library::MatMulOp& op, const ProductDevice& device) {
  ProductPlan plan;
  plan.dtype = op.dtype;
  MatMulProblem& p = plan.matmul;
  p.batch = op.batch;
  p.m = op.m;
  p.n = op.n;
  p.k = op.k;
  p.a_batch = op.a_batch;
  p.a_row = op.a_row;
  p.a_column = op.a_column;
  p.b_batch = op.b_batch;
  p.b_row = op.b_row;
  p.b_column = op.b_column;
  p.a_along_k = op.a_column == 1 || op.m == 1;
  p.b_along_k = op.b_row == 1 && op.b_column != 1;
  plan.result_numel = op.batch * op.m * op.n;
  if (plan_async(device, plan)) return plan;
  const Shape shape{op.batch, op.m, op.n, op.k};
  const Tile tile = choose_tile(shape, op.dtype, device.multiprocessors);
  plan.blocks = split(p, shape, tile, device.multiprocessors, true);
  plan.splits = p.splits;
  plan.source = matmul_source(op.dtype, tile, p.a_along_k, p.b_along_k);
  return plan;
}

ProductPlan plan(const library::Conv2dOp& op, const ProductDevice& device) {
  const int multiprocessors = device.multiprocessors;
  using Direction = library::Conv2dOp::Direction;
  ProductPlan plan;
  plan.is_conv = true;
  plan.dtype = op.dtype;
  const std::int64_t groups = std::max<std::int64_t>(op.groups, 1);
  const std::int64_t in = op.c_in / groups, out = op.c_out / groups, taps = op.kh * op.kw;
  Shape shape{};
  switch (op.direction) {
    case Direction::Forward: shape = {groups, out, op.n * op.oh * op.ow, in * taps}; break;
    case Direction::BackwardInput: shape = {groups, in, op.n * op.h * op.w, out * taps}; break;
    case Direction::BackwardWeight: shape = {groups, out, in * taps, op.n * op.oh * op.ow}; break;
  }
  const std::int64_t x_numel = op.n * op.c_in * op.h * op.w, y_numel = op.n * op.c_out * op.oh * op.ow;
  const std::int64_t weight_numel = op.c_out * in * taps;
  const bool wide = std::max({x_numel, y_numel, weight_numel}) >= std::int64_t{1} << 31;
  // Rows and columns have 32 bits, with room for places outside of a picture, which are computed before they
  // are found to be outside.
  constexpr std::int64_t kMostExtent = std::int64_t{1} << 28;
  const std::int64_t extent = std::max(op.h + 2 * op.padding[0], op.w + 2 * op.padding[1]);
  if (extent > kMostExtent)
    throw DeviceError("[conv2d] a padded picture with " + std::to_string(extent) +
                      " rows or columns: a convolution on a CUDA device takes up to " +
                      std::to_string(kMostExtent));
  if (std::max(in, out) >= std::int64_t{1} << 31)
    throw DeviceError("[conv2d] " + std::to_string(std::max(in, out)) +
                      " channels: a convolution on a CUDA device takes up to 2147483647");
  if (op.direction != Direction::BackwardWeight && shape.k > kMostDepth)
    throw DeviceError("[conv2d] a sum of " + std::to_string(shape.k) +
                      " products: a convolution on a CUDA device takes up to " + std::to_string(kMostDepth));
  const bool is_weight = op.direction == Direction::BackwardWeight;
  const Tile tile = choose_tile(shape, op.dtype, multiprocessors);
  Conv2dProblem& p = plan.conv;
  p.batch = groups;
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  p.channels_in = narrow(in);
  p.height_in = narrow(op.h);
  p.width_in = narrow(op.w);
  p.channels_out = narrow(out);
  p.height_out = narrow(op.oh);
  p.width_out = narrow(op.ow);
  p.kernel_height = narrow(op.kh);
  p.kernel_width = narrow(op.kw);
  // Longer steps lead out of every picture as well.
  auto step = [&](std::int64_t value) { return narrow(std::min(value, 2 * kMostExtent)); };
  p.stride_y = step(op.stride[0]);
  p.stride_x = step(op.stride[1]);
  p.padding_y = narrow(op.padding[0]);
  p.padding_x = narrow(op.padding[1]);
  p.dilation_y = step(op.dilation[0]);
  p.dilation_x = step(op.dilation[1]);
  plan.result_numel = shape.batch * shape.m * shape.n;
  plan.blocks = split(p, shape, tile, multiprocessors, is_weight);
  plan.splits = p.splits;
  plan.source = conv2d_source(op.dtype, tile, static_cast<int>(op.direction), wide);
  return plan;
}

ProductPlan checked(ProductPlan plan) {
  if (!is_float(plan.dtype))
    throw DTypeError("[cuda] products are defined for f32 and f64, not for " +
                     std::string(name_of(plan.dtype)));
  return plan;
}

}  // namespace

ProductPlan plan_product(const library::MatMulOp& op, const ProductDevice& device) {
  return checked(plan(op, device));
}
ProductPlan plan_product(const library::Conv2dOp& op, const ProductDevice& device) {
  return checked(plan(op, device));
}

LibraryTable<ProductPlan(const library::LibraryOp&, const ProductDevice&)>& product_table() {
  using Direction = library::Conv2dOp::Direction;
  const auto matmul = [](const library::LibraryOp& op, const ProductDevice& device) {
    return plan_product(library::as<library::MatMulOp>(op), device);
  };
  const auto conv2d = [](const library::LibraryOp& op, const ProductDevice& device) {
    return plan_product(library::as<library::Conv2dOp>(op), device);
  };
  // Never destroyed: devices may outlive static objects.
  static auto* table = new LibraryTable<ProductPlan(const library::LibraryOp&, const ProductDevice&)>{
      {&library::matmul(), matmul},
      {&library::conv2d(Direction::Forward), conv2d},
      {&library::conv2d(Direction::BackwardInput), conv2d},
      {&library::conv2d(Direction::BackwardWeight), conv2d},
  };
  return *table;
}

void set_vectors(MatMulProblem& p, DType dtype, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  static_cast<void>(dtype);
  auto aligned = [](std::uint64_t address) { return address % 16 == 0; };
  auto four = [](std::int64_t number) { return number % 4 == 0; };
  // Along the dim without gaps each four are whole; along all others a step keeps the alignment. (Of f64, two
  // do.)
  p.a_vector = aligned(a) && four(p.a_batch) &&
               (p.a_along_k ? p.a_column == 1 && four(p.k) && four(p.a_row)
                            : p.a_row == 1 && four(p.m) && four(p.a_column));
  p.b_vector = aligned(b) && four(p.b_batch) &&
               (p.b_along_k ? p.b_row == 1 && four(p.k) && four(p.b_column)
                            : p.b_column == 1 && four(p.n) && four(p.b_row));
  p.c_vector = aligned(c) && four(p.n);
}

std::vector<std::string> all_product_sources() {
  std::vector<std::string> sources;
  for (DType dtype : {DType::f32, DType::f64})
    for (const Tile& tile : {kLarge, kSmall, kFlat}) {
      if (dtype == DType::f64 && tile.tm == kLarge.tm) continue;
      for (bool a : {false, true})
        for (bool b : {false, true})
          if (tile.tm == kLarge.tm || (a && b)) sources.push_back(matmul_source(dtype, tile, a, b));
      for (int direction = 0; direction < 3; ++direction)
        for (bool wide : {false, true}) sources.push_back(conv2d_source(dtype, tile, direction, wide));
    }
  return sources;
}

}  // namespace sinter::runtime::cuda
