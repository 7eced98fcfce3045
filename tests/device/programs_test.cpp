// Random programs on the device against the oracle. SINTER_TEST_PROGRAMS sets their number; SINTER_TEST_SEED
// runs a single one and prints it first (SINTER_LOG=plan adds its plans).
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/env.h"
#include "tests/support/programs/program_builder.h"
#include "tests/support/programs/random_program.h"
#include "tests/support/setting.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

/// Fewer programs where each new kernel goes through a compiler: the interpreter's number would take minutes.
std::int64_t usual_count(const Device& device) {
  if (compiles_slowly(device)) return 40;
  return device.name() == "host" && base::environment().host == "jit" ? 1000 : 2000;
}

RandomProgramOptions options_for(std::uint64_t seed, const Device& device) {
  RandomProgramOptions options;
  options.steps = seed % 7 == 6 ? 60 : 10 + static_cast<int>(seed % 7) * 5;
  options.f64 = has_dtype(device, DType::f64);
  options.i64 = device.core().traits().name != "oracle";
  options.wild = seed % 10 == 9;
  options.large = seed % 12 == 5 && !compiles_slowly(device);
  return options;
}

std::string report(std::uint64_t seed, const Program& program, const std::string& wrong,
                   const Device& device) {
  int attempts = compiles_slowly(device) ? 60 : 600;
  const Program smaller = shrink(
      program, [&](const Program& p) { return !check(p, device).empty(); }, attempts);
  const std::vector<ReferenceTensor> values = evaluate(smaller, Reference(precision_of(device)));
  std::string text = "program " + std::to_string(seed) + ": " + wrong + "\nsmaller:\n" +
                     to_text(smaller, values) + "which gives: ";
  const std::string now = check(smaller, device);
  // The step number in the message identifies the value.
  text += now.empty() ? "(nothing wrong any more: it depends on what ran before)" : now;
  return text;
}

/// Programs of the same operations and shapes that differ in one attribute each.
std::vector<ProgramBuilder> variants(const std::function<void(ProgramBuilder&, int)>& change, int count) {
  std::vector<ProgramBuilder> programs(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) change(programs[static_cast<std::size_t>(i)], i);
  return programs;
}

}  // namespace

TEST_CASE("random programs give what the oracle gives, twice") {
  const Device device = test_device();
  const std::int64_t single = setting("SINTER_TEST_SEED", -1);
  const std::int64_t count = setting("SINTER_TEST_PROGRAMS", usual_count(device));
  const std::int64_t first = single >= 0 ? single : setting("SINTER_TEST_FIRST", 0);
  int failures = 0;
  for (std::int64_t seed = first; seed < (single >= 0 ? single + 1 : first + count) && failures < 5; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const Program program = random_program(number, options_for(number, device));
    if (single >= 0) {
      const std::string text = to_text(program, evaluate(program, Reference(precision_of(device))));
      std::printf("program %lld:\n%s", static_cast<long long>(seed), text.c_str());
      std::fflush(stdout);
    }
    const std::string wrong = check(program, device);
    if (wrong.empty()) {
      CHECK(wrong.empty());
      continue;
    }
    ++failures;
    FAIL_CHECK(report(number, program, wrong, device));
  }
}

