// Parts of the Vulkan backend that need no device: barriers, the reach of kernels, the choice of tiles.
#include <utility>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/vulkan/kernels/products.h"
#include "src/runtime/vulkan/kernels/reach.h"
#include "src/runtime/vulkan/memory/hazards.h"

namespace {

using namespace sinter;
using namespace sinter::runtime::vulkan;

bool conflicts(const HazardTracker& tracker, Access access) { return tracker.conflicts({&access, 1}); }
void add(HazardTracker& tracker, Access access) { tracker.add({&access, 1}); }

TEST_CASE("a barrier stands only between commands that touch the same bytes, one of them writing") {
  HazardTracker tracker;
  add(tracker, {100, 200, false});
  add(tracker, {300, 400, true});
  CHECK(!conflicts(tracker, {100, 200, false}));
  CHECK(conflicts(tracker, {100, 200, true}));
  CHECK(conflicts(tracker, {199, 201, true}));
  CHECK(!conflicts(tracker, {200, 300, true}));
  CHECK(conflicts(tracker, {250, 301, false}));
  CHECK(conflicts(tracker, {0, 1000, false}));
  CHECK(!conflicts(tracker, {400, 401, true}));
  CHECK(!conflicts(tracker, {350, 350, false}));
  // Overlapping reads are joined and remain reads.
  add(tracker, {150, 260, false});
  CHECK(!conflicts(tracker, {240, 250, false}));
  CHECK(conflicts(tracker, {240, 250, true}));
  CHECK(!conflicts(tracker, {260, 270, true}));
  tracker.clear();
  CHECK(!conflicts(tracker, {0, 1000, true}));
}

TEST_CASE("one command may read and write the same bytes") {
  HazardTracker tracker;
  const Access in_place[] = {{0, 64, false}, {0, 64, true}};
  CHECK(!tracker.conflicts(in_place));
  tracker.add(in_place);
  CHECK(conflicts(tracker, {10, 20, false}));
}

TEST_CASE("the reach of a kernel follows its maps") {
  using ir::IntRef;
  ir::Kernel kernel;
  kernel.outer_rank = 2;
  kernel.ints = 6;
  kernel.extents = {IntRef::argument(0), IntRef::argument(1)};
  kernel.buffers = {{DType::f32, true, false}, {DType::boolean, true, false}, {DType::f64, false, true}};
  // Rows with a stride, backwards along columns; through a reshape; the whole buffer.
  const ir::MapStep rows{{}, {IntRef::argument(2), IntRef::argument(3)}, IntRef::argument(4), {}};
  const ir::MapStep flat{{}, {IntRef::argument(1), IntRef::one()}, IntRef::zero(), {}};
  const ir::MapStep split{
      {IntRef::argument(1), IntRef::argument(0)}, {IntRef::one(), IntRef::argument(5)}, IntRef::zero(), {}};
  kernel.maps = {{{rows}}, {{flat, split}}, {{flat}}};
  ir::Expr load;
  load.kind = ir::ExprKind::Load;
  kernel.exprs.push_back(load);
  load.buffer = 1, load.map = 1, load.dtype = DType::boolean;
  kernel.exprs.push_back(load);
  kernel.stores.push_back({2, 2, 0, ir::Level::Outer, 0});

  const KernelReach reach(kernel);
  std::vector<std::int64_t> r;
  const std::int64_t ints[] = {4, 5, 10, -1, 7, 5};
  reach.compute(ints, r);
  REQUIRE(r.size() == 3);
  CHECK(r[0] == (7 + 3 * 10 + 1) * 4);
  CHECK(r[1] == 4 + 3 * 5 + 1);
  CHECK(r[2] == 4 * 5 * 8);
  const std::int64_t none[] = {4, 0, 10, -1, 7, 5};
  reach.compute(none, r);
  CHECK(r[2] == 0);
}

DeviceInfo gpu() {
  DeviceInfo info;
  info.name = "a made up GPU";
  info.lanes = 132 * 2048;
  info.shared_bytes = 48 << 10;
  info.max_invocations = 1024;
  info.max_storage_range = 0xffffffff;
  info.has_f64 = true;
  return info;
}

library::MatMulOp product(std::int64_t m, std::int64_t n, std::int64_t k) {
  library::MatMulOp op;
  op.m = m, op.n = n, op.k = k, op.a_row = k, op.a_column = 1, op.b_row = n, op.b_column = 1;
  return op;
}

TEST_CASE("long sums with few results are split among groups, others are not") {
  const ProductPlan tall = plan_product(product(8, 9, 43264), gpu());
  CHECK(tall.combine.groups > 0);
  CHECK(tall.product.groups > 100);
  CHECK(tall.partial_bytes == tall.product.words[6] * 8 * 9 * sizeof(float));
  const ProductPlan big = plan_product(product(4096, 4096, 4096), gpu());
  CHECK(big.combine.groups == 0);
  CHECK(big.product.groups == 32 * 32);
  CHECK(plan_product(product(0, 5, 6), gpu()).product.groups == 0);
  CHECK(plan_product(product(5, 6, 0), gpu()).product.groups == 1);
}

TEST_CASE("sizes are arguments: another batch needs no other kernel") {
  const ProductPlan one = plan_product(product(64, 512, 1024), gpu()),
                    other = plan_product(product(61, 512, 1024), gpu());
  CHECK(one.product.source == other.product.source);
}

TEST_CASE("subgroups have 32 lanes where a device lets kernels choose, else as near as it can") {
  CHECK(choose_subgroup(32, 64, 64) == 32);
  CHECK(choose_subgroup(8, 32, 32) == 32);
  CHECK(choose_subgroup(64, 64, 64) == 64);
  CHECK(choose_subgroup(8, 16, 8) == 16);
  CHECK(choose_subgroup(0, 0, 32) == 32);
}

TEST_CASE("workgroups of products fit devices of few invocations") {
  DeviceInfo small = gpu();
  small.max_invocations = 128;
  for (const auto& [m, n] : {std::pair{4096, 4096}, {16, 512}, {512, 16}, {60, 60}})
    CHECK(plan_product(product(m, n, 64), small).product.lanes <= 128);
  CHECK(plan_product(product(4096, 4096, 64), gpu()).product.lanes == 256);
}

TEST_CASE("products that the device cannot do are refused") {
  CHECK_THROWS_AS(plan_product(product(1 << 17, 1 << 17, 4), gpu()), DeviceError);
  DeviceInfo info = gpu();
  info.max_storage_range = 1000;
  CHECK_THROWS_AS(plan_product(product(100, 100, 4), info), DeviceError);
  info.has_addresses = true;
  CHECK(plan_product(product(100, 100, 4), info).by_address);
  CHECK(!plan_product(product(10, 10, 4), info).by_address);
  info = gpu();
  info.has_f64 = false;
  library::MatMulOp op = product(3, 3, 3);
  op.dtype = DType::f64;
  CHECK_THROWS_AS(plan_product(op, info), DTypeError);
}

}  // namespace
