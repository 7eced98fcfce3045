// A vendor's library beside the tiles: when it is asked for, and how a choice for it is kept.
#include <utility>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/tune/tuner.h"
#include "tests/support/planned_products.h"
#include "tests/support/tuner_bench.h"

namespace sinter::testing {
namespace {

using tune::By;
using tune::Choice;
using tune::Mode;

/// A product, and a device with a library that has two ways of computing it.
struct LibraryBench : Bench {
  explicit LibraryBench(std::uint32_t version = 130005) { have(version); }
  explicit LibraryBench(Planned planned) : Bench(std::move(planned)) { have(130005); }
  void have(std::uint32_t version) {
    device.more.assign(2, product.kernel->tiling);
    for (std::size_t way = 0; way < 2; ++way) {
      device.more[way].library = static_cast<std::uint8_t>(way + 1);
      device.more[way].library_version = version;
    }
    device.variants.resize(candidates.size() + 2);
  }
};

}  // namespace

TEST_CASE("a library is asked for only where one of its ways may be taken") {
  for (const Mode mode : {Mode::Off, Mode::Cached}) {
    LibraryBench bench;
    bench.options.mode = mode;
    CHECK(bench.choose().tiling == bench.candidates[0]);
    CHECK(bench.choose("rows=64,columns=128").tiling.library == 0);
    CHECK(bench.device.asked_alternatives == 0);
  }
  LibraryBench bench;
  const Choice pinned = bench.choose("library=2");
  CHECK(pinned.tiling == bench.device.more[1]);
  CHECK(bench.choose("library=1,version=130005").tiling == bench.device.more[0]);
  CHECK(bench.choose("library=0").tiling == bench.candidates[0]);
  CHECK_THROWS_WITH_AS(bench.choose("library=3"), doctest::Contains("\n  library=2,version=130005"), Error);
  CHECK_THROWS_AS(bench.choose("library=1,rows=64"), Error);
}

TEST_CASE("a library's way that is the fastest is chosen, stored, and found by other processes") {
  LibraryBench bench;
  bench.device.variants[2].time = always(50e3);  // behind the first of the tilings
  const Choice choice = bench.choose();
  CHECK(choice.by == By::Timing);
  CHECK(choice.tiling == bench.device.more[1]);
  REQUIRE(bench.store.all().size() == 1);
  CHECK(bench.store.all()[0].parameters == "library=2,version=130005");

  bench.options.mode = Mode::Cached;
  tune::Store store(bench.folder.path() / "tuning");
  tune::Tuner other(store);
  const Choice found = bench.choose(other, bench.device);
  CHECK(found.by == By::Store);
  CHECK(found.tiling == bench.device.more[1]);

  // Another version numbers its ways anew, and another machine may have no library.
  for (const bool is_gone : {false, true}) {
    bench.have(130006);
    if (is_gone) bench.device.more.clear();
    tune::Store again(bench.folder.path() / "tuning");
    tune::Tuner third(again);
    const Choice model = bench.choose(third, bench.device);
    CHECK(model.by == By::Model);
    CHECK(model.tiling == bench.candidates[0]);
  }
}

TEST_CASE("a library is the model's choice where f32 lies across the sum, if it is there") {
  // Of so few rows that the planner copies no factor along the sum.
  const auto planned_high = [] {
    return planned([](const Device& device) {
      const MatmulPrecisionScope scope(MatmulPrecision::High);
      const AnyTensor a = input({256, 4096}, device, DType::f32), b = input({4096, 2048}, device, DType::f32);
      return std::vector{a.matmul(b)};
    });
  };
  for (const Mode mode : {Mode::Off, Mode::Cached}) {
    LibraryBench bench(planned_high());
    bench.options.mode = mode;
    const Choice choice = bench.choose();
    CHECK(choice.by == By::Model);
    CHECK(choice.tiling == bench.device.more[0]);
    CHECK(bench.device.asked_alternatives == 1);
    bench.device.more.clear();
    CHECK(bench.choose().tiling == bench.candidates[0]);
  }
  LibraryBench bench(planned_high());
  bench.device.variants[2].time = always(50e3);  // the first of the tilings, behind the library's two ways
  CHECK(bench.choose().tiling == bench.candidates[0]);
}

}  // namespace sinter::testing
