// Tiles that workgroups share in clusters: when they do, and kernels whose results need each element of a
// product several times, which clusters make worth their while. What the texts compute, shared_tiles_test
// runs on devices that have clusters.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/ir/products/plain_product.h"
#include "jit/tune/parameters.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

Planned linear(std::int64_t rows, std::int64_t columns, std::int64_t depth, DType dtype = DType::bf16,
               const ir::DeviceTraits& traits = with_clusters()) {
  return product({rows, depth}, {columns, depth}, false, true, dtype, traits);
}

std::int64_t tiles(const Planned& p) {
  const plan::ProductSizes sizes = plan::product_sizes(*p.kernel, p.ints);
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  return divide_up(sizes.rows, p.kernel->tiling.rows) * divide_up(sizes.columns, p.kernel->tiling.columns) *
         sizes.batches;
}

int cluster(const Planned& p) { return p.tiled == 1 ? p.kernel->tiling.cluster : 0; }

/// The gradient of a step of a recurrent network with so many gates: what all of them need of a product, with
/// a factor of each, behind what has its place at dim `at`.
Planned gates(std::int64_t count, std::size_t at = 1, const ir::DeviceTraits& traits = with_clusters(),
              bool shows_product = false) {
  return planned(
      [&](const Device& device) {
        Shape one{64, 512}, all{64, 512};
        one.insert(at, 1), all.insert(at, count);
        const AnyTensor x = input({64, 2048}, device), w = input({2048, 512}, device),
                        factors = input(all, device, DType::f32);
        const AnyTensor later = x.matmul(w).cast(DType::f32);
        const AnyTensor gradients = AnyTensor::mul(later.reshape(one).expand(all), factors).cast(DType::bf16);
        return shows_product ? std::vector{gradients, later} : std::vector{gradients};
      },
      traits);
}

}  // namespace

TEST_CASE("clusters share the tiles of a long sum, where there are few") {
  for (const std::int64_t rows : {17, 64, 128}) {
    CAPTURE(rows);
    const Planned p = linear(rows, 768, 3072);
    REQUIRE(cluster(p) > 1);
    const emit::Geometry shape = emit::geometry(*p.kernel, hopper(), p.ints);
    CHECK(shape.workgroups == tiles(p) * cluster(p));
    CHECK(emit::contraction_scratch_bytes(*p.kernel, shape) == 0);
    CHECK(emit::emit(*p.kernel, hopper()).text.find("__cluster_dims__(") != std::string::npos);
  }
  CHECK(cluster(linear(8192, 3072, 768)) == 1);  // tiles enough
  CHECK(cluster(linear(64, 64, 64)) == 1);       // nothing to share
  CHECK(cluster(linear(64, 768, 3072, DType::bf16, with_tensor_cores())) == 1);
  CHECK(cluster(linear(64, 768, 3072, DType::bf16, ampere())) == 1);
}

TEST_CASE("a launch has whole clusters, though there are more tiles than run at once") {
  const Planned p = linear(64, 768, 3072);
  for (const int count : {2, 3, 5, 7, 8}) {
    ir::Kernel kernel = *p.kernel;
    kernel.tiling.cluster = static_cast<std::uint8_t>(count);
    emit::Target target = hopper();
    for (const std::int64_t units : {1, 6, 132}) {
      target.tensor_units = static_cast<int>(units);
      const emit::Geometry shape = emit::geometry(kernel, target, p.ints);
      CHECK(shape.workgroups % static_cast<std::uint32_t>(count) == 0);
      CHECK(shape.workgroups > 0);
    }
  }
}

TEST_CASE("all tiles that clusters may share have room for their sums where the slots were") {
  const Planned p = linear(64, 768, 3072);
  int shared = 0;
  for (const ir::Tiling& tiling : tilings_of(p, with_clusters())) {
    if (tiling.cluster == 1) continue;
    ++shared;
    ir::Kernel kernel = *p.kernel;
    kernel.tiling = tiling;
    ir::verify(kernel);
    CHECK(emit::geometry(kernel, hopper(), p.ints).shared_bytes <= std::size_t{227} << 10);
    CHECK(tiling.slots * (tiling.rows + tiling.columns) * 128 >= tiling.rows * tiling.columns * 4);
    kernel.tiling.slots = 1;
    CHECK_THROWS(ir::verify(kernel));
    kernel.tiling = tiling;
    kernel.tiling.turns = 2;
    CHECK_THROWS(ir::verify(kernel));
    for (const std::uint8_t none : {0, 9}) {
      kernel.tiling = tiling;
      kernel.tiling.cluster = none;
      CHECK_THROWS(ir::verify(kernel));
    }
  }
  CHECK(shared >= 4);
}

