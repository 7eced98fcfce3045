// Kernels that a program brings along: values, dtypes, strides, fusion around them, gradients, faults.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/failing_backend.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

const CustomKernel& axpy() {
  static const CustomKernel kernel(
      {.name = "test_axpy",
       .inputs = {"x", "y"},
       .outputs = {"sum", "difference"},
       .sizes = {"factor"},
       .source = "const float scaled = float(factor) * x(thread);\n"
                 "sum(thread) = scaled + y(thread);\n"
                 "difference(thread) = scaled - y(thread);",
       .host = [](const KernelArguments& a, std::int64_t begin, std::int64_t end) {
         const auto x = a.input<float>(0), y = a.input<float>(1);
         const auto sum = a.output<float>(0), difference = a.output<float>(1);
         const auto factor = static_cast<float>(a.size(0));
         for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
           sum[i] = factor * x[i] + y[i];
           difference[i] = factor * x[i] - y[i];
         }
       }});
  return kernel;
}

std::vector<AnyTensor> run_axpy(const AnyTensor& x, const AnyTensor& y, std::int64_t factor) {
  return axpy()(
      {x, y},
      {.outputs = {{x.shape(), x.dtype()}, {x.shape(), x.dtype()}}, .threads = x.numel(), .sizes = {factor}});
}

/// Counts on the host alone, so that tests can ask for it.
CustomKernelSource host_only(std::string name) {
  return {.name = std::move(name),
          .inputs = {"x"},
          .outputs = {"y"},
          .sizes = {},
          .host = [](const KernelArguments& a, std::int64_t, std::int64_t) { a.output<float>(0)[0] = 1; }};
}

bool is_oracle() { return std::getenv("SINTER_TEST_ORACLE") != nullptr; }

}  // namespace

TEST_CASE("a kernel of two results, between operations that fuse") {
  if (is_oracle()) return;
  const Device device = test_device();
  for (const std::int64_t size : {1, 3, 255, 257, 5000}) {
    std::vector<float> numbers(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 17) - 8;
    const AnyTensor x = tensor_of(numbers, {size}, device);
    const std::vector<AnyTensor> made = run_axpy(x + 1, x * 2, 3);
    std::vector<float> sum, difference;
    for (const float v : numbers) {
      sum.push_back(-(3 * (v + 1) + 2 * v));
      difference.push_back(3 * (v + 1) - 2 * v);
    }
    CHECK(values_of(-made[0]) == sum);
    CHECK(values_of(made[1]) == difference);
  }
}

