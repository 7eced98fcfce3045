// Sums over rows that the kernels of rows add up in parts, on a device like a GPU that need not be there.
#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/planned_norms.h"

using namespace sinter;
using testing::like_a_gpu, testing::norm_gradients, testing::Planned;

namespace {

/// How often all kernels read values of at least so many elements.
int reads_of(const Planned& planned, std::int64_t numel) {
  int reads = 0;
  for (const plan::Launch& launch : planned.plan.launches)
    for (const plan::ValueUse& use : launch.uses)
      reads += use.read && planned.plan.shapes[use.value].numel() >= numel ? 1 : 0;
  return reads;
}

const ir::Kernel* with_parts(const Planned& planned) {
  const ir::Kernel* found = nullptr;
  for (const plan::PlanKernel& kernel : planned.plan.kernels)
    if (ir::has_parts(kernel)) {
      CHECK(found == nullptr);
      ir::verify(kernel);
      found = &*kernel;
    }
  return found;
}

std::int64_t parts_of(const Planned& planned) {
  for (const plan::Launch& launch : planned.plan.launches)
    if (const auto* number = std::get_if<std::uint32_t>(&launch.what);
        number && ir::has_parts(planned.plan.kernels[*number]))
      return launch.ints[planned.plan.kernels[*number]->parts.index];
  return 0;
}

}  // namespace

TEST_CASE("gradients of norms read x and the result's gradient once") {
  for (const bool centred : {false, true})
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const Shape& shape : {Shape{1016800, 33}, Shape{349525, 96}, Shape{130561, 257}, Shape{43690, 768},
                                 Shape{32768, 1024}, Shape{8192, 4096}, Shape{4096, 8192}}) {
        CAPTURE(to_string(shape));
        CAPTURE(centred);
        CAPTURE(name_of(dtype));
        const Planned planned = norm_gradients(shape, dtype, centred);
        CHECK(planned.plan.launches.size() == 2);
        CHECK(reads_of(planned, shape.numel()) == 2);
        const ir::Kernel* kernel = with_parts(planned);
        REQUIRE(kernel != nullptr);
        CHECK(kernel->part_step == (shape[1] % 4 != 0 && kernel->row_lanes >= 32 ? 4 : 1));
        // Parts are little beside the rows, and enough to keep all units at work.
        CHECK(parts_of(planned) * kernel->row_cluster >= 128);
        CHECK(parts_of(planned) * 8 <= shape[0]);
        CHECK(planned.has_cut("sums over all rows, of which the rows' kernel adds up parts"));
        CHECK_FALSE(planned.has_cut("reductions over different dimensions"));
      }
}

TEST_CASE("a bias whose gradient sums what a norm's kernel computes is summed there") {
  // The gradient of x + bias is that of the norm's input, and cast for a product.
  const auto planned = testing::planned(
      [](const Device& device) {
        using A = AnyTensor;
        const A x = testing::input({43690, 768}, device, DType::f32);
        const A normed = A::mul(x, A::add(A::mul(x, x).mean(1), 1e-5).rsqrt()).cast(DType::bf16);
        return std::vector{normed, normed.cast(DType::f32).sum(0)};
      },
      like_a_gpu());
  CHECK(planned.plan.launches.size() == 2);
  CHECK(reads_of(planned, 43690 * 768) == 1);
  CHECK(with_parts(planned) != nullptr);
}

TEST_CASE("several kernels of sums join the same rows") {
  const auto planned = testing::planned(
      [](const Device& device) {
        using A = AnyTensor;
        const A x = testing::input({8192, 768}, device), dy = testing::input({8192, 768}, device);
        const A rows = A::mul(A::mul(x, dy), A::add(A::mul(x, x).mean(1), 1e-5).rsqrt());
        // They read nothing that is the same: the second sum is of what the rows' kernel writes.
        return std::vector{rows, A::mul(x, dy).sum(0), rows.sum(0)};
      },
      like_a_gpu());
  int sums = 0;
  if (const ir::Kernel* kernel = with_parts(planned))
    for (const ir::Expr& expr : kernel->exprs) sums += expr.kind == ir::ExprKind::Partial ? 1 : 0;
  CHECK(sums == 2);
}

TEST_CASE("rows that are too few, too little or too long are read twice, and the plan says why") {
  const auto is_apart = [](const Shape& shape, const std::string& reason, DType dtype = DType::f32) {
    const Planned planned = norm_gradients(shape, dtype, true);
    CAPTURE(to_string(shape));
    CHECK(with_parts(planned) == nullptr);
    CHECK(reads_of(planned, shape.numel()) >= 4);
    CHECK(planned.has_cut(reason));
  };
  is_apart({100, 16000}, "too few of them to keep the device busy in parts");
  is_apart({8192, 128}, "reductions over different dimensions");
  is_apart({667, 50257}, "for which registers are too few beside the row");
  is_apart({8194, 4095}, "beside which too few rows would be under way", DType::bf16);
  is_apart({1150, 1024}, "whose parts would take most of what reading once spares");
}

TEST_CASE("a sum that the rows wait for is none of theirs") {
  const Planned planned = testing::planned(
      [](const Device& device) {
        using A = AnyTensor;
        const A x = testing::input({43690, 768}, device, DType::f32);
        return std::vector{A::mul(x, x.sum(0)).sum(1), A::mul(x, 2.0).sum(1)};
      },
      like_a_gpu());
  // The rows of x alone may be summed beside its columns; those that are scaled by the sums may not.
  CHECK(planned.plan.launches.size() >= 2);
  for (const plan::Launch& launch : planned.plan.launches)
    if (const auto* number = std::get_if<std::uint32_t>(&launch.what);
        number && ir::has_parts(planned.plan.kernels[*number]))
      CHECK(planned.plan.kernels[*number]->buffers.size() == 3);
}

TEST_CASE("rows that clusters hold are no members of one launch") {
  ir::DeviceTraits traits = like_a_gpu();
  traits.batch_bytes = 1 << 15;
  const Planned planned = testing::planned(
      [](const Device& device) {
        const Tensor<2> x{testing::input({640, 9000}, device, DType::f32)},
            y{testing::input({640, 9004}, device, DType::f32)};
        return std::vector{softmax(x, 1).dynamic(), softmax(y, 1).dynamic()};
      },
      traits);
  int of_clusters = 0;
  for (const plan::Launch& launch : planned.plan.launches) {
    if (planned.plan.kernels[std::get<std::uint32_t>(launch.what)]->row_cluster == 1) continue;
    ++of_clusters;
    CHECK(launch.members == 1);
  }
  CHECK(of_clusters == 2);
}