TEST_CASE("a plan is not taken for that of another program") {
  const Device device = test_device();
  using B = ProgramBuilder;
  const auto cube = [](B& b) { return b.input({3, 3, 3}, DType::f32); };
  const std::vector<std::pair<const char*, std::function<void(B&, int)>>> cases = {
      {"permute",
       [&](B& b, int i) {
         b.permute(cube(b), i == 0 ? Dims{0, 2, 1} : i == 1 ? Dims{1, 0, 2} : Dims{2, 1, 0});
       }},
      {"slice start",
       [&](B& b, int i) {
         b.slice(cube(b), {{i, i + 1, 1}});
       }},
      {"slice axis", [&](B& b, int i) { b.flip(cube(b), {i}); }},
      {"slice step",
       [&](B& b, int i) {
         b.slice(cube(b), {i == 0 ? Range{0, 2, 1} : i == 1 ? Range{0, 3, 2} : Range{1, {}, -1}});
       }},
      {"pad",
       [&](B& b, int i) {
         b.pad(cube(b), {i, 0, 0}, {2 - i, 0, 0}, 1.0);
       }},
      {"place", [&](B& b, int i) { b.place(b.input({2}, DType::f32), {9}, {i}, {i + 1}, 1.0); }},
      {"windows",
       [&](B& b, int i) {
         b.windows(b.input({5, 5}, DType::f32), 0, 3, 2 - i % 2 + (i == 2));
       }},
      {"gather",
       [&](B& b, int i) {
         b.indexed(StepKind::Gather, cube(b), i, b.input({3, 3, 3}, DType::i64, 3));
       }},
      {"operation",
       [&](B& b, int i) {
         b.binary(i == 0 ? Op::Add : i == 1 ? Op::Sub : Op::Mul, {cube(b)}, {-1, 2.0});
       }},
      {"side",
       [&](B& b, int i) {
         const int x = cube(b);
         if (i == 1)
           b.binary(Op::Sub, {x}, {-1, 2.0});
         else
           b.binary(Op::Sub, {-1, 2.0}, {x});
       }},
      {"dtype",
       [&](B& b, int i) {
         b.binary(Op::Div, {b.input({4}, i == 1 ? DType::i32 : DType::f32)}, {-1, 3});
       }},
      {"cast",
       [&](B& b, int i) {
         b.cast(b.input({4}, DType::f32), i == 0 ? DType::i32 : i == 1 ? DType::i64 : DType::boolean);
       }},
      {"shape",
       [&](B& b, int i) {
         b.reduce(Op::Sum, b.input(i == 1 ? Shape{2, 6} : Shape{3, 4}, DType::f32), {1});
       }},
      {"reduction",
       [&](B& b, int i) {
         b.reduce(i == 0 ? Op::Sum : i == 1 ? Op::Max : Op::Prod, cube(b), {1});
       }},
      {"operand",
       [&](B& b, int i) {
         const int x = cube(b), y = cube(b);
         b.binary(Op::Sub, {i == 1 ? y : x}, {i == 2 ? x : y});
       }},
      {"layout of an input",
       [&](B& b, int i) {
         const int x = cube(b), view = i == 2 ? b.permute(x, {2, 1, 0}) : b.flip(x, {i});
         b.flush();
         b.binary(Op::Mul, {view}, {-1, 2.0});
       }},
      {"offset of an input",
       [&](B& b, int i) {
         const int view = b.slice(cube(b), {{i, i + 1, 1}});
         b.flush();
         b.binary(Op::Mul, {view}, {-1, 2.0});
       }},
      {"what is held",
       [&](B& b, int i) {
         const int x = cube(b), y = b.binary(Op::Add, {x}, {-1, 1.0}), z = b.binary(Op::Mul, {y}, {-1, 2.0});
         b.binary(Op::Mul, {z}, {z});
         if (i != 0) b.drop(i == 1 ? y : z);
       }},
      {"what dies",
       [&](B& b, int i) {
         const int x = cube(b), y = cube(b);
         b.flush();
         b.binary(Op::Add, {x}, {y});
         if (i != 0) b.drop(i == 1 ? x : y);
       }},
      {"convolution",
       [&](B& b, int i) {
         Conv2dOptions options;
         if (i == 1) options = {.stride = {2, 2}, .padding = {2, 2}};
         if (i == 2) options = {.padding = {1, 1}, .dilation = {2, 2}};
         b.conv2d(b.input({1, 1, 5, 5}, DType::f32), b.input({1, 1, 3, 3}, DType::f32), options);
       }},
  };
  for (const auto& [name, change] : cases)
    for (ProgramBuilder& program : variants(change, 3)) program.expect(device, name);
}

TEST_CASE("equal operations with other attributes in one program are not taken for each other") {
  const Device device = test_device();
  ProgramBuilder program;
  const int x = program.input({3, 3}, DType::f32), places = program.input({3, 3}, DType::i64, 3);
  const std::vector<int> values = {program.flip(x, {0}),
                                   program.flip(x, {1}),
                                   program.permute(x, {1, 0}),
                                   program.reduce(Op::Sum, x, {0}),
                                   program.reduce(Op::Sum, x, {1}),
                                   program.indexed(StepKind::Gather, x, 0, places),
                                   program.indexed(StepKind::Gather, x, 1, places),
                                   program.slice(program.pad(x, {1, 0}, {0, 1}, 2.0), {{0, 3, 1}, {0, 3, 1}}),
                                   program.slice(program.pad(x, {0, 1}, {1, 0}, 2.0), {{0, 3, 1}, {0, 3, 1}}),
                                   program.slice(program.pad(x, {1, 0}, {0, 1}, 5.0), {{0, 3, 1}, {0, 3, 1}}),
                                   program.binary(Op::Mul, {x}, {-1, 2.0}),
                                   program.binary(Op::Mul, {x}, {-1, 3.0}),
                                   program.random(StepKind::Uniform, {3, 3}, 0, 1),
                                   program.random(StepKind::Uniform, {3, 3}, 0, 1),
                                   program.random(StepKind::Normal, {3, 3}, 0, 1)};
  int sum = x;
  for (int value : values)
    sum = program.binary(Op::Add, {program.binary(Op::Mul, {sum}, {-1, 0.5})}, {value});
  for (int value : values) program.drop(value);
  program.expect(device, "one sum of many");
}

TEST_CASE("numbers are not part of a plan") {
  const Device device = test_device();
  const AnyTensor x = AnyTensor::full({4}, 2, DType::f32, device);
  x.sync();
  std::uint64_t plans = 0;
  for (int i = 0; i < 4; ++i) {
    const float number = static_cast<float>(i) / 4;
    const AnyTensor y = AnyTensor::where(AnyTensor::less(x, number * 4), AnyTensor::mul(x, number), number);
    float values[4];
    y.read_bytes(std::as_writable_bytes(std::span(values)));
    CHECK(values[3] == (2 < number * 4 ? 2 * number : number));
    if (i == 0) plans = device.statistics().plans_built;
  }
  CHECK(device.statistics().plans_built == plans);
}

}  // namespace sinter::testing
