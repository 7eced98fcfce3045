// Depthwise convolutions on GPUs: which kernels compute them, in which order, and what their lanes load at
// once. What they compute, depthwise_test asks.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/planned_norms.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

struct Depthwise {
  Shape shape{8, 32, 14, 14};  // (n, c, h, w)
  bool last = false;           // c is last in memory
  std::int64_t kernel = 3;
  DType dtype = DType::bf16;

  AnyTensor image(const Device& device) const {
    if (!last) return input(shape, device, dtype);
    return input({shape[0], shape[2], shape[3], shape[1]}, device, dtype).permute({0, 3, 1, 2});
  }
  AnyTensor weight(const Device& device) const { return input({shape[1], 1, kernel, kernel}, device, dtype); }
  Conv2dOptions options() const { return {.padding = {kernel / 2, kernel / 2}, .groups = shape[1]}; }

  Planned forward() const {
    return planned(
        [&](const Device& device) {
          return std::vector{relu(image(device).conv2d(weight(device), options()))};
        },
        like_a_gpu());
  }
  Planned gradients() const {
    return planned(
        [&](const Device& plain) {
          const Device device = plain.autodiff();
          const AnyTensor x = image(device).require_grad(), w = weight(device).require_grad();
          const AnyTensor y = x.conv2d(w, options());
          const AnyTensor product = AnyTensor::mul(y, image(device));
          const Gradients found = product.sum(product.all_axes()).reshape({}).backward();
          return std::vector{*found.get(x), *found.get(w)};
        },
        like_a_gpu());
  }
};

/// The texts of kernels that reduce.
std::vector<std::string> texts(const Planned& p) {
  std::vector<std::string> found;
  for (const auto& kernel : p.plan.kernels)
    if (kernel->inner_rank > 0) found.push_back(emit::emit(*kernel, cuda_target(like_a_gpu())).text);
  return found;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a depthwise convolution is one kernel, with what stands behind it") {
  const Planned p = Depthwise{}.forward();
  CHECK(p.libraries == 0);
  CHECK(p.plan.launches.size() == 1);
  // Where channels are last, the weight is put in that order before.
  const Planned last = Depthwise{.last = true}.forward();
  CHECK(last.libraries == 0);
  CHECK(last.plan.launches.size() == 2);
  const Planned gradients = Depthwise{}.gradients();
  CHECK(gradients.libraries == 0);
  CHECK(gradients.plan.launches.size() == 3);  // of the weight its sums, and these one behind the other
}

TEST_CASE("sums of a weight's gradient are those of one kernel, of all places of a window or of a line") {
  const auto sums = [](const Depthwise& of) {
    std::size_t most = 0;
    for (const auto& kernel : of.gradients().plan.kernels)
      most = std::max(most, static_cast<std::size_t>(std::count_if(
                                kernel->exprs.begin(), kernel->exprs.end(),
                                [](const ir::Expr& e) { return e.kind == ir::ExprKind::Reduce; })));
    return most;
  };
  for (const bool last : {false, true}) {
    CHECK(sums({.last = last, .kernel = 1}) == 1);
    CHECK(sums({.last = last, .kernel = 3}) == 9);
    CHECK(sums({.last = last, .kernel = 5}) == 5);
    CHECK(sums({.last = last, .kernel = 7}) == 7);
  }
}

TEST_CASE("workgroups share the points of few images") {
  const Planned p = Depthwise{.shape = {2, 32, 56, 56}, .last = true}.gradients();
  bool is_split = false;
  for (const plan::Launch& launch : p.plan.launches) {
    const ir::Kernel& kernel = *p.plan.kernels[std::get<std::uint32_t>(launch.what)];
    if (!kernel.split) continue;
    is_split = true;
    CHECK(emit::geometry(kernel, cuda_target(like_a_gpu()), launch.ints).parts > 2);
  }
  CHECK(is_split);
}

