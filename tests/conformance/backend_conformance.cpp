// The conformance suite: memory, kernels, faults.
#include "tests/conformance/backend_conformance.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "tests/conformance/conformance_runner.h"
#include "tests/conformance/kernel_forms.h"
#include "tests/support/test_data.h"

namespace sinter::testing {
namespace {

std::vector<std::byte> random_bytes(TestData& data, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(data.next());
  return bytes;
}

std::vector<std::byte> downloaded(runtime::Backend& backend, const runtime::BufferView& from,
                                  std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  backend.download(from, data);
  return data;
}

// y = -x over n elements.
KernelCase negation(std::int64_t n) {
  KernelBuilder k({n});
  const ir::ExprId x = k.load(k.input(DType::f32, std::vector<double>(n, 1.0)), k.all());
  k.store(k.output(DType::f32, n), k.all(), k.op(Op::Neg, x));
  return k.finish("negation");
}

// Launches in a row over memory that is released right after each launch.
void check_release_after_launch(runtime::Backend& backend) {
  const std::int64_t n = 5000;
  const std::size_t bytes = n * sizeof(float);
  const KernelCase c = negation(n);
  const ir::Kernel* kernel = &c.kernel;
  const runtime::ExecutableRef executable = backend.compile(std::span(&kernel, 1)).at(0);
  std::vector<runtime::BufferRef> results;
  for (int round = 0; round < 20; ++round) {
    const runtime::BufferRef x = backend.allocate(bytes);
    backend.upload({x.get(), 0}, to_bytes(DType::f32, std::vector<double>(n, round + 1)));
    results.push_back(backend.allocate(bytes));
    const runtime::BufferView views[] = {{x.get(), 0}, {results.back().get(), 0}};
    backend.begin(nullptr, needs_of(*executable, c.kernel, {views, c.bindings.ints, c.bindings.scalars}));
    backend.launch(*executable, {views, c.bindings.ints, c.bindings.scalars});
    backend.submit();
  }
  for (int round = 0; round < 20; ++round) {
    const auto want = to_bytes(DType::f32, std::vector<double>(n, -round - 1));
    CHECK_MESSAGE(downloaded(backend, {results[round].get(), 0}, bytes) == want, "launch " << round);
  }
}

// A launch reads the results of the previous one, without waiting in between.
void check_order(runtime::Backend& backend) {
  const std::int64_t n = 3000;
  const KernelCase c = negation(n);
  const ir::Kernel* kernel = &c.kernel;
  const runtime::ExecutableRef executable = backend.compile(std::span(&kernel, 1)).at(0);
  const runtime::BufferRef a = backend.allocate(n * sizeof(float)), b = backend.allocate(n * sizeof(float));
  std::vector<double> values = TestData(5).reals(n);
  backend.upload({a.get(), 0}, to_bytes(DType::f32, values));
  const runtime::BufferView there[] = {{a.get(), 0}, {b.get(), 0}}, back[] = {{b.get(), 0}, {a.get(), 0}};
  for (int i = 0; i < 51; ++i) {
    backend.begin(nullptr, needs_of(*executable, c.kernel, {there, c.bindings.ints, c.bindings.scalars}));
    backend.launch(*executable, {there, c.bindings.ints, c.bindings.scalars});
    backend.launch(*executable, {back, c.bindings.ints, c.bindings.scalars});
    backend.submit();
  }
  backend.begin(nullptr, needs_of(*executable, c.kernel, {there, c.bindings.ints, c.bindings.scalars}));
  backend.launch(*executable, {there, c.bindings.ints, c.bindings.scalars});
  backend.submit();
  for (double& v : values) v = -v;
  CHECK_MESSAGE((downloaded(backend, {b.get(), 0}, n * sizeof(float)) == to_bytes(DType::f32, values)),
                "a chain of launches that depend on each other");
}

std::string failure(const KernelCase& c, const std::string& what) {
  std::string text = "[" + c.name + "] " + what;
  // Long kernel texts would hide the next failure.
  const std::string kernel = ir::to_string(c.kernel);
  return text + "\n" + (kernel.size() < 6000 ? kernel : kernel.substr(0, 6000) + "...\n");
}

// The kernel's first difference from the oracle; empty if there is none.
std::string check_kernel(KernelRunner& runner, const KernelCase& c, const Precision& precision) {
  const ReferenceResult want = evaluate(c.kernel, c.bindings, precision);
  std::vector<std::uint32_t> faults, faults_again;
  const auto got = runner.run(c, faults);
  if (const std::string d = difference(faults, want.faults); !d.empty()) return d;
  for (std::size_t b = 0; b < got.size(); ++b) {
    const std::string d = difference(c.kernel.buffers[b].dtype, got[b], want.buffers[b], want.errors[b]);
    if (!d.empty()) return "buffer " + std::to_string(b) + ": " + d;
  }
  if (runner.run(c, faults_again) != got) return "gave other bits when it was run again";
  if (faults_again != faults) return "set other fault words when it was run again";
  return "";
}

}  // namespace

void check_memory(runtime::Backend& backend) {
  TestData data(1);
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 63, 64, 255, 256, 257, 4096, 100001, 1 << 20}) {
    const runtime::BufferRef buffer = backend.allocate(size);
    CHECK(buffer->bytes() >= size);
    const auto bytes = random_bytes(data, size);
    backend.upload({buffer.get(), 0}, bytes);
    CHECK_MESSAGE(downloaded(backend, {buffer.get(), 0}, size) == bytes,
                  "a transfer of " << size << " bytes");
  }
  {
    const runtime::BufferRef buffer = backend.allocate(1000);
    auto bytes = random_bytes(data, 1000);
    backend.upload({buffer.get(), 0}, bytes);
    const std::pair<std::size_t, std::size_t> pieces[] = {{0, 1},   {3, 5},   {17, 3},  {100, 64},
                                                          {253, 8}, {999, 1}, {500, 0}, {601, 399}};
    for (const auto& place : pieces) {
      const std::size_t offset = place.first, size = place.second;
      const auto piece = random_bytes(data, size);
      std::copy(piece.begin(), piece.end(), bytes.begin() + offset);
      backend.upload({buffer.get(), offset}, piece);
      CHECK_MESSAGE(downloaded(backend, {buffer.get(), offset}, size) == piece,
                    size << " bytes at " << offset);
    }
    CHECK_MESSAGE(downloaded(backend, {buffer.get(), 0}, 1000) == bytes,
                  "uploads into the middle of a buffer");
  }
  {
    // Allocates and releases buffers in any order; live ones must not change.
    std::vector<std::pair<runtime::BufferRef, std::vector<std::byte>>> live;
    for (int step = 0; step < 300; ++step) {
      if (live.size() > 30 || (!live.empty() && data.chance(0.4))) {
        const auto at = static_cast<std::size_t>(data.integer(0, static_cast<std::int64_t>(live.size()) - 1));
        CHECK_MESSAGE(
            downloaded(backend, {live[at].first.get(), 0}, live[at].second.size()) == live[at].second,
            "a buffer's bytes changed while others came and went");
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      auto bytes = random_bytes(data, static_cast<std::size_t>(data.integer(0, 20000)));
      runtime::BufferRef buffer = backend.allocate(bytes.size());
      backend.upload({buffer.get(), 0}, bytes);
      live.emplace_back(std::move(buffer), std::move(bytes));
    }
  }
  {
    const std::size_t before = backend.statistics().bytes_in_use;
    const runtime::BufferRef buffer = backend.allocate(1 << 16);
    CHECK(backend.statistics().bytes_in_use >= before + (1 << 16));
    CHECK(backend.statistics().peak_bytes_in_use >= before + (1 << 16));
  }
  CHECK_THROWS_AS(backend.allocate(std::numeric_limits<std::size_t>::max() / 4), DeviceError);
  CHECK_NOTHROW(backend.synchronize());
  check_release_after_launch(backend);
  check_order(backend);
}

