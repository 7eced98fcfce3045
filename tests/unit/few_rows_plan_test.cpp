// Products of few rows: when they are computed by subgroups that share each sum, how these share it, and what
// is part of their kernels. What the texts compute, few_rows_test-emulated runs.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

/// As in nn::Linear: the weight has its rows along the sum.
Planned linear(std::int64_t rows, std::int64_t columns, std::int64_t depth, DType dtype = DType::bf16,
               const ir::DeviceTraits& traits = with_tensor_cores()) {
  return product({rows, depth}, {columns, depth}, false, true, dtype, traits);
}

/// 0: it is computed by other tiles, or by none.
int sharers(const Planned& p) { return p.tiled == 1 ? p.kernel->tiling.sharers : 0; }

emit::Geometry geometry(const Planned& p, const ir::DeviceTraits& traits = with_tensor_cores()) {
  return emit::geometry(*p.kernel, cuda_target(traits), p.ints);
}

}  // namespace

TEST_CASE("two to sixteen rows have subgroups that share their sums, more have tiles") {
  for (const std::int64_t rows : {2, 8, 9, 16}) {
    CAPTURE(rows);
    const Planned p = linear(rows, 4096, 4096);
    REQUIRE(sharers(p) > 0);
    CHECK(p.plan.launches.size() == 1);
    CHECK(p.kernel->tiling.rows == (rows > 8 ? 16 : 8));
  }
  CHECK(linear(17, 4096, 4096).tiled == 1);
  CHECK(sharers(linear(17, 4096, 4096)) == 0);
  // Cards whose subgroups multiply by themselves, f16, weights across the sum, rows of any number of bytes.
  for (const ir::DeviceTraits& traits : {ampere(), ada()})
    CHECK(sharers(linear(4, 4096, 4096, DType::f16, traits)) > 0);
  CHECK(sharers(product({4, 4096}, {4096, 4096})) > 0);
  CHECK(sharers(linear(4, 333, 777)) > 0);
  // Of f32 only where it may be rounded.
  CHECK(sharers(linear(4, 4096, 4096, DType::f32)) == 0);
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  CHECK(sharers(linear(4, 4096, 4096, DType::f32)) > 0);
}

TEST_CASE("a single row stays a kernel of rows, and so does each of a batch with weights of its own") {
  CHECK(linear(1, 4096, 4096).tiled == 0);
  CHECK(product({1, 4096}, {4096, 4096}).tiled == 0);
  CHECK(product({4, 1, 256}, {4, 256, 512}).tiled == 0);
  CHECK(linear(1, 4096, 4096, DType::f32).tiled == 0);
}

TEST_CASE("a weight that several products of a batch read is that of as many rows") {
  const auto batch = [](std::int64_t products, bool has_weights) {
    return planned([=](const Device& device) {
      return std::vector{
          input({products, 2, 256}, device).matmul(input({has_weights ? products : 1, 256, 512}, device))};
    });
  };
  CHECK(sharers(batch(100, true)) > 0);
  CHECK(sharers(batch(100, false)) == 0);
  CHECK(sharers(batch(8, false)) > 0);
}

TEST_CASE("enough of the weight is on its way, in what the card has room for") {
  struct Sizes {
    std::int64_t columns, depth;
  };
  for (const ir::DeviceTraits& traits : {with_tensor_cores(), ampere(), ada()})
    for (const std::int64_t rows : {4, 16})
      for (const auto& [columns, depth] : {Sizes{4096, 4096},
                                           {2304, 768},
                                           {768, 3072},
                                           {50304, 768},
                                           {4096, 14336},
                                           {512, 64},
                                           {64, 100000}}) {
        const Planned p = linear(rows, columns, depth, DType::bf16, traits);
        REQUIRE(sharers(p) > 0);
        const std::vector<ir::Tiling> tilings = tilings_of(p, traits);
        CHECK(tilings.front() == p.kernel->tiling);
        for (const ir::Tiling& tiling : tilings) {
          if (tiling.sharers == 0) continue;
          INFO(rows << " x " << columns << " x " << depth << ": " << tune::describe(tiling));
          ir::Kernel kernel = *p.kernel;
          kernel.tiling = tiling;
          CHECK_NOTHROW(ir::verify(kernel));
          const emit::Geometry shape = emit::geometry(kernel, cuda_target(traits), p.ints);
          const std::size_t sums =
              std::size_t{tiling.sharers} * tiling.rows * (tiling.columns + 4u) * sizeof(float);
          CHECK(tiling.workgroups * (shape.shared_bytes + sums + 1024) <=
                traits.tensor_cores.shared_bytes + 1024);
          CHECK(shape.lanes == tiling.sharers * 32u);
          CHECK(emit::tensor_maps(kernel, p.ints).empty());
          // No subgroup has a share that others lack.
          const std::int64_t chunks = (depth + 63) / 64,
                             each = (chunks + tiling.sharers - 1) / tiling.sharers;
          CHECK((chunks + each - 1) / each == tiling.sharers);
        }
        const ir::Tiling& first = tilings.front();
        const std::size_t on_the_way =
            std::size_t{first.sharers} * first.slots * first.columns * 128 * first.workgroups;
        CHECK(on_the_way >= std::min<std::size_t>(64 << 10, traits.tensor_cores.shared_bytes / 4));
      }
}

