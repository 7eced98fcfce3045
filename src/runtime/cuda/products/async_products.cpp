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
  /// Whether a block's sums fit where its operands were, so that those of a cluster can be added up.
  bool has_clusters() const {
    return rows() * (columns() + 4) * std::int64_t{sizeof(float)} <= std::int64_t{shared_bytes()};
  }
};
constexpr AsyncTile kTiles[] = {
    {8, 16, 1, {0.74, 0.64}, {1}},
    {8, 8, 2, {0.68, 0.65}, {0.95, 1}},
    {4, 8, 3, {0.58, 0.52}, {0.86, 0.95, 1}},
    {4, 4, 3, {0.46, 0.42}, {0.86, 0.95, 1}},
};

// Cycles: a launch with its first loads, the launch that adds up parts, what a cluster takes for that, and a
// byte of memory for the whole device.
constexpr double kStart = 2500, kSecondLaunch = 4000, kJoin = 4000, kByte = 1.0 / 1500;

/// Blocks of a cluster, and the part of the multiprocessors that have a block when each has one: those of a
/// cluster belong together.
struct Cluster {
  int blocks;
  double used;
};
constexpr Cluster kClusters[] = {{2, 0.97}, {4, 0.91}, {8, 0.85}};

/// How a product is computed: in splits that a second launch adds up, or one cluster does.
struct AsyncWay {
  const AsyncTile* tile = nullptr;
  std::int64_t splits = 1;
  Cluster cluster{1, 1};  // or of `splits` blocks
};

/// Of one split.
std::int64_t blocks_of(const MatMulProblem& p, const AsyncTile& tile) {
  return p.batch * divide_up(p.m, tile.rows()) * divide_up(p.n, tile.columns());
}

double cycles(const MatMulProblem& p, const AsyncWay& way, int multiprocessors) {
  const AsyncTile& tile = *way.tile;
  const std::int64_t splits = way.splits;
  const auto tiles = static_cast<double>(blocks_of(p, tile));
  const double blocks = tiles * static_cast<double>(splits), used = multiprocessors * way.cluster.used,
               at_once = used * tile.blocks;
  const double area = static_cast<double>(tile.rows() * tile.columns());
  const double depth = static_cast<double>(divide_up(divide_up(p.k, splits), kDepth) * kDepth);
  const double block = area * depth / kProducts / tile.speed[p.b_along_k ? 1 : 0];
  const double rounds = std::floor(blocks / at_once), left = blocks - rounds * at_once;
  // On a multiprocessor; what is left may come out a little above what all of them hold.
  const int most = std::min(static_cast<int>(std::ceil(left / used)), tile.blocks);
  double all = kStart + rounds * tile.blocks * block;
  if (most > 0) all += most * block / tile.alone[static_cast<std::size_t>(most - 1)];
  const double bytes = 4 * static_cast<double>(p.batch) * static_cast<double>(p.m) * static_cast<double>(p.n);
  if (way.cluster.blocks > 1)
    all += kJoin;
  else if (splits > 1)
    all += kSecondLaunch + bytes * static_cast<double>(splits + 1) * kByte;
  return all;
}

std::string source(const AsyncTile& tile, int cluster, bool a_along_k, bool b_along_k) {
  std::string text =
      std::string(emit::cuda_head()) + define("T", "float") + define("WIDE", 0) + define("TM", tile.tm) +
      define("TN", tile.tn) + define("BK", kDepth) + define("STAGES", kStages) +
      define("BLOCKS_PER_CORE", tile.blocks) + define("CLUSTER", cluster) +
      define("CLUSTER_DIMS", cluster > 1 ? "__cluster_dims__(CLUSTER, 1, 1)" : "") +
      define("A_ALONG_K", a_along_k ? "true" : "false") + define("B_ALONG_K", b_along_k ? "true" : "false");
  for (const char* name : {"product_types.cu", "matmul_problem.cu", "matmul_async.cu", "sum_splits.cu"})
    text += std::string(kernels::source(name));
  return text;
}

}  // namespace

bool plan_async(const ProductDevice& device, ProductPlan& plan) {
  MatMulProblem& p = plan.matmul;
  if (plan.dtype != DType::f32 || p.m <= 16 || p.n <= 16 || p.batch == 0 || p.k == 0) return false;
  AsyncWay best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const AsyncWay& way) {
    const double taken = cycles(p, way, device.multiprocessors);
    if (taken >= least) return;
    least = taken;
    best = way;
  };
  for (const AsyncTile& tile : kTiles) {
    if (tile.shared_bytes() > device.shared_bytes) continue;
    const std::int64_t fewest = std::max<std::int64_t>(divide_up(p.k, kMostDepth), 1),
                       most = std::max(fewest, std::min(p.k / kLeastDepth, kMostSplits));
    for (std::int64_t splits = fewest; splits <= most; splits = splits < 8 ? splits + 1 : splits * 5 / 4)
      consider({&tile, splits});
    if (!device.has_clusters || !tile.has_clusters()) continue;
    for (const Cluster& cluster : kClusters)
      if (cluster.blocks >= fewest && cluster.blocks * kLeastDepthOfCluster <= p.k &&
          blocks_of(p, tile) <= ProductPlan::kMostBlocks / cluster.blocks)
        consider({&tile, cluster.blocks, cluster});
  }
  if (best.tile == nullptr) return false;
  p.k_per_split = divide_up(divide_up(p.k, best.splits), kDepth) * kDepth;
  p.splits = plan.splits = best.cluster.blocks > 1 ? 1 : divide_up(p.k, p.k_per_split);
  plan.blocks = blocks_of(p, *best.tile) * (best.cluster.blocks > 1 ? best.splits : p.splits);
  plan.shared_bytes = best.tile->shared_bytes();
  plan.source = source(*best.tile, best.cluster.blocks, p.a_along_k, p.b_along_k);
  return true;
}

std::vector<std::string> all_async_product_sources() {
  std::vector<std::string> sources;
  for (const AsyncTile& tile : kTiles)
    for (const bool a : {false, true})
      for (const bool b : {false, true}) {
        sources.push_back(source(tile, 1, a, b));
        if (!tile.has_clusters()) continue;
        for (const Cluster& cluster : kClusters) sources.push_back(source(tile, cluster.blocks, a, b));
      }
  return sources;
}

}  // namespace sinter::runtime::cuda
