// Every elementwise operation over dtypes, shapes, broadcasts and special values.
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/programs/drawn_ops.h"
#include "tests/support/programs/program_builder.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<Op> ops_of(std::size_t arity, DType dtype) {
  return drawn_ops(OpClass::Elementwise, arity, dtype);
}

/// Special values of operations, and ordinary ones near their extrema.
std::vector<double> special(DType dtype, const Device& device) {
  if (dtype == DType::boolean) return {0, 1, 1, 0};
  if (dtype == DType::i32) return {0, 1, -1, 2, -7, 7, 2147483647, -2147483648.0, 46341, -65536};
  if (dtype == DType::i64)
    return {0, 1, -1, 2, -7, 7, 9007199254740992.0, -9223372036854775808.0, 4294967296.0, -65536};
  if (is_unsigned(dtype)) {
    const double beyond = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype)));
    const double last = dtype == DType::u64 ? beyond - 2048 : beyond - 1;
    const double half = beyond / 2, step = dtype == DType::u64 ? 4096 : 1;
    return {0, 1, 2, 3, 7, 8, 31, 40, 64, 100, half - step, half, half + step, last};
  }
  if (is_int(dtype)) {
    const double beyond = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype)) - 1);
    return {0, 1, -1, 2, -7, 7, 15, 31, 100, -100, beyond - 1, -beyond, 1 - beyond};
  }
  // Vulkan has no f64 sine; ours is accurate up to 1e6.
  const double large = dtype == DType::f64 && is_vulkan(device) ? 1e6 : 1e10;
  return {0,   -0.0, 1,  -1,  0.5, -0.5,  1.5,    2.5,       -2.5,       3,   -3.7,
          0.1, 1e-6, 20, -20, 88,  large, -large, kInfinity, -kInfinity, kNaN};
}

Scalar number_for(DType dtype) {
  if (dtype == DType::boolean) return true;
  if (is_float(dtype)) return 0.75;
  return 3;
}

std::vector<Shape> shapes(const Device& device) {
  if (compiles_slowly(device)) return {Shape{}, Shape{3, 5}};
  return {Shape{},        Shape{1},          Shape{17},
          Shape{0},       Shape{3, 5},       Shape{4, 1, 7},
          Shape{2, 0, 3}, Shape{2, 3, 1, 5}, Shape{2, 1, 3, 2, 2},
          Shape{4099}};
}

/// Pairs of shapes that broadcast.
std::vector<std::pair<Shape, Shape>> pairs(const Device& device) {
  if (compiles_slowly(device)) return {{Shape{3, 1, 5}, Shape{4, 1}}};
  return {{Shape{3, 5}, Shape{3, 5}},
          {Shape{3, 5}, Shape{5}},
          {Shape{3, 1}, Shape{1, 5}},
          {Shape{}, Shape{2, 3}},
          {Shape{4, 1, 3}, Shape{2, 1}},
          {Shape{1, 0}, Shape{3, 1}},
          {Shape{2, 1, 3, 1, 2}, Shape{4, 1, 5, 1}}};
}

}  // namespace

TEST_CASE("operations of one operand") {
  const Device device = test_device();
  for (DType dtype : computed_dtypes(device)) {
    ProgramBuilder values;
    const std::vector<double> data = special(dtype, device);
    const int x = values.numbers({static_cast<std::int64_t>(data.size())}, dtype, data);
    for (Op op : ops_of(1, dtype)) values.unary(op, x);
    values.expect(device, "special values");
    for (const Shape& shape : shapes(device)) {
      ProgramBuilder program;
      const int y = program.input(shape, dtype);
      for (Op op : ops_of(1, dtype)) program.unary(op, y);
      program.expect(device, "shape " + to_string(shape));
    }
  }
}

TEST_CASE("operations of two operands") {
  const Device device = test_device();
  for (DType dtype : computed_dtypes(device)) {
    // Every pair of special values.
    const std::vector<double> data = special(dtype, device);
    const auto count = static_cast<std::int64_t>(data.size());
    ProgramBuilder values;
    const int a = values.numbers({count, 1}, dtype, data), b = values.numbers({count}, dtype, data);
    for (Op op : ops_of(2, dtype)) values.binary(op, {a}, {b});
    values.expect(device, "special values");
    for (const auto& [left, right] : pairs(device)) {
      ProgramBuilder program;
      const int x = program.input(left, dtype), y = program.input(right, dtype);
      for (Op op : ops_of(2, dtype)) {
        program.binary(op, {x}, {y});
        program.binary(op, {y}, {x});
      }
      program.expect(device, "shapes " + to_string(left) + " and " + to_string(right));
    }
    ProgramBuilder numbers;
    const int x = numbers.input({3, 5}, dtype);
    for (Op op : ops_of(2, dtype)) {
      numbers.binary(op, {x}, {-1, number_for(dtype)});
      numbers.binary(op, {-1, number_for(dtype)}, {x});
    }
    numbers.expect(device, "a number on either side");
  }
}

