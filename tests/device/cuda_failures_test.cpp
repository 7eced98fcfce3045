// Whatever the driver refuses, at whatever point of a program: the program gets an error or its right
// numbers, and the same program run again gets its right numbers. On the emulated driver, which refuses what
// it is told.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/cuda/cuda_backend.h"
#include "tests/support/emulated_driver.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/several_launches.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using A = AnyTensor;

A tensor(const std::vector<float>& data, const Shape& shape, const Device& device) {
  return A::from_bytes(std::as_bytes(std::span(data)), shape, DType::f32, device);
}

/// Plans of one launch and of several, products with their sums split and without, split reductions, a
/// gather. All numbers are small integers, so that results are exact.
class Program {
 public:
  explicit Program(const Device& device)
      : device_(device),
        several_(5, 7, 3, device),
        long_(tensor(std::vector<float>(kLong, 1), {kLong}, device)),
        row_(tensor(std::vector<float>(2 * kDeep, 1), {2, kDeep}, device)),
        column_(tensor(std::vector<float>(3 * kDeep, 2), {kDeep, 3}, device)) {
    const std::vector<std::int64_t> at = {4, 0};
    index_ = A::from_bytes(std::as_bytes(std::span(at)), {2}, DType::i64, device);
  }

  bool is_right(int run) const {
    const auto number = static_cast<float>(run);
    if (!several_.is_right(run)) return false;

    // A plan of several launches that need workspace.
    const A scaled = A::mul(long_, run), total = A::add(scaled.sum({0}), 1);
    const A product = A::mul(row_.matmul(column_), A::add(total, 1));
    device_.flush();
    if (values_of(total) != std::vector<float>{number * kLong + 1}) return false;
    if (values_of(product) != std::vector<float>(6, 2 * kDeep * (number * kLong + 2))) return false;

    const A gathered = A::add(several_table(run).index_select(0, index_), 1);
    device_.flush();
    return values_of(gathered) == std::vector<float>{number + 5, number + 1};
  }

 private:
  static constexpr std::int64_t kLong = 20000, kDeep = 300;
  A several_table(int run) const {
    std::vector<float> table;
    for (int i = 0; i < 6; ++i) table.push_back(static_cast<float>(run + i));
    return tensor(table, {6}, device_);
  }

  Device device_;
  SeveralLaunches several_;
  A long_, row_, column_, index_;
};

/// A program on a device of its own, each made where there is none yet.
struct Trial {
  bool is_right(int run) {
    if (!device) device = device_over(runtime::make_cuda_backend(0, 16));
    if (!program) program.emplace(*device);
    return program->is_right(run);
  }
  ~Trial() {
    program.reset();
    if (device) device->trim_memory();  // devices are never destroyed
  }
  std::optional<Device> device;
  std::optional<Program> program;
};

/// Runs trials until `arm`(k) no longer meets a call; gives the number of calls.
int fail_each(const std::function<void(int)>& arm, const std::function<bool()>& met,
              const std::function<void()>& disarm, int& errors) {
  constexpr int kRuns = 3;  // the second makes graphs, the third changes and launches them
  constexpr int kMostCalls = 2000;
  for (int call = 1; call < kMostCalls; ++call) {
    CAPTURE(call);
    Trial trial;
    arm(call);
    for (int run = 0; run < kRuns; ++run) try {
        const bool right = trial.is_right(run);
        CHECK(right);
      } catch (const DeviceError&) {
        ++errors;
      }
    const bool was_met = met();
    disarm();
    for (int run = 0; run < kRuns; ++run) CHECK(trial.is_right(run));
    if (!was_met) return call - 1;
  }
  return kMostCalls;
}

}  // namespace

TEST_CASE("any allocation may fail, alone or with all that follow") {
  if (!emulation()) return;
  for (const bool no_more : {false, true}) {
    CAPTURE(no_more);
    int errors = 0;
    emulation()->no_more_memory = no_more;
    const int calls = fail_each([](int call) { emulation()->fail_allocation = call; },
                                [&] { return emulation()->fail_allocation <= (no_more ? 1 : 0); },
                                [] { emulation()->fail_allocation = 0; }, errors);
    emulation()->no_more_memory = false;
    CHECK(calls >= 10);
    CHECK(errors >= 10);
  }
}

TEST_CASE("any launch or graph call may fail") {
  if (!emulation()) return;
  for (const int error : {2, 719}) {  // out of memory, launch failed
    CAPTURE(error);
    int errors = 0;
    emulation()->start_error = error;
    const int calls =
        fail_each([](int call) { emulation()->fail_start = call; },
                  [] { return emulation()->fail_start == 0; }, [] { emulation()->fail_start = 0; }, errors);
    CHECK(calls >= 20);
    CHECK(errors >= 10);
  }
}

