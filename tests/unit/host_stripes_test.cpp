// Stripes of scores: the kernel over a stripe, the columns that a mask of places leaves, and the products.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <thread>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/functions/activation.h>
#include <sinter/half.h>
#include <sinter/nn/attention.h>

#include "jit/ir/scores/score_stripes.h"
#include "src/runtime/host/attention/seen_columns.h"
#include "src/runtime/host/attention/stripe_products.h"
#include "tests/support/failing_backend.h"
#include "tests/support/planned_products.h"
#include "tests/support/processor.h"
#include "tests/support/values.h"

using namespace sinter;
using namespace sinter::testing;
using runtime::host::SeenColumns;
using runtime::host::StripeProducts;
using runtime::host::Vectors;

namespace {

ir::DeviceTraits processor() {
  ir::DeviceTraits traits;
  traits.is_cpu = true;
  traits.fewest_striped = traits.memory_bytes = 1;  // whatever pays
  return traits;
}

/// A query sees the `window` keys up to its own place; with `far` those up to a place that wraps around.
AnyTensor masked(const AnyTensor& q, const AnyTensor& k, const AnyTensor& v, std::int64_t window,
                 double instead = -std::numeric_limits<double>::infinity(), bool far = false) {
  const Device device = q.device().inner();
  const std::int64_t rows = q.shape()[1], columns = k.shape()[1];
  const AnyTensor i = AnyTensor::arange(0, rows, 1, device).reshape({rows, 1}),
                  j = AnyTensor::arange(0, columns, 1, device).reshape({1, columns});
  const AnyTensor last = far ? AnyTensor::add(i, std::numeric_limits<std::int64_t>::max() - 50) : i;
  const AnyTensor seen =
      AnyTensor::logical_and(AnyTensor::less_equal(j, last), AnyTensor::less(AnyTensor::sub(i, j), window));
  return softmax(AnyTensor::where(seen, q.matmul(k.transpose(-2, -1)), instead), -1).matmul(v);
}

/// The attention kernels of (2, 200, 16), and their launches.
struct Attention {
  trace::Trace trace;
  plan::Plan plan;
  std::vector<const plan::Launch*> launches;

  explicit Attention(trace::Trace of) : trace(std::move(of)), plan(plan::make_plan(trace, processor(), {})) {
    for (const plan::Launch& launch : plan.launches)
      if (std::holds_alternative<std::uint32_t>(launch.what) && kernel_of(launch).attention.any())
        launches.push_back(&launch);
  }
  const ir::Kernel& kernel_of(const plan::Launch& launch) const {
    return *plan.kernels[std::get<std::uint32_t>(launch.what)];
  }
  Scalar number(const plan::ScalarRef& of) const {
    return of.table == plan::ScalarRef::Table::Trace ? trace.scalars[of.index] : plan.constants[of.index];
  }
};

Attention attention(std::int64_t window, double instead = -std::numeric_limits<double>::infinity(),
                    bool gradients = false, bool far = false) {
  return Attention(traced([&](const Device& device) {
    const Device of = gradients ? device.autodiff() : device;
    std::vector<AnyTensor> x;
    for (int k = 0; k < 4; ++k) x.push_back(input({2, 200, 16}, of, DType::f32));
    if (!gradients) return std::vector{masked(x[0], x[1], x[2], window, instead, far)};
    std::vector<AnyTensor> inputs;
    for (int k = 0; k < 3; ++k) inputs.push_back(x[static_cast<std::size_t>(k)].require_grad());
    const AnyTensor y = masked(inputs[0], inputs[1], inputs[2], window, instead);
    std::vector<AnyTensor> found =
        gradient(y, std::span<const AnyTensor>(inputs), {.seed = x[3], .differentiable = false});
    found.push_back(y);
    for (AnyTensor& result : found) result = result.inner();
    return found;
  }));
}

SeenColumns::Range range(const Attention& of, std::int64_t first_row, std::int64_t rows) {
  REQUIRE(of.launches.size() == 1);
  const plan::Launch& launch = *of.launches.front();
  const ir::Kernel& kernel = of.kernel_of(launch);
  std::vector<runtime::ScalarValue> scalars;
  for (const plan::ScalarArgument& scalar : launch.scalars)
    scalars.push_back(runtime::to_argument(of.number(scalar.number), scalar.dtype));
  runtime::LaunchArguments arguments;
  arguments.ints = launch.ints;
  arguments.scalars = scalars;
  const std::vector<std::int64_t> batch(kernel.outer_rank - 1u, 1);
  return SeenColumns(kernel).range(arguments, {batch, first_row, rows, 0, 0, 0}, 200);
}

}  // namespace

