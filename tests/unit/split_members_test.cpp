// Sums whose work workgroups share, several of them in one launch: plans and their geometry, which need no
// device.
#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/plan/order.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

const std::vector<Shape> kShapes = {{16384, 384}, {16384, 1536}, {9000, 384}, {16384, 100}};

ir::DeviceTraits traits(bool split_members) {
  ir::DeviceTraits traits = with_tensor_cores();
  traits.batch_bytes = 4000;
  traits.lanes = std::int64_t{2048} * 132;
  traits.groups = std::int64_t{4} * 132;
  traits.split_members = split_members;
  return traits;
}

Planned sums_of_columns(bool split_members) {
  return planned(
      [&](const Device& device) {
        std::vector<AnyTensor> inputs, sums;
        for (const Shape& shape : kShapes) inputs.push_back(input(shape, device));
        for (const AnyTensor& x : inputs) sums.push_back(AnyTensor::mul(x.cast(DType::f32).sum(0), 0.5));
        return sums;
      },
      traits(split_members));
}

emit::Target target() {
  emit::Target target = hopper();
  target.max_workgroups = (std::int64_t{1} << 31) - 1;
  target.tile_bytes = std::size_t{48} << 10;
  target.wanted_workgroups = std::int64_t{8} * 132;
  return target;
}

}  // namespace

TEST_CASE("sums of columns are members of one launch where devices let workgroups of a member share them") {
  const Planned alone = sums_of_columns(false), together = sums_of_columns(true);
  CHECK(alone.plan.launches.size() == kShapes.size());
  REQUIRE(together.plan.launches.size() == 1);
  CHECK(together.plan.launches[0].members == kShapes.size());
  CHECK(together.plan.kernels[0]->split);
}

TEST_CASE(
    "a launch has no more such members than there are counters for, however many arguments it may have") {
  const Planned planned = sums_of_columns(true);
  ir::Kernel kernel = *planned.plan.kernels[0];
  ir::DeviceTraits roomy = traits(true);
  roomy.batch_bytes = std::size_t{1} << 20;
  CHECK(plan::most_members(kernel, roomy) == 64);
  kernel.split = false;
  CHECK(plan::most_members(kernel, roomy) == 1024);
}

TEST_CASE("members have workgroups, memory and counters that are nobody else's") {
  const Planned planned = sums_of_columns(true);
  REQUIRE(planned.plan.launches.size() == 1);
  const plan::Launch& launch = planned.plan.launches[0];
  const ir::Kernel& kernel = *planned.plan.kernels[std::get<std::uint32_t>(launch.what)];
  std::vector<emit::MemberPlace> places;
  const emit::Geometry whole = emit::geometry(kernel, target(), launch.ints, launch.members, places);
  REQUIRE(places.size() == launch.members + 1);
  CHECK(places.front().first == 0);
  CHECK(places.back().first == whole.workgroups);
  // No more than one launch has for itself, but for what is rounded up.
  CHECK(whole.workgroups * whole.lanes * whole.rows <=
        static_cast<std::uint32_t>(target().wanted_workgroups * target().workgroup_size));
  for (std::size_t m = 0; m < launch.members; ++m) {
    CAPTURE(m);
    const std::span<const std::int64_t> ints =
        std::span<const std::int64_t>(launch.ints).subspan(m * kernel.ints, kernel.ints);
    const std::int64_t columns = ints[kernel.extents[0].index];
    const std::uint32_t units = (static_cast<std::uint32_t>(columns) + whole.lanes - 1) / whole.lanes;
    emit::Geometry own = whole;
    own.parts = places[m].parts;
    CHECK(places[m].parts >= 1);
    CHECK(places[m + 1].first - places[m].first == units * places[m].parts);
    CHECK(places[m + 1].counters - places[m].counters == units);
    CHECK((places[m + 1].partials - places[m].partials) * sizeof(std::uint32_t) >=
          emit::split_scratch_bytes(kernel, own, ints));
  }
}

TEST_CASE("a member with no results has no workgroups") {
  const Planned planned = sums_of_columns(true);
  const plan::Launch& launch = planned.plan.launches[0];
  const ir::Kernel& kernel = *planned.plan.kernels[std::get<std::uint32_t>(launch.what)];
  std::vector<std::int64_t> ints(launch.ints.begin(), launch.ints.end());
  ints[kernel.ints + kernel.extents[0].index] = 0;
  std::vector<emit::MemberPlace> places;
  emit::geometry(kernel, target(), ints, launch.members, places);
  CHECK(places[1].first == places[2].first);
  CHECK(places[1].counters == places[2].counters);
}
