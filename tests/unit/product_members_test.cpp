// Products that share a launch: which do, and how their tiles are counted. Plans need no device.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/emit/contraction/loops.h"
#include "jit/ir/products/tensor_maps.h"
#include "jit/plan/order.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

ir::DeviceTraits traits(std::size_t batch_bytes = std::size_t{32} << 10) {
  ir::DeviceTraits traits = with_clusters();
  traits.batch_bytes = batch_bytes;
  return traits;
}

/// Members of each launch with tiles, most first.
std::vector<std::uint32_t> members_of(const Planned& planned) {
  std::vector<std::uint32_t> members;
  for (const plan::Launch& launch : planned.plan.launches)
    if (const auto* number = std::get_if<std::uint32_t>(&launch.what))
      if (planned.plan.kernels[*number]->tiling.any()) members.push_back(launch.members);
  std::sort(members.begin(), members.end(), std::greater<>());
  return members;
}

/// x by each of some weights.
Planned several(const std::vector<Shape>& weights, const ir::DeviceTraits& device_traits = traits()) {
  return planned(
      [&](const Device& device) {
        const AnyTensor x = input({4096, 384}, device);
        std::vector<AnyTensor> factors, products;
        for (const Shape& shape : weights) factors.push_back(input(shape, device));
        for (const AnyTensor& w : factors) products.push_back(x.matmul(w));
        return products;
      },
      device_traits);
}

}  // namespace

TEST_CASE("products of the same sizes share a launch, others do not") {
  const Shape plain{384, 384}, wide{384, 768};
  using Members = std::vector<std::uint32_t>;
  CHECK(members_of(several({plain, plain, plain})) == Members{3});
  CHECK(members_of(several({plain, wide, plain})) == Members{2, 1});
  CHECK(members_of(several({plain, plain, plain}, traits(0))) == Members{1, 1, 1});
  // Where each subgroup multiplies by itself, each product has a launch.
  ir::DeviceTraits subgroups = ampere();
  subgroups.batch_bytes = traits().batch_bytes;
  CHECK(members_of(several({plain, plain, plain}, subgroups)) == Members{1, 1, 1});
}

TEST_CASE("as many products share a launch as it has arguments for") {
  const Planned alone = several({{384, 384}}), all = several(std::vector<Shape>(20, {384, 384}));
  // Two tensor maps, the result's address and those that the maps are made of, and sizes.
  CHECK(ir::argument_bytes(*alone.kernel) >= 2 * ir::kTensorMapBytes + 3 * 8);
  CHECK(members_of(all) == std::vector<std::uint32_t>{20});
  CHECK(all.kernel->members == 64);
  const std::size_t of_four = 4 * (ir::argument_bytes(*alone.kernel) + 8 + ir::kTensorMapAlignment) + 256;
  CHECK(plan::most_members(*alone.kernel, traits(of_four)) == 4);
  CHECK(members_of(several(std::vector<Shape>(6, {384, 384}), traits(of_four))) ==
        std::vector<std::uint32_t>{4, 2});
}

TEST_CASE("a product that waits for another has a launch of its own") {
  const Planned chain = planned(
      [](const Device& device) {
        const AnyTensor x = input({4096, 384}, device), w = input({384, 384}, device),
                        v = input({384, 384}, device);
        const AnyTensor y = x.matmul(w);
        return std::vector{y, y.matmul(v)};
      },
      traits());
  CHECK(members_of(chain) == std::vector<std::uint32_t>{1, 1});
}

TEST_CASE("what products read lives a few steps longer, and as long as a plan where nobody waits for them") {
  const auto apart = [](int steps, bool is_read) {
    return members_of(planned(
        [&](const Device& device) {
          const AnyTensor x = input({4096, 384}, device), narrow = input({2048, 96}, device);
          std::vector<AnyTensor> weights, results;
          for (int k = 0; k < 2; ++k) weights.push_back(input({384, 384}, device));
          for (int k = 0; k < 2; ++k) weights.push_back(input({384, 8 + 8 * k}, device));
          for (int step = 0; step < steps; ++step) weights.push_back(input({96, 64 + 8 * step}, device));
          const auto add = [&](int k) {
            const AnyTensor product = x.matmul(weights[k]);
            results.push_back(is_read ? product.matmul(weights[2 + k]) : product);
          };
          add(0);
          for (int step = 0; step < steps; ++step) results.push_back(narrow.matmul(weights[4 + step]));
          add(1);
          return results;
        },
        traits()));
  };
  CHECK(apart(2, true)[0] == 2);
  CHECK(apart(20, true)[0] == 1);
  CHECK(apart(20, false)[0] == 2);
}

TEST_CASE("tiles of all members are counted on, and those are ranked that are the fastest for all") {
  const Planned alone = several({{384, 384}}), all = several(std::vector<Shape>(12, {384, 384}));
  REQUIRE(all.plan.launches.size() == 1);
  const plan::Launch& launch = all.plan.launches[0];
  const emit::Target target = hopper();
  std::vector<emit::MemberPlace> places;
  ir::Kernel kernel = *all.kernel;
  const std::int64_t of_one = emit::contraction_geometry(kernel, target, all.ints).workgroups;
  const emit::Geometry shape = emit::geometry(kernel, target, launch.ints, launch.members, places);
  CHECK(shape.workgroups == std::min<std::int64_t>(12 * of_one, 132));
  CHECK(places.size() == launch.members + 1);
  const emit::MemberLayout layout = emit::member_layout(kernel);
  CHECK(layout.maps == 2);
  CHECK(layout.bytes % ir::kTensorMapAlignment == 0);
  // A product of few tiles is cut up where it is alone, and left whole where there are others.
  const auto gradients = [](std::size_t count) {
    return planned(
        [&](const Device& device) {
          const AnyTensor x = input({16384, 384}, device);
          std::vector<AnyTensor> deltas, results;
          for (std::size_t k = 0; k < count; ++k) deltas.push_back(input({16384, 384}, device));
          for (const AnyTensor& delta : deltas) results.push_back(x.transpose(0, 1).matmul(delta));
          return results;
        },
        traits());
  };
  const Planned one = gradients(1), many = gradients(16);
  CHECK(members_of(many) == std::vector<std::uint32_t>{16});
  // What is launched in the end is chosen when sizes are known.
  const auto ranked = [&](std::size_t members) {
    return plan::ranked_tilings(*many.kernel, one.ints, plan::limits_of(traits()), members);
  };
  CHECK(ranked(16).front() != ranked(1).front());
  for (const ir::Tiling& tiling : ranked(16)) CHECK(tiling.has_groups());
  CHECK(emit::tiles_of(*many.kernel, one.ints, 16) == 16 * emit::tiles_of(*many.kernel, one.ints));
}