TEST_CASE("columns that a mask of places leaves out are left out, in blocks of 32") {
  const Attention window = attention(40);
  const auto check = [](SeenColumns::Range seen, std::int64_t first, std::int64_t end) {
    CHECK(seen.first == first);
    CHECK(seen.end == end);
  };
  check(range(window, 0, 12), 0, 40);  // blocks from the end: 200 - 5 * 32
  check(range(window, 100, 20), 32, 136);
  check(range(window, 199, 1), 160, 200);
  check(range(window, 0, 200), 0, 200);
  const Attention none = attention(-1000);  // nobody sees anything: one block stays
  check(range(none, 100, 20), 192, 200);
  // What stands in a masked score's place counts.
  const Attention finite = attention(40, -1e9);
  check(range(finite, 100, 20), 0, 200);
  // Query 40 sees all keys, query 60 none: of both together nothing is known.
  const Attention wrapped = attention(1000, -std::numeric_limits<double>::infinity(), false, true);
  check(range(wrapped, 40, 20), 0, 200);
}

TEST_CASE("the kernel over a stripe is one that devices take, and weights take the place of scores") {
  const Attention all = attention(40, -std::numeric_limits<double>::infinity(), true);
  REQUIRE(all.launches.size() == 2);  // rows of queries, with the forward pass, and of keys
  std::vector<std::size_t> lines;
  for (const plan::Launch* launch : all.launches) {
    const ir::Kernel& whole = all.kernel_of(*launch);
    const ir::ScoreStripes stripes(whole);
    ir::verify(stripes.kernel);
    CHECK_FALSE(stripes.kernel.attention.any());
    CHECK(stripes.scores.size() == static_cast<std::size_t>(std::count_if(
                                       whole.exprs.begin(), whole.exprs.end(),
                                       [](const ir::Expr& e) { return e.kind == ir::ExprKind::Dot; })));
    lines.push_back(stripes.lines);
    const std::int64_t batch[] = {1};
    std::vector<std::int64_t> ints(stripes.kernel.ints);
    stripes.fill_ints(launch->ints, {batch, 24, 12, 32, 96, 112}, ints);
    CHECK(ir::value_of(stripes.kernel.extents[0], ints) == 1);
    CHECK(ir::value_of(stripes.kernel.extents[1], ints) == 12);
    CHECK(ir::value_of(stripes.kernel.extents[2], ints) == 96);
    // Each map gives at the stripe's first point what the whole kernel's gives there.
    const std::int64_t first[] = {0, 0, 0}, place[] = {1, 24, 32};
    for (std::size_t map = 0; map < whole.maps.size(); ++map)
      CHECK(ir::number_of(stripes.kernel, map, first, ints) ==
            ir::number_of(whole, map, place, launch->ints));
  }
  // Two products of scores each; of queries the weights of the forward pass beside them.
  std::sort(lines.begin(), lines.end());
  CHECK(lines == std::vector<std::size_t>{2, 3});
}

TEST_CASE("a map through a split gives the number of its coordinates") {
  ir::Kernel kernel;
  kernel.outer_rank = 2;
  using ir::IntRef;
  ir::IndexMap map;
  map.steps.push_back({{}, {IntRef::argument(0), IntRef::one()}, IntRef::argument(1), {}});
  map.steps.push_back(
      {{IntRef::argument(2), IntRef::argument(3)}, {IntRef::one(), IntRef::argument(4)}, {}, {}});
  kernel.maps.push_back(map);
  const std::int64_t ints[] = {10, 5, 4, 7, 100}, at[] = {2, 3};
  CHECK(ir::number_of(kernel, 0, at, ints) == 28 / 7 + 28 % 7 * 100);
}

