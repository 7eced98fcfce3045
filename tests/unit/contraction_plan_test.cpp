// Products on devices with tensor cores: what becomes one kernel with tiles, what stays a library op, and
// what the text of such a kernel is made of.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using namespace sinter::testing;

TEST_CASE("a product of 16-bit floats is one kernel, however its factors lie") {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        const Planned p =
            product(transpose_a ? Shape{128, 512} : Shape{512, 128},
                    transpose_b ? Shape{256, 128} : Shape{128, 256}, transpose_a, transpose_b, dtype);
        CHECK(p.plan.launches.size() == 1);
        REQUIRE(p.tiled == 1);
        CHECK(p.kernel->tiling.a.across == transpose_a);
        CHECK(p.kernel->tiling.b.across == !transpose_b);
        CHECK(p.kernel->tiling.vectors);
        CHECK(p.kernel->buffers[p.kernel->stores[0].buffer].dtype == dtype);
      }
}

TEST_CASE("without tensor cores, and for f32 that must be exact, products stay library ops") {
  ir::DeviceTraits plain = with_tensor_cores();
  plain.tensor_cores = {};
  const auto program = [](DType dtype, MatmulPrecision precision) {
    return [=](const Device& device) {
      const MatmulPrecisionScope scope(precision);
      return std::vector{input({64, 64}, device, dtype).matmul(input({64, 64}, device, dtype))};
    };
  };
  CHECK(planned(program(DType::bf16, MatmulPrecision::Highest), plain).libraries == 1);
  CHECK(planned(program(DType::f32, MatmulPrecision::High), plain).libraries == 1);
  CHECK(planned(program(DType::f32, MatmulPrecision::Highest)).libraries == 1);
  CHECK(planned(program(DType::f64, MatmulPrecision::High)).libraries == 1);
  CHECK(planned(program(DType::bf16, MatmulPrecision::Highest)).libraries == 0);
  const Planned high = planned(program(DType::f32, MatmulPrecision::High)),
                medium = planned(program(DType::f32, MatmulPrecision::Medium));
  REQUIRE((high.tiled == 1 && medium.tiled == 1));
  CHECK(high.kernel->tiling.multiplied == DType::f32);
  CHECK(medium.kernel->tiling.multiplied == DType::bf16);
}

TEST_CASE("gradients have the precision of their product") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({128, 64}, device.autodiff(), DType::f32).require_grad(),
                    w = input({64, 256}, device.autodiff(), DType::f32).require_grad();
    AnyTensor y;
    {
      const MatmulPrecisionScope scope(MatmulPrecision::High);
      y = x.matmul(w);
    }
    CHECK(matmul_precision() == MatmulPrecision::Highest);
    const Gradients gradients = y.sum({0, 1}).backward();
    return std::vector{*gradients.get(x), *gradients.get(w)};
  });
  CHECK(p.libraries == 0);
}

TEST_CASE("what the copy engine cannot read is computed by lanes") {
  const auto computed = [](const Planned& p) {
    return p.tiled == 1 && p.kernel->tiling.a.computed && p.kernel->tiling.b.computed;
  };
  CHECK(computed(product({64, 100}, {100, 60})));        // rows of 200 and 120 bytes
  CHECK(product({64, 128}, {128, 100}).tiled == 1);      // those of one factor
  CHECK_FALSE(computed(product({64, 104}, {104, 72})));  // multiples of 16 bytes that are no whole tiles
  CHECK(product({0, 64}, {64, 64}).libraries == 0);      // nothing is computed
  CHECK(product({64, 1}, {1, 64}).libraries == 1);       // nothing to add up
  CHECK(product({64, 64}, {8, 64, 64}).tiled == 1);      // one factor for all of a batch
  CHECK(product({2, 3, 64, 64}, {2, 1, 64, 64}).tiled == 1);
  // Of f32 tensor cores read what lies along the sum; where it lies across, lanes bring it.
  const Planned p = planned([](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    return std::vector{input({64, 128}, device, DType::f32).matmul(input({128, 256}, device, DType::f32))};
  });
  REQUIRE(p.tiled == 1);
  CHECK_FALSE(p.kernel->tiling.a.computed);
  CHECK(p.kernel->tiling.b.computed);
  CHECK(p.kernel->tiling.b.across);
}

