// Traffic reports of plans: bytes that launches move, against counting every element that their kernels
// access; cuts.
#include "jit/plan/traffic.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/plan/cuts.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/programs/random_program.h"

using namespace sinter;

namespace {

using Numbers = std::vector<std::int64_t>;

/// Calls `visit` with every point below `extents`.
template <class Visit>
void each_point(const Numbers& extents, Visit visit) {
  for (std::int64_t extent : extents)
    if (extent == 0) return;
  Numbers point(extents.size(), 0);
  while (true) {
    visit(point);
    std::size_t d = extents.size();
    while (d > 0 && ++point[d - 1] == extents[d - 1]) point[--d] = 0;
    if (d == 0) return;
  }
}

std::set<std::int64_t> positions(const Numbers& extents, const Numbers& strides, std::int64_t offset) {
  std::set<std::int64_t> found;
  each_point(extents, [&](const Numbers& point) {
    std::int64_t at = offset;
    for (std::size_t d = 0; d < point.size(); ++d) at += point[d] * strides[d];
    found.insert(at);
  });
  return found;
}

/// A launch's kernel with its int arguments, evaluated point by point.
class Walk {
 public:
  Walk(const ir::Kernel& kernel, const Numbers& ints) : kernel_(kernel), ints_(ints) {
    for (ir::IntRef extent : kernel.extents) extents_.push_back(number(extent));
  }
  double points() const {
    double count = 1;
    for (std::int64_t extent : extents_) count *= static_cast<double>(extent);
    return count;
  }
  void touch(std::uint16_t map, std::set<std::int64_t>& positions) const {
    each_point(extents_, [&](const Numbers& point) { positions.insert(at(kernel_.maps[map], point)); });
  }

 private:
  std::int64_t number(ir::IntRef ref) const {
    return ref.is_zero() ? 0 : ref.is_one() ? 1 : ints_[ref.index];
  }
  std::int64_t at(const ir::IndexMap& map, const Numbers& given) const {
    Numbers point = given;
    std::int64_t result = 0;
    for (std::size_t s = 0; s < map.steps.size(); ++s) {
      const ir::MapStep& step = map.steps[s];
      for (std::size_t p = 0; p < step.maps.size(); ++p)
        result += at(kernel_.maps[step.maps[p]], given) * number(step.strides[p]);
      if (!step.maps.empty()) continue;
      if (s > 0) {
        point.assign(step.extents.size(), 0);
        for (std::size_t d = point.size(); d-- > 0;) {
          point[d] = result % number(step.extents[d]);
          result /= number(step.extents[d]);
        }
      }
      result = number(step.offset);
      for (std::size_t d = 0; d < point.size(); ++d) result += point[d] * number(step.strides[d]);
    }
    return result;
  }

  const ir::Kernel& kernel_;
  const Numbers& ints_;
  Numbers extents_;
};

/// Checks every kernel launch that runs during its lifetime.
class TrafficCheck : public runtime::TraceObserver {
 public:
  TrafficCheck() { runtime::add_observer(*this); }
  ~TrafficCheck() override { runtime::remove_observer(*this); }

  /// Plans for this device, and for one that batches equal kernels into a launch and shares reductions
  /// between workgroups.
  void runs(const runtime::TraceRun& run) override {
    if (!run.built) return;
    check(run.plan, run.trace);
    ir::DeviceTraits traits = run.traits;
    traits.batch_bytes = 4096;
    traits.grid_reductions = true;
    check(plan::make_plan(run.trace, traits, {}), run.trace);
  }

  int checked = 0, exact = 0, batched = 0;
  std::int64_t moved = 0;

 private:
  void check(const plan::Plan& plan, const trace::Trace& trace) {
    const plan::Traffic traffic = traffic_of(plan, trace);
    moved += traffic.bytes_moved();
    REQUIRE(traffic.least_bytes() <= traffic.bytes_moved());
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
      const plan::Launch& launch = plan.launches[i];
      for (const plan::Access& access : traffic.launches[i].accesses) {
        REQUIRE(access.bytes_read >= 0);
        REQUIRE(access.bytes_read <= access.shape.numel() * static_cast<std::int64_t>(size_of(access.dtype)));
        REQUIRE(access.least_bytes <= access.bytes_read + access.bytes_written);
      }
      if (const auto* kernel = std::get_if<std::uint32_t>(&launch.what))
        check(plan.kernels[*kernel], launch, traffic.launches[i]);
      if (launch.members > 1) ++batched;
    }
  }