TEST_CASE("products of stripes, of any sizes and steps, beside sums in double precision") {
  std::uint32_t seed = 1;
  const auto next = [&] {
    seed = seed * 1664525u + 1013904223u;
    return static_cast<float>(seed >> 8) * 0x1p-23f - 1.0f;
  };
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (const std::int64_t rows : {1, 7, 31})
      for (const std::int64_t columns : {0, 1, 33, 300, 517})
        for (const std::int64_t length : {1, 2, 33, 64}) {
          CAPTURE(dtype);
          CAPTURE(rows);
          CAPTURE(columns);
          CAPTURE(length);
          // Numbers that 16 bits hold, of which every third one is a vector's.
          const auto number = [&] { return static_cast<float>(bfloat16(next())); };
          std::vector<float> a(static_cast<std::size_t>(rows * length)),
              b(static_cast<std::size_t>(columns * length));
          std::generate(a.begin(), a.end(), number);
          std::generate(b.begin(), b.end(), number);
          std::vector<std::vector<std::byte>> kept;
          const auto vectors = [&](const std::vector<float>& numbers, std::int64_t step) {
            const std::size_t size = size_of(dtype);
            std::vector<std::byte>& bytes = kept.emplace_back(numbers.size() * size * 3);
            for (std::size_t i = 0; i < numbers.size(); ++i) {
              const runtime::ScalarValue value = runtime::to_argument(numbers[i], dtype);
              const std::uint64_t bits = runtime::bits_of(value, dtype);
              std::memcpy(bytes.data() + i * size * static_cast<std::size_t>(step), &bits, size);
            }
            return Vectors{bytes.data(), dtype, length * step, step, length};
          };
          const std::int64_t line = columns + 16;
          const StripeProducts products(rows, length);
          std::vector<float> memory(products.bytes() / sizeof(float) + 16);
          std::byte* const working = reinterpret_cast<std::byte*>(memory.data());
          std::vector<float> lines(static_cast<std::size_t>(rows * line), 7.0f);
          std::vector<float> sums(static_cast<std::size_t>(rows * length));
          for (const std::int64_t step : {1, 3}) {
            products.multiply(rows, columns, vectors(a, step), vectors(b, step), lines.data(), line, working);
            double worst = 0;
            for (std::int64_t r = 0; r < rows; ++r)
              for (std::int64_t j = 0; j < columns; ++j) {
                double sum = 0;
                for (std::int64_t c = 0; c < length; ++c)
                  sum += static_cast<double>(a[static_cast<std::size_t>(r * length + c)]) *
                         b[static_cast<std::size_t>(j * length + c)];
                worst = std::max(worst, std::abs(sum - lines[static_cast<std::size_t>(r * line + j)]));
              }
            CHECK(worst < 1e-5);
            for (std::int64_t r = 0; r < rows; ++r)  // and nothing behind
              CHECK(lines[static_cast<std::size_t>(r * line + columns)] == 7.0f);
            std::vector<float> weights = lines;
            for (float& weight : weights) weight = number();
            products.combine(rows, columns, weights.data(), line, vectors(b, step), sums.data(), working);
            worst = 0;
            for (std::int64_t r = 0; r < rows; ++r)
              for (std::int64_t c = 0; c < length; ++c) {
                double sum = 0;
                for (std::int64_t j = 0; j < columns; ++j)
                  sum += static_cast<double>(weights[static_cast<std::size_t>(r * line + j)]) *
                         b[static_cast<std::size_t>(j * length + c)];
                worst = std::max(worst, std::abs(sum - sums[static_cast<std::size_t>(r * length + c)]));
              }
            CHECK(worst < 2e-5);
          }
        }
}

TEST_CASE("attention by stripes where memory ends, and in several threads at once") {
  auto made = std::make_unique<FailingBackend>(std::make_unique<Processor>(runtime::make_host_backend(), 1));
  FailingBackend& backend = *made;
  const Device device = device_over(std::move(made));
  const auto of = [&] {
    const AnyTensor x = Tensor<3>::randn({2, 200, 16}, device).dynamic();
    x.sync();
    return x;
  };
  const AnyTensor q = of(), k = of(), v = of();
  const auto result = [&] {
    return values_of(nn::detail::attention(q, k, v, {.causal = true}, Location::current()));
  };
  const std::vector<float> expected = result(), before = values_of(q);
  int failures = 0;
  for (int at = 0; failures == at; ++at) {
    backend.fail_at = at;
    try {
      const std::vector<float> found = result();
      CHECK(found == expected);
    } catch (const DeviceError&) {
      ++failures;
    }
    backend.fail_at = -1;
    CHECK(values_of(q) == before);
    CHECK(result() == expected);
  }
  CHECK(failures >= 2);  // the result, and what threads work in
  std::vector<std::vector<float>> found(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& own : found) threads.emplace_back([&] { own = result(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& own : found) CHECK(own == expected);
}