void check_kernels(runtime::Backend& backend, const std::vector<KernelCase>& cases,
                   const ConformanceOptions& options) {
  std::vector<KernelCase> fitting;
  for (const KernelCase& c : cases)
    if (runs_on(backend, c.kernel)) fitting.push_back(c);
  Failures failures;
  KernelRunner runner(backend);
  try {
    runner.compile(fitting);
  } catch (const std::exception& e) {
    failures.add(std::string("compiling failed: ") + e.what());
    // One by one, to find the failing kernel.
    for (const KernelCase& c : fitting) try {
        KernelRunner(backend).compile({c});
      } catch (const std::exception& alone) {
        failures.add(failure(c, alone.what()));
      }
    failures.report("kernels");
    return;
  }
  for (const KernelCase& c : fitting) {
    std::string wrong;
    try {
      wrong = check_kernel(runner, c, options.precision);
    } catch (const std::exception& e) {
      wrong = std::string("threw: ") + e.what();
    }
    if (!wrong.empty()) failures.add(failure(c, wrong));
  }
  failures.report(std::to_string(fitting.size()) + " kernels");
}

void check_operations(runtime::Backend& backend, const ConformanceOptions& options) {
  const std::size_t outputs = std::min(8, std::max(1, backend.traits().max_buffers - 3));
  check_kernels(backend, operation_kernels(backend.traits().has_f64, outputs), options);
}