TEST_CASE("what the image is made of is computed once, before, and results of 16 bits are stored as such") {
  for (const bool last : {false, true}) {
    const Depthwise of{.last = last};
    const Planned p = planned(
        [&](const Device& device) {
          const AnyTensor x = of.image(device), weight = of.weight(device);
          const AnyTensor y = silu(x).conv2d(weight, of.options());
          const AnyTensor centred = AnyTensor::sub(y, y.mean({0, 2, 3}));
          return std::vector{centred.square().mean({0, 2, 3}), relu(y)};
        },
        like_a_gpu());
    CHECK(p.libraries == 0);
    std::size_t exponentials = 0;
    for (const auto& kernel : p.plan.kernels) {
      const bool has_exp = std::any_of(kernel->exprs.begin(), kernel->exprs.end(), [](const ir::Expr& e) {
        return e.kind == ir::ExprKind::Elementwise && (e.op == Op::Exp || e.op == Op::Sigmoid);
      });
      if (!has_exp) continue;
      ++exponentials;
      CHECK(kernel->inner_rank == 0);
    }
    CHECK(exponentials == 1);
    // No image of f32 is in memory.
    for (const auto& kernel : p.plan.kernels)
      for (const ir::Store& store : kernel->stores)
        CHECK((kernel->buffers[store.buffer].dtype == DType::bf16 || kernel->inner_rank > 0));
  }
}

TEST_CASE("points of windows are not counted, so that numbers have 32 bits as long as images do") {
  for (const bool last : {false, true}) {
    const Planned p = Depthwise{.shape = {64, 384, 56, 56}, .last = last, .kernel = 7}.forward();
    for (const auto& kernel : p.plan.kernels) CHECK_FALSE(kernel->wide);
  }
}

TEST_CASE("its lanes take neighbouring channels at once where these are last in memory") {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const std::vector<std::string> last = texts(Depthwise{.last = true, .dtype = dtype}.forward()),
                                   first = texts(Depthwise{.dtype = dtype}.forward());
    REQUIRE(last.size() == 1);
    REQUIRE(first.size() == 1);
    CHECK(has(last[0], dtype == DType::bf16 ? "sn_load8_bf16(" : "sn_load4_f32("));
    CHECK_FALSE(has(first[0], "sn_load8_bf16("));
    CHECK_FALSE(has(first[0], "sn_load4_f32("));
  }
  const std::vector<std::string> gradients = texts(Depthwise{.last = true}.gradients());
  REQUIRE(gradients.size() == 2);
  // Sums of a weight's gradient have columns of several lanes, the image's are each of one.
  CHECK(has(gradients[0], "sn_load8_bf16(") != has(gradients[1], "sn_load8_bf16("));
  CHECK(has(gradients[0], "sn_load4_bf16(") != has(gradients[1], "sn_load4_bf16("));
}

TEST_CASE("windows of up to 64 points are written out, those of more are loops") {
  const auto written_out = [](std::int64_t kernel) {
    const Planned p = Depthwise{.kernel = kernel}.forward();
    REQUIRE(p.plan.launches.size() == 1);
    return !p.plan.kernels[0]->inner_sizes.empty();
  };
  CHECK(written_out(3));
  CHECK(written_out(7));
  CHECK_FALSE(written_out(9));
}

TEST_CASE("groups of several channels, and convolutions by themselves, stay products") {
  const auto libraries = [](std::int64_t groups) {
    return planned(
               [&](const Device& device) {
                 return std::vector{
                     input({2, 8, 6, 6}, device, DType::f32)
                         .conv2d(input({8, 8 / groups, 3, 3}, device, DType::f32), {.groups = groups})};
               },
               like_a_gpu())
        .libraries;
  };
  CHECK(libraries(1) == 1);
  CHECK(libraries(4) == 1);
  CHECK(libraries(8) == 0);
  // With one image channel and one group it is no depthwise convolution, but one of few channels.
  const Planned single = planned(
      [&](const Device& device) {
        return std::vector{
            input({2, 1, 6, 6}, device, DType::f32).conv2d(input({8, 1, 3, 3}, device, DType::f32), {})};
      },
      like_a_gpu());
  CHECK(single.libraries == 1);
}
