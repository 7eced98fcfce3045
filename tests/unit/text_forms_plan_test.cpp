// The forms that the planner gives kernels for their sizes, on a fake device whose traits ask for them.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/runtime/explain/observe.h"

using namespace sinter;

namespace {

const Device device = Device::null();

/// The kernels of a program's plans on a device like a GPU, and their ints.
class Kernels : public runtime::TraceObserver {
 public:
  explicit Kernels(const std::function<AnyTensor()>& program) {
    device.sync();
    runtime::add_observer(*this);
    program().sync();
    runtime::remove_observer(*this);
  }

  void runs(const runtime::TraceRun& run) override {
    ir::DeviceTraits traits = run.traits;
    traits.reciprocals = traits.fixed_windows = traits.flat_vectors = true;
    traits.short_row_lanes = 32;
    for (const plan::Plan& plan = plan::make_plan(run.trace, traits, {});
         const plan::Launch& launch : plan.launches) {
      const auto* number = std::get_if<std::uint32_t>(&launch.what);
      REQUIRE(number);
      ir::verify(plan.kernels[*number]);
      kernels.push_back(plan.kernels[*number]);
      ints.emplace_back(launch.ints.begin(), launch.ints.end());
      texts.insert(ir::to_string(kernels.back()));
    }
  }

  const ir::Kernel& only() const {
    REQUIRE(kernels.size() == 1);
    return kernels[0];
  }

  std::vector<ir::Kernel> kernels;
  std::vector<std::vector<std::int64_t>> ints;
  std::set<std::string> texts;
};

AnyTensor blank(const Shape& shape, DType dtype = DType::f32) {
  const AnyTensor x = AnyTensor::full(shape, 0.5, dtype, device);
  x.sync();
  return x;
}

Kernels sum_of(const AnyTensor& a, const AnyTensor& b) {
  return Kernels([&] { return AnyTensor::add(a, b); });
}

using Counts = std::vector<std::uint16_t>;

}  // namespace

TEST_CASE("vectors go on across rows that are no whole vectors, where results and operands lie so") {
  const auto flat = [](const AnyTensor& a, const AnyTensor& b) {
    return sum_of(a, b).only().flat_maps.size();
  };
  CHECK(flat(blank({33, 7}), blank({1, 7})) == 1);
  CHECK(flat(blank({33, 7}), blank({33, 1})) == 1);
  CHECK(flat(blank({5, 33, 7}), blank({1, 33, 1})) == 1);
  // Whole vectors have a text of their own, and so have operands that lie like the result.
  CHECK(flat(blank({33, 8}), blank({1, 8})) == 0);
  CHECK(flat(blank({33, 7}), blank({33, 7})) == 0);
  // Of 16-bit elements a vector has eight.
  CHECK(flat(blank({33, 12}, DType::bf16), blank({1, 12}, DType::bf16)) == 1);
  CHECK(flat(blank({33, 16}, DType::bf16), blank({1, 16}, DType::bf16)) == 0);
  // As much is read from slices, whose neighbours would no longer be read by neighbouring lanes.
  const AnyTensor x = blank({33, 10});
  CHECK(flat(x.narrow(1, 0, 9), x.narrow(1, 1, 9)) == 0);
}

TEST_CASE("sizes that indices are divided by have reciprocals, and other sizes the same text") {
  const Kernels one = sum_of(blank({5, 33, 7}), blank({5, 1, 7})),
                other = sum_of(blank({6, 37, 7}), blank({6, 1, 7}));
  const ir::Kernel& kernel = one.only();
  REQUIRE(kernel.outer_rank == 3);
  CHECK(kernel.reciprocals.size() == 2);
  for (const ir::Reciprocal& r : kernel.reciprocals) {
    const ir::Factor factor = ir::reciprocal_of(one.ints[0].at(r.divisor));
    CHECK(one.ints[0].at(r.multiplier) == factor.multiplier);
    CHECK(one.ints[0].at(r.shift) == factor.shift);
  }
  CHECK(one.texts == other.texts);
  // 64-bit indices have none.
  const AnyTensor point = blank({1, 1, 1}).expand({2, 3, std::int64_t{1} << 30});
  CHECK(Kernels([&] {
          return AnyTensor::mul(point, blank({2, 1, 1})).sum(2);
        })
            .kernels[0]
            .reciprocals.empty());
}