void check_faults(runtime::Backend& backend, const ConformanceOptions& options) {
  // Two reads from tables of ten rows; `wrong` is the one whose last index is out of range, 2: none.
  const auto gather = [](int wrong) {
    KernelBuilder k({100});
    const auto read = [&](int number) {
      std::vector<std::int64_t> where(100, 3);
      where[99] = number == wrong ? 10 : 9;
      const ir::ExprId at = k.load(k.input(DType::i64, where), k.all());
      return k.load_at(k.input(DType::f32, TestData(3).reals(10)), k.map({0}), at, 1, 10);
    };
    const ir::ExprId first = read(0), second = read(1);
    k.store(k.output(DType::f32, 100), k.all(), k.op(Op::Add, first, second));
    return k.finish("gather");
  };
  const KernelCase cases[] = {gather(0), gather(1), gather(2)};
  using Words = std::vector<std::uint32_t>;
  const Words words[] = {{1, 0}, {0, 1}, {0, 0}};
  const ir::Kernel& kernel = cases[0].kernel;
  const ir::Kernel* pointer = &kernel;
  const runtime::ExecutableRef executable = backend.compile(std::span(&pointer, 1)).at(0);

  // Reports are of their own run, whenever they are asked, and waiting throws nothing.
  std::vector<std::unique_ptr<GuardedBuffers>> buffers;
  std::vector<runtime::FaultReportRef> reports;
  const int order[] = {2, 0, 2, 1, 0, 2};
  for (const int which : order) {
    const KernelCase& c = cases[which];
    buffers.push_back(std::make_unique<GuardedBuffers>(backend, c.bindings.buffers));
    reports.push_back(run_alone(backend, *executable, kernel,
                                {buffers.back()->views(), c.bindings.ints, c.bindings.scalars}));
  }
  CHECK_NOTHROW(backend.synchronize());
  for (std::size_t r = reports.size(); r-- > 0;) {
    CHECK_MESSAGE(words_of(reports[r], 2) == words[order[r]], "the report of run " << r);
    CHECK_MESSAGE(buffers[r]->read() == evaluate(kernel, cases[order[r]].bindings, options.precision).buffers,
                  "the results of run " << r);
  }

  // Launches of one run have words of their own.
  for (const KernelCase& c : cases) backend.wait_until_ready(*executable, c.bindings.ints, 1);
  backend.begin(nullptr, {executable->workspace_bytes(cases[0].bindings.ints, 1), 6});
  for (const int which : {1, 2, 0}) {
    const KernelCase& c = cases[which];
    buffers.push_back(std::make_unique<GuardedBuffers>(backend, c.bindings.buffers));
    backend.launch(*executable, {buffers.back()->views(), c.bindings.ints, c.bindings.scalars, 1,
                                 static_cast<std::uint32_t>(2 * (2 - which))});
  }
  // first_fault 2 of case 1, 0 of case 2, 4 of case 0
  CHECK(words_of(backend.submit(), 6) == Words{0, 0, 0, 1, 1, 0});

  // A run that is given up leaves nothing behind.
  backend.begin(nullptr, {0, 2});
  backend.abandon();
  const runtime::FaultReportRef none = run_alone(
      backend, *executable, kernel, {buffers[0]->views(), cases[2].bindings.ints, cases[2].bindings.scalars});
  CHECK(words_of(none, 2) == Words{0, 0});

  if (backend.traits().batch_bytes == 0) return;
  ir::Kernel batched = kernel;
  batched.members = 4;
  pointer = &batched;
  const runtime::ExecutableRef several = backend.compile(std::span(&pointer, 1)).at(0);
  std::vector<runtime::BufferView> views;
  std::vector<std::int64_t> ints;
  std::vector<runtime::ScalarValue> scalars;
  for (const int which : {2, 1, 0}) {
    const KernelCase& c = cases[which];
    buffers.push_back(std::make_unique<GuardedBuffers>(backend, c.bindings.buffers));
    const auto& own = buffers.back()->views();
    views.insert(views.end(), own.begin(), own.end());
    ints.insert(ints.end(), c.bindings.ints.begin(), c.bindings.ints.end());
    scalars.insert(scalars.end(), c.bindings.scalars.begin(), c.bindings.scalars.end());
  }
  CHECK(words_of(run_alone(backend, *several, batched, {views, ints, scalars, 3}), 6) ==
        Words{0, 0, 0, 1, 1, 0});
}

