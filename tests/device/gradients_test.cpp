// Random programs differentiated: the gradient along a random direction against central differences, in f64,
// fused and not. SINTER_TEST_PROGRAMS says how many; SINTER_TEST_SEED runs a single one and prints it first.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/programs/random_program.h"
#include "tests/support/setting.h"
#include "tests/support/test_data.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

bool is_leaf(const Step& step) { return step.kind == StepKind::Input && step.dtype == DType::f64; }

std::vector<double> numbers_of(const std::vector<std::byte>& bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

std::vector<double> read(const A& x) {
  std::vector<double> numbers(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

A tensor_of(const std::vector<double>& numbers, const Shape& shape, const Device& device) {
  return A::from_bytes(std::as_bytes(std::span(numbers)), shape, DType::f64, device);
}

/// The direction in which a step's leaf is moved.
std::vector<double> direction_of(std::size_t step, std::int64_t count) {
  return TestData(1000 + step).reals(static_cast<std::size_t>(count), -1, 1);
}

/// A scalar that depends on every live value of the program, and the sum of its terms' magnitudes.
struct Loss {
  A value;
  double size = 0;
};

/// Runs the program with its leaves moved by `by` along their directions; `leaves` receives them.
Loss loss_of(const Program& program, const Device& device, double by, std::vector<A>* leaves) {
  std::vector<A> handles(program.steps.size());
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const std::size_t subject =
        step.args.empty() || step.args[0].step < 0 ? 0 : static_cast<std::size_t>(step.args[0].step);
    switch (step.kind) {
      case StepKind::Drop: handles[subject] = {}; break;
      case StepKind::Flush: device.flush(); break;
      case StepKind::Read:
      case StepKind::Sync: handles[subject].sync(); break;
      default:
        if (!is_leaf(step)) {
          handles[i] = execute(step, handles, device);
          break;
        }
        std::vector<double> numbers = numbers_of(input_bytes(step));
        const std::vector<double> direction = direction_of(i, step.shape.numel());
        for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] += by * direction[k];
        handles[i] = tensor_of(numbers, step.shape, device);
        if (leaves) (*leaves)[i] = handles[i] = handles[i].require_grad();
    }
  }
  Loss loss;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (!handles[i].defined() || handles[i].dtype() != DType::f64) continue;
    const A weights = tensor_of(TestData(i).reals(static_cast<std::size_t>(handles[i].numel()), 0.5, 2),
                                handles[i].shape(), device);
    const A term = A::mul(handles[i], weights).sum(handles[i].all_axes()).reshape({});
    if (!leaves) loss.size += read(A::mul(handles[i].abs(), weights).sum(handles[i].all_axes()))[0];
    loss.value = loss.value.defined() ? A::add(loss.value, term) : term;
    handles[i] = {};
  }
  return loss;
}

enum class Verdict { Right, Unknown, Wrong };

/// Unknown: the function is too curved or discontinuous nearby for differences.
Verdict check_gradients(const Program& program, const Device& device, std::string& what) {
  std::vector<A> leaves(program.steps.size());
  const Device differentiating = device.autodiff();
  device.sync();
  const std::size_t before = device.statistics().bytes_in_use;
  double along = 0, sizes = 0;
  try {
    Loss loss = loss_of(program, differentiating, 0, &leaves);
    if (!loss.value.defined() || !loss.value.requires_grad()) return Verdict::Unknown;
    const Gradients gradients = loss.value.backward();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i].defined()) continue;
      const auto gradient = gradients.get(leaves[i]);
      if (!gradient) continue;
      if (gradient->shape() != leaves[i].shape()) {
        what = "the gradient of v" + std::to_string(i) + " has shape " + to_string(gradient->shape());
        return Verdict::Wrong;
      }
      const std::vector<double> numbers = read(*gradient), direction = direction_of(i, gradient->numel());
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        along += numbers[k] * direction[k];
        sizes += std::abs(numbers[k] * direction[k]);
      }
    }
  } catch (const std::exception& error) {
    what = std::string("threw: ") + error.what();
    return Verdict::Wrong;
  }
  leaves.clear();
  device.sync();
  if (const std::size_t now = device.statistics().bytes_in_use; now != before) {
    what = "left " + std::to_string(now) + " bytes where there were " + std::to_string(before);
    return Verdict::Wrong;
  }

  double size = 0;
  const auto slope = [&](double h) {
    const Loss above = loss_of(program, device, h, nullptr), below = loss_of(program, device, -h, nullptr);
    size = above.size;
    return (read(above.value)[0] - read(below.value)[0]) / (2 * h);
  };
  // An irrational ratio of steps: over a sawtooth, differences with half the step can agree with each other
  // and with nothing else.
  constexpr double kStep = 1e-5, kRatio = 0.618;
  const double wide = slope(kStep), narrow = slope(kStep * kRatio), narrowest = slope(kStep * 0.17);
  const double expected = (narrow - kRatio * kRatio * wide) / (1 - kRatio * kRatio);
  const double noise = 1e-14 * size / kStep;
  const double doubt = std::abs(wide - narrow) + std::abs(narrow - narrowest) + noise;
  if (!std::isfinite(along) || !(doubt <= 1e-3 * (1 + std::abs(expected)))) return Verdict::Unknown;
  if (std::abs(along - expected) <= 4 * doubt + 1e-7 * (1 + sizes + std::abs(expected)))
    return Verdict::Right;
  what = "the gradient along the direction is " + std::to_string(along) + ", differences give " +
         std::to_string(expected) + " (+- " + std::to_string(doubt) + ")";
  return Verdict::Wrong;
}

RandomProgramOptions options_for(std::uint64_t seed) {
  RandomProgramOptions options;
  options.steps = 6 + static_cast<int>(seed % 6) * 5;
  options.smooth = true;
  return options;
}

}  // namespace

TEST_CASE("gradients of random programs agree with differences") {
  const Device device = test_device();
  if (!has_dtype(device, DType::f64)) return;
  const std::int64_t single = setting("SINTER_TEST_SEED", -1);
  const std::int64_t count = setting("SINTER_TEST_PROGRAMS", compiles_slowly(device) ? 6 : 400);
  const std::int64_t first = single >= 0 ? single : setting("SINTER_TEST_FIRST", 0);
  std::int64_t right = 0, failures = 0;
  for (std::int64_t seed = first; seed < (single >= 0 ? single + 1 : first + count) && failures < 5; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    const Program program = random_program(number, options_for(number));
    if (single >= 0) std::printf("%s", to_text(program, evaluate(program, Reference())).c_str());
    std::string what;
    const Verdict verdict = check_gradients(program, device, what);
    right += verdict == Verdict::Right;
    CHECK(verdict != Verdict::Wrong);
    if (verdict != Verdict::Wrong) continue;
    ++failures;
    const Program smaller = shrink(
        program,
        [&](const Program& p) {
          std::string ignored;
          return check_gradients(p, device, ignored) == Verdict::Wrong;
        },
        compiles_slowly(device) ? 40 : 400);
    check_gradients(smaller, device, what);
    FAIL_CHECK("program " << seed << " made smaller:\n"
                          << to_text(smaller, evaluate(smaller, Reference())) << what);
  }
  MESSAGE(right << " programs had gradients that could be checked");
  if (single < 0 && failures == 0) CHECK(right * 2 > count);
}

}  // namespace sinter::testing