TEST_CASE("a factor of f32 that lies across the sum is copied where it is used often enough") {
  const auto product_of = [](const Shape& a, const Shape& b, bool transpose_a, bool transpose_b) {
    return planned([=](const Device& device) {
      const MatmulPrecisionScope scope(MatmulPrecision::High);
      const auto factor = [&](const Shape& shape, bool transpose) {
        const AnyTensor x = input(shape, device, DType::f32);
        return transpose ? x.transpose(0, 1) : x;
      };
      return std::vector{factor(a, transpose_a).matmul(factor(b, transpose_b))};
    });
  };
  const auto copies = [](const Planned& p) { return p.plan.launches.size() - 1; };
  const auto computed = [](const Planned& p) {
    REQUIRE(p.tiled == 1);
    return int(p.kernel->tiling.a.computed) + int(p.kernel->tiling.b.computed);
  };
  const Planned along = product_of({1024, 512}, {1024, 512}, false, true);
  CHECK((copies(along) == 0 && computed(along) == 0));
  const Planned right = product_of({1024, 512}, {512, 1024}, false, false);
  CHECK((copies(right) == 1 && computed(right) == 0));
  const Planned left = product_of({512, 1024}, {1024, 512}, true, true);
  CHECK((copies(left) == 1 && computed(left) == 0));
  const Planned both = product_of({512, 1024}, {512, 1024}, true, false);
  CHECK((copies(both) == 2 && computed(both) == 0));
  // Each element of the right factor is multiplied by 256 rows alone.
  const Planned few = product_of({256, 512}, {512, 1024}, false, false);
  CHECK((copies(few) == 0 && computed(few) == 1));
  // Memory decides how long a product with so short sums takes.
  const Planned shallow = product_of({1024, 64}, {64, 1024}, false, false);
  CHECK((copies(shallow) == 0 && computed(shallow) == 1));
  // Rows of a copy could not be read by the copy engine either.
  const Planned odd = product_of({1024, 511}, {511, 1024}, false, false);
  CHECK((copies(odd) == 0 && computed(odd) == 2));
}

TEST_CASE("a factor of f32 that products of a batch share is not copied for each of them") {
  const auto batch_of = [](std::int64_t batch) {
    return planned([=](const Device& device) {
      const MatmulPrecisionScope scope(MatmulPrecision::High);
      const AnyTensor x = input({8, 1024, 512}, device, DType::f32),
                      w = input({batch, 512, 1024}, device, DType::f32);
      return std::vector{x.matmul(w)};
    });
  };
  CHECK(batch_of(8).plan.launches.size() == 2);
  CHECK(batch_of(1).plan.launches.size() == 1);
}

TEST_CASE("three products of tf32 stand for a large one of f32") {
  const auto product_of = [](const Shape& a, const Shape& b, bool transpose_a, bool transpose_b,
                             const ir::DeviceTraits& traits = with_tensor_cores()) {
    return planned(
        [=](const Device& device) {
          const MatmulPrecisionScope scope(MatmulPrecision::Tf32x3);
          const AnyTensor x = input(a, device, DType::f32), y = input(b, device, DType::f32);
          return std::vector{
              (transpose_a ? x.transpose(0, 1) : x).matmul(transpose_b ? y.transpose(0, 1) : y)};
        },
        traits);
  };
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      const Planned p =
          product_of(transpose_a ? Shape{1200, 2048} : Shape{2048, 1200},
                     transpose_b ? Shape{2048, 1200} : Shape{1200, 2048}, transpose_a, transpose_b);
      REQUIRE(p.tiled == 1);
      CHECK(p.libraries == 0);
      CHECK(p.plan.launches.size() == 3);  // the parts of both factors, and the product
      CHECK_FALSE(p.kernel->tiling.a.computed);
      CHECK_FALSE(p.kernel->tiling.b.computed);
      CHECK(p.kernel->tiling.multiplied == DType::f32);
      CHECK(plan::product_sizes(*p.kernel, p.ints).depth == 3600);
    }
  CHECK(product_of({512, 512}, {512, 512}, false, false).libraries == 1);      // soon done exactly
  CHECK(product_of({2048, 1201}, {1201, 2048}, false, false).libraries == 1);  // no whole rows
  ir::DeviceTraits plain = with_tensor_cores();
  plain.tensor_cores = {};
  CHECK(product_of({2048, 1200}, {1200, 2048}, false, false, plain).libraries == 1);
}

