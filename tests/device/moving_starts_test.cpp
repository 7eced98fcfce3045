// Where slices, pads and parts of assignments start is an argument of a plan, once it has moved.
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "tests/support/programs/move_starts.h"
#include "tests/support/programs/program_builder.h"
#include "tests/support/programs/random_program.h"
#include "tests/support/setting.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using Numbers = std::vector<float>;
using B = ProgramBuilder;

std::uint64_t plans(const Device& device) { return device.statistics().plans_built; }

Numbers numbers(std::int64_t count, int from) {
  Numbers all;
  for (std::int64_t i = 0; i < count; ++i)
    all.push_back(static_cast<float>((i * 7 + i / 11 + from) % 23) - 11);
  return all;
}

/// A program at each of `starts`: right at all of them, and with the plans of the first two from then on.
void expect_moving(const std::string& what, const std::vector<int>& starts,
                   const std::function<void(B&, int)>& program) {
  const Device device = test_device();
  std::uint64_t before = 0;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    if (k == 2) before = plans(device);
    CAPTURE(starts[k]);
    B built;
    program(built, starts[k]);
    built.expect(device, what);
  }
  CHECK_MESSAGE(plans(device) == before, what);
}

/// The k and v of an attention that remembers: written at one position at a time.
struct Cache {
  Cache(std::int64_t heads, std::int64_t most, std::int64_t size, const Device& device)
      : heads(heads), most(most), size(size), kept(static_cast<std::size_t>(heads * most * size), 0) {
    tensor = Tensor<3>::zeros({heads, most, size}, device);
    device.flush();
  }
  /// Writes tokens x (count, heads * size), as a layer computes them, at `at`.
  void write(const Tensor<2>& x, const Numbers& same, std::int64_t at) {
    const std::int64_t count = x.shape()[0];
    tensor =
        tensor.slice_assign({Range{}, s(at, at + count)}, x.reshape({count, heads, size}).permute({1, 0, 2}));
    for (std::int64_t t = 0; t < count; ++t)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t c = 0; c < size; ++c)
          kept[static_cast<std::size_t>((h * most + at + t) * size + c)] =
              same[static_cast<std::size_t>((t * heads + h) * size + c)];
  }
  bool is_right() const { return tensor.reshape({heads * most * size}).to_vector<float>() == kept; }

  std::int64_t heads, most, size;
  Numbers kept;
  Tensor<3> tensor;
};

}  // namespace

TEST_CASE("a cache that is written at one position after the other has one plan for all of them") {
  const Device device = test_device();
  for (const std::int64_t count : {1, 3}) {
    Cache k(4, 32, 8, device), v(4, 32, 8, device);
    std::uint64_t built = 0, compiled = 0, in_place = 0;
    int step = 0;
    for (std::int64_t t = 0; t + count <= 32; t += count, ++step) {
      const Numbers given = numbers(count * 32, static_cast<int>(t));
      Numbers doubled;
      for (float x : given) doubled.push_back(2 * x);
      const auto x = Tensor<2>::from_data(given, {count, 32}, device);
      const std::uint64_t before = device.statistics().bytes_in_place;
      k.write(x, given, t);
      v.write(x * 2.0, doubled, t);
      device.flush();
      in_place = device.statistics().bytes_in_place - before;
      if (step == 1) {
        built = plans(device);
        compiled = device.statistics().kernels_compiled;
      }
      if (step % 5 == 0) {
        CHECK(k.is_right());
        CHECK(v.is_right());
        if (step < 2) built = plans(device), compiled = device.statistics().kernels_compiled;
      }
      // Nobody else has the old cache: it is written in its place, wherever that is.
      CHECK(in_place == 2 * 4 * 32 * 8 * sizeof(float));
    }
    CHECK(k.is_right());
    CHECK(v.is_right());
    CHECK(plans(device) == built);
    CHECK(device.statistics().kernels_compiled == compiled);
  }
}

