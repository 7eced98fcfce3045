// NVRTC compiles contractions by tiles with few registers spilled. Exit code 77: NVRTC is not installed.
#define DOCTEST_CONFIG_IMPLEMENT
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/nn/attention.h>

#include "jit/emit/emit.h"
#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/parameters.h"
#include "tests/support/nvrtc_build.h"
#include "tests/support/planned_products.h"

using namespace sinter;
using testing::build;

TEST_CASE("kernels with tiles spill a few registers at most") {
  const testing::Planned products[] = {
      testing::product({4096, 4096}, {4096, 4096}),
      testing::product({768, 8192}, {8192, 768}),
      testing::product({64, 256}, {256, 64}, false, false, DType::f16),
      testing::planned([](const Device& device) {
        const AnyTensor x = testing::input({2, 3, 200, 128}, device),
                        w = testing::input({2, 3, 256, 128}, device), bias = testing::input({256}, device),
                        rest = testing::input({2, 3, 200, 256}, device);
        const AnyTensor y = AnyTensor::add(x.matmul(w.transpose(2, 3)), bias);
        return std::vector{gelu(y), AnyTensor::add(y, rest), y.cast(DType::f32)};
      }),
      // What a norm's gradient meets behind a product: of each row, and of all rows alike.
      testing::planned([](const Device& device) {
        using A = AnyTensor;
        const A a = testing::input({4096, 576}, device), b = testing::input({576, 64}, device),
                x = testing::input({4096, 64}, device), rest = testing::input({4096, 64}, device, DType::f32);
        std::vector<A> columns;
        for (int i = 0; i < 4; ++i) columns.push_back(testing::input({64}, device, DType::f32));
        const A normed = A::add(
            A::mul(A::mul(A::sub(x.cast(DType::f32), columns[0]), columns[1]), columns[2]), columns[3]);
        const A y = a.matmul(b);
        return std::vector{A::where(A::greater(normed, 0.0), A::add(y.cast(DType::f32), rest), 0.0)};
      }),
      // Windows along the sum, with what follows, and across it.
      testing::planned([](const Device& device) {
        const AnyTensor x = testing::input({16, 64, 32, 32}, device),
                        w = testing::input({64, 64, 3, 3}, device),
                        bias = testing::input({1, 64, 1, 1}, device);
        return std::vector{relu(AnyTensor::add(x.conv2d(w, {.padding = {1, 1}}), bias))};
      }),
      testing::planned([](const Device& device) {
        const Device tracked = device.autodiff();
        const AnyTensor x = testing::input({16, 64, 32, 32}, tracked),
                        w = testing::input({64, 64, 3, 3}, tracked).require_grad();
        const AnyTensor y = x.conv2d(w, {.stride = {2, 2}, .padding = {1, 1}});
        return std::vector{*AnyTensor::mul(y, 2.0).sum({0, 1, 2, 3}).backward().get(w)};
      }),
      testing::Float8Product{.b = DType::f8_e5m2, .precision = MatmulPrecision::High}.plan(),
      testing::Float8Product{.precision = MatmulPrecision::Medium}.plan(),
      testing::Float8Product{.precision = MatmulPrecision::High, .transposed = false}.plan(),
      testing::Float8Product{.precision = MatmulPrecision::Medium, .k = 333}.plan(),
  };
  for (const testing::Planned& planned : products) {
    REQUIRE(planned.tiled == 1);
    // Each form of tiles that may be tried, whatever the sizes would be best computed by.
    for (const ir::Tiling& tiling :
         plan::ranked_tilings(*planned.kernel, planned.ints, plan::limits_of(testing::with_tensor_cores()))) {
      if (tiling.subgroup_rows > 0) continue;  // which the next case has
      ir::Kernel kernel = *planned.kernel;
      kernel.tiling = tiling;
      INFO(tune::describe(tiling));
      const std::string log = build(emit::emit(kernel, testing::hopper()).text);
      INFO(log);
      // The sums fill most registers; a few of the words that are needed between tiles may have no room.
      CHECK(compile::spilled_bytes(log) <= 64);
      CHECK(log.find("C75") == std::string::npos);  // ptxas says what keeps it from overlapping products
    }
  }
}

