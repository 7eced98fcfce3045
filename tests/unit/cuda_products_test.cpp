// How matrix products and convolutions of any size are cut for a CUDA device.
#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/cuda/products.h"

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

bool is_wide(const cuda::ProductPlan& plan) {
  return plan.source.find("#define WIDE 1\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a sum is split so that a part of it can be counted in 32 bits, even where the device is busy") {
  const cuda::ProductPlan plan = cuda::plan_product(matmul(1, 8960, 512, std::int64_t{5} << 30), 100);
  CHECK(plan.matmul.k_per_split <= std::int64_t{1} << 30);
  CHECK(plan.splits >= 5);
  CHECK(plan.splits * plan.matmul.k_per_split >= std::int64_t{5} << 30);
  CHECK(cuda::plan_product(matmul(1, 8960, 512, 5000), 100).splits == 1);
}

TEST_CASE("there may be more blocks than a grid takes") {
  const std::int64_t batch = std::int64_t{5} << 31;
  const cuda::ProductPlan plan = cuda::plan_product(matmul(batch, 1, 1, 1), 100);
  CHECK(plan.blocks == batch);
  CHECK(plan.result_numel == batch);
  CHECK(plan.blocks > 5 * cuda::ProductPlan::kMostBlocks);
}

TEST_CASE("only convolutions of large tensors count in 64 bits") {
  using Direction = library::Conv2dOp::Direction;
  for (const Direction direction :
       {Direction::Forward, Direction::BackwardInput, Direction::BackwardWeight}) {
    CHECK(!is_wide(cuda::plan_product(conv2d(direction, 255, 1024), 100)));
    CHECK(is_wide(cuda::plan_product(conv2d(direction, 256, 1024), 100)));
  }
  CHECK(cuda::plan_product(conv2d(Direction::BackwardWeight, 5000, 1024), 1).conv.k_per_split <=
        std::int64_t{1} << 30);
  CHECK_THROWS_WITH_AS(cuda::plan_product(conv2d(Direction::Forward, 1, (std::int64_t{1} << 28) - 1), 100),
                       doctest::Contains("268435457 rows or columns"), DeviceError);
}
