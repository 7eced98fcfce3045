// Matrix products and convolutions: sizes, broadcasts, and operands that are views.
#include <array>

#include <doctest/doctest.h>

#include "tests/support/programs/program_builder.h"

namespace sinter::testing {
namespace {

std::vector<DType> float_dtypes(const Device& device) {
  std::vector<DType> dtypes = {DType::f32};
  if (compiles_slowly(device)) return dtypes;
  for (DType dtype : {DType::f64, DType::bf16, DType::f16})
    if (has_dtype(device, dtype)) dtypes.push_back(dtype);
  return dtypes;
}

void check_products_of_views(const Device& device, DType dtype) {
  for (bool flushed : {false, true}) {
    ProgramBuilder program;
    const int x = program.input({6, 8}, dtype), y = program.input({2, 3, 4}, dtype),
              row = program.input({1, 8}, dtype);
    std::vector<int> views = {
        program.permute(x, {1, 0}),                            // contiguous columns
        program.slice(x, {{1, 5, 1}, {2, 7, 1}}),              // strided rows
        program.slice(x, {{}, {{}, {}, 2}}),                   // neither contiguous
        program.slice(x, {{{}, {}, -1}}),                      // rows reversed
        program.flip(x, {1}),                                  // columns reversed
        program.expand(row, {5, 8}),                           // one row repeated
        program.permute(program.expand(row, {5, 8}), {1, 0}),  // one column repeated
        program.permute(y, {1, 0, 2}),                         // batches interleaved
        program.permute(y, {2, 1, 0}),
        program.flip(y, {0}),                                      // batches reversed
        program.expand(program.slice(y, {{1, 2, 1}}), {4, 3, 4}),  // one batch repeated
        program.reshape(program.permute(x, {1, 0}), {4, 12}),      // a reshape that must copy
    };
    if (flushed) program.flush();
    for (int view : views) {
      Dims swapped;
      const std::size_t rank = view >= views[7] && view <= views[10] ? 3 : 2;
      for (std::size_t d = 0; d < rank; ++d) swapped.push_back(static_cast<std::int64_t>(d));
      std::swap(swapped[rank - 1], swapped[rank - 2]);
      const int other = program.permute(view, swapped);
      program.matmul(view, other);
      program.matmul(other, view);
    }
    program.expect(device, flushed ? "views of memory" : "views of inputs");
  }
}

void check_convolutions_of_views(const Device& device, DType dtype) {
  for (bool flushed : {false, true}) {
    ProgramBuilder program;
    const int x = program.input({5, 2, 6, 3}, dtype), w = program.input({3, 3, 2, 4}, dtype);
    const int image = program.permute(program.flip(x, {0}), {1, 3, 2, 0});  // (2, 3, 6, 5)
    const int weight =
        program.permute(program.slice(w, {{}, {}, {}, {1, {}, 1}}), {3, 0, 1, 2});  // (3, 3, 3, 2)
    const int computed = program.unary(Op::Tanh, image);
    if (flushed) program.flush();
    program.conv2d(image, weight, {});
    const int y = program.conv2d(computed, program.binary(Op::Mul, {weight}, {-1, 0.5}), {.padding = {1, 0}});
    program.conv2d(program.slice(computed, {{1, 2, 1}}), weight, {});
    program.reduce(Op::Max, program.binary(Op::Add, {y}, {-1, 1.0}), {2, 3});
    program.expect(device, flushed ? "views of memory" : "views of inputs");
  }
}

}  // namespace

TEST_CASE("matrix products of many sizes") {
  const Device device = test_device();
  const std::vector<std::pair<Shape, Shape>> cases = {{{1, 1}, {1, 1}},
                                                      {{2, 3}, {3, 4}},
                                                      {{1, 7}, {7, 1}},
                                                      {{7, 1}, {1, 7}},
                                                      {{17, 33}, {33, 5}},
                                                      {{64, 65}, {65, 66}},
                                                      {{3, 0}, {0, 2}},
                                                      {{0, 3}, {3, 2}},
                                                      {{3, 2}, {2, 0}},
                                                      {{2, 3, 4}, {2, 4, 5}},
                                                      {{2, 3, 4}, {4, 5}},
                                                      {{3, 4}, {2, 4, 5}},
                                                      {{2, 1, 3, 4}, {1, 5, 4, 2}},
                                                      {{0, 3, 4}, {4, 5}},
                                                      {{5, 1, 1}, {5, 1, 3}},
                                                      {{2, 2, 1, 3, 2}, {2, 1, 2, 3}},
                                                      {{2, 130}, {130, 129}}};
  for (DType dtype : float_dtypes(device)) {
    ProgramBuilder program;
    for (const auto& [a, b] : cases) program.matmul(program.input(a, dtype), program.input(b, dtype));
    program.expect(device, "products of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("batches of products around the sizes from which on they have tiles, one size after the other") {
  const Device device = test_device();
  for (const std::int64_t size : {16, 17, 3, 1, 16, 33, 15})
    for (DType dtype : float_dtypes(device)) {
      ProgramBuilder program;
      const int x =
          program.matmul(program.input({3, size, size}, dtype), program.input({3, size, size}, dtype));
      program.binary(Op::Mul, {x}, {-1, 0.5});
      program.expect(device, "products of " + std::to_string(size) + " of " + std::string(name_of(dtype)));
    }
}

TEST_CASE("matrix products with sums so long that the host packs them range by range") {
  const Device device = test_device();
  if (device.name() != "host") return;  // others go over a sum in steps of any length
  for (const DType dtype : float_dtypes(device)) {
    ProgramBuilder program;
    program.matmul(program.input({700, 1701}, dtype), program.input({1701, 37}, dtype));
    program.matmul(program.permute(program.input({1702, 700}, dtype), {1, 0}),
                   program.permute(program.input({67, 1702}, dtype), {1, 0}));
    program.expect(device, "long sums of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("matrix products of few results, whose sums blocks of a GPU share") {
  const Device device = test_device();
  if (compiles_slowly(device)) return;
  // Rows and columns that fill no tile and no vector, sums that leave a cluster's last blocks nothing,
  // batches; operands that lie across the sum and along it.
  const std::vector<std::array<std::int64_t, 4>> sizes = {{1, 100, 101, 97}, {1, 61, 67, 400},
                                                          {1, 64, 128, 385}, {3, 50, 46, 200},
                                                          {1, 33, 300, 100}, {2, 64, 64, 48}};
  for (const auto& [batch, m, n, k] : sizes)
    for (const bool along : {false, true}) {
      ProgramBuilder program;
      const int a = program.input({batch, m, k}, DType::f32);
      const int b = along ? program.permute(program.input({batch, n, k}, DType::f32), {0, 2, 1})
                          : program.input({batch, k, n}, DType::f32);
      const int c = along ? a : program.permute(program.input({batch, k, m}, DType::f32), {0, 2, 1});
      program.matmul(a, b);
      if (!along) program.matmul(c, b);
      program.expect(device, "few results");
    }
}

TEST_CASE("matrix products of views") {
  for (const DType dtype : float_dtypes(test_device())) check_products_of_views(test_device(), dtype);
}

TEST_CASE("many products of one vector, of numbers in a row and of such with gaps") {
  const Device device = test_device();
  ProgramBuilder program;
  const std::int64_t batch = device.name() == "host" ? 3000 : 9;  // more than one to a piece of the host's
  const int rows = program.input({batch, 1, 20}, DType::f32),
            matrices = program.input({batch, 20, 7}, DType::f32);
  program.matmul(rows, matrices);
  program.matmul(program.permute(matrices, {0, 2, 1}), program.permute(rows, {0, 2, 1}));
  // A column of each, which has gaps; and two rows of each.
  program.matmul(rows, program.slice(matrices, {{0, batch, 1}, {0, 20, 1}, {2, 3, 1}}));
  program.matmul(program.permute(program.slice(matrices, {{0, batch, 1}, {0, 20, 1}, {2, 4, 1}}), {0, 2, 1}),
                 matrices);
  program.expect(device, "batches of vectors");
}

TEST_CASE("matrix products that are only read turned, and such that are also read as they are") {
  const Device device = test_device();
  ProgramBuilder program;
  const int x = program.input({9, 20}, DType::f32), y = program.input({9, 13}, DType::f32),
            batches = program.input({3, 6, 5}, DType::f32), others = program.input({3, 6, 7}, DType::f32);
  const auto read_as = [&](int product, const Dims& axes) {
    const int view = program.permute(product, axes);
    program.unary(Op::Exp, view);
    program.drop(view);
  };
  const auto turned = [&](int matrix) { return program.permute(matrix, {1, 0}); };
  // Transposed times plain, plain times transposed, both plain; then batches, and products that are not
  // transposed.
  for (const auto& [a, b] :
       {std::pair(turned(x), y), std::pair(x, turned(program.input({8, 20}, DType::f32))),
        std::pair(x, program.input({20, 7}, DType::f32))}) {
    const int product = program.matmul(a, b);
    read_as(product, {1, 0});
    program.drop(product);
  }
  for (const Dims& axes : {Dims{0, 2, 1}, Dims{2, 0, 1}}) {
    const int product = program.matmul(program.permute(batches, {0, 2, 1}), others);
    read_as(product, axes);
    program.drop(product);
    program.flush();  // otherwise both would share one product
  }
  const int seen = program.matmul(turned(y), x);
  read_as(seen, {1, 0});
  program.unary(Op::Exp, seen);
  program.expect(device, "turned products");
}

TEST_CASE("narrow matrix products") {
  const Device device = test_device();
  ProgramBuilder program;
  for (const std::int64_t size : {5, 10, 16, 18, 40}) {
    const int tall = program.input({130, 300}, DType::f32), thin = program.input({300, size}, DType::f32),
              thin_turned = program.input({size, 300}, DType::f32),
              left = program.input({130, size}, DType::f32);
    program.matmul(tall, thin);
    program.matmul(tall, program.permute(thin_turned, {1, 0}));
    program.matmul(left, thin_turned);
    program.matmul(program.permute(left, {1, 0}), tall);
    program.matmul(program.permute(tall, {1, 0}), left);
  }
  program.expect(device, "narrow products");
}

TEST_CASE("matrix products of what was just computed, and computing with them") {
  const Device device = test_device();
  ProgramBuilder program;
  const int x = program.input({5, 7}, DType::f32), w = program.input({7, 3}, DType::f32),
            bias = program.input({3}, DType::f32);
  const int hidden = program.unary(Op::Tanh, program.binary(Op::Mul, {x}, {-1, 0.5}));
  const int product = program.matmul(hidden, program.binary(Op::Add, {w}, {-1, 1.0}));
  const int out = program.binary(Op::Maximum, {program.binary(Op::Add, {product}, {bias})}, {-1, 0.0});
  program.reduce(Op::Sum, out, {1});
  program.matmul(program.permute(out, {1, 0}), out);
  program.drop(product);
  program.drop(hidden);
  program.expect(device, "a layer");
}

TEST_CASE("what a later product reads is not overwritten before") {
  const Device device = test_device();
  ProgramBuilder program;
  const int x = program.input({6, 6}, DType::f32), w = program.input({6, 6}, DType::f32);
  const int first = program.matmul(x, w);
  const int changed = program.binary(Op::Add, {first}, {-1, 1.0});
  const int given = program.binary(Op::Sub, {x}, {-1, 0.5});
  program.matmul(changed, w);
  program.matmul(given, w);
  program.matmul(first, w);
  program.matmul(w, x);
  for (int value : {x, first, changed, given}) program.drop(value);
  program.expect(device, "products of what was changed, then of what it was");
}

TEST_CASE("convolutions") {
  const Device device = test_device();
  struct Case {
    Shape x, weight;
    Conv2dOptions options;
  };
  std::vector<Case> cases = {
      {{1, 1, 5, 5}, {1, 1, 3, 3}, {}},
      {{2, 3, 7, 6}, {4, 3, 3, 3}, {}},
      {{2, 3, 7, 6}, {4, 3, 3, 2}, {.stride = {2, 1}, .padding = {1, 2}}},
      {{1, 2, 9, 9}, {3, 2, 3, 3}, {.padding = {2, 2}, .dilation = {2, 3}}},
      {{2, 4, 6, 6}, {6, 2, 3, 3}, {.padding = {1, 1}, .groups = 2}},
      {{2, 4, 6, 5}, {4, 1, 3, 3}, {.stride = {2, 2}, .padding = {1, 1}, .groups = 4}},
      {{3, 8, 4, 4}, {5, 8, 1, 1}, {}},
      {{1, 1, 3, 3}, {2, 1, 3, 3}, {}},
      {{0, 2, 5, 5}, {3, 2, 3, 3}, {}},
      {{2, 17, 12, 13}, {19, 17, 3, 3}, {.padding = {1, 1}}},
      {{1, 1, 1, 1}, {1, 1, 3, 3}, {.padding = {1, 1}}},
  };
  for (DType dtype : float_dtypes(device)) {
    ProgramBuilder program;
    for (const Case& c : cases)
      program.conv2d(program.input(c.x, dtype), program.input(c.weight, dtype), c.options);
    program.expect(device, "convolutions of " + std::string(name_of(dtype)));
  }
}

TEST_CASE("convolutions of views and of what was just computed") {
  for (const DType dtype : float_dtypes(test_device())) check_convolutions_of_views(test_device(), dtype);
}

TEST_CASE("products of 16-bit floats beside f32, and what is read as f32 too") {
  const Device device = test_device();
  for (const DType half : {DType::bf16, DType::f16}) {
    if (!has_dtype(device, half)) continue;
    for (const std::int64_t rows : {1, 2, 3, 5, 40}) {
      ProgramBuilder program;
      const int x = program.input({rows, 70}, DType::f32), w = program.input({70, 33}, half),
                v = program.input({33, 70}, half);
      const int wide = program.cast(w, DType::f32);
      program.matmul(x, wide);  // f32 x 16 bits
      program.matmul(program.permute(wide, {1, 0}), program.permute(x, {1, 0}));
      const int y = program.matmul(program.cast(x, half), w);  // 16 bits x 16 bits
      program.binary(Op::Add, {program.cast(y, DType::f32)}, {-1, 1.0});
      program.matmul(y, v);  // what a product gave
      program.matmul(program.slice(w, {{1, 60, 1}, {3, 20, 1}}), program.slice(v, {{2, 19, 1}}));
      program.expect(device, "products of " + std::string(name_of(half)) + " beside f32");
    }
  }
}

TEST_CASE("products that are added up, with others and with what else there is") {
  const Device device = test_device();
  const auto turned = [](ProgramBuilder& program, int x, bool turns) {
    return turns ? program.permute(x, {1, 0}) : x;
  };
  for (const DType dtype : float_dtypes(device))
    for (const int count : {2, 3, 17, 40}) {
      if (count > 3 && compiles_slowly(device) && dtype != DType::f32) continue;
      ProgramBuilder program;
      // Sums over 0 to 4 elements, of factors that lie along them or across, seen as f32 or not.
      int sum = program.full({9, 7}, 0.5, DType::f32);
      for (int i = 0; i < count; ++i) {
        const std::int64_t depth = (i + 1) % 5;
        const int a = program.input(i % 2 == 0 ? Shape{9, depth} : Shape{depth, 9}, dtype),
                  b = program.input({depth, 7}, dtype), left = turned(program, a, i % 2 != 0);
        const int product = program.matmul(left, b), wide = program.cast(product, DType::f32);
        const int more = program.binary(Op::Add, {sum}, {wide});
        for (const int x : {sum, product, wide}) program.drop(x);
        if (left != a) program.drop(left);
        sum = more;
      }
      program.expect(device, std::to_string(count) + " products of " + std::string(name_of(dtype)));
    }
}

}  // namespace sinter::testing
