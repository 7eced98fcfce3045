// Plans products of f32 whose operands come by asynchronous copies: which tile, and how often the sum is
// split.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "jit/emit/dialects/cuda/cuda.h"
#include "kernels/embedded.h"
#include "src/runtime/cuda/products/product_text.h"
#include "src/runtime/cuda/products/products.h"

namespace sinter::runtime::cuda {
namespace {

constexpr int kDepth = 16, kStages = 3;  // of k in a step, and steps in shared memory
// Products that a multiprocessor can add up in a cycle.
constexpr double kProducts = 128;

/// Elements that a thread computes, and how many blocks a multiprocessor holds.
struct AsyncTile {
  int tm, tn, blocks;
  /// The part of kProducts that is reached where b lies along n, and where it lies along k (one H100, 4096^3,
  /// PyTorch's cuBLAS at 0.75 to 0.77).
  std::array<double, 2> speed;
  /// The part of that with one, two, ... blocks on a multiprocessor (1024 x 1024 x 4096).
  std::array<double, 3> alone;

  std::int64_t rows() const { return 16 * tm; }
  std::int64_t columns() const { return 16 * tn; }
  unsigned shared_bytes() const {
    return static_cast<unsigned>(kStages * kDepth * (rows() + 4 + columns() + 4) * sizeof(float));
  }
};
constexpr AsyncTile kTiles[] = {
    {8, 16, 1, {0.74, 0.64}, {1}},
    {8, 8, 2, {0.68, 0.65}, {0.95, 1}},
    {4, 8, 3, {0.58, 0.52}, {0.86, 0.95, 1}},
    {4, 4, 3, {0.46, 0.42}, {0.86, 0.95, 1}},
};

// Cycles: a launch with its first loads, the launch that adds up parts, and a byte of memory for the whole
// device.
constexpr double kStart = 2500, kSecondLaunch = 4000, kByte = 1.0 / 1500;

double cycles(const MatMulProblem& p, const AsyncTile& tile, std::int64_t splits, int multiprocessors) {
  const double tiles = static_cast<double>(p.batch) * static_cast<double>(divide_up(p.m, tile.rows())) *
                       static_cast<double>(divide_up(p.n, tile.columns()));
  const double blocks = tiles * static_cast<double>(splits), at_once = multiprocessors * tile.blocks;
  const double area = static_cast<double>(tile.rows() * tile.columns());
  const double depth = static_cast<double>(divide_up(divide_up(p.k, splits), kDepth) * kDepth);
  const double block = area * depth / kProducts / tile.speed[p.b_along_k ? 1 : 0];
  const double rounds = std::floor(blocks / at_once), left = blocks - rounds * at_once;
  const int most = static_cast<int>(std::ceil(left / multiprocessors));  // on a multiprocessor
  double all = kStart + rounds * tile.blocks * block;
  if (most > 0) all += most * block / tile.alone[static_cast<std::size_t>(most - 1)];
  const double bytes = 4 * static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n);
  if (splits > 1) all += kSecondLaunch + bytes * static_cast<double>(splits + 1) * kByte;
  return all;
}

std::string source(const AsyncTile& tile, bool a_along_k, bool b_along_k) {
  std::string text = std::string(emit::cuda_head()) + define("T", "float") + define("WIDE", 0) +
                     define("TM", tile.tm) + define("TN", tile.tn) + define("BK", kDepth) +
                     define("STAGES", kStages) + define("BLOCKS_PER_CORE", tile.blocks) +
                     define("A_ALONG_K", a_along_k ? "true" : "false") +
                     define("B_ALONG_K", b_along_k ? "true" : "false");
  for (const char* name : {"product_types.cu", "matmul_problem.cu", "matmul_async.cu", "sum_splits.cu"})
    text += std::string(kernels::source(name));
  return text;
}

}  // namespace

bool plan_async(const ProductDevice& device, ProductPlan& plan) {
  MatMulProblem& p = plan.matmul;
  if (plan.dtype != DType::f32 || p.m <= 16 || p.n <= 16 || p.batch == 0 || p.k == 0) return false;
  const AsyncTile* best = nullptr;
  std::int64_t best_splits = 1;
  double least = std::numeric_limits<double>::infinity();
  for (const AsyncTile& tile : kTiles) {
    if (tile.shared_bytes() > device.shared_bytes) continue;
    const std::int64_t fewest = std::max<std::int64_t>(divide_up(p.k, kMostDepth), 1),
                       most = std::max(fewest, std::min(p.k / kLeastDepth, kMostSplits));
    for (std::int64_t splits = fewest; splits <= most; splits = splits < 8 ? splits + 1 : splits * 5 / 4)
      if (const double taken = cycles(p, tile, splits, device.multiprocessors); taken < least) {
        least = taken;
        best = &tile;
        best_splits = splits;
      }
  }
  if (best == nullptr) return false;
  p.k_per_split = divide_up(divide_up(p.k, best_splits), kDepth) * kDepth;
  p.splits = plan.splits = divide_up(p.k, p.k_per_split);
  plan.blocks = p.batch * divide_up(p.m, best->rows()) * divide_up(p.n, best->columns()) * p.splits;
  plan.shared_bytes = best->shared_bytes();
  plan.source = source(*best, p.a_along_k, p.b_along_k);
  return true;
}

std::vector<std::string> all_async_product_sources() {
  std::vector<std::string> sources;
  for (const AsyncTile& tile : kTiles)
    for (const bool a : {false, true})
      for (const bool b : {false, true}) sources.push_back(source(tile, a, b));
  return sources;
}

}  // namespace sinter::runtime::cuda
