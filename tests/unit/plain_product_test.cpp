// Which kernels are plain products, and that the matrices that are found in them are those of the kernel: the
// oracle evaluates the kernel, and a loop over the matrices has to give the same.
#include "jit/ir/products/plain_product.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/scratch.h"
#include "tests/support/planned_products.h"
#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;
using Program = std::function<std::vector<A>(const Device&)>;

/// The program with f32 factors rounded to tf32.
Planned planned_high(const Program& program) {
  return planned([&](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    return program(device);
  });
}

std::optional<ir::PlainProduct> found(const Planned& p) {
  REQUIRE(p.kernel != nullptr);
  return ir::plain_product(*p.kernel, p.ints);
}

/// Small integers, so that sums and results are exact.
Bindings random_bindings(const Planned& p) {
  Bindings bindings;
  bindings.ints = p.ints;
  for (const DType dtype : p.kernel->scalars)
    bindings.scalars.push_back(runtime::to_argument(Scalar(2.0), dtype));
  std::uint32_t state = 7;
  const std::vector<tune::Touched> touched = tune::touched_by(*p.kernel, p.ints);
  for (std::size_t b = 0; b < touched.size(); ++b) {
    REQUIRE(touched[b].low == 0);
    const DType dtype = p.kernel->buffers[b].dtype;
    std::vector<std::byte>& bytes = bindings.buffers.emplace_back();
    bytes.resize(static_cast<std::size_t>(touched[b].end) * size_of(dtype));
    for (std::int64_t i = 0; i < touched[b].end; ++i) {
      state = state * 1664525u + 1013904223u;
      Value value;
      value.dtype = dtype;
      value.real = static_cast<int>(state >> 24) % 5 - 2;
      store_value(value, bytes.data() + static_cast<std::size_t>(i) * size_of(dtype));
    }
  }
  return bindings;
}

double read(const ir::PlainMatrix& matrix, const Bindings& bindings, std::int64_t batch, std::int64_t line,
            std::int64_t along) {
  const std::int64_t at = matrix.offset + batch * matrix.batch_stride + line * matrix.leading + along;
  return load_value(matrix.dtype, bindings.buffers[matrix.buffer].data() +
                                      static_cast<std::size_t>(at) * size_of(matrix.dtype))
      .real;
}

/// What the matrices come to, in place of the result's buffer.
std::vector<std::byte> multiplied(const ir::PlainProduct& p, const Bindings& bindings) {
  std::vector<std::byte> bytes = bindings.buffers[p.result.buffer];
  for (std::int64_t n = 0; n < p.batches; ++n)
    for (std::int64_t r = 0; r < p.rows; ++r)
      for (std::int64_t c = 0; c < p.columns; ++c) {
        Value sum;
        sum.dtype = p.result.dtype;
        for (std::int64_t k = 0; k < p.depth; ++k)
          sum.real += (p.a_along_sum ? read(p.a, bindings, n, r, k) : read(p.a, bindings, n, k, r)) *
                      (p.b_along_sum ? read(p.b, bindings, n, c, k) : read(p.b, bindings, n, k, c));
        if (p.has_bias) sum.real += read(p.bias, bindings, 0, 0, c);
        const std::int64_t at = p.result.offset + n * p.result.batch_stride + r * p.result.leading + c;
        store_value(sum, bytes.data() + static_cast<std::size_t>(at) * size_of(p.result.dtype));
      }
  return bytes;
}

/// The kernel is a plain product, and computes what its matrices say.
ir::PlainProduct check(const Planned& p) {
  const std::optional<ir::PlainProduct> product = found(p);
  INFO(ir::to_string(*p.kernel));
  REQUIRE(product);
  for (const ir::PlainMatrix* matrix : {&product->a, &product->b, &product->result})
    CHECK(matrix->leading >= 1);
  CHECK(product->a.leading >= (product->a_along_sum ? product->depth : product->rows));
  CHECK(product->b.leading >= (product->b_along_sum ? product->depth : product->columns));
  CHECK(product->result.leading >= product->columns);
  const Bindings bindings = random_bindings(p);
  const ReferenceResult reference = evaluate(*p.kernel, bindings);
  CHECK(multiplied(*product, bindings) == reference.buffers[product->result.buffer]);
  return *product;
}

