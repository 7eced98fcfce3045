// Creation, random numbers, and indexed reads.
#include <cmath>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"

namespace sinter::testing {
namespace {

std::vector<float> read(const AnyTensor& x) {
  std::vector<float> values(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

AnyTensor indices(std::vector<std::int64_t> values, const Shape& shape, const Device& device) {
  return AnyTensor::from_bytes(std::as_bytes(std::span(values)), shape, DType::i64, device);
}

}  // namespace

TEST_CASE("constants and counts") {
  const Device device = test_device();
  std::vector<DType> dtypes = computed_dtypes(device);
  ProgramBuilder program;
  for (DType dtype : dtypes) {
    const Scalar value = dtype == DType::boolean ? Scalar(true)
                         : is_float(dtype)       ? Scalar(-0.1)
                                                 : Scalar(100);
    for (const Shape& shape : {Shape{}, Shape{3, 2}, Shape{0, 4}}) program.full(shape, value, dtype);
  }
  program.full({2}, std::int64_t{9007199254740993}, DType::i64);  // no double holds it
  program.arange(0, 10, 1);
  program.arange(5, -6, -3);
  program.arange(3, 3, 1);
  program.arange(7, 0, 2);
  program.arange(-5, 1000000000000, 250000000001);
  program.cast(program.arange(0, 7, 2), DType::f32);
  program.expect(device, "constants and counts");
}

TEST_CASE("random numbers are those of Philox, whatever is computed with them") {
  const Device device = test_device();
  ProgramBuilder program;
  const int u = program.random(StepKind::Uniform, {3, 7}, 0, 1),
            n = program.random(StepKind::Normal, {5, 3}, 0, 1);
  program.random(StepKind::Uniform, {2, 2, 9}, -3, 5);
  program.random(StepKind::Normal, {33}, 2, 0.5);
  program.random(StepKind::Uniform, {}, 0, 1);
  program.random(StepKind::Normal, {0, 3}, 0, 1);
  // A random number belongs to its element, not to a position in a kernel.
  program.slice(program.permute(u, {1, 0}), {{{}, {}, -2}, {1, {}, 1}});
  program.binary(Op::Mul, {program.flip(n, {0})}, {n});
  program.reduce(Op::Sum, u, {0});
  program.binary(Op::LessEqual, {u}, {-1, 0.5});
  program.expect(device, "random numbers");
}

TEST_CASE("equal seeds give equal numbers, and numbers look random") {
  const Device device = test_device();
  device.seed(42);
  const std::vector<float> first = read(AnyTensor::uniform({20000}, 0, 1, device)),
                           next = read(AnyTensor::uniform({20000}, 0, 1, device));
  device.seed(42);
  CHECK(read(AnyTensor::uniform({20000}, 0, 1, device)) == first);
  CHECK(first != next);
  device.seed(43);
  CHECK(read(AnyTensor::uniform({20000}, 0, 1, device)) != first);
  double sum = 0;
  for (float x : first) {
    sum += x;
    CHECK_MESSAGE((x >= 0 && x < 1), x);
  }
  CHECK(std::abs(sum / 20000 - 0.5) < 0.01);
  double mean = 0, square = 0;
  for (float x : read(AnyTensor::normal({20000}, 1, 2, device))) {
    mean += x / 20000;
    square += (x - 1.0) * (x - 1.0) / 20000;
  }
  CHECK(std::abs(mean - 1) < 0.05);
  CHECK(std::abs(square - 4) < 0.15);
}

TEST_CASE("gather and index_select") {
  const Device device = test_device();
  std::vector<DType> dtypes = computed_dtypes(device);
  if (compiles_slowly(device)) dtypes = {DType::f32, DType::u8};
  for (DType dtype : dtypes) {
    ProgramBuilder program;
    const int x = program.input({4, 5}, dtype), cube = program.input({2, 3, 4}, dtype),
              row = program.input({6}, dtype);
    for (DType index : {DType::i32, DType::i64}) {
      program.indexed(StepKind::Gather, x, 0, program.input({7, 5}, index, 4));
      program.indexed(StepKind::Gather, x, -1, program.input({4, 2}, index, 5));
      program.indexed(StepKind::Gather, x, 1, program.input({2, 0}, index, 5));
      program.indexed(StepKind::Gather, cube, 1, program.input({2, 5, 3}, index, 3));
      program.indexed(StepKind::IndexSelect, x, 0, program.input({6}, index, 4));
      program.indexed(StepKind::IndexSelect, cube, 2, program.input({3}, index, 4));
      program.indexed(StepKind::IndexSelect, row, 0, program.input({9}, index, 6));
    }
    program.expect(device, "reads from " + std::string(name_of(dtype)));
  }
}

TEST_CASE("gather from views and computed tables at computed positions") {
  const Device device = test_device();
  for (bool flushed : {false, true}) {
    ProgramBuilder program;
    const int x = program.input({4, 6}, DType::f32);
    const int transposed = program.permute(x, {1, 0}), back = program.slice(x, {{{}, {}, -1}, {1, {}, 2}});
    const int split = program.reshape(program.permute(x, {1, 0}), {3, 8}),
              wide = program.expand(program.slice(x, {{1, 2, 1}}), {5, 6});
    const int computed = program.unary(Op::Exp, x);
    if (flushed) program.flush();
    const int places = program.binary(Op::Remainder, {program.arange(0, 40, 7)}, {-1, 3});
    for (int table : {transposed, back, split, wide, computed})
      program.indexed(StepKind::IndexSelect, table, 0, places);
    const int rows =
        program.indexed(StepKind::IndexSelect, program.binary(Op::Mul, {computed}, {-1, 2.0}), 0, places);
    // A gather inside a pad reads only inside.
    program.pad(rows, {1, 0}, {0, 1}, 9.0);
    program.reduce(Op::Sum, program.binary(Op::Mul, {rows}, {rows}), {1});
    // The largest of each row, by its position.
    program.indexed(StepKind::Gather, x, 1, program.arg(StepKind::ArgMax, x, 1));
    program.expect(device, flushed ? "views of memory" : "views of inputs");
  }
}

TEST_CASE("a position outside throws when the result is read, and nothing else breaks") {
  const Device device = test_device();
  const AnyTensor table = AnyTensor::full({4, 3}, 1.5, DType::f32, device);
  for (std::int64_t bad : {std::int64_t{4}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    const AnyTensor wrong = table.index_select(0, indices({0, bad}, {2}, device));
    CHECK_THROWS_AS(read(wrong), ShapeError);
  }
  CHECK(read(table.index_select(0, indices({3}, {1}, device))) == std::vector<float>{1.5, 1.5, 1.5});
}

}  // namespace sinter::testing