TEST_CASE("no memory for a run's workspace: there is no run, and the plan is as it was") {
  if (!emulation()) return;
  const auto backend = runtime::make_cuda_backend(0, 16);
  std::unique_ptr<runtime::PlanState> state;
  const std::size_t before = backend->statistics().bytes_in_use;
  CHECK_THROWS_AS(backend->begin(&state, {.workspace_bytes = std::size_t{1} << 40}), DeviceError);
  CHECK(backend->statistics().bytes_in_use == before);
  backend->begin(&state, {.workspace_bytes = 1 << 20});
  CHECK(backend->statistics().bytes_in_use > before);
  CHECK(backend->submit() == nullptr);
  CHECK(backend->statistics().bytes_in_use == before);
  backend->begin(nullptr, {.workspace_bytes = 1 << 20});
  backend->abandon();
  CHECK(backend->statistics().bytes_in_use == before);
}

TEST_CASE("a run that is abandoned on its way leaves nothing old in its plan's graph") {
  // Five launches in a chain; each run has other buffers.
  constexpr std::int64_t kSize = 40;
  constexpr std::size_t kLaunches = 5, kBytes = kSize * sizeof(float);
  const auto backend = runtime::make_cuda_backend(0, 16);
  KernelBuilder k({kSize});
  const ir::ExprId x = k.load(k.input(DType::f32, std::vector<double>(kSize, 1.0)), k.all());
  k.store(k.output(DType::f32, kSize), k.all(), k.op(Op::Neg, x));
  const KernelCase c = k.finish("negation");
  const ir::Kernel* kernel = &c.kernel;
  const runtime::ExecutableRef executable = backend->compile(std::span(&kernel, 1)).at(0);

  std::unique_ptr<runtime::PlanState> state;
  struct Buffers {
    Buffers(runtime::Backend& backend, float value) : value(value) {
      for (std::size_t i = 0; i <= kLaunches; ++i) all.push_back(backend.allocate(kBytes));
      const std::vector<float> data(kSize, value);
      backend.upload({all[0].get(), 0}, std::as_bytes(std::span(data)));
    }
    std::vector<runtime::BufferRef> all;
    float value;
  };
  const auto run = [&](const Buffers& buffers, std::size_t launches) {
    backend->begin(&state, {});
    for (std::size_t i = 0; i < launches; ++i) {
      const runtime::BufferView views[] = {{buffers.all[i].get(), 0}, {buffers.all[i + 1].get(), 0}};
      backend->launch(*executable, {views, c.bindings.ints, c.bindings.scalars});
    }
    if (launches < kLaunches) return backend->abandon();
    backend->submit();
    std::vector<float> result(kSize);
    backend->download({buffers.all[kLaunches].get(), 0}, std::as_writable_bytes(std::span(result)));
    CHECK(result == std::vector<float>(kSize, -buffers.value));
  };
  for (int i = 1; i <= 3; ++i) run(Buffers(*backend, static_cast<float>(i)), kLaunches);
  CHECK(backend->statistics().graphs_built == 1);
  std::vector<Buffers> kept;  // so that no run has an earlier one's memory
  for (std::size_t launches = 0; launches < kLaunches; ++launches) {
    CAPTURE(launches);
    const Buffers& buffers = kept.emplace_back(*backend, static_cast<float>(10 + launches));
    run(buffers, launches);
    run(buffers, kLaunches);
    run(kept.front(), kLaunches);
    if (emulation()) {
      // An update that fails, and the plan's next run.
      std::unique_ptr<runtime::PlanState> other;
      state.swap(other);
      for (int i = 0; i < 3; ++i) run(buffers, kLaunches);
      emulation()->fail_graph_launch = 1;
      CHECK_THROWS_AS(run(kept.front(), kLaunches), DeviceError);
      backend->abandon();  // as whoever began it does
      run(kept.front(), kLaunches);
      state.swap(other);
    }
  }
  state.reset();
}

TEST_CASE("launches belong to runs") {
  const auto backend = runtime::make_cuda_backend(0, 16);
  KernelBuilder k({10});
  const ir::ExprId x = k.load(k.input(DType::f32, std::vector<double>(10, 1.0)), k.all());
  k.store(k.output(DType::f32, 10), k.all(), k.op(Op::Neg, x));
  const KernelCase c = k.finish("negation");
  const ir::Kernel* kernel = &c.kernel;
  const runtime::ExecutableRef executable = backend->compile(std::span(&kernel, 1)).at(0);
  const runtime::BufferRef a = backend->allocate(40), b = backend->allocate(40);
  const runtime::BufferView views[] = {{a.get(), 0}, {b.get(), 0}};
  CHECK_THROWS_WITH_AS(backend->launch(*executable, {views, c.bindings.ints, c.bindings.scalars}),
                       doctest::Contains("outside of a run"), Error);
}

}  // namespace sinter::testing