TEST_CASE("sums of integers, and factors that lanes compute, are shared by no cluster") {
  const auto has_clusters = [](const Planned& p) {
    REQUIRE(p.tiled == 1);
    for (const ir::Tiling& tiling : tilings_of(p, with_clusters()))
      if (tiling.cluster > 1) return true;
    return false;
  };
  CHECK(has_clusters(linear(64, 768, 3072)));
  CHECK_FALSE(has_clusters(linear(64, 768, 3070)));  // rows that the copy engine does not take
  CHECK_FALSE(has_clusters(planned(
      [](const Device& device) {
        const AnyTensor x = input({64, 3072}, device, DType::i8), w = input({768, 3072}, device, DType::i8);
        return std::vector{x.cast(DType::f32).matmul(w.cast(DType::f32).transpose(0, 1))};
      },
      with_clusters())));
}

TEST_CASE("how many share a tile can be pinned, where clusters may") {
  const Planned p = linear(64, 768, 3072);
  const std::vector<ir::Tiling> tilings = tilings_of(p, with_clusters());
  const ir::Tiling three = tune::pinned(tilings, "rows=64,columns=128,cluster=3");
  CHECK(three.rows == 64);
  CHECK(three.columns == 128);
  CHECK(three.cluster == 3);
  for (const char* pin : {"cluster=9", "turns=2,cluster=4", "columns=192,cluster=2"})
    CHECK_THROWS_AS(tune::pinned(tilings, pin), Error);
  CHECK(tune::pinned(tilings, "cluster=1").cluster == 1);
}

TEST_CASE("a product whose results are needed several times is one kernel with what needs them") {
  for (const std::size_t at : {0, 1}) {
    CAPTURE(at);
    const Planned p = gates(4, at);
    REQUIRE(p.plan.launches.size() == 1);
    REQUIRE(p.tiled == 1);
    const ir::Tiling& tiling = p.kernel->tiling;
    CHECK(std::popcount(tiling.repeat_loops) == 1);
    const plan::ProductSizes sizes = plan::product_sizes(*p.kernel, p.ints);
    CHECK(sizes.rows == 64);
    CHECK(sizes.columns == 512);
    CHECK(sizes.depth == 2048);
    CHECK(sizes.batches == 1);
    CHECK(sizes.repeats == 4);
    CHECK(emit::geometry(*p.kernel, hopper(), p.ints).workgroups == tiles(p) * tiling.cluster);
    // A library would multiply for each of them again; and tiles by other groups cannot repeat results.
    CHECK_FALSE(ir::library_product(*p.kernel, p.ints));
    for (const ir::Tiling& other : tilings_of(p, with_clusters())) {
      CHECK(other.has_groups());
      ir::Kernel kernel = *p.kernel;
      kernel.tiling = other;
      ir::verify(kernel);
      CHECK(emit::emit(kernel, hopper()).text.find("size_repeat") != std::string::npos);
    }
    ir::Kernel kernel = *p.kernel;
    kernel.tiling.repeat_loops = kernel.tiling.row_loops;
    CHECK_THROWS(ir::verify(kernel));
  }
  CHECK(gates(8).plan.launches.size() == 1);
}

TEST_CASE("a product stays apart where its results are needed too often, otherwise, or by others too") {
  CHECK(gates(9).plan.launches.size() == 2);
  CHECK(gates(4, 2).plan.launches.size() == 2);  // each element beside itself
  CHECK(gates(4, 1, with_clusters(), true).plan.launches.size() == 2);
  CHECK(gates(4, 1, with_tensor_cores()).plan.launches.size() >= 2);
  CHECK(gates(4, 1, ampere()).plan.launches.size() >= 2);
}
