// Reductions of columns that several workgroups share, whose lanes take several columns each where they lie
// in vectors: against the same in f64 on the host.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "src/base/env.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/small_gpu.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

class SharedColumns : public runtime::TraceObserver {
 public:
  SharedColumns() { runtime::add_observer(*this); }
  ~SharedColumns() override { runtime::remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    for (const ir::Kernel& kernel : run.plan.kernels)
      if (kernel.split && kernel.schedule == ir::Schedule::LanesOuter) {
        ++(emit::has_vectors_of_columns(kernel, like_a_gpu_) ? in_vectors : one_by_one);
        members = std::max(members, int{kernel.members});
      }
  }
  int in_vectors = 0, one_by_one = 0, members = 1;

 private:
  static emit::Target like_a_gpu() {
    emit::Target target(emit::dialect("cuda"));
    target.tile_bytes = std::size_t{48} << 10;
    return target;
  }
  const emit::Target like_a_gpu_ = like_a_gpu();
};

struct Given {
  Shape shape;         // batches, rows, columns
  std::int64_t first;  // of the columns that are reduced, within a tensor that has some more
  DType dtype;
};

/// On the host, rounded to the dtype that the device computes from.
A values(const Shape& shape, DType dtype, unsigned seed, double offset) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> data(static_cast<std::size_t>(shape.numel()));
  for (float& value : data) value = normal(random) + static_cast<float>(offset);
  return Tensor<3>::from_data(data, {shape[0], shape[1], shape[2]}, Device::host()).dynamic().cast(dtype);
}

/// Sums of x, of what deviates from a value of each column, of quotients by it; squared deviations, which go
/// beside them in vectors and beside greatest values one by one; sums within bounds. Over rows, and over
/// batches and rows. And many sums.
std::vector<std::vector<double>> reduce(const Given& given, DType dtype, const Device& device) {
  Shape wider = given.shape;
  wider[2] += given.first;
  const auto put = [&](const A& x) {
    const A there = x.cast(dtype).to_device(device);
    there.sync();
    return there;
  };
  const A wide = put(values(wider, given.dtype, 1, 3)), x = wide.narrow(2, given.first, given.shape[2]),
          y = put(values(given.shape, given.dtype, 2, 0.5)),
          of_column = put(values({1, 1, given.shape[2]}, given.dtype, 3, 8));
  const A wide_x = x.cast(dtype == DType::f64 ? DType::f64 : DType::f32), wide_y = y.cast(wide_x.dtype());
  std::vector<A> results;
  for (const Axes& axes : {Axes{1}, Axes{0, 1}}) {
    results.push_back(wide_x.sum(axes));
    results.push_back(A::mul(A::sub(wide_x, of_column), wide_y).sum(axes));
    results.push_back(A::div(wide_y, of_column).sum(axes));
    results.push_back(wide_x.var(axes, 0));
    device.sync();
    results.push_back(wide_x.var(axes, 0));
    results.push_back(wide_y.max(axes));
    device.sync();
    // More rows, of zeros.
    results.push_back(
        A::mul(wide_x.pad({0, 2, 0}, {0, 3, 0}, 0.0), wide_x.pad({0, 2, 0}, {0, 3, 0}, 0.0)).sum(axes));
    device.sync();
  }
  // More sums than have room to hand their columns over.
  for (int k = 1; k <= 14; ++k) results.push_back(A::mul(wide_x, static_cast<double>(k)).sum(1));
  device.sync();
  std::vector<std::vector<double>> numbers;
  for (const A& result : results) {
    const A on_host = result.to_device(Device::host()).cast(DType::f64);
    on_host.read_bytes(
        std::as_writable_bytes(std::span(numbers.emplace_back(static_cast<std::size_t>(result.numel())))));
  }
  return numbers;
}

}  // namespace