TEST_CASE("slices of what a trace computes may start anywhere") {
  const std::vector<int> starts = {2, 5, 0, 7, 1, 6, 3};
  const auto table = [](B& b) { return b.binary(Op::Mul, {b.input({12, 10}, DType::f32)}, {-1, 2.0}); };
  expect_moving("rows", starts, [&](B& b, int t) {
    const int x = table(b);
    b.binary(Op::Add, {b.slice(x, {{t, t + 3, 1}})}, {-1, 1.0});
    b.drop(x);
  });
  expect_moving("a held view", starts, [&](B& b, int t) { b.slice(table(b), {{t, t + 3, 1}}); });
  expect_moving("backwards, with steps", starts, [&](B& b, int t) {
    const int part =
        b.slice(table(b), {{t + 4, t == 0 ? std::nullopt : std::optional<std::int64_t>(t - 1), -2}});
    b.binary(Op::Add, {part}, {-1, 1.0});
  });
  expect_moving("columns, reshaped", starts, [&](B& b, int t) {
    const int part = b.slice(table(b), {{}, {t, t + 2, 1}});
    b.reduce(Op::Sum, b.reshape(part, {8, 3}), {1});
  });
  expect_moving("across a reshape", starts, [&](B& b, int t) {
    const int flat = b.reshape(table(b), {120});
    b.binary(Op::Add, {b.reshape(b.slice(flat, {{t, t + 100, 1}}), {10, 10})}, {-1, 1.0});
  });
  expect_moving("slices of slices", starts, [&](B& b, int t) {
    const int part = b.slice(table(b), {{t, t + 5, 1}, {7 - t, 10 - t, 1}});
    b.unary(Op::Neg, b.slice(b.permute(part, {1, 0}),
                             {{t % 2, t % 2 + 2, 1}, {(t + t / 5) % 3, (t + t / 5) % 3 + 3, 1}}));
  });
  expect_moving("data that is read as a whole, too", starts, [&](B& b, int t) {
    const int x = b.input({12, 10}, DType::f32);
    b.flush();
    const int all = b.reduce(Op::Max, x, {0, 1});
    b.binary(Op::Sub, {b.slice(x, {{t, t + 3, 1}})}, {all});
  });
  expect_moving("slices of one tensor, apart by any distance", starts, [&](B& b, int t) {
    const int x = b.input({40, 5}, DType::f32);
    b.flush();
    b.binary(Op::Sub, {b.slice(x, {{t, t + 3, 1}})}, {b.slice(x, {{3 * t, 3 * t + 3, 1}})});
  });
  expect_moving("operands of a product", starts, [&](B& b, int t) {
    const int x = table(b), y = b.input({3, 4}, DType::f32);
    b.matmul(b.slice(x, {{t, t + 5, 1}, {t % 7, t % 7 + 3, 1}}), y);
  });
  expect_moving("a table of indexed reads", starts, [&](B& b, int t) {
    const int rows = b.slice(table(b), {{t, t + 4, 1}});
    b.indexed(StepKind::IndexSelect, rows, 0, b.input({6}, DType::i64, 4));
  });
  expect_moving("16-bit floats", starts, [&](B& b, int t) {
    const int half = b.cast(table(b), DType::f16);
    b.cast(b.slice(half, {{t, t + 3, 1}}), DType::f32);
  });
  expect_moving("an empty slice", starts, [&](B& b, int t) {
    b.binary(Op::Add, {b.slice(table(b), {{t, t, 1}})}, {-1, 1.0});
  });
}