/// The product of the kernel's factors and the kernel for the rest together compute what the kernel does.
void check_with_rest(const Planned& p) {
  REQUIRE(p.kernel != nullptr);
  INFO(ir::to_string(*p.kernel));
  CHECK_FALSE(found(p));
  const std::optional<ir::PlainProduct> product = ir::library_product(*p.kernel, p.ints);
  REQUIRE(product);
  REQUIRE(product->has_rest);
  const ir::Kernel rest = ir::rest_of(*p.kernel);
  INFO(ir::to_string(rest));
  CHECK_NOTHROW(ir::verify(rest));
  Bindings bindings = random_bindings(p);
  const ReferenceResult reference = evaluate(*p.kernel, bindings);
  ir::PlainProduct sums = *product;
  sums.result.buffer = static_cast<std::uint16_t>(bindings.buffers.size());
  bindings.buffers.emplace_back(static_cast<std::size_t>(sums.batches * sums.rows * sums.columns) *
                                size_of(sums.result.dtype));
  bindings.buffers.back() = multiplied(sums, bindings);
  bindings.ints = ir::rest_ints(*p.kernel, p.ints);
  CHECK(bindings.ints.size() == rest.ints);
  const ReferenceResult result = evaluate(rest, bindings);
  for (const ir::Store& store : p.kernel->stores)
    CHECK(result.buffers[store.buffer] == reference.buffers[store.buffer]);
}

/// A matrix, or several, that the program reads transposed where `transposed`.
A operand(const Shape& shape, bool transposed, const Device& device, DType dtype) {
  if (!transposed) return input(shape, device, dtype);
  Dims sizes = shape;
  std::swap(sizes[-1], sizes[-2]);
  return input(Shape(sizes), device, dtype).transpose(-2, -1);
}

}  // namespace

TEST_CASE("products of all layouts, sizes and dtypes are plain") {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        const auto product = [&](const Shape& a, const Shape& b) {
          return check(planned_high([&](const Device& device) {
            return std::vector{
                operand(a, transpose_a, device, dtype).matmul(operand(b, transpose_b, device, dtype))};
          }));
        };
        const ir::PlainProduct p = product({24, 40}, {40, 16});
        CHECK((p.rows == 24 && p.columns == 16 && p.depth == 40 && p.batches == 1));
        CHECK(p.a_along_sum == !transpose_a);
        CHECK(p.b_along_sum == transpose_b);
        CHECK(p.a.dtype == dtype);
        CHECK(p.result.dtype == dtype);
        product({7, 13}, {13, 11});
        product({2, 2}, {2, 2});
        product({2, 37}, {37, 3});
        CHECK(product({3, 8, 24}, {3, 24, 16}).batches == 3);
        CHECK(product({3, 2, 5, 7}, {3, 2, 7, 19}).batches == 6);
        const ir::PlainProduct shared_b = product({3, 8, 24}, {1, 24, 16});
        CHECK(shared_b.batches == (transpose_a ? 3 : 1));
        CHECK(shared_b.b.batch_stride == 0);
        const ir::PlainProduct shared_a = product({1, 8, 24}, {3, 24, 16});
        CHECK(shared_a.batches == 3);
        CHECK(shared_a.a.batch_stride == 0);
      }
}

TEST_CASE("parts of larger matrices, and batches that lie between rows, are plain") {
  const auto p = check(planned([](const Device& device) {
    const A a = input({32, 64}, device).narrow(1, 8, 24), b = input({40, 48}, device);
    return std::vector{a.matmul(b.narrow(0, 16, 24).narrow(1, 16, 32))};
  }));
  CHECK(p.a.offset == 8);
  CHECK(p.a.leading == 64);
  CHECK(p.b.offset == 16 * 48 + 16);
  CHECK(p.b.leading == 48);
  // Heads of attention: (rows, heads, depth).
  const auto heads = check(planned([](const Device& device) {
    const A q = input({12, 4, 16}, device).transpose(0, 1), k = input({20, 4, 16}, device).transpose(0, 1);
    return std::vector{q.matmul(k.transpose(-2, -1))};
  }));
  CHECK(heads.batches == 4);
  CHECK(heads.a.leading == 64);
  CHECK(heads.a.batch_stride == 16);
}

TEST_CASE("a bias along the columns belongs to it, whatever side it stands on") {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32})
    for (const bool first : {false, true}) {
      const ir::PlainProduct p = check(planned_high([&](const Device& device) {
        const A a = input({16, 24}, device, dtype), b = input({24, 32}, device, dtype),
                bias = input({32}, device, dtype), y = a.matmul(b);
        return std::vector{first ? A::add(bias, y) : A::add(y, bias)};
      }));
      CHECK(p.has_bias);
      CHECK(p.bias.dtype == dtype);
    }
}

