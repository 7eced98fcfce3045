// Products of few tiles and long sums, and what needs each result several times: on devices with clusters of
// workgroups these share the tiles (cluster_tiles_test says when), on others they are computed otherwise.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

struct Sizes {
  std::int64_t rows, columns, depth;
};

std::string text_of(const Sizes& sizes) {
  return std::to_string(sizes.rows) + " x " + std::to_string(sizes.columns) + " x " +
         std::to_string(sizes.depth);
}

}  // namespace

TEST_CASE("few tiles of long sums, with what follows them") {
  const Device device = test_device();
  for (const DType dtype : {DType::bf16, DType::f16}) {
    if (!has_dtype(device, dtype)) continue;
    for (const Sizes& sizes : {Sizes{64, 64, 2048}, Sizes{17, 40, 1000}, Sizes{130, 200, 776},
                               Sizes{64, 512, 512}, Sizes{256, 264, 1032}, Sizes{24, 8, 4104}}) {
      ProgramBuilder program;
      const auto [rows, columns, depth] = sizes;
      const int x = program.input({rows, depth}, dtype), w = program.input({columns, depth}, dtype),
                v = program.input({depth, columns}, dtype), u = program.input({depth, rows}, dtype),
                bias = program.input({1, columns}, dtype),
                residual = program.input({rows, columns}, DType::f32);
      const int y = program.matmul(x, program.permute(w, {1, 0}));
      program.binary(Op::Add, {program.cast(program.binary(Op::Add, {y}, {bias}), DType::f32)}, {residual});
      program.unary(Op::Tanh, program.matmul(program.permute(u, {1, 0}), v));
      program.expect(device, "few tiles of " + text_of(sizes) + ", " + std::string(name_of(dtype)));
      if (compiles_slowly(device) || dtype == DType::f16) break;
    }
  }
}

TEST_CASE("what several things are made of, each with a factor of its own") {
  const Device device = test_device();
  // Whole numbers, whose sums are exact in any order.
  const auto numbers = [&](const Shape& shape, int modulus, DType dtype) {
    const AnyTensor places = AnyTensor::arange(0, shape.numel(), 1, device).reshape(shape);
    const AnyTensor made = AnyTensor::sub(AnyTensor::remainder(places, modulus), modulus / 2).cast(dtype);
    made.sync();
    return made;
  };
  for (const DType dtype : {DType::bf16, DType::f16}) {
    if (!has_dtype(device, dtype)) continue;
    // Of the last ones the plan of those before may serve.
    for (const auto& [sizes, count] : {std::pair<Sizes, std::int64_t>{{64, 64, 2048}, 4},
                                       {{17, 40, 1000}, 3},
                                       {{130, 72, 520}, 8},
                                       {{40, 21, 264}, 2},
                                       {{72, 64, 2048}, 4},
                                       {{16, 64, 2048}, 4},
                                       {{3, 8, 64}, 3}}) {
      for (const bool in_front : {false, true}) {
        CAPTURE(text_of(sizes));
        CAPTURE(count);
        CAPTURE(in_front);
        const auto [rows, columns, depth] = sizes;
        const Shape one = in_front ? Shape{1, rows, columns} : Shape{rows, 1, columns},
                    all = in_front ? Shape{count, rows, columns} : Shape{rows, count, columns},
                    each = in_front ? Shape{count, 1, 1} : Shape{1, count, 1};
        const AnyTensor x = numbers({rows, depth}, 7, dtype), w = numbers({depth, columns}, 5, dtype),
                        beside = numbers({rows, columns}, 11, DType::f32),
                        factors = numbers(all, 13, DType::f32), of_each = numbers(each, 9, DType::f32);
        // As a recurrent network's step does it, which hands on one of the two and stores both.
        const auto end = [&](const AnyTensor& product) {
          const AnyTensor later = AnyTensor::add(product.cast(DType::f32), beside);
          AnyTensor sum = AnyTensor::mul(later.reshape(one).expand(all), factors);
          sum = AnyTensor::add(sum, factors);
          return std::pair{AnyTensor::mul(sum, of_each).cast(dtype), sum};
        };
        const AnyTensor whole = x.matmul(w);
        whole.sync();
        const auto [expected, expected_sum] = end(whole);
        const auto [found, found_sum] = end(x.matmul(w));  // which nobody holds any more
        CHECK(values_of(found_sum) == values_of(expected_sum));
        CHECK(values_of(found.cast(DType::f32)) == values_of(expected.cast(DType::f32)));
      }
      if (compiles_slowly(device) || dtype == DType::f16) break;
    }
  }
}

}  // namespace sinter::testing