TEST_CASE("operands that lie apart, and those of 16 bits") {
  if (is_oracle()) return;
  const Device device = test_device();
  const AnyTensor x = tensor_of({1, 2, 3, 4, 5, 6}, {2, 3}, device);
  const AnyTensor turned = x.transpose(0, 1);
  CHECK(values_of(run_axpy(turned, turned, 2)[0]) == std::vector<float>{3, 12, 6, 15, 9, 18});
  if (!has_dtype(device, DType::bf16)) return;
  const AnyTensor half = x.cast(DType::bf16);
  const std::vector<AnyTensor> made = run_axpy(half, half, 2);
  CHECK(made[0].dtype() == DType::bf16);
  CHECK(values_of(made[1].cast(DType::f32)) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("no elements") {
  if (is_oracle()) return;
  const AnyTensor none = AnyTensor::full({0}, 1, DType::f32, test_device());
  CHECK(values_of(run_axpy(none, none, 1)[0]).empty());
}

TEST_CASE("functions of one's own, integers, reads of other elements") {
  if (is_oracle()) return;
  static const CustomKernel neighbours(
      {.name = "test_neighbours",
       .inputs = {"x"},
       .outputs = {"y"},
       .sizes = {"n"},
       .source =
           "const Index left = thread == 0 ? n - 1 : thread - 1;\ny(thread) = twice(x(left)) + x(thread);",
       .functions = "SN_FN int twice(int a) { return 2 * a; }\n",
       .host = [](const KernelArguments& a, std::int64_t begin, std::int64_t end) {
         const auto x = a.input<std::int32_t>(0);
         const auto y = a.output<std::int32_t>(0);
         for (std::int64_t i = begin; i < end; ++i)
           y[static_cast<std::size_t>(i)] = 2 * x[static_cast<std::size_t>(i == 0 ? a.size(0) - 1 : i - 1)] +
                                            x[static_cast<std::size_t>(i)];
       }});
  const Device device = test_device();
  const auto x = Tensor<1, Int>::from_data({1, 10, 100}, device, DType::i32);
  const AnyTensor y =
      neighbours({x.dynamic()}, {.outputs = {{{3}, DType::i32}}, .threads = 3, .sizes = {3}})[0];
  CHECK(values_of<std::int32_t>(y) == std::vector<std::int32_t>{201, 12, 120});
  // Bytes arrive as i32 and are bytes again.
  const AnyTensor bytes = x.cast(DType::u8).dynamic();
  const AnyTensor small = neighbours({bytes}, {.outputs = {{{3}, DType::u8}}, .threads = 3, .sizes = {3}})[0];
  CHECK(values_of<std::uint8_t>(small) == std::vector<std::uint8_t>{201, 12, 120});
}

TEST_CASE("a kernel with its gradient is a custom function") {
  if (is_oracle()) return;
  const Device device = test_device().autodiff();
  const CustomFunction doubled(
      "doubled",
      [](Saved&, const Tensor<1>& x) { return Tensor<1>(run_axpy(x.dynamic(), x.dynamic(), 1)[0]); },
      [](const Saved&, const Tensor<1>& g) { return Tensor<1>(run_axpy(g.dynamic(), g.dynamic(), 1)[0]); });
  const auto x = Tensor<1>::from_data({1, -2, 3}, device).require_grad();
  const auto y = doubled(x);
  CHECK(values_of(y.dynamic()) == std::vector<float>{2, -4, 6});
  CHECK(values_of((y * y).sum().backward().get(x)->dynamic()) == std::vector<float>{8, -16, 24});
}

TEST_CASE("what does not fit is one clear error") {
  const Device device = test_device();
  const AnyTensor x = tensor_of({1, 2}, {2}, device);
  const auto message = [](const auto& f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(contains(message([&] { axpy()({x}, {.outputs = {}, .threads = 1}); }),
                 "[test_axpy] has 2 inputs, not 1"));
  CHECK(contains(message([&] { run_axpy(x, x, -1); }),
                 "[test_axpy] factor is -1, not between 0 and 2147483647"));
  CHECK(contains(message([&] { run_axpy(AnyTensor::less(x, 3), x, 1); }), "[test_axpy] x is bool"));
  CHECK(
      contains(message([] { CustomKernel({.name = "a b", .inputs = {"x"}, .outputs = {"y"}, .sizes = {}}); }),
               "the name is no identifier"));
  CHECK(contains(
      message([] {
        CustomKernel({.name = "test_taken", .inputs = {"row"}, .outputs = {"y"}, .sizes = {}, .source = ";"});
      }),
      "\"row\" is taken already"));
  CHECK(contains(
      message([] { CustomKernel({.name = "test_none", .inputs = {"x"}, .outputs = {"y"}, .sizes = {}}); }),
      "neither a source nor a host function"));
  const CustomKernel first(host_only("test_host_only")), again(host_only("test_host_only"));
  CustomKernelSource other = host_only("test_host_only");
  other.inputs = {"z"};
  CHECK(contains(message([&] { CustomKernel{other}; }), "there is another kernel of this name"));
  CHECK(contains(message([] {
                   CustomKernel(
                       {.name = "matmul", .inputs = {"x"}, .outputs = {"y"}, .sizes = {}, .source = ";"});
                 }),
                 "there is an operation of the name matmul already"));
  // A device without a source says so when it is asked, and goes on.
  if (!is_oracle() && device.name().find("host") == std::string::npos) {
    CHECK_THROWS_AS(first({x}, {.outputs = {{{1}, DType::f32}}, .threads = 1}), DeviceError);
    CHECK(values_of(x + 1) == std::vector<float>{2, 3});
  }
}

namespace {

/// y = x0 + 2 x1 + 3 x2 ..., of so many inputs.
CustomKernel sum_of(std::size_t count) {
  CustomKernelSource source{.name = "sum_of_" + std::to_string(count),
                            .inputs = {},
                            .outputs = {"y"},
                            .sizes = {},
                            .source = "y(thread) = 0.0f"};
  for (std::size_t k = 0; k < count; ++k) {
    source.inputs.push_back("x" + std::to_string(k));
    source.source += " + " + std::to_string(k + 1) + ".0f * x" + std::to_string(k) + "(thread)";
  }
  source.source += ";";
  source.host = [count](const KernelArguments& a, std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < count; ++k) sum += static_cast<float>(k + 1) * a.input<float>(k)[i];
      a.output<float>(0)[i] = sum;
    }
  };
  return CustomKernel(std::move(source));
}

AnyTensor run_sum(const CustomKernel& kernel, const std::vector<AnyTensor>& inputs) {
  return kernel(inputs,
                {.outputs = {{inputs[0].shape(), DType::f32}}, .threads = inputs[0].numel(), .sizes = {}})[0];
}

}  // namespace

TEST_CASE(
    "kernels of five to sixteen inputs, which are recorded, replayed and computed in parts like others") {
  if (is_oracle()) return;
  const Device device = test_device();
  for (const std::size_t count : {4, 5, 16}) {
    CAPTURE(count);
    const CustomKernel kernel = sum_of(count);
    const AnyTensor x = tensor_of({1, -2, 3}, {3}, device);
    const auto inputs = [&](double factor) {
      std::vector<AnyTensor> all;
      // Some in memory, some computed in the same trace, some twice.
      for (std::size_t k = 0; k < count; ++k)
        all.push_back(k % 3 == 0 ? x : AnyTensor::mul(x, factor * static_cast<double>(k)));
      return all;
    };
    const auto want = [&](double factor) {
      double sum = 0;
      for (std::size_t k = 0; k < count; ++k)
        sum += static_cast<double>(k + 1) * (k % 3 == 0 ? 1 : factor * static_cast<double>(k));
      return std::vector<float>{static_cast<float>(sum), static_cast<float>(-2 * sum),
                                static_cast<float>(3 * sum)};
    };
    for (const double factor : {1.0, 2.0, 3.0})
      CHECK(values_of(run_sum(kernel, inputs(factor))) == want(factor));
    // Two in one trace, one of which is asked for first; then one that reads the other.
    const AnyTensor a = run_sum(kernel, inputs(1)), b = run_sum(kernel, inputs(2));
    CHECK(values_of(b) == want(2));
    std::vector<AnyTensor> more = inputs(1);
    more.back() = a;
    std::vector<float> joined = want(1);
    const AnyTensor last = count % 3 == 1 ? x : AnyTensor::mul(x, static_cast<double>(count - 1));
    const std::vector<float> before = values_of(last);
    for (std::size_t i = 0; i < 3; ++i) joined[i] += static_cast<float>(count) * (want(1)[i] - before[i]);
    CHECK(values_of(run_sum(kernel, more)) == joined);
    CHECK(values_of(a) == want(1));
    // Traces that differ in the last input alone.
    const AnyTensor p = tensor_of({5, 6, 7}, {3}, device);
    std::vector<AnyTensor> two(count, x);
    two[1] = p;
    const std::vector<float> with_x = values_of(run_sum(kernel, two));
    two.back() = p;
    const std::vector<float> with_p = values_of(run_sum(kernel, two));
    const std::vector<float> step = values_of(AnyTensor::sub(p, x));
    for (std::size_t i = 0; i < 3; ++i) CHECK(with_p[i] - with_x[i] == static_cast<float>(count) * step[i]);
    // Only the last input has a history.
    std::vector<AnyTensor> tracked(count, x);
    tracked.back() = tensor_of({1, 2, 3}, {3}, device.autodiff()).require_grad();
    const AnyTensor loss = run_sum(kernel, tracked).sum(0).reshape({});
    CHECK_THROWS_WITH_AS(loss.backward(), doctest::Contains(("sum_of_" + std::to_string(count)).c_str()),
                         Error);
  }
  CHECK_THROWS_WITH_AS(sum_of(17), doctest::Contains("1 to 16 inputs, not 17"), Error);
}

TEST_CASE("a kernel that throws, or does not compile") {
  if (is_oracle()) return;
  static const CustomKernel bad({.name = "test_bad",
                                 .inputs = {"x"},
                                 .outputs = {"y"},
                                 .sizes = {},
                                 .source = "y(thread) = nobody_knows(x(thread));",
                                 .host = [](const KernelArguments&, std::int64_t, std::int64_t) {
                                   throw std::runtime_error("nobody_knows");
                                 }});
  const Device device = test_device();
  const AnyTensor x = tensor_of({1, 2}, {2}, device);
  const AnyTensor y = bad({x}, {.outputs = {{{2}, DType::f32}}, .threads = 2})[0];
  std::string message;
  try {
    values_of(y);
  } catch (const std::exception& e) {
    message = e.what();
  }
  CHECK_MESSAGE(message.find("nobody_knows") != std::string::npos, message);
  CHECK(values_of(x * 3) == std::vector<float>{3, 6});
}

TEST_CASE("a host function that throws is told to whoever reads what came of it, and to nobody else") {
  if (is_oracle()) return;
  static const CustomKernel picky({.name = "test_picky",
                                   .inputs = {"x"},
                                   .outputs = {"y"},
                                   .sizes = {},
                                   .host = [](const KernelArguments& a, std::int64_t, std::int64_t) {
                                     const float first = a.input<float>(0)[0];
                                     if (first < 0)
                                       throw std::range_error("below 0: " + std::to_string(first));
                                     a.output<float>(0)[0] = 2 * first;
                                   }});
  const Device device = Device::host();
  const auto call = [&](const AnyTensor& x) {
    return picky({x}, {.outputs = {{{1}, DType::f32}}, .threads = 1})[0];
  };
  const AnyTensor bad = tensor_of({-1}, {1}, device), good = tensor_of({4}, {1}, device);
  AnyTensor overwritten = tensor_of({1, 2, 3}, {3}, device);
  for (int round = 0; round < 3; ++round) {
    const AnyTensor before = good + 1, spoiled = call(bad) * 3, twice = call(call(bad - 1)),
                    fine = call(good) + before;
    overwritten = overwritten * 2;  // in place, in the same run
    const AnyTensor mixed = fine + spoiled.expand({1});
    CHECK_NOTHROW(device.sync());
    CHECK(values_of(before) == std::vector<float>{5});
    CHECK(values_of(fine) == std::vector<float>{13});
    CHECK(values_of(overwritten)[2] == static_cast<float>(6 << round));
    CHECK_THROWS_WITH_AS(values_of(spoiled), "below 0: -1.000000", std::range_error);
    CHECK_THROWS_WITH_AS(values_of(spoiled), "below 0: -1.000000", std::range_error);  // each time
    CHECK_THROWS_WITH_AS(values_of(twice), "below 0: -2.000000", std::range_error);
    CHECK_THROWS_AS(values_of(mixed), std::range_error);
    CHECK_THROWS_AS(values_of(spoiled + 1), std::range_error);
    CHECK(values_of(bad) == std::vector<float>{-1});
    CHECK(values_of(call(good)) == std::vector<float>{8});
  }
}

TEST_CASE("memory that runs out for a kernel loses nothing, and the call works when it is asked for again") {
  if (is_oracle()) return;
  FailingDevice failing;
  const std::vector<float> numbers{1, 2, 3, 4};
  const auto expect_all = [&](const AnyTensor& x, const std::vector<AnyTensor>& made, const AnyTensor& after,
                              const AnyTensor& other) {
    CHECK(values_of(after) == std::vector<float>{4, 8, 12, 16});
    CHECK(values_of(made[1]) == std::vector<float>{0, 1, 2, 3});
    CHECK(values_of(other) == std::vector<float>{10, 20, 30, 40});
    CHECK(values_of(x) == numbers);
  };
  int failures = 0;
  // Each allocation of the run in turn; the one after the last is not reached.
  for (int k = 0; k == failures; ++k) {
    REQUIRE(k < 50);
    const AnyTensor x = tensor_of(numbers, {4}, failing.device);
    failing.device.sync();
    const AnyTensor other = x * 10;
    const std::vector<AnyTensor> made = run_axpy(x, x + 1, 2);
    const AnyTensor after = made[0] + made[1];
    failing.backend->fail_at = k;
    try {
      failing.device.flush();
    } catch (const DeviceError& error) {
      ++failures;
      CHECK(std::string(error.what()).find("no memory left") != std::string::npos);
    }
    failing.backend->fail_at = -1;
    expect_all(x, made, after, other);
  }
  CHECK(failures > 1);

  // None for as long as it lasts.
  const AnyTensor x = tensor_of(numbers, {4}, failing.device);
  failing.device.sync();
  const AnyTensor other = x * 10;
  const std::vector<AnyTensor> made = run_axpy(x, x + 1, 2);
  const AnyTensor after = made[0] + made[1];
  failing.backend->most_bytes = 0;
  CHECK_THROWS_AS(values_of(after), DeviceError);
  CHECK_THROWS_AS(values_of(made[0]), DeviceError);
  CHECK(values_of(x) == numbers);
  failing.backend->most_bytes = ~std::size_t{0};
  expect_all(x, made, after, other);
}

TEST_CASE("threads that define one kernel and run it at once") {
  if (is_oracle()) return;
  const Device device = test_device();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const CustomKernel kernel(
          {.name = "test_at_once",
           .inputs = {"x"},
           .outputs = {"y"},
           .sizes = {"n"},
           .source = "y(thread) = x(thread) * float(n);",
           .host = [](const KernelArguments& a, std::int64_t begin, std::int64_t end) {
             for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
               a.output<float>(0)[i] = a.input<float>(0)[i] * static_cast<float>(a.size(0));
           }});
      for (int round = 0; round < 10; ++round) {
        const auto factor = static_cast<std::int64_t>(t) * 10 + round;
        const AnyTensor x = tensor_of({1, 2, 3}, {3}, device);
        const auto n = static_cast<float>(factor);
        const AnyTensor y = kernel({x}, {.outputs = {{{3}, DType::f32}}, .threads = 3, .sizes = {factor}})[0];
        if (values_of(y + 1) != std::vector<float>{n + 1, 2 * n + 1, 3 * n + 1}) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

}  // namespace sinter::testing
