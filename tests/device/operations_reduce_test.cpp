// Reductions over every set of dimensions, of tensors in memory and of values computed in the same kernel.
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"

namespace sinter::testing {
namespace {

std::vector<Op> reductions(DType dtype) {
  if (dtype == DType::boolean) return {Op::Max, Op::Min};
  return {Op::Sum, Op::Prod, Op::Max, Op::Min};
}

/// Every set of axes of a rank.
std::vector<Dims> axes_sets(std::size_t rank) {
  std::vector<Dims> sets;
  for (std::size_t bits = 0; bits < std::size_t{1} << rank; ++bits) {
    Dims axes;
    for (std::size_t d = 0; d < rank; ++d)
      if (bits >> d & 1) axes.push_back(static_cast<std::int64_t>(d));
    sets.push_back(axes);
  }
  return sets;
}

bool reduces_nothing(const Shape& shape, const Dims& axes) {
  for (std::int64_t axis : axes)
    if (shape[static_cast<std::size_t>(axis)] == 0) return true;
  return false;
}

void reduce_all(ProgramBuilder& program, int x, const Shape& shape, DType dtype) {
  for (const Dims& axes : axes_sets(shape.rank())) {
    for (Op op : reductions(dtype)) {
      const bool has_identity = op == Op::Sum || op == Op::Prod || dtype == DType::boolean;
      if (has_identity || !reduces_nothing(shape, axes)) program.reduce(op, x, axes);
    }
    if (is_float(dtype)) program.mean(x, axes);
  }
}

}  // namespace

TEST_CASE("reductions over every set of dimensions") {
  const Device device = test_device();
  std::vector<Shape> shapes = {{},     {1},       {7},       {0},       {3, 5},       {1, 4},
                               {0, 3}, {3, 0, 2}, {2, 3, 5}, {4, 1, 3}, {2, 2, 3, 2}, {2, 1, 3, 2, 2}};
  if (compiles_slowly(device)) shapes = {{3, 5}, {0, 3}};
  for (DType dtype : computed_dtypes(device))
    for (const Shape& shape : shapes) {
      ProgramBuilder program;
      reduce_all(program, program.input(shape, dtype), shape, dtype);
      program.expect(device, "shape " + to_string(shape) + " of " + std::string(name_of(dtype)));
    }
}

TEST_CASE("reductions of views") {
  const Device device = test_device();
  const bool few = compiles_slowly(device);
  for (DType dtype : few ? std::vector{DType::f32} : computed_dtypes(device)) {
    ProgramBuilder program;
    const int x = program.input({4, 6}, dtype);
    for (const Dims& axes : {Dims{0}, Dims{1}, Dims{0, 1}})
      for (Op op : reductions(dtype)) {
        program.reduce(op, program.permute(x, {1, 0}), axes);
        if (few && axes.rank() > 1) continue;
        program.reduce(op, program.slice(x, {{{}, {}, -1}, {1, {}, 2}}), axes);
        program.reduce(op, program.expand(program.reshape(x, {1, 24}), {3, 24}), axes);
        program.reduce(op, program.reshape(program.permute(x, {1, 0}), {3, 8}), axes);
        program.reduce(op, program.pad(x, {1, 0}, {0, 2}, 1), axes);
      }
    program.expect(device, "views of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("long reductions, along rows and along columns") {
  const Device device = test_device();
  std::vector<Shape> shapes = {{4099}, {3, 2500}, {2500, 3}, {40, 41}, {2, 33, 70}, {1, 8192}, {300, 17}};
  if (compiles_slowly(device)) shapes = {{3, 2500}, {2500, 3}};
  for (DType dtype : {DType::f32, DType::i64})
    for (const Shape& shape : shapes) {
      ProgramBuilder program;
      const int x = program.input(shape, dtype);
      const int last = static_cast<int>(shape.rank()) - 1;
      for (const Dims& axes : {Dims{0}, Dims{last}})
        for (Op op : {Op::Sum, Op::Max}) program.reduce(op, x, axes);
      program.expect(device, "shape " + to_string(shape) + " of " + std::string(name_of(dtype)));
    }
}

TEST_CASE("the greatest and the least of negated integers, in short rows and by operations") {
  // Compilers join a few maxima in a row, and one has lost a negation on the way.
  const Device device = test_device();
  ProgramBuilder program;
  for (const std::int64_t columns : {2, 3, 4, 5, 8, 33}) {
    const int x = program.input({29, columns}, DType::i32), negated = program.unary(Op::Neg, x);
    program.reduce(Op::Max, negated, {1});
    program.reduce(Op::Min, negated, {1});
    program.reduce(Op::Max, negated, {0});
  }
  std::vector<int> negated;
  for (int i = 0; i < 4; ++i) negated.push_back(program.unary(Op::Neg, program.input({100}, DType::i32)));
  for (const Op op : {Op::Maximum, Op::Minimum}) {
    int extreme = negated[0];
    for (int i = 1; i < 4; ++i)
      extreme = program.binary(op, {extreme}, {negated[static_cast<std::size_t>(i)]});
  }
  program.expect(device, "maxima and minima of negated integers");
}

TEST_CASE("sums of many numbers stay exact enough") {
  const Device device = test_device();
  ProgramBuilder program;
  // A sequential f32 sum of 300,000 times 0.1 would be wrong in the third digit.
  const int x = program.full({300000}, 0.1, DType::f32);
  program.reduce(Op::Sum, x, {0});
  program.mean(x, {0});
  program.reduce(Op::Sum, program.reshape(x, {1000, 300}), {0});
  program.expect(device, "300,000 times 0.1");
}

TEST_CASE("infinities and NaN go through reductions") {
  const Device device = test_device();
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  ProgramBuilder program;
  const int x = program.numbers({6, 4}, DType::f32,
                                {1,         2, 3, 4, nan,      0,         1, 2, infinity, 1, 2,  3,
                                 -infinity, 0, 1, 2, infinity, -infinity, 0, 0, -0.0,     0, -1, nan});
  reduce_all(program, x, {6, 4}, DType::f32);
  for (std::int64_t axis : {0, 1}) {
    program.arg(StepKind::ArgMax, x, axis);
    program.arg(StepKind::ArgMin, x, axis);
  }
  program.expect(device, "special values");
}

TEST_CASE("positions of extremes: the first of equals") {
  const Device device = test_device();
  for (DType dtype : computed_dtypes(device)) {
    if (dtype == DType::boolean) continue;
    ProgramBuilder program;
    const int x = program.numbers({3, 5}, dtype, {3, 1, 3, 0, 1, -1, -1, -1, -1, -1, 2, 5, 5, 5, -5});
    const int y = program.input({2, 7, 3}, dtype), single = program.input({4, 1}, dtype);
    for (StepKind kind : {StepKind::ArgMax, StepKind::ArgMin}) {
      program.arg(kind, x, 0);
      program.arg(kind, x, -1);
      program.arg(kind, program.flip(x, {1}), 1);
      program.arg(kind, single, 1);
      if (!compiles_slowly(device)) program.arg(kind, y, 1);
    }
    program.expect(device, "extremes of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("work before, between and after reductions") {
  const Device device = test_device();
  std::vector<std::pair<Shape, std::int64_t>> cases = {{{4, 9}, 1},     {{9, 4}, 0}, {{2, 3, 40}, 2},
                                                       {{3, 40, 2}, 1}, {{3, 1}, 1}, {{3000}, 0}};
  // So long that the host's threads share the loops of a column, of a row, and of one of several.
  if (device.name() == "host")
    for (const auto& [shape, axis] :
         {std::pair<Shape, std::int64_t>{{20000, 24}, 0}, {{3, 90001}, 1}, {{2, 9001, 20}, 1}})
      cases.emplace_back(shape, axis);
  if (compiles_slowly(device)) cases = {{{4, 40}, 1}, {{9, 4}, 0}};
  for (const auto& [shape, axis] : cases) {
    ProgramBuilder program;
    const int x = program.input(shape, DType::f32);
    const Dims along{axis};
    // softmax and its logarithm
    const int shifted = program.binary(Op::Sub, {x}, {program.reduce(Op::Max, x, along)});
    const int e = program.unary(Op::Exp, shifted);
    const int sum = program.reduce(Op::Sum, e, along);
    program.binary(Op::Div, {e}, {sum});
    program.binary(Op::Sub, {shifted}, {program.unary(Op::Log, sum)});
    // layer norm
    const int centred = program.binary(Op::Sub, {x}, {program.mean(x, along)});
    const int variance = program.mean(program.binary(Op::Mul, {centred}, {centred}), along);
    program.binary(Op::Mul, {centred},
                   {program.unary(Op::Rsqrt, program.binary(Op::Add, {variance}, {-1, 1e-3}))});
    program.expect(device, "shape " + to_string(shape));
  }
}

TEST_CASE("the result of a reduction used at another place than where it is made") {
  const Device device = test_device();
  for (std::int64_t size : {5, 40}) {
    ProgramBuilder program;
    const int x = program.input({size, size}, DType::f32);
    const int rows = program.reduce(Op::Sum, x, {1}), columns = program.reduce(Op::Sum, x, {0});
    std::vector<int> values = {
        program.binary(Op::Sub, {x}, {rows}),
        program.binary(Op::Sub, {x}, {columns}),
        program.binary(Op::Sub, {x}, {program.permute(rows, {1, 0})}),
        program.binary(Op::Sub, {x}, {program.flip(rows, {0})}),
        program.binary(Op::Mul, {program.permute(rows, {1, 0})}, {columns}),
        program.reduce(Op::Max, program.binary(Op::Sub, {x}, {program.permute(rows, {1, 0})}), {1}),
        program.reduce(Op::Sum, program.binary(Op::Mul, {program.flip(rows, {0})}, {x}), {1})};
    program.drop(rows);
    program.drop(columns);
    program.expect(device, "size " + std::to_string(size));
  }
}

}  // namespace sinter::testing