TEST_CASE("parts of assignments and pads may start anywhere") {
  const std::vector<int> starts = {2, 5, 0, 7, 1, 6, 3};
  expect_moving("a part", starts, [&](B& b, int t) {
    const int x = b.input({12, 10}, DType::f32), y = b.input({3, 10}, DType::f32);
    b.slice_assign(x, {{t, t + 3, 1}}, y);
  });
  expect_moving("a part with steps, in both dims", starts, [&](B& b, int t) {
    const int x = b.input({12, 12}, DType::f32), y = b.input({3, 2}, DType::f32);
    b.binary(Op::Mul, {b.slice_assign(x, {{t, t + 5, 2}, {8 - t, 12 - t, 3}}, y)}, {-1, 3.0});
  });
  expect_moving("a point behind views", starts, [&](B& b, int t) {
    const int x = b.input({3, 12, 4}, DType::f32), y = b.input({1, 12}, DType::f32);
    b.slice_assign(x, {{}, {t, t + 1, 1}}, b.permute(b.reshape(b.unary(Op::Neg, y), {1, 4, 3}), {2, 0, 1}));
  });
  expect_moving("several points behind views", starts, [&](B& b, int t) {
    const int x = b.input({3, 12, 4}, DType::f32), y = b.input({2, 12}, DType::f32);
    b.slice_assign(x, {{}, {t, t + 2, 1}}, b.permute(b.reshape(b.unary(Op::Neg, y), {2, 4, 3}), {2, 0, 1}));
  });
  expect_moving("a number", starts, [&](B& b, int t) {
    b.slice_fill(b.input({12}, DType::i64, 9), {{t, t + 5, 1}}, 7);
  });
  expect_moving("half of it", starts, [&](B& b, int t) {  // what is under the part is not read
    const int x = b.input({16}, DType::f32), y = b.input({8}, DType::f32);
    b.slice_assign(x, {{t, t + 8, 1}}, y);
  });
  expect_moving("a pad", starts, [&](B& b, int t) {
    const int x = b.pad(b.input({3, 4}, DType::f32), {t, 7 - t}, {8 - t, t}, 1.5);
    b.reduce(Op::Sum, x, {0});
  });
  expect_moving("places", starts, [&](B& b, int t) {
    b.place(b.input({3}, DType::f32), {20}, {t + 6}, {t % 2 ? -3 : -3}, 1.0);
  });
  expect_moving("an empty pad", starts, [&](B& b, int t) {
    b.pad(b.input({0, 2}, DType::f32), {t, 0}, {8 - t, 0}, 1.5);
  });
  expect_moving("beside parts that stand", starts, [&](B& b, int t) {
    const int x = b.input({4, 3}, DType::f32), y = b.input({8, 3}, DType::f32),
              z = b.input({2, 3}, DType::f32);
    b.slice_assign(b.cat({x, y, x}, 0), {{t, t + 2, 1}}, z);
  });
}

TEST_CASE("what is written over its own slices is right however they overlap") {
  const Device device = test_device();
  Numbers expected = numbers(64, 3);
  Tensor<1> x = Tensor<1>::from_data(expected, {64}, device) * 1.0;
  device.flush();
  const int from[] = {0, 8, 4, 4, 30, 31, 48, 0, 47}, to[] = {4, 4, 4, 8, 31, 30, 0, 48, 48};
  for (int round = 0; round < 2; ++round)
    for (int k = 0; k < 9; ++k) {
      x = x.slice_assign({s(to[k], to[k] + 16)}, x.narrow(0, from[k], 16) + 1.0);
      device.flush();
      Numbers part(expected.begin() + from[k], expected.begin() + from[k] + 16);
      for (int i = 0; i < 16; ++i)
        expected[static_cast<std::size_t>(to[k] + i)] = part[static_cast<std::size_t>(i)] + 1;
      CHECK(x.to_vector<float>() == expected);
    }
}

TEST_CASE("a slice stays what it was when its tensor is written over") {
  const Device device = test_device();
  Tensor<1> x = Tensor<1>::from_data(numbers(32, 0), {32}, device) * 1.0;
  device.flush();
  Numbers expected = numbers(32, 0);
  for (int t = 0; t < 12; ++t) {
    const Tensor<1> before = x.narrow(0, t, 8);  // a view of x in memory
    x = x.slice_fill({s(t, t + 3)}, 100.0 + t);
    device.flush();
    CHECK(before.to_vector<float>() == Numbers(expected.begin() + t, expected.begin() + t + 8));
    for (int i = t; i < t + 3; ++i) expected[static_cast<std::size_t>(i)] = 100.0f + static_cast<float>(t);
    CHECK(x.to_vector<float>() == expected);
  }
}

TEST_CASE("rows that start at no round address have two plans") {
  const Device device = test_device();
  const auto data = Tensor<2>::from_data(numbers(300, 1), {100, 3}, device) + 0.0;
  device.flush();
  const std::uint64_t before = plans(device);
  for (int i = 0; i < 48; ++i) {
    Numbers expected;
    for (int k = 0; k < 6; ++k) expected.push_back(numbers(300, 1)[static_cast<std::size_t>(i * 6 + k)] + 1);
    CHECK((data.narrow(0, i * 2, 2) + 1.0).to_vector<float>() == expected);
  }
  CHECK(plans(device) - before <= 2);
}