TEST_CASE("products that read a factor of f32 across the sum share its copy") {
  const Planned p = planned([](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    const AnyTensor x = input({1024, 512}, device, DType::f32), y = input({2048, 512}, device, DType::f32),
                    w = input({512, 1024}, device, DType::f32);
    return std::vector{x.matmul(w), y.matmul(w)};
  });
  CHECK(p.tiled == 2);
  CHECK(p.plan.launches.size() == 3);
}

TEST_CASE("a convolution and its gradients are kernels over windows, with what follows") {
  const Planned p = planned([](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    const Device tracked = device.autodiff();
    const AnyTensor x = input({8, 32, 16, 16}, tracked, DType::f32).require_grad(),
                    w = input({64, 32, 3, 3}, tracked, DType::f32).require_grad(),
                    bias = input({1, 64, 1, 1}, tracked, DType::f32);
    const AnyTensor y = relu(AnyTensor::add(x.conv2d(w, {.stride = {1, 1}, .padding = {1, 1}}), bias));
    const Gradients gradients = y.sum({0, 1, 2, 3}).backward();
    return std::vector{y, *gradients.get(x), *gradients.get(w)};
  });
  CHECK(p.libraries == 0);
  CHECK(p.tiled == 3);
  // Each product, a copy of the weight for two of them, and the mask of relu.
  CHECK(p.plan.launches.size() <= 6);
}

TEST_CASE("between convolutions images are not transposed") {
  // Two convolutions with what stands between them: their kernels, and copies of two weights.
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({4, 8, 8, 64}, device), v = input({64, 64, 3, 3}, device),
                    w = input({64, 64, 3, 3}, device);
    const AnyTensor y = relu(x.permute({0, 3, 1, 2}).conv2d(v, {.padding = {1, 1}}));
    return std::vector{AnyTensor::add(y, y.conv2d(w, {.padding = {1, 1}}))};
  });
  CHECK(p.tiled == 2);
  CHECK(p.plan.launches.size() == 4);
  CHECK(p.kernel->tiling.a.windows);
  // Nor where casts stand between: one kernel casts the image, and one the weight.
  const Planned q = planned([](const Device& device) {
    const AnyTensor x = input({4, 64, 8, 8}, device, DType::f32),
                    w = input({64, 64, 3, 3}, device, DType::f32);
    return std::vector{relu(x).cast(DType::bf16).conv2d(w.cast(DType::bf16), {.padding = {1, 1}})};
  });
  CHECK(q.tiled == 1);
  CHECK(q.plan.launches.size() == 3);
  CHECK(q.kernel->tiling.a.windows);
}

TEST_CASE("products of one row are kernels like other reductions") {
  const Planned p = product({1, 4096}, {4096, 4096}, false, true);
  CHECK(p.libraries == 0);
  CHECK(p.tiled == 0);
  CHECK(p.plan.launches.size() == 1);
}

TEST_CASE("what follows a product is computed in its kernel") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({512, 128}, device), w = input({256, 128}, device),
                    bias = input({1, 256}, device), rest = input({512, 256}, device, DType::f32);
    const AnyTensor y = AnyTensor::add(x.matmul(w.transpose(0, 1)), bias);
    return std::vector{gelu(y), AnyTensor::add(y.cast(DType::f32), rest)};
  });
  CHECK(p.plan.launches.size() == 1);
  REQUIRE(p.tiled == 1);
  CHECK(p.kernel->stores.size() == 2);
}