TEST_CASE("where chooses, whatever broadcasts") {
  const Device device = test_device();
  for (DType dtype : computed_dtypes(device)) {
    ProgramBuilder program;
    const int condition = program.input({3, 1, 5}, DType::boolean),
              narrow = program.input({5}, DType::boolean);
    const int x = program.input({4, 1}, dtype), y = program.input({3, 4, 5}, dtype),
              single = program.input({}, dtype);
    program.where(condition, {x}, {y});
    program.where(narrow, {y}, {x});
    program.where(narrow, {single}, {single});
    program.where(condition, {x}, {-1, number_for(dtype)});
    program.where(condition, {-1, number_for(dtype)}, {y});
    program.where(program.binary(Op::Less, {x}, {y}), {y}, {single});
    program.expect(device, "where");
  }
}

TEST_CASE("where does not mix in the side that is not chosen") {
  const Device device = test_device();
  ProgramBuilder program;
  const int x = program.numbers({6}, DType::f32, {kNaN, 1, kInfinity, -1, 0, kNaN});
  const int fine = program.binary(Op::Less, {x}, {-1, 10.0});
  program.where(fine, {x}, {-1, 0.0});
  program.where(fine, {program.unary(Op::Log, x)}, {-1, 2.0});
  program.expect(device, "where");
}

TEST_CASE("casts between all dtypes") {
  const Device device = test_device();
  const std::vector<DType> dtypes = computed_dtypes(device);
  for (DType from : dtypes) {
    ProgramBuilder program;
    std::vector<double> data = special(from, device);
    if (is_float(from))
      data.insert(data.end(),
                  {254.9, 255.5, 300, -3, 2147483520, 2147483648.0, -2147483648.0, 4294967040.0, 4294967296.0,
                   65535, 65536, -129, 32768, 9.3e18, -9.3e18, 1.8e19, 1.9e19, 3e38});
    const int x = program.numbers({static_cast<std::int64_t>(data.size())}, from, data);
    for (DType to : dtypes) program.cast(x, to);
    program.expect(device, "from " + std::string(name_of(from)));
  }
}

TEST_CASE("the sign of zero") {
  const Device device = test_device();
  ProgramBuilder program;
  const int zeros = program.numbers({2}, DType::f32, {0.0, -0.0});
  // 1 / x distinguishes the zeros.
  const auto apart = [&](int x) { program.unary(Op::Recip, x); };
  apart(zeros);
  apart(program.unary(Op::Neg, zeros));
  apart(program.unary(Op::Abs, zeros));
  apart(program.unary(Op::Floor, zeros));
  apart(program.unary(Op::Sqrt, zeros));
  apart(program.binary(Op::Mul, {zeros}, {-1, -1.0}));
  apart(program.reshape(zeros, {2, 1}));
  program.expect(device, "zeros");
}

TEST_CASE("long chains over views of one another") {
  const Device device = test_device();
  for (DType dtype : computed_dtypes(device)) {
    if (dtype == DType::boolean) continue;
    ProgramBuilder program;
    const int x = program.input({6, 4}, dtype);
    int y = x;
    for (int round = 0; round < 12; ++round) {
      y = program.binary(Op::Add, {program.permute(y, {1, 0})}, {-1, number_for(dtype)});
      y = program.binary(Op::Maximum, {program.reshape(y, {6, 4})}, {program.flip(x, {0})});
      y = program.binary(Op::Sub, {y}, {program.slice(x, {{}, {1, 2, 1}})});
    }
    program.expect(device, "a chain of 12 rounds");
  }
}

// A compiler that takes x / x for 1 is wrong where x is 0, infinite or no number.
TEST_CASE("a tensor divided by itself") {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{0, -0.0f, infinity, -infinity, std::nanf(""), 1, -3.5f, 3e38f, 2e-38f};
  const auto x = Tensor<1>::from_data(values, {static_cast<std::int64_t>(values.size())}, test_device());
  const std::vector<float> ones = (x / x).to_vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(values[i]);
    if (i < 5)
      CHECK(std::isnan(ones[i]));
    else
      CHECK(ones[i] == 1);
  }
}

}  // namespace sinter::testing
