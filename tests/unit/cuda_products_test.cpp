// How matrix products and convolutions of any size are cut for a CUDA device.
#include <cstdint>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/cuda/products/products.h"

using namespace sinter;
using namespace sinter::runtime;

namespace {

library::MatMulOp matmul(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  library::MatMulOp op;
  op.dtype = DType::f32;
  op.batch = batch;
  op.m = m;
  op.n = n;
  op.k = k;
  return op;
}

library::Conv2dOp conv2d(library::Conv2dOp::Direction direction, std::int64_t images, std::int64_t side) {
  library::Conv2dOp op;
  op.dtype = DType::f32;
  op.direction = direction;
  op.n = images;
  op.c_in = op.c_out = 8;
  op.h = op.w = op.oh = op.ow = side;
  op.kh = op.kw = 3;
  op.padding = {1, 1};
  return op;
}

cuda::ProductDevice hopper() { return {132, std::size_t{227} << 10}; }

/// Rows and columns of the tile.
std::pair<int, int> tile_of(const cuda::ProductPlan& plan) {
  const auto number = [&](const std::string& name) {
    const std::size_t at = plan.source.find("#define " + name + " ");
    REQUIRE(at != std::string::npos);
    return 16 * std::stoi(plan.source.substr(at + name.size() + 9));
  };
  return {number("TM"), number("TN")};
}

bool is_wide(const cuda::ProductPlan& plan) {
  return plan.source.find("#define WIDE 1\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a sum is split so that a part of it can be counted in 32 bits, even where the device is busy") {
  const cuda::ProductPlan plan = cuda::plan_product(matmul(1, 8960, 512, std::int64_t{5} << 30), {100});
  CHECK(plan.matmul.k_per_split <= std::int64_t{1} << 30);
  CHECK(plan.splits >= 5);
  CHECK(plan.splits * plan.matmul.k_per_split >= std::int64_t{5} << 30);
  CHECK(cuda::plan_product(matmul(1, 8960, 512, 5000), {100}).splits == 1);
}

TEST_CASE("there may be more blocks than a grid takes") {
  const std::int64_t batch = std::int64_t{5} << 31;
  const cuda::ProductPlan plan = cuda::plan_product(matmul(batch, 1, 1, 1), {100});
  CHECK(plan.blocks == batch);
  CHECK(plan.result_numel == batch);
  CHECK(plan.blocks > 5 * cuda::ProductPlan::kMostBlocks);
}

TEST_CASE("only convolutions of large tensors count in 64 bits") {
  using Direction = library::Conv2dOp::Direction;
  for (const Direction direction :
       {Direction::Forward, Direction::BackwardInput, Direction::BackwardWeight}) {
    CHECK(!is_wide(cuda::plan_product(conv2d(direction, 255, 1024), {100})));
    CHECK(is_wide(cuda::plan_product(conv2d(direction, 256, 1024), {100})));
  }
  CHECK(cuda::plan_product(conv2d(Direction::BackwardWeight, 5000, 1024), {1}).conv.k_per_split <=
        std::int64_t{1} << 30);
  CHECK_THROWS_WITH_AS(cuda::plan_product(conv2d(Direction::Forward, 1, (std::int64_t{1} << 28) - 1), {100}),
                       doctest::Contains("268435457 rows or columns"), DeviceError);
}

TEST_CASE("products of f32 whose operands are copied asynchronously have the tiles that fill the device") {
  using Tile = std::pair<int, int>;
  const auto plan = [](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
    return cuda::plan_product(matmul(batch, m, n, k), hopper());
  };
  CHECK(tile_of(plan(4096, 4096, 4096)) == Tile{128, 256});
  CHECK(tile_of(plan(1024, 2048, 256)) == Tile{128, 128});  // 64 tiles of 256 columns leave a half idle
  CHECK(tile_of(plan(64, 64, 64)) == Tile{64, 64});
  CHECK(plan(4096, 4096, 4096).splits == 1);
  const cuda::ProductPlan deep = plan(512, 512, 65536);
  CHECK(deep.splits > 1);
  CHECK(deep.matmul.k_per_split % 16 == 0);
  CHECK(deep.matmul.k_per_split * deep.splits >= 65536);
  CHECK(deep.matmul.k_per_split * (deep.splits - 1) < 65536);
  CHECK(deep.blocks == deep.splits * ((512 + tile_of(deep).first - 1) / tile_of(deep).first) *
                           ((512 + tile_of(deep).second - 1) / tile_of(deep).second));
  CHECK(plan(100, 100, std::int64_t{5} << 30).matmul.k_per_split <= std::int64_t{1} << 30);
  for (const auto& p : {plan(4096, 4096, 4096), plan(64, 64, 64)}) CHECK(p.shared_bytes > 0);
}

TEST_CASE("where tiles are few, the blocks of a cluster share the sums of one") {
  const cuda::ProductDevice with{132, std::size_t{227} << 10, true};
  const auto cluster_of = [](const cuda::ProductPlan& plan) {
    return std::stoi(plan.source.substr(plan.source.find("#define CLUSTER ") + 16));
  };
  const cuda::ProductPlan plan = cuda::plan_product(matmul(1, 300, 300, 300), with);
  const int cluster = cluster_of(plan);
  CHECK(cluster > 1);
  CHECK(plan.splits == 1);
  CHECK(plan.workspace_bytes() == 0);
  CHECK(plan.blocks % cluster == 0);
  CHECK(plan.matmul.k_per_split * cluster >= 300);
  CHECK(cluster_of(cuda::plan_product(matmul(1, 300, 300, 300), hopper())) == 1);
  CHECK(cluster_of(cuda::plan_product(matmul(1, 4096, 4096, 4096), with)) == 1);
  // A cluster's blocks would have too long sums for 32 bits.
  CHECK(cluster_of(cuda::plan_product(matmul(1, 64, 64, std::int64_t{9} << 30), with)) == 1);
}

TEST_CASE("other products keep the tiles that registers bring") {
  const auto plan = [](std::int64_t m, std::int64_t n, std::int64_t k, const cuda::ProductDevice& device) {
    return cuda::plan_product(matmul(1, m, n, k), device);
  };
  CHECK(plan(1024, 1024, 1024, {132, 0}).shared_bytes == 0);  // none of these copies
  CHECK(plan(1024, 1024, 1024, {132, std::size_t{64} << 10}).shared_bytes < 64u << 10);  // smaller tiles
  CHECK(plan(8, 1024, 1024, hopper()).shared_bytes == 0);
  CHECK(plan(1024, 8, 1024, hopper()).shared_bytes == 0);
  CHECK(plan(1024, 1024, 0, hopper()).shared_bytes == 0);
  library::MatMulOp wide = matmul(1, 1024, 1024, 1024);
  wide.dtype = DType::f64;
  CHECK(cuda::plan_product(wide, hopper()).shared_bytes == 0);
}