TEST_CASE("what moves much memory stays apart from tiles") {
  // The gradient of a weight, and what an optimizer does with it.
  const auto step = [](std::int64_t in, std::int64_t out) {
    return planned([&](const Device& device) {
      const AnyTensor x = input({8192, in}, device), y = input({8192, out}, device),
                      first = input({in, out}, device, DType::f32),
                      second = input({in, out}, device, DType::f32),
                      weight = input({in, out}, device, DType::f32);
      const AnyTensor gradient = x.transpose(0, 1).matmul(y).cast(DType::f32),
                      mean = AnyTensor::add(AnyTensor::mul(first, 0.9), AnyTensor::mul(gradient, 0.1)),
                      square = AnyTensor::add(AnyTensor::mul(second, 0.9),
                                              AnyTensor::mul(AnyTensor::mul(gradient, gradient), 0.1));
      return std::vector{mean, square, AnyTensor::sub(weight, AnyTensor::div(mean, square.sqrt()))};
    });
  };
  for (const std::int64_t out : {768, 3072, 50304}) {
    CAPTURE(out);
    const Planned p = step(768, out);
    CHECK(p.tiled == 1);
    CHECK(p.kernel->stores.size() == 1);
    CHECK(p.plan.launches.size() == 2);
    CHECK(p.has_cut("much memory"));
  }
  // A residual is little, and other tiles are multiplied while it is read.
  const Planned residual = planned([](const Device& device) {
    const AnyTensor x = input({8192, 768}, device), w = input({768, 3072}, device),
                    y = input({8192, 3072}, device);
    return std::vector{AnyTensor::add(x.matmul(w), y)};
  });
  CHECK(residual.plan.launches.size() == 1);
}

TEST_CASE("a product whose transpose is read is computed so, through casts too") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({8192, 768}, device), y = input({8192, 3072}, device);
    const AnyTensor gradient = x.transpose(0, 1).matmul(y).cast(DType::f32).transpose(0, 1);
    return std::vector{AnyTensor::mul(gradient, 0.5)};
  });
  CHECK(p.tiled == 1);
  CHECK(p.plan.launches.size() == 1);  // a kernel that reads across rows would be a second one
}

TEST_CASE("a weight is cast once and as it lies, for products with it and with its transpose") {
  const auto both_ways = [](std::int64_t in) {
    return planned([&](const Device& device) {
      const AnyTensor w = input({256, in}, device, DType::f32), x = input({512, in}, device),
                      y = input({512, 256}, device);
      return std::vector{x.matmul(w.transpose(0, 1).cast(DType::bf16)), y.matmul(w.cast(DType::bf16))};
    });
  };
  CHECK(both_ways(128).tiled == 2);
  CHECK(both_ways(128).plan.launches.size() == 3);
  CHECK(both_ways(129).plan.launches.size() == 4);  // rows that the copy engine cannot bring
  // A backward pass has the cast of the transpose, and reads it through another one.
  const Planned backward = planned([](const Device& device) {
    const AnyTensor w = input({256, 128}, device, DType::f32), x = input({512, 128}, device),
                    y = input({512, 256}, device), cast = w.transpose(0, 1).cast(DType::bf16);
    return std::vector{x.matmul(cast), y.matmul(cast.transpose(0, 1))};
  });
  CHECK(backward.tiled == 2);
  CHECK(backward.plan.launches.size() == 3);
  for (const plan::Launch& launch : backward.plan.launches)
    if (const ir::Kernel& kernel = *backward.plan.kernels[std::get<std::uint32_t>(launch.what)];
        !kernel.tiling.any())
      CHECK(kernel.outer_rank == 1);  // along its rows
}

TEST_CASE("what would break the tiles stays a kernel of its own") {
  const Planned softmax = planned([](const Device& device) {
    return std::vector{sinter::softmax(input({512, 128}, device).matmul(input({128, 256}, device)), 1)};
  });
  CHECK(softmax.tiled == 1);
  CHECK(softmax.plan.launches.size() == 2);
  CHECK(softmax.has_cut("reductions over different dimensions"));
  const Planned two = planned([](const Device& device) {
    const AnyTensor x = input({256, 128}, device), a = input({128, 256}, device),
                    b = input({128, 256}, device);
    return std::vector{AnyTensor::mul(x.matmul(a), x.matmul(b))};
  });
  CHECK(two.tiled == 2);
  CHECK(two.plan.launches.size() == 2);
  CHECK(two.has_cut("tensor cores"));
}