TEST_CASE("results of f32, of factors of 16 bits") {
  const ir::PlainProduct p = check(planned([](const Device& device) {
    const MatmulPrecisionScope scope(MatmulPrecision::Medium);  // factors are cast first
    const A a = input({16, 24}, device, DType::f32), b = input({24, 32}, device, DType::f32);
    return std::vector{a.matmul(b)};
  }));
  CHECK(p.a.dtype == DType::bf16);
  CHECK(p.result.dtype == DType::f32);
}

TEST_CASE("what is more than a product is one with a rest") {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const auto check = [&](const Shape& a, const Shape& b, const Shape& other,
                           const std::function<std::vector<A>(const A&, const A&)>& more) {
      check_with_rest(planned_high([&](const Device& device) {
        const A x = input(a, device, dtype), y = input(b, device, dtype), z = input(other, device, dtype);
        return more(x.matmul(y), z);
      }));
    };
    using List = std::vector<A>;
    check({16, 24}, {24, 32}, {1}, [](const A& y, const A&) { return List{relu(y)}; });
    check({16, 24}, {24, 32}, {16, 32}, [](const A& y, const A& z) { return List{A::add(y, z)}; });
    check({16, 24}, {24, 32}, {16, 1}, [](const A& y, const A& z) { return List{A::mul(y, z)}; });
    check({16, 24}, {24, 32}, {1}, [](const A& y, const A&) { return List{y, A::mul(y, 2)}; });
    check({16, 24}, {24, 32}, {32, 16},
          [](const A& y, const A& z) { return List{A::add(y, z.transpose(0, 1))}; });
    check({3, 7, 24}, {3, 24, 9}, {7, 1}, [](const A& y, const A& z) { return List{relu(A::add(y, z))}; });
    // One factor for a batch, whose rows lie one behind the other with those of the next.
    check({3, 8, 24}, {24, 16}, {3, 1, 16}, [](const A& y, const A& z) { return List{A::add(y, z)}; });
  }
}

TEST_CASE("sums of more than the most bytes are no alternative") {
  const Planned p = planned([](const Device& device) {
    const A a = input({16384, 64}, device), b = input({64, 16384}, device);
    return std::vector{relu(a.matmul(b))};
  });
  CHECK_FALSE(ir::library_product(*p.kernel, p.ints));
}

TEST_CASE("what is more than a product, or less, is none") {
  const auto is_plain = [](const Program& program) {
    const Planned p = planned_high(program);
    REQUIRE(p.tiled == 1);
    return found(p).has_value();
  };
  const auto with = [&](const Shape& other, DType dtype, const std::function<A(const A&, const A&)>& more) {
    return is_plain([&](const Device& device) {
      const A a = input({16, 24}, device), b = input({24, 32}, device), x = input(other, device, dtype);
      return std::vector{more(a.matmul(b), x)};
    });
  };
  const auto add = [](const A& y, const A& x) { return A::add(y, x); };
  CHECK(with({32}, DType::bf16, add));
  CHECK_FALSE(with({16, 1}, DType::bf16, add));
  CHECK_FALSE(with({16, 32}, DType::bf16, add));
  CHECK_FALSE(with({32}, DType::f32, add));
  CHECK_FALSE(with({32}, DType::bf16, [](const A& y, const A& x) { return A::sub(y, x); }));
  CHECK_FALSE(with({32}, DType::bf16, [](const A& y, const A& x) { return A::add(A::add(y, x), x); }));
  // A bias whose elements lie apart.
  CHECK_FALSE(with({32, 2}, DType::bf16,
                   [](const A& y, const A& x) { return A::add(y, x.narrow(1, 0, 1).reshape({32})); }));
  CHECK_FALSE(with({1}, DType::bf16, [](const A& y, const A&) { return relu(y); }));
  CHECK_FALSE(with({1}, DType::bf16, [](const A& y, const A&) { return A::mul(y, 0.5); }));
  CHECK_FALSE(with({1}, DType::bf16, [](const A& y, const A&) { return A::add(y, y); }));
  // Two results.
  CHECK_FALSE(is_plain([](const Device& device) {
    const A a = input({16, 24}, device), b = input({24, 32}, device), y = a.matmul(b);
    return std::vector{y, A::mul(y, 2)};
  }));
  // Factors of f32, and results of 16 bits.
  CHECK_FALSE(is_plain([](const Device& device) {
    const A a = input({16, 24}, device, DType::f32), b = input({24, 32}, device, DType::f32);
    return std::vector{a.matmul(b).cast(DType::bf16)};
  }));
  // Factors whose lines overlap or lie backwards, or whose elements lie apart both ways.
  const auto of = [&](const Shape& a, const std::function<A(const A&)>& view) {
    return is_plain([&](const Device& device) {
      const A x = input(a, device), b = input({24, 32}, device);
      return std::vector{view(x).matmul(b)};
    });
  };
  CHECK(of({16, 24}, [](const A& x) { return x; }));
  CHECK_FALSE(of({39}, [](const A& x) { return x.windows(0, 24, 1); }));
  CHECK_FALSE(of({16, 24}, [](const A& x) { return x.flip({0}); }));
  CHECK_FALSE(of({16, 24, 2}, [](const A& x) { return x.narrow(2, 0, 1).reshape({16, 24}); }));
  // A convolution, whose windows overlap.
  CHECK_FALSE(is_plain([](const Device& device) {
    const A x = input({2, 8, 9, 9}, device), weight = input({16, 8, 3, 3}, device);
    return std::vector{x.conv2d(weight, {})};
  }));
}