  void check(const ir::Kernel& kernel, const plan::Launch& launch, const plan::LaunchTraffic& traffic) {
    using Place = std::tuple<int, std::uint32_t, std::size_t>;
    std::int64_t counted = 0, written = 0;
    bool all = true;  // false: some loads depend on values
    for (std::size_t member = 0; member < launch.members; ++member) {
      const Numbers ints(launch.ints.begin() + static_cast<std::ptrdiff_t>(member * kernel.ints),
                         launch.ints.begin() + static_cast<std::ptrdiff_t>((member + 1) * kernel.ints));
      const Walk walk(kernel, ints);
      if (walk.points() == 0 || walk.points() > 200000) return;
      std::map<Place, std::pair<std::size_t, std::set<std::int64_t>>> read;
      for (const ir::Expr& expr : kernel.exprs) {
        const bool load = expr.kind == ir::ExprKind::Load;
        if (expr.kind == ir::ExprKind::LoadAt || (load && expr.predicate != ir::kNone)) all = false;
        if (!load || expr.predicate != ir::kNone) continue;
        const plan::Binding& place = launch.buffers[member * kernel.buffers.size() + expr.buffer];
        auto& [size, elements] = read[{static_cast<int>(place.space), place.index, place.byte_offset}];
        size = size_of(kernel.buffers[expr.buffer].dtype);
        walk.touch(expr.map, elements);
      }
      for (const ir::Store& store : kernel.stores) {
        std::set<std::int64_t> elements;
        walk.touch(store.map, elements);
        written += static_cast<std::int64_t>(elements.size() * size_of(kernel.buffers[store.buffer].dtype));
      }
      for (const auto& [place, found] : read)
        counted += static_cast<std::int64_t>(found.first * found.second.size());
    }
    CHECK(traffic.bytes_written() == written);
    CHECK(traffic.bytes_read() >= counted);
    if (!all) return;
    ++checked;
    if (traffic.bytes_read() == counted) ++exact;
  }
};

}  // namespace

TEST_CASE("a reach never counts fewer positions than there are, and is exact for windows and views") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    Numbers extents, strides;
    for (std::size_t d = random() % 5; d-- > 0;) {
      extents.push_back(static_cast<std::int64_t>(random() % 6));
      strides.push_back(static_cast<std::int64_t>(random() % 25) - 12);
    }
    const std::set<std::int64_t> truth = positions(extents, strides, 5);
    const plan::Reach reach = plan::reach_of(extents, strides, 5);
    REQUIRE(reach.count >= static_cast<std::int64_t>(truth.size()));
    REQUIRE((reach.count == 0) == truth.empty());
    if (truth.empty()) continue;
    REQUIRE(reach.first == *truth.begin());
    REQUIRE(reach.last == *truth.rbegin());
  }
  auto count = [](const Numbers& extents, const Numbers& strides) {
    CHECK(plan::reach_of(extents, strides, 0).count ==
          static_cast<std::int64_t>(positions(extents, strides, 0).size()));
    return plan::reach_of(extents, strides, 0).count;
  };
  CHECK(count({4, 5}, {5, 1}) == 20);
  CHECK(count({4, 5}, {0, 1}) == 5);
  CHECK(count({4, 5}, {1, 4}) == 20);
  CHECK(count({4, 5}, {-10, 2}) == 20);
  // 3x3 windows with step 1 over 8x8, then with step 2 over 9x9: all elements are read; with step 4: gaps.
  CHECK(count({6, 6, 3, 3}, {8, 1, 8, 1}) == 64);
  CHECK(count({4, 4, 3, 3}, {18, 2, 9, 1}) == 81);
  CHECK(count({2, 2, 3, 3}, {40, 4, 10, 1}) == 36);
  CHECK(count({6, 6, 3, 3}, {20, 1, 20, 1}) == 64);  // the same windows over a part of each row
}