TEST_CASE("few tiles are shared by several workgroups, large ones have large tiles") {
  const Planned large = product({4096, 4096}, {4096, 4096}), few = product({768, 8192}, {8192, 768}),
                small = product({128, 256}, {256, 128});
  REQUIRE((large.tiled == 1 && few.tiled == 1 && small.tiled == 1));
  CHECK(large.kernel->tiling.rows * large.kernel->tiling.columns >= 128 * 128);
  CHECK(small.kernel->tiling.rows * small.kernel->tiling.columns <= 64 * 128);
  const emit::Target target = hopper();
  const emit::Geometry whole = emit::geometry(*large.kernel, target, large.ints),
                       shared = emit::geometry(*few.kernel, target, few.ints);
  CHECK(whole.cut == 0);
  CHECK(emit::contraction_scratch_bytes(*large.kernel, whole) == 0);
  CHECK(shared.cut > 0);
  CHECK(shared.workgroups % shared.cut == 0);
  CHECK(shared.workgroups <= 2 * 132);
  CHECK(emit::contraction_scratch_bytes(*few.kernel, shared) > 0);
}

TEST_CASE("tensor maps say where factors lie") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor a = input({3, 256, 512}, device).narrow(2, 128, 384), b = input({3, 384, 192}, device);
    return std::vector{a.matmul(b)};
  });
  REQUIRE(p.tiled == 1);
  const std::vector<emit::TensorMap> maps = emit::tensor_maps(*p.kernel, p.ints);
  REQUIRE(maps.size() == 2);
  const emit::TensorMap &a = maps[0], &b = maps[1];
  CHECK(a.offset_bytes % 16 == 0);
  CHECK(a.sizes == std::vector<std::uint64_t>{384, 256, 3});
  CHECK(a.strides == std::vector<std::uint64_t>{1024, 256 * 1024});
  CHECK(a.box == std::vector<std::uint32_t>{64, p.kernel->tiling.rows, 1});
  CHECK(b.sizes == std::vector<std::uint64_t>{192, 384, 3});
  CHECK(b.strides == std::vector<std::uint64_t>{384, 384 * 384});
  CHECK(b.box == std::vector<std::uint32_t>{64, 64, 1});
}

TEST_CASE("a factor may begin within its buffer, at a multiple of 16 bytes") {
  for (const std::int64_t start : {std::int64_t{16}, std::int64_t{17}}) {
    const Planned p = planned([&](const Device& device) {
      const AnyTensor x = input({128, 512}, device), w = input({64, 128}, device);
      const AnyTensor part = x.narrow(1, start, 64);
      return std::vector{part.matmul(w), x.sum(1)};
    });
    REQUIRE(p.tiled == 1);
    CHECK(p.kernel->tiling.a.computed == (start == 17));
    if (start == 16) CHECK(emit::tensor_maps(*p.kernel, p.ints)[0].offset_bytes == 2 * start);
  }
}

TEST_CASE("the kernel's text has the loads and the work on finished tiles that its factors ask for") {
  const Planned p = planned([](const Device& device) {
    const AnyTensor x = input({4, 256, 128}, device), y = input({4, 128, 256}, device);
    return std::vector{x.matmul(y).exp()};
  });
  REQUIRE(p.tiled == 1);
  const std::string text = emit::emit(*p.kernel, hopper()).text;
  CHECK(text.find("#define SN_LOAD_A tc_load_3d(to_a, t_a, arrived, depth, at.m") != std::string::npos);
  CHECK(text.find("#define SN_LOAD_B tc_load_3d(to_b + 0, t_b, arrived, at.n + 0, depth") !=
        std::string::npos);
  CHECK(text.find("sn_exp") != std::string::npos);
  CHECK(text.find("k16.f32.bf16.bf16") != std::string::npos);
  CHECK(text.find("//---") == std::string::npos);
  // Sizes are arguments: another size of the same tiles is the same text.
  const Planned other = planned([](const Device& device) {
    const AnyTensor x = input({5, 256, 192}, device), y = input({5, 192, 256}, device);
    return std::vector{x.matmul(y).exp()};
  });
  REQUIRE(other.tiled == 1);
  CHECK(emit::emit(*other.kernel, hopper()).text == text);
}