TEST_CASE("columns that workgroups share are reduced as in f64, in vectors or not") {
  const Device device = small_gpu();
  const bool shares = !test_device().name().starts_with("host") && base::environment().fusion;
  std::vector<Given> cases;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    for (const std::int64_t columns : {3, 4, 10, 32, 36, 64, 130})
      cases.push_back({{1, 4099, columns}, 0, dtype});
    cases.push_back({{3, 2501, 8}, 0, dtype});   // a vector goes over no batch's end
    cases.push_back({{3, 2501, 6}, 0, dtype});   // it would
    cases.push_back({{1, 4099, 36}, 4, dtype});  // begins at a vector
    cases.push_back({{1, 4099, 36}, 3, dtype});  // does not
    cases.push_back({{2, 33, 40}, 0, dtype});    // fewer rows than are taken at once
  }
  for (const Given& given : cases) {
    CAPTURE(to_string(given.shape));
    CAPTURE(given.first);
    CAPTURE(name_of(given.dtype));
    SharedColumns shared;
    const auto got = reduce(given, given.dtype, device);
    if (shares && given.shape[1] > 2000) CHECK((shared.in_vectors > 0 && shared.one_by_one > 0));
    CHECK(got == reduce(given, given.dtype, device));
    const auto want = reduce(given, DType::f64, Device::host());
    REQUIRE(got.size() == want.size());
    for (std::size_t r = 0; r < got.size(); ++r) {
      CAPTURE(r);
      double largest = 1, farthest = 0;
      for (std::size_t i = 0; i < want[r].size(); ++i) {
        largest = std::max(largest, std::abs(want[r][i]));
        farthest = std::isnan(got[r][i]) ? INFINITY : std::max(farthest, std::abs(got[r][i] - want[r][i]));
      }
      CHECK(farthest / largest < 5e-6);
    }
  }
}

TEST_CASE("columns of many tensors are reduced by one launch where workgroups may share them so") {
  const Device device = small_gpu();
  const bool shares = test_device().name().starts_with("cuda") && base::environment().fusion;
  const std::vector<Shape> shapes = {
      {1, 4099, 36}, {1, 2500, 130}, {1, 5001, 10}, {1, 2049, 36}, {1, 3000, 4}};
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    CAPTURE(name_of(dtype));
    if (dtype == DType::f64 && !has_dtype(device, dtype)) continue;
    std::vector<A> on_device, results;
    for (const Shape& shape : shapes) {
      on_device.push_back(values(shape, dtype, static_cast<unsigned>(shape[1]), 0.5).to_device(device));
      on_device.back().sync();
    }
    // Kernels of one text are members of one launch, whichever sizes they have.
    const auto sums = [&] {
      std::vector<A> all;
      for (const A& x : on_device)
        all.push_back(A::mul(x.cast(dtype == DType::f64 ? dtype : DType::f32).sum(1), 0.25));
      device.sync();
      return all;
    };
    SharedColumns shared;
    const std::vector<A> first = sums(), again = sums();
    if (shares) CHECK(shared.members > 1);
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      CAPTURE(to_string(shapes[k]));
      const auto read = [](const A& x) {
        std::vector<double> numbers(static_cast<std::size_t>(x.numel()));
        const A on_host = x.to_device(Device::host()).cast(DType::f64);
        on_host.read_bytes(std::as_writable_bytes(std::span(numbers)));
        return numbers;
      };
      const std::vector<double>
          got = read(first[k]),
          want = read(A::mul(
              values(shapes[k], dtype, static_cast<unsigned>(shapes[k][1]), 0.5).cast(DType::f64).sum(1),
              0.25));
      CHECK(got == read(again[k]));
      double farthest = 0;
      for (std::size_t i = 0; i < want.size(); ++i) farthest = std::max(farthest, std::abs(got[i] - want[i]));
      CHECK(farthest < 1e-6 * static_cast<double>(shapes[k][1]));
    }
  }
}

// What a frame has in front of its columns, a vector's number may not be below 0 for.
TEST_CASE("columns of frames and of pieces side by side, which begin at whole vectors or not") {
  const Device device = small_gpu();
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const std::int64_t before : {8, 16, 3, 4}) {
      CAPTURE(name_of(dtype));
      CAPTURE(before);
      const A x = values({1, 5000, 24}, dtype, 7, 0.5).squeeze(0),
              y = values({1, 5000, before}, dtype, 8, 0.5).squeeze(0);
      const auto sums = [&](const Device& on, DType wide) {
        const A a = x.to_device(on), b = y.to_device(on);
        a.sync();
        b.sync();
        const A framed = a.pad({0, before}, {0, 8}, 0).cast(wide), joined = cat({b, a}, 1).cast(wide);
        std::vector<double> found;
        for (const A& sum : {framed.sum(0), joined.sum(0), A::mul(framed, framed).sum(0)}) {
          std::vector<double> numbers(static_cast<std::size_t>(sum.numel()));
          sum.to_device(Device::host())
              .cast(DType::f64)
              .read_bytes(std::as_writable_bytes(std::span(numbers)));
          found.insert(found.end(), numbers.begin(), numbers.end());
        }
        return found;
      };
      const std::vector<double> got = sums(device, DType::f32), want = sums(Device::host(), DType::f64);
      double farthest = 0;
      for (std::size_t i = 0; i < want.size(); ++i) farthest = std::max(farthest, std::abs(got[i] - want[i]));
      CHECK(farthest < 1e-6 * 5000);
    }
}

}  // namespace sinter::testing