TEST_CASE("sets that overlap are counted once") {
  auto part = [](std::int64_t offset, std::int64_t extent, std::int64_t stride) {
    return plan::reach_of(Numbers{extent}, Numbers{stride}, offset);
  };
  auto covered = [](std::initializer_list<plan::Reach> reaches) {
    plan::Coverage coverage;
    std::int64_t added = 0;
    for (const plan::Reach& reach : reaches) added += coverage.add(reach);
    CHECK(added == coverage.total());
    return added;
  };
  CHECK(covered({}) == 0);
  CHECK(covered({part(0, 100, 1), part(50, 100, 1)}) == 150);
  CHECK(covered({part(0, 100, 1), part(100, 10, 1), part(200, 10, 1)}) == 120);
  CHECK(covered({part(200, 10, 1), part(0, 10, 1), part(5, 200, 1)}) == 210);
  CHECK(covered({part(0, 50, 2), part(1, 50, 2)}) == 100);
  CHECK(covered({part(0, 50, 2), part(98, 50, -2), part(0, 50, 2)}) == 50);
  CHECK(covered({part(3, 0, 1)}) == 0);

  // Contiguous ranges in any order are counted exactly; anything else is never underestimated.
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    plan::Coverage dense, any;
    std::set<std::int64_t> of_dense, of_any;
    for (int k = 0; k < 20; ++k) {
      const auto offset = static_cast<std::int64_t>(random() % 400),
                 extent = static_cast<std::int64_t>(random() % 30);
      const auto stride = static_cast<std::int64_t>(random() % 5) - 2;
      dense.add(part(offset, extent, 1));
      of_dense.merge(positions({extent}, {1}, offset));
      any.add(part(offset, extent, stride));
      of_any.merge(positions({extent}, {stride}, offset));
    }
    REQUIRE(dense.total() == static_cast<std::int64_t>(of_dense.size()));
    REQUIRE(any.total() >= static_cast<std::int64_t>(of_any.size()));
    REQUIRE(any.total() <= 460);
  }
}

TEST_CASE("bytes of random programs are those of the elements their kernels touch") {
  TrafficCheck traffic;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    testing::RandomProgramOptions options;
    options.steps = 10 + static_cast<int>(seed % 4) * 8;
    REQUIRE(testing::check(testing::random_program(seed, options), Device::host()) == "");
  }
  CHECK(traffic.checked > 500);
  // Irregular strides are counted as the range they span, which is rare.
  CHECK(traffic.exact >= traffic.checked * 97 / 100);
  MESSAGE(traffic.exact << " of " << traffic.checked << " kernels counted exactly");
}

TEST_CASE("cuts that did not last are left out, equal ones are joined") {
  trace::Trace trace;
  plan::Graph graph;
  plan::Grouping grouping;
  graph.trace = &trace;
  const char* const names[] = {"a.cpp", "a.cpp", "b.cpp", "b.cpp", "c.cpp"};
  const std::uint32_t lines[] = {1, 1, 2, 2, 3};
  for (std::uint32_t i = 0; i < 5; ++i) {
    trace::OpRecord& op = trace.ops.emplace_back();
    op.file = names[i];
    op.line = lines[i];
    graph.nodes.emplace_back().record = i;
  }
  grouping.owners = {plan::Owner::kernel(0), plan::Owner::kernel(1), plan::Owner::kernel(2),
                     plan::Owner::kernel(2), plan::kInline};
  grouping.cuts = {{0, 2, "far"}, {0, 2, "near"}, {1, 3, "far"},
                   {2, 3, "far"}, {4, 2, "far"},  {1, 2, "other"}};
  const std::vector<plan::PlanCut> cuts = plan::cuts_of(graph, grouping);
  REQUIRE(cuts.size() == 2);
  CHECK(cuts[0].producer == 0);
  CHECK(cuts[0].consumer == 2);
  CHECK(cuts[0].reason == "far");
  CHECK(cuts[0].count ==
        2);  // from both lines of a.cpp; a repeated attempt is the same cut, and one kernel has none
  CHECK(cuts[1].reason == "other");
}

TEST_CASE("a launch of several members moves what all of them move") {
  const Device device = Device::null();
  std::vector<Tensor<2>> all;
  std::int64_t bytes = 0;
  for (std::int64_t rows = 1; rows <= 9; ++rows) {
    all.push_back(
        Tensor<2>::from_data(std::vector<float>(static_cast<std::size_t>(rows * 16)), {rows, 16}, device));
    bytes += rows * 16 * 4;
  }
  device.sync();
  TrafficCheck traffic;
  for (Tensor<2>& x : all) x = x * 2.0 + 1.0;
  device.sync();
  CHECK(traffic.batched > 0);
  CHECK(traffic.exact == traffic.checked);
  CHECK(traffic.moved == 2 * 2 * bytes);  // read and written, in either plan
}