TEST_CASE("kernels whose subgroups multiply by themselves spill little, for each card that takes them") {
  const auto tf32 = [](const Device& device, bool transpose_b) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    const AnyTensor x = testing::input({512, 256}, device, DType::f32),
                    y = testing::input(transpose_b ? Shape{384, 256} : Shape{256, 384}, device, DType::f32);
    return std::vector{x.matmul(transpose_b ? y.transpose(0, 1) : y)};
  };
  const auto programs = std::vector<std::function<std::vector<AnyTensor>(const Device&)>>{
      [](const Device& device) {
        return std::vector{
            testing::input({512, 256}, device).matmul(testing::input({384, 256}, device).transpose(0, 1))};
      },
      // Both across the sum, with what follows.
      [](const Device& device) {
        const AnyTensor x = testing::input({256, 512}, device, DType::f16),
                        y = testing::input({256, 384}, device, DType::f16),
                        bias = testing::input({384}, device, DType::f16),
                        rest = testing::input({512, 384}, device, DType::f16);
        const AnyTensor z = AnyTensor::add(x.transpose(0, 1).matmul(y), bias);
        return std::vector{gelu(z), AnyTensor::add(z, rest), z.cast(DType::f32)};
      },
      // Positions of 64 bits.
      [](const Device& device) {
        return std::vector{
            testing::input({50000, 60000}, device).matmul(testing::input({60000, 256}, device))};
      },
      [&](const Device& device) { return tf32(device, true); },
      [&](const Device& device) { return tf32(device, false); },
      // Rows of 4 bytes, and of any.
      [](const Device& device) {
        return std::vector{testing::input({501, 78}, device).matmul(testing::input({78, 330}, device))};
      },
      [](const Device& device) {
        return std::vector{testing::input({501, 77}, device).matmul(testing::input({77, 333}, device))};
      },
      [](const Device& device) {
        const AnyTensor x = testing::input({16, 64, 32, 32}, device),
                        w = testing::input({64, 64, 3, 3}, device);
        return std::vector{relu(x.conv2d(w, {.padding = {1, 1}}))};
      },
  };
  for (std::size_t k = 0; k < programs.size(); ++k) {
    for (const auto& [minor, traits] : {std::pair{0, testing::ampere()}, std::pair{9, testing::ada()}}) {
      if (minor != 0 && k != 1) continue;  // slots aside the texts are those of the other card
      const testing::Planned p = testing::planned(programs[k], traits);
      REQUIRE(p.tiled == 1);
      for (const ir::Tiling& tiling : plan::ranked_tilings(*p.kernel, p.ints, plan::limits_of(traits))) {
        ir::Kernel kernel = *p.kernel;
        kernel.tiling = tiling;
        INFO("program " << k << ", sm_8" << minor << ", " << tune::describe(tiling));
        const std::string log = build(emit::emit(kernel, testing::cuda_target(traits)).text, false, 8, minor);
        INFO(log);
        // Besides the sums of 64 rows there are the factors of two steps: what is needed between tiles, and
        // by what follows, may have no room.
        CHECK(compile::spilled_bytes(log) <= 256);
      }
    }
  }
}

TEST_CASE("products of few rows spill nothing, however factors lie") {
  const auto linear = [](std::int64_t rows, std::int64_t depth, DType dtype) {
    return testing::product({rows, depth}, {4096, depth}, false, true, dtype);
  };
  const auto compile_all = [](const testing::Planned& p) {
    REQUIRE(p.tiled == 1);
    int compiled = 0;
    for (const ir::Tiling& tiling :
         plan::ranked_tilings(*p.kernel, p.ints, plan::limits_of(testing::with_tensor_cores()))) {
      if (tiling.sharers == 0) continue;
      ir::Kernel kernel = *p.kernel;
      kernel.tiling = tiling;
      INFO(tune::describe(tiling));
      const std::string log = build(emit::emit(kernel, testing::hopper()).text);
      INFO(log);
      CHECK(compile::spilled_bytes(log) == 0);
      ++compiled;
    }
    CHECK(compiled >= 3);
  };
  for (const std::int64_t rows : {2, 4, 16}) compile_all(linear(rows, 4096, DType::bf16));
  compile_all(linear(16, 770, DType::f16));
  compile_all(linear(16, 777, DType::bf16));  // which lanes compute
  compile_all(testing::product({16, 4096}, {4096, 4096}));
  compile_all(testing::planned([](const Device& device) {
    const AnyTensor x = testing::input({2, 4, 4096}, device), w = testing::input({2, 1024, 4096}, device),
                    bias = testing::input({1024}, device), rest = testing::input({2, 4, 1024}, device);
    return std::vector{AnyTensor::add(gelu(AnyTensor::add(x.matmul(w.transpose(1, 2)), bias)), rest)};
  }));
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  compile_all(linear(16, 4096, DType::f32));
}

int main(int argc, char** argv) { return testing::run_nvrtc_tests(argc, argv); }

TEST_CASE("attention by subgroups spills little, for each card that takes it") {
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  ir::DeviceTraits roomy = testing::ampere();  // as cards are that have the shared memory of a Hopper
  roomy.tensor_cores.shared_bytes = 227 << 10;
  struct Form {
    Shape shape;
    DType dtype;
  };
  const Form forms[] = {{{2, 3, 256, 64}, DType::bf16},
                        {{2, 3, 256, 128}, DType::bf16},
                        {{4096, 16, 1024, 64}, DType::bf16},  // positions of 64 bits
                        {{2, 3, 256, 64}, DType::f32},
                        {{2, 3, 256, 128}, DType::f32}};
  for (const auto& [minor, traits] :
       {std::pair{0, testing::ampere()}, std::pair{9, testing::ada()}, std::pair{0, roomy}})
    for (const auto& [shape, dtype] : forms) {
      const testing::Planned p = testing::planned(
          [shape = shape, dtype = dtype](const Device& device) {
            std::vector<AnyTensor> x;
            for (int k = 0; k < 3; ++k)
              x.push_back(testing::input(shape, device.autodiff(), dtype).require_grad());
            const AnyTensor seed = testing::input(shape, device, dtype),
                            y = nn::detail::attention(x[0], x[1], x[2], {.causal = true},
                                                      Location::current());
            std::vector<AnyTensor> results = gradient(y, std::span<const AnyTensor>(x), {.seed = seed});
            for (AnyTensor& result : results) result = result.inner();
            results.push_back(y.inner());
            return results;
          },
          traits);
      int built = 0;
      for (const auto& kernel : p.plan.kernels) {
        if (!kernel->attention.any()) continue;
        INFO("sm_8" << minor << ", " << to_string(shape) << ", tile " << kernel->attention.rows << " x "
                    << kernel->attention.columns);
        const std::string log =
            build(emit::emit(*kernel, testing::cuda_target(traits)).text, false, 8, minor);
        INFO(log);
        CHECK(compile::spilled_bytes(log) <= 64);
        ++built;
      }
      CHECK(built >= 3);
    }
}