void check_backend(runtime::Backend& backend, const ConformanceOptions& options) {
  const bool with_f64 = backend.traits().has_f64;
  SUBCASE("memory") { check_memory(backend); }
  SUBCASE("kernels written by hand") { check_kernels(backend, handmade_kernels(with_f64), options); }
  SUBCASE("every elementwise op") { check_operations(backend, options); }
  SUBCASE("random kernels") {
    std::vector<KernelCase> cases;
    for (int i = 0; i < options.random_kernels; ++i)
      cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
    check_kernels(backend, cases, options);
  }
  SUBCASE("random kernels with long loops") {
    std::vector<KernelCase> cases;
    for (int i = 0; i < options.random_long_kernels; ++i)
      cases.push_back(random_long_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
    check_kernels(backend, cases, options);
  }
  SUBCASE("random kernels for several members") {
    std::vector<KernelCase> cases;
    for (int i = 0; i < options.random_kernels / 4; ++i)
      cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
    for (int i = 0; i < options.random_long_kernels / 4; ++i)
      cases.push_back(random_long_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
    check_kernels_of_members(backend, cases, options);
  }
  if (backend.traits().grid_reductions) {
    SUBCASE("kernels whose work several groups share") {
      std::vector<KernelCase> cases = handmade_kernels(with_f64);
      for (int i = 0; i < options.random_kernels; ++i)
        cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
      for (int i = 0; i < options.random_long_kernels; ++i)
        cases.push_back(random_long_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
      check_kernels(backend, split_kernels(cases), options);
    }
    if (backend.traits().split_members) {
      SUBCASE("those for several members") {
        std::vector<KernelCase> cases = handmade_kernels(with_f64);
        for (int i = 0; i < options.random_kernels / 4; ++i)
          cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
        for (int i = 0; i < options.random_long_kernels / 4; ++i)
          cases.push_back(random_long_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
        check_kernels_of_members(backend, split_kernels(cases), options);
      }
    }
    SUBCASE("squared deviations") { check_kernels(backend, variance_kernels(with_f64), options); }
  }
  if (backend.traits().row_lanes > 0) {
    SUBCASE("kernels that hold their rows") {
      std::vector<KernelCase> cases = handmade_kernels(with_f64);
      for (int i = 0; i < options.random_kernels; ++i)
        cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
      for (int i = 0; i < options.random_long_kernels; ++i)
        cases.push_back(random_long_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
      check_kernels(backend, row_kernels(cases, backend.traits()), options);
    }
  }
  SUBCASE("kernels that read across their rows") {
    std::vector<KernelCase> cases = handmade_kernels(with_f64);
    for (int i = 0; i < options.random_kernels; ++i)
      cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
    cases = tile_kernels(cases);
    for (KernelCase& c : transposing_kernels(backend.traits())) cases.push_back(std::move(c));
    check_kernels(backend, cases, options);
  }
  if (backend.traits().reciprocals) {
    SUBCASE("kernels that multiply instead of dividing") {
      std::vector<KernelCase> cases = handmade_kernels(with_f64);
      for (int i = 0; i < options.random_kernels; ++i)
        cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
      check_kernels(backend, reciprocal_kernels(cases), options);
    }
  }
  SUBCASE("kernels whose inner loops are written out") {
    std::vector<KernelCase> cases = handmade_kernels(with_f64);
    for (int i = 0; i < options.random_kernels; ++i)
      cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
    check_kernels(backend, window_kernels(cases), options);
  }
  SUBCASE("kernels whose vectors go on across the ends of rows") {
    std::vector<KernelCase> cases = handmade_kernels(with_f64);
    for (int i = 0; i < options.random_kernels; ++i)
      cases.push_back(random_kernel(options.first_seed + static_cast<std::uint64_t>(i), with_f64));
    cases = flat_kernels(cases);
    for (KernelCase& c : ragged_elementwise_kernels(backend.traits())) cases.push_back(std::move(c));
    check_kernels(backend, cases, options);
  }
  SUBCASE("an index out of range") { check_faults(backend, options); }
  if (options.products) {
    SUBCASE("library ops") { check_library_ops(backend, options); }
  }
  if (options.segments) {
    SUBCASE("segments") { check_segments(backend, options); }
  }
}

}  // namespace sinter::testing
