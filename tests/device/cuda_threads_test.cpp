// Threads that compile, prepare and ask for counts while another one runs plans, all on one CUDA backend.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "jit/library/matmul.h"
#include "src/runtime/cuda/cuda_backend.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/one_run.h"

namespace sinter::testing {
namespace {

constexpr std::int64_t kSize = 50;

/// y = x * x * ... + x, with `powers` factors: another text for each.
KernelCase polynomial(int powers) {
  KernelBuilder k({kSize});
  const ir::ExprId x = k.load(k.input(DType::f32, std::vector<double>(kSize, 1.0)), k.all());
  ir::ExprId y = x;
  for (int i = 0; i < powers; ++i) y = k.op(Op::Mul, y, x);
  k.store(k.output(DType::f32, kSize), k.all(), k.op(Op::Add, y, x));
  return k.finish("polynomial " + std::to_string(powers));
}

library::MatMulOp product(std::int64_t k) {
  library::MatMulOp op;
  op.dtype = DType::f32;
  op.batch = 1;
  op.m = 3;
  op.n = 2;
  op.k = k;
  op.a_row = k;
  op.a_column = 1;
  op.b_row = 2;
  op.b_column = 1;
  return op;
}

std::uint64_t kernels(const runtime::BackendStatistics& s) {
  return s.kernels_compiled + s.kernels_from_memory + s.kernels_from_disk;
}

std::vector<float> ones(std::int64_t count) {
  return std::vector<float>(static_cast<std::size_t>(count), 1.0F);
}

runtime::BufferRef buffer_with(runtime::Backend& backend, const std::vector<float>& data) {
  auto buffer = backend.allocate(data.size() * sizeof(float));
  backend.upload({buffer.get(), 0}, std::as_bytes(std::span(data)));
  return buffer;
}

}  // namespace

TEST_CASE("threads compile and prepare, each source once, while another thread runs a plan") {
  constexpr int kThreads = 6, kTexts = 5;
  const auto backend = runtime::make_cuda_backend(0, 16);
  const KernelCase first = polynomial(1);
  const ir::Kernel* kernel = &first.kernel;
  const runtime::ExecutableRef running = backend->compile(std::span(&kernel, 1)).at(0);
  const auto x = buffer_with(*backend, ones(kSize)), y = buffer_with(*backend, ones(kSize));

  std::vector<KernelCase> cases;
  for (int i = 0; i < kTexts; ++i) cases.push_back(polynomial(i + 2));
  std::vector<runtime::ExecutableRef> found[kThreads], products(kThreads);
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::vector<const ir::Kernel*> wanted;
      for (int i = 0; i < kTexts; ++i)
        wanted.push_back(&cases[static_cast<std::size_t>((i + t) % kTexts)].kernel);
      found[t] = backend->compile(wanted);
      auto& prepared = products[static_cast<std::size_t>(t)];
      prepared = backend->prepare(product(2000));
      backend->wait_until_ready(*prepared, {}, 1);
      CHECK(prepared->workspace_bytes({}, 1) > 0);
      CHECK(backend->computes(library::matmul()));
      CHECK(kernels(backend->statistics()) >= kTexts + 1);
      --left;
    });
  std::unique_ptr<runtime::PlanState> state;
  std::uint64_t launches = 0;
  do {
    backend->begin(&state, {});
    const runtime::BufferView there[] = {{x.get(), 0}, {y.get(), 0}};
    for (int i = 0; i < 4; ++i, ++launches)
      backend->launch(*running, {there, first.bindings.ints, first.bindings.scalars});
    backend->submit();
  } while (left > 0);
  for (std::thread& thread : threads) thread.join();

  CHECK(backend->statistics().launches == launches);
  CHECK(kernels(backend->statistics()) == kTexts + 2);  // the first one, and one text of products
  std::vector<float> result(kSize);
  backend->download({y.get(), 0}, std::as_writable_bytes(std::span(result)));
  CHECK(result == std::vector<float>(kSize, 2));
  // What each thread got works.
  const auto a = buffer_with(*backend, ones(6000)), b = buffer_with(*backend, ones(4000)),
             c = buffer_with(*backend, ones(6));
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kTexts; ++i) {
      const KernelCase& at = cases[static_cast<std::size_t>((i + t) % kTexts)];
      const runtime::BufferView there[] = {{x.get(), 0}, {y.get(), 0}};
      run_alone(*backend, *found[t][static_cast<std::size_t>(i)],
                {there, at.bindings.ints, at.bindings.scalars});
    }
    const runtime::BufferView views[] = {{a.get(), 0}, {b.get(), 0}, {c.get(), 0}};
    run_alone(*backend, *products[static_cast<std::size_t>(t)], {views, {}, {}});
    std::vector<float> sums(6);
    backend->download({c.get(), 0}, std::as_writable_bytes(std::span(sums)));
    CHECK(sums == std::vector<float>(6, 2000));
  }
}

TEST_CASE("a product is launched only after somebody has waited for it") {
  const auto backend = runtime::make_cuda_backend(0, 16);
  const runtime::ExecutableRef executable = backend->prepare(product(10));
  const auto x = buffer_with(*backend, ones(60));
  const runtime::BufferView views[] = {{x.get(), 0}, {x.get(), 0}, {x.get(), 0}};
  backend->begin(nullptr, {});
  CHECK_THROWS_WITH_AS(backend->launch(*executable, {views, {}, {}}), doctest::Contains("not waited for"),
                       Error);
  backend->abandon();
  backend->wait_until_ready(*executable, {}, 1);
  CHECK_NOTHROW(run_alone(*backend, *executable, {views, {}, {}}));
}

}  // namespace sinter::testing