TEST_CASE("gradients of slices that move") {
  const Device plain = test_device(), device = plain.autodiff();
  std::uint64_t before = 0;
  for (int t = 0; t < 6; ++t) {
    const auto x = Tensor<2>::from_data(numbers(60, 2), {10, 6}, device).require_grad();
    const auto y = (x * 2.0).narrow(0, t, 3).narrow(1, 5 - t, 1);
    auto gradients = (y * y).sum().reshape(Shape{}).backward();
    const auto got = gradients.remove(x).value().reshape({60}).to_vector<float>();
    Numbers expected(60, 0);
    for (int i = t; i < t + 3; ++i) {
      const auto at = static_cast<std::size_t>(i * 6 + 5 - t);
      expected[at] = 8 * numbers(60, 2)[at];
    }
    CHECK(got == expected);
    if (t == 1) before = plans(plain);
  }
  CHECK(plans(plain) == before);
}

TEST_CASE("a start out of range is an error, also of a plan that is given starts") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data(numbers(16, 0), {16}, device) * 2.0;
  for (int t : {0, 3, 12, 5}) CHECK(((x + 0.0).narrow(0, t, 4) + 1.0).to_vector<float>().size() == 4);
  CHECK_THROWS_AS((x + 0.0).narrow(0, 13, 4), ShapeError);
  CHECK_THROWS_AS((x + 0.0).narrow(0, -17, 4), ShapeError);
  CHECK_THROWS_AS(x.slice_assign({s(13, 18)}, x.narrow(0, 0, 5)), ShapeError);
}

TEST_CASE("threads know for themselves what moves") {
  const Device device = test_device();
  std::atomic<int> wrong{0};
  const auto work = [&](int seed) {
    Cache cache(2, 16, 4, device);
    for (int k = 0; k < 24; ++k) {
      const std::int64_t t = (k * 5 + seed) % 16;
      const Numbers given = numbers(8, k + seed);
      cache.write(Tensor<2>::from_data(given, {1, 8}, device), given, t);
      device.flush();
      if (k % 4 == 3) wrong += !cache.is_right();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a start that stands for one thread is not taken for that of another") {
  const Device device = test_device();
  Numbers all = numbers(32, 4);
  std::atomic<int> wrong{0};
  const auto work = [&](int stands) {
    for (int t : {0, 3, 6, 9, 2}) {
      const auto x = Tensor<1>::from_data(all, {32}, device) * 2.0;
      const auto got = (x.narrow(0, t, 8) - x.narrow(0, stands, 8)).to_vector<float>();
      for (int i = 0; i < 8; ++i)
        wrong += got[static_cast<std::size_t>(i)] !=
                 2 * all[static_cast<std::size_t>(t + i)] - 2 * all[static_cast<std::size_t>(stands + i)];
    }
  };
  for (const int stands : {5, 11, 20}) std::thread(work, stands).join();
  CHECK(wrong == 0);
  // A thread begins as if no other had been before it: it finds the plans of one that did the same.
  const std::uint64_t before = plans(device);
  for (const int stands : {5, 11, 20}) std::thread(work, stands).join();
  CHECK(wrong == 0);
  CHECK(plans(device) == before);
}

TEST_CASE("random programs are right wherever their slices start") {
  const Device device = test_device();
  const std::int64_t usual = compiles_slowly(device) ? 12 : base::environment().host == "jit" ? 250 : 500;
  const std::int64_t count = setting("SINTER_TEST_PROGRAMS", usual), first = setting("SINTER_TEST_FIRST", 0);
  int failures = 0;
  for (std::int64_t seed = first; seed < first + count && failures < 3; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    RandomProgramOptions options;
    options.steps = 8 + static_cast<int>(seed % 5) * 6;
    options.f64 = has_dtype(device, DType::f64);
    options.i64 = device.core().traits().name != "oracle";
    const Program program = random_program(number, options);
    const std::vector<ReferenceTensor> shapes = evaluate(program, Reference(precision_of(device)));
    for (std::uint64_t variant = 0; variant < 4; ++variant) {
      const Program moved = variant == 0 ? program : move_starts(program, shapes, number * 16 + variant);
      const std::vector<ReferenceTensor> values = evaluate(moved, Reference(precision_of(device)));
      std::vector<std::byte> bits;
      const std::string wrong = run(moved, values, device, bits);
      CHECK(wrong.empty());
      if (wrong.empty()) continue;
      ++failures;
      FAIL_CHECK("program " << number << ", variant " << variant << ": " << wrong << "\n"
                            << to_text(moved, values));
      break;
    }
  }
}

}  // namespace sinter::testing