TEST_CASE("a library is preferred where f32 lies across the sum, and there is much of it") {
  const auto prefers = [](const Shape& a, const Shape& b, bool transpose_b, DType dtype) {
    const Planned p = planned_high([&](const Device& device) {
      return std::vector{input(a, device, dtype).matmul(operand(b, transpose_b, device, dtype))};
    });
    REQUIRE(p.tiled == 1);
    return plan::prefers_library(*p.kernel, p.ints);
  };
  // Of so few rows that the planner copies no factor along the sum.
  CHECK(prefers({256, 4096}, {4096, 1024}, false, DType::f32));
  CHECK_FALSE(prefers({256, 4096}, {4096, 1024}, true, DType::f32));
  CHECK_FALSE(prefers({256, 4096}, {4096, 1000}, false, DType::f32));
  CHECK(prefers({3, 256, 4096}, {3, 4096, 1000}, false, DType::f32));
  CHECK_FALSE(prefers({256, 4096}, {4096, 1024}, false, DType::bf16));
}

TEST_CASE("a factor across the sum is not copied where a library is there that reads it as it lies") {
  const auto launches = [](bool (*has_library)(), std::int64_t size, bool computed = false) {
    ir::DeviceTraits traits = with_tensor_cores();
    traits.has_product_library = has_library;
    const Planned p = planned(
        [&](const Device& device) {
          const MatmulPrecisionScope scope(MatmulPrecision::High);
          const A a = input({size, size}, device, DType::f32), b = input({size, size}, device, DType::f32);
          return std::vector{a.matmul(computed ? b.exp() : b)};
        },
        traits);
    REQUIRE(p.tiled == 1);
    if (p.plan.launches.size() == 1) CHECK(plan::prefers_library(*p.kernel, p.ints));
    return p.plan.launches.size();
  };
  CHECK(launches(nullptr, 1024) == 2);
  CHECK(launches([] { return false; }, 1024) == 2);
  CHECK(launches([] { return true; }, 1024) == 1);
  CHECK(launches([] { return true; }, 1020) == 2);
  CHECK(launches([] { return true; }, 1024, true) == 2);
}

TEST_CASE("ways of a library follow the first of the tilings, or precede it") {
  const Planned p = product({64, 64}, {64, 64});
  const auto tilings = plan::ranked_tilings(*p.kernel, p.ints, plan::limits_of(with_tensor_cores()));
  ir::Tiling way = tilings[0];
  way.library = 1;
  const std::vector<ir::Tiling> ways{way};
  const auto behind = plan::ranked_with_library(tilings, ways, false);
  CHECK(behind.size() == tilings.size() + 1);
  CHECK((behind[0] == tilings[0] && behind[1] == way && behind[2] == tilings[1]));
  const auto before = plan::ranked_with_library(tilings, ways, true);
  CHECK((before[0] == way && before[1] == tilings[0]));
  CHECK(plan::ranked_with_library(tilings, {}, true) == tilings);
}

}  // namespace sinter::testing