TEST_CASE("tiles are wide where there are enough of them, whatever the rows and however the weight lies") {
  for (const std::int64_t rows : {2, 16}) {
    CAPTURE(rows);
    for (const std::int64_t columns : {4096, 50304})
      CHECK(linear(rows, columns, 768).kernel->tiling.columns == 32);
    for (const std::int64_t columns : {768, 2304})
      CHECK(linear(rows, columns, 768).kernel->tiling.columns == 16);
    CHECK(product({rows, 4096}, {4096, 4096}).kernel->tiling.columns == 32);
    CHECK(product({rows, 4096}, {4096, 768}).kernel->tiling.columns == 16);
  }
  // A card of fewer units.
  CHECK(linear(4, 2304, 768, DType::f16, ampere()).kernel->tiling.columns ==
        (72 * 4 >= 3 * ampere().tensor_cores.compute_units ? 32 : 16));
}

TEST_CASE("rows that a workgroup meets again come through the first-level cache, if it has room for them") {
  CHECK(linear(4, 50304, 768).kernel->tiling.near_rows);
  CHECK(linear(16, 50304, 768).kernel->tiling.near_rows);
  CHECK(!linear(16, 50304, 8192).kernel->tiling.near_rows);  // 256 KiB
  CHECK(!linear(4, 4096, 4096).kernel->tiling.near_rows);    // one tile for each unit
  CHECK(emit::emit(*linear(4, 50304, 768).kernel, hopper()).text.find("tc_copy_near_16(to + 4096 +") !=
        std::string::npos);
}

TEST_CASE("what a lane copies of a whole chunk it finds by addresses that go on") {
  const std::string text = emit::emit(*linear(4, 4096, 4096).kernel, hopper()).text;
  for (const char* part : {"many_from[i] += 2 * (SN_SHARERS * SN_CHUNK);", "if (is_row[i]) tc_copy_16(",
                           "many_from[i] + int(half) * (SN_CHUNK / 2 * 2), 16);"})
    CHECK(text.find(part) != std::string::npos);
  // What lanes compute has no address.
  CHECK(emit::emit(*linear(4, 333, 777).kernel, hopper()).text.find("_from[") == std::string::npos);
}

TEST_CASE("workgroups are as many as there are tiles, or as the card holds at once") {
  const emit::Geometry few = geometry(linear(4, 768, 3072)), many = geometry(linear(4, 50304, 768));
  CHECK(few.workgroups == 48);
  const ir::Tiling tiling = linear(4, 50304, 768).kernel->tiling;
  CHECK(many.workgroups == 132u * tiling.workgroups);
  CHECK(many.cut == 0);
}

TEST_CASE("the names of how sums are shared, and what is pinned") {
  const Planned p = linear(4, 4096, 4096);
  const std::vector<ir::Tiling> tilings = tilings_of(p, with_tensor_cores());
  CHECK(tune::describe(tilings.front()) == "rows=8,columns=32,slots=3,workgroups=1,sharers=8,near=0");
  CHECK(tune::pinned(tilings, "sharers=16").columns == 16);
  CHECK(tune::pinned(tilings, "sharers=16,slots=2").slots == 2);
  CHECK(tune::pinned(tilings, "near=1").near_rows);
  CHECK(!tune::pinned(tilings_of(linear(4, 50304, 768), with_tensor_cores()), "near=0").near_rows);
  CHECK_THROWS(tune::pinned(tilings, "near=2"));
  CHECK_THROWS(tune::pinned(tilings, "near=1,rows=64"));
  CHECK(tune::pinned(tilings, "rows=64,columns=64").sharers == 0);
  CHECK(std::count_if(tilings.begin(), tilings.end(), [](const ir::Tiling& tiling) {
          return tiling.sharers > 0;
        }) <= static_cast<std::ptrdiff_t>(plan::kMostOfFewRows));
}

TEST_CASE("what follows few rows is part of their kernel, whatever it moves") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({4, 4096}, device), w = input({1024, 4096}, device),
                    bias = input({1, 1024}, device), rest = input({4, 1024}, device, DType::f32);
    const AnyTensor y = AnyTensor::add(x.matmul(w.transpose(0, 1)), bias);
    return std::vector{gelu(y), AnyTensor::add(y.cast(DType::f32), rest)};
  });
  CHECK(p.plan.launches.size() == 1);
  CHECK(sharers(p) > 0);
  CHECK(p.kernel->stores.size() == 2);
}

TEST_CASE("the text of few rows says how factors lie, and nothing of sizes") {
  const auto text = [](const Planned& p) {
    REQUIRE(sharers(p) > 0);
    return emit::emit(*p.kernel, hopper()).text;
  };
  const std::string along = text(linear(4, 4096, 4096)), across = text(product({4, 4096}, {4096, 4096}));
  CHECK(along.find("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") != std::string::npos);
  CHECK(along.find("#define SN_MANY_ACROSS 0\n") != std::string::npos);
  CHECK(across.find("#define SN_MANY_ACROSS 1\n") != std::string::npos);
  CHECK(along.find("tc_copy_16(to +") != std::string::npos);
  CHECK(along.find("tc_copy_16(to + 4096 +") != std::string::npos);
  CHECK(text(linear(4, 4096, 4100)).find("tc_copy_8(to +") != std::string::npos);
  for (const char* absent : {"wgmma", "mbarrier", "TensorMap", "//---"})
    CHECK(along.find(absent) == std::string::npos);
  CHECK(text(linear(3, 8192, 4096)) == along);
}