TEST_CASE("windows and rows of few elements are written out; batches are not") {
  using Program = std::function<AnyTensor(const AnyTensor&)>;
  const auto sizes = [](const Shape& shape, const Program& program) {
    const AnyTensor x = blank(shape);
    return Kernels([&] { return program(x); }).only().inner_sizes;
  };
  const auto windows = [](std::int64_t size) {
    return [size](const AnyTensor& x) { return x.windows(2, size, 2).windows(3, size, 2).max({4, 5}); };
  };
  const auto sum = [](const AnyTensor& x) { return x.sum(0); };
  CHECK(sizes({2, 3, 17, 19}, windows(3)) == Counts{3, 3});
  CHECK(sizes({2, 3, 17, 19}, windows(2)) == Counts{2, 2});
  CHECK(sizes({2, 3, 31, 31}, windows(5)) == Counts{5, 5});
  CHECK(sizes({2, 3, 31, 31}, windows(7)) == Counts{7, 7});
  CHECK(sizes({4, 100}, [](const AnyTensor& x) { return x.windows(1, 7, 3).sum(2); }) == Counts{7});
  CHECK(sizes({1000, 2}, [](const AnyTensor& x) { return x.sum(1); }) == Counts{2});
  CHECK(sizes({1000, 3}, [](const AnyTensor& x) { return softmax(x, 1); }) == Counts{3});
  // A text for each size of a batch would be compiled for each.
  CHECK(sizes({3, 1000}, sum).empty());
  CHECK(sizes({3, 1000, 3}, [](const AnyTensor& x) { return x.sum({0, 2}); }).empty());
  // Large windows are loops.
  CHECK(sizes({2, 3, 31, 31}, windows(9)).empty());
}

TEST_CASE("what rows share is stored where columns would compute it for each element") {
  // The gradients of a norm's weight go down columns, its rows' root was found along rows.
  const std::int64_t rows = 4096, columns = 8192;
  const AnyTensor x = blank({rows, columns}), g = blank({rows, columns});
  const Kernels kernels([&] {
    const AnyTensor root = AnyTensor::add(AnyTensor::mul(x, x).mean(1), 1e-5).rsqrt();
    const AnyTensor along = AnyTensor::mul(AnyTensor::mul(g, root), x).sum(1);
    const AnyTensor down = AnyTensor::mul(AnyTensor::mul(g, root), x).sum(0);
    return AnyTensor::add(down, along);
  });
  int roots = 0;
  for (const ir::Kernel& kernel : kernels.kernels)
    for (const ir::Expr& expr : kernel.exprs)
      if (expr.op == Op::Rsqrt && expr.kind == ir::ExprKind::Elementwise) {
        ++roots;
        CHECK(expr.level == ir::Level::Outer);
      }
  CHECK(roots == 1);
}

TEST_CASE("columns are shared along a long loop, not along a short batch") {
  // The sum of a bias of attention's heads: (batch, heads, length, d) to (heads, d).
  const auto x = AnyTensor::full({8, 12, 1024, 64}, 1, DType::f32, device);
  x.sync();
  const Kernels found([&] { return x.sum({0, 2}); });
  const ir::Kernel& kernel = found.only();
  CHECK(kernel.schedule == ir::Schedule::LanesOuter);
  CHECK(found.ints[0][kernel.extents[kernel.outer_rank].index] == 1024);
  // Another batch, the same text.
  const auto few = AnyTensor::full({4, 12, 1024, 64}, 1, DType::f32, device);
  few.sync();
  CHECK(Kernels([&] { return few.sum({0, 2}); }).texts == found.texts);
}

TEST_CASE("a subgroup holds rows of 16 bits that are read once; others are held by more lanes") {
  const auto rows = [](DType dtype) {
    const AnyTensor x = AnyTensor::full({4096, 1024}, 1, dtype, device);
    x.sync();
    return x;
  };
  const AnyTensor half = rows(DType::bf16), other = rows(DType::bf16), whole = rows(DType::f32);
  CHECK(Kernels([&] { return softmax(half, 1); }).only().row_lanes == 32);
  CHECK(Kernels([&] { return softmax(whole, 1); }).only().row_lanes == 128);
  CHECK(Kernels([&] { return softmax(half * other, 1); }).only().row_lanes == 128);
}

TEST_CASE("what lies along a short loop is read vector by vector, whatever is left of it in rows") {
  const auto copy_of = [](std::int64_t channels, std::int64_t elements) {
    const AnyTensor filters = blank(Shape{32, channels, elements});
    return Kernels([&] { return AnyTensor::mul(filters.transpose(1, 2), 2.0); });
  };
  // The elements of filters come last but for eight channels.
  const Kernels near = copy_of(64, 9);
  const ir::Kernel& kernel = near.only();
  REQUIRE(kernel.outer_rank == 4);
  const auto extent = [&](std::size_t loop) { return near.ints[0][kernel.extents[loop].index]; };
  CHECK(extent(1) == 8);
  CHECK(extent(2) == 9);
  CHECK(extent(3) == 8);
  CHECK(copy_of(128, 9).texts == near.texts);
  // No whole vectors; long enough for tiles; a single element.
  CHECK(copy_of(65, 9).only().outer_rank == 3);
  CHECK(copy_of(64, 25).only().tile != ir::Kernel::kNoTile);
  CHECK(copy_of(64, 25).only().outer_rank == 3);
  CHECK(copy_of(64, 1).only().outer_rank == 1);
}
