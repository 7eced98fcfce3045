// Products of few rows, which devices with tensor cores compute as fast as the other factor is read: on
// others they are library ops. Sizes are whole tiles, parts of them, and none; factors lie along the sum,
// across it and neither way.
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/programs/program_builder.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

std::vector<DType> halves(const Device& device) {
  std::vector<DType> dtypes;
  for (DType dtype : {DType::bf16, DType::f16})
    if (has_dtype(device, dtype)) dtypes.push_back(dtype);
  if (compiles_slowly(device) && dtypes.size() > 1) dtypes.resize(1);
  return dtypes;
}

int transposed(ProgramBuilder& program, int x) { return program.permute(x, {1, 0}); }

}  // namespace

TEST_CASE("products of two to seventeen rows, however their factors lie") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t n, k;
  };
  for (DType dtype : halves(device)) {
    ProgramBuilder program;
    for (const auto& [n, k] : {Sizes{64, 256}, {16, 64}, {104, 1032}, {50, 100}, {33, 77}, {1, 300}, {40, 2}})
      for (const std::int64_t rows : {2, 3, 8, 9, 16, 17}) {
        const int x = program.input({rows, k}, dtype), w = program.input({n, k}, dtype),
                  across = program.input({k, n}, dtype);
        program.matmul(x, transposed(program, w));
        if (rows % 8 != 1) continue;
        program.matmul(x, across);
        program.matmul(transposed(program, program.input({k, rows}, dtype)), across);
      }
    program.expect(device, "few rows of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("few rows of more tiles than workgroups, which bring what comes next while they finish") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t rows, n, k;
  };
  for (DType dtype : halves(device)) {
    ProgramBuilder program;
    // Of cards of up to 132 units; the second one's sums end within a chunk, of which some subgroups have
    // two.
    for (const auto& [rows, n, k] : {Sizes{4, 4260, 128}, {3, 404, 520}, {16, 404, 520}}) {
      const int x = program.input({rows, k}, dtype);
      program.matmul(x, transposed(program, program.input({n, k}, dtype)));
      program.matmul(x, program.input({k, n}, dtype));
    }
    program.matmul(program.input({9, 2, 328}, dtype), program.input({9, 328, 72}, dtype));
    program.expect(device, "many tiles of few rows of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("products of few rows in batches, of slices, and of nothing") {
  const Device device = test_device();
  for (DType dtype : halves(device)) {
    ProgramBuilder program;
    program.matmul(program.input({3, 4, 72}, dtype), program.input({3, 72, 40}, dtype));
    program.matmul(program.input({5, 2, 64}, dtype), program.input({1, 64, 48}, dtype));
    const int x = program.input({2, 3, 4, 80}, dtype);
    program.matmul(program.permute(x, {1, 0, 2, 3}), program.input({3, 2, 80, 24}, dtype));
    const int w = program.input({60, 200}, dtype), rows = program.input({4, 200}, dtype);
    for (const std::int64_t start : {0, 8, 4, 2, 1})  // from whole pieces to none
      program.matmul(program.slice(rows, {{}, {start, start + 136, 1}}),
                     transposed(program, program.slice(w, {{}, {start, start + 136, 1}})));
    program.matmul(rows, program.permute(program.slice(w, {{3, 43, 2}, {}}), {1, 0}));
    program.matmul(program.input({0, 64}, dtype), program.input({64, 32}, dtype));
    program.matmul(program.input({4, 64}, dtype), program.input({64, 0}, dtype));
    program.matmul(program.input({4, 0}, dtype), program.input({0, 32}, dtype));
    program.expect(device, "few rows in batches of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("what stands in front of a product of few rows, and what follows") {
  const Device device = test_device();
  for (DType dtype : halves(device)) {
    for (const std::int64_t rows : {std::int64_t{4}, std::int64_t{16}}) {
      ProgramBuilder program;
      const int x = program.input({rows, 136}, dtype), w = program.input({72, 136}, dtype),
                bias = program.input({1, 72}, dtype), residual = program.input({rows, 72}, DType::f32),
                wide = program.input({rows, 75}, dtype), scale = program.input({rows, 1}, DType::f32);
      const int y = program.matmul(x, transposed(program, w));
      program.unary(Op::Tanh, program.binary(Op::Add, {y}, {bias}));
      program.binary(Op::Add, {program.cast(y, DType::f32)}, {residual});
      program.binary(Op::Mul, {y}, {program.slice(wide, {{}, {1, 73, 1}})});
      program.unary(Op::Abs, transposed(program, y));
      program.binary(Op::Mul, {program.cast(y, DType::f32)}, {scale});
      program.reduce(Op::Sum, y, {1});
      // Factors that are computed: from f32, by a scale of each column, and from whole numbers.
      const int of_f32 = program.cast(program.input({72, 136}, DType::f32), dtype);
      program.matmul(x, transposed(program, of_f32));
      const int scales = program.input({72, 1}, dtype);
      program.matmul(x, transposed(program, program.binary(Op::Mul, {w}, {scales})));
      const int numbers = program.cast(program.input({72, 136}, DType::i32, 10), dtype);
      program.matmul(program.unary(Op::Abs, x), transposed(program, numbers));
      program.expect(device, "what is around few rows of " + std::string(name_of(dtype)));
    }
  }
}

TEST_CASE("the same product of few rows has the same bits each time") {
  const Device device = test_device();
  for (DType dtype : halves(device)) {
    const AnyTensor x = AnyTensor::normal({4, 3000}, 0, 1, DType::f32, device).cast(dtype),
                    w = AnyTensor::normal({40, 3000}, 0, 1, DType::f32, device).cast(dtype);
    x.sync();
    w.sync();
    const auto product = [&] { return values_of<float>(x.matmul(w.transpose(0, 1)).cast(DType::f32)); };
    const std::vector<float> first = product();
    for (int again = 0; again < 4; ++again) CHECK(product() == first);
  }
}

TEST_CASE("few rows of f32 that may be rounded") {
  const Device device = test_device();
  const MatmulPrecisionScope scope(MatmulPrecision::High);
  for (const auto& [rows, n, k] : {std::tuple{2, 48, 100}, {8, 33, 77}, {13, 64, 512}}) {
    const AnyTensor x = AnyTensor::normal({rows, k}, 0, 1, DType::f32, device),
                    w = AnyTensor::normal({n, k}, 0, 1, DType::f32, device);
    const std::vector<float> of_x = values_of<float>(x), of_w = values_of<float>(w);
    const AnyTensor stored = AnyTensor::mul(w.transpose(0, 1), 1.0);
    stored.sync();
    for (const AnyTensor& b : {w.transpose(0, 1), stored}) {
      const std::vector<float> y = values_of<float>(x.matmul(b));
      double worst = 0;
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < n; ++column) {
          double exact = 0, magnitude = 0;
          for (int i = 0; i < k; ++i) {
            const double term = static_cast<double>(of_x[static_cast<std::size_t>(row * k + i)]) *
                                of_w[static_cast<std::size_t>(column * k + i)];
            exact += term;
            magnitude += std::abs(term);
          }
          const double error = std::abs(y[static_cast<std::size_t>(row * n + column)] - exact);
          worst = std::max(worst, error / magnitude);
        }
      CAPTURE(rows);
      CHECK(worst < 2 * 0x1p-11 * 1.01 + k * 0x1p-23);
    }
  }
}

}  // namespace sinter::testing
