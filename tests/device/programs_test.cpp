// Random programs on the device against the oracle. SINTER_TEST_PROGRAMS says how many; SINTER_TEST_SEED runs
// a single one and prints it first (SINTER_LOG=plan adds its plans).
#include <cstdio>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/random_program.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

std::int64_t setting(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

RandomProgramOptions options_for(std::uint64_t seed, const Device& device) {
  RandomProgramOptions options;
  options.steps = seed % 7 == 6 ? 60 : 10 + static_cast<int>(seed % 7) * 5;
  options.f64 = has_dtype(device, DType::f64);
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
  // A step number in the message says which value is meant.
  text += now.empty() ? "(nothing wrong any more: it depends on what ran before)" : now;
  return text;
}

}  // namespace

TEST_CASE("random programs give what the oracle gives, twice") {
  const Device device = test_device();
  const std::int64_t single = setting("SINTER_TEST_SEED", -1);
  const std::int64_t count = setting("SINTER_TEST_PROGRAMS", compiles_slowly(device) ? 20 : 300);
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
    if (wrong.empty()) continue;
    ++failures;
    FAIL_CHECK(report(number, program, wrong, device));
  }
}

}  // namespace sinter::testing
