// Products whose slices come together, or that have a factor in common and come together: on devices whose
// groups of subgroups multiply, sums of one kernel.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

struct Sizes {
  std::int64_t rows, width, depth, count;
};

/// The gates of a recurrent cell, or fewer: each of them is stored, and what they come to.
void add_gates(ProgramBuilder& program, const Sizes& sizes, DType dtype) {
  const std::int64_t columns = sizes.count * sizes.width;
  const int x = program.input({sizes.rows, sizes.depth}, dtype),
            w = program.input({columns, sizes.depth}, dtype), bias = program.input({1, columns}, dtype),
            state = program.input({sizes.rows, sizes.width}, DType::f32);
  const int y = program.binary(Op::Add, {program.matmul(x, program.permute(w, {1, 0}))}, {bias});
  int all = state;
  for (std::int64_t k = 0; k < sizes.count; ++k) {
    const int gate = program.slice(y, {{}, {k * sizes.width, (k + 1) * sizes.width, 1}});
    all = program.binary(k % 2 ? Op::Add : Op::Mul, {all},
                         {program.unary(Op::Tanh, program.cast(gate, DType::f32))});
  }
}

}  // namespace

TEST_CASE("slices of a product that come together, of many sizes") {
  const Device device = test_device();
  for (const DType dtype : {DType::bf16, DType::f16}) {
    if (!has_dtype(device, dtype)) continue;
    // The last ones are the first with other sizes, for which its plan may serve or not.
    for (const Sizes& sizes :
         {Sizes{64, 64, 64, 4}, Sizes{17, 40, 72, 4}, Sizes{100, 24, 200, 3}, Sizes{130, 104, 136, 2},
          Sizes{72, 8, 8, 2}, Sizes{40, 16, 4104, 4}, Sizes{64, 13, 64, 2}, Sizes{72, 64, 64, 4},
          Sizes{16, 64, 64, 4}, Sizes{200, 96, 40, 4}, Sizes{72, 64, 36, 4}}) {
      ProgramBuilder program;
      add_gates(program, sizes, dtype);
      program.expect(device, "slices of a product of " + std::to_string(sizes.rows) + " x " +
                                 std::to_string(sizes.count) + " x " + std::to_string(sizes.width) + ", " +
                                 std::string(name_of(dtype)));
      if (compiles_slowly(device)) break;
    }
  }
}

TEST_CASE("a gated layer, of matrices of its own and of a batch") {
  const Device device = test_device();
  if (!has_dtype(device, DType::bf16)) return;
  ProgramBuilder program;
  const auto gated = [&](const Shape& of_x, const Shape& of_w, const Dims& transposed) {
    const int x = program.input(of_x, DType::bf16), gate = program.input(of_w, DType::bf16),
              up = program.input(of_w, DType::bf16);
    const int opened = program.unary(Op::Tanh, program.matmul(x, program.permute(gate, transposed)));
    program.binary(Op::Mul, {opened}, {program.matmul(x, program.permute(up, transposed))});
  };
  gated({136, 88}, {120, 88}, {1, 0});
  gated({3, 40, 72}, {3, 56, 72}, {0, 2, 1});
  program.expect(device, "gated layers");
}

}  // namespace sinter::testing
