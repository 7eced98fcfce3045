// The host device: results do not depend on the number of threads, on the division of loops, or on the
// library that multiplies matrices.
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "tests/conformance/backend_conformance.h"
#include "tests/support/one_run.h"

using namespace sinter;
using sinter::testing::KernelBuilder;
using sinter::testing::KernelCase;

namespace {

/// A host with this many threads; restores the environment.
class Host {
 public:
  explicit Host(std::int64_t threads, bool onednn = true) {
    base::mutable_environment().host_threads = threads;
    base::mutable_environment().onednn = onednn;
    base::mutable_environment().amx = "0";
    backend_ = runtime::make_host_backend();
  }
  ~Host() { base::mutable_environment() = before_; }
  runtime::Backend& operator*() { return *backend_; }
  runtime::Backend* operator->() { return backend_.get(); }

 private:
  base::Environment before_ = base::environment();
  std::unique_ptr<runtime::Backend> backend_;
};

std::vector<double> numbers(std::size_t n) {
  std::vector<double> values(n);
  std::uint64_t state = 1;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 40) / (1 << 23) - 1;
  }
  return values;
}

std::vector<std::vector<std::byte>> run(runtime::Backend& host, const KernelCase& c) {
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (const auto& bytes : c.bindings.buffers) {
    buffers.push_back(host.allocate(bytes.size()));
    views.push_back({buffers.back().get(), 0});
    host.upload(views.back(), bytes);
  }
  const ir::Kernel* kernel = &c.kernel;
  const auto executable = host.compile({&kernel, 1})[0];
  testing::run_alone(host, *executable, {views, c.bindings.ints, c.bindings.scalars}, c.kernel.faults);
  std::vector<std::vector<std::byte>> result = c.bindings.buffers;
  for (std::size_t i = 0; i < views.size(); ++i) host.download(views[i], result[i]);
  return result;
}

ir::ExprId softmax(KernelBuilder& k, ir::ExprId x) {
  const auto e = k.op(Op::Exp, k.op(Op::Sub, x, k.reduce(Op::Max, x)));
  return k.op(Op::Div, e, k.reduce(Op::Sum, e));
}

/// Kernels for each code path: resident rows and others, one long row, few and many units, columns, uniform
/// blocks.
std::vector<KernelCase> kernels() {
  std::vector<KernelCase> cases;
  struct Sizes {
    std::int64_t outer, inner;
    ir::Schedule schedule;
  };
  for (const Sizes& s :
       {Sizes{700, 100, ir::Schedule::LanesInner}, Sizes{64, 3000, ir::Schedule::LanesInner},
        Sizes{3, 50000, ir::Schedule::LanesInner}, Sizes{1, 300000, ir::Schedule::LanesInner},
        Sizes{5000, 7, ir::Schedule::LanesInner}, Sizes{20, 40000, ir::Schedule::LanesInner}}) {
    KernelBuilder k({s.outer}, {s.inner}, s.schedule);
    const std::size_t n = static_cast<std::size_t>(s.outer * s.inner);
    k.store(k.output(DType::f32, s.outer * s.inner), k.all(),
            softmax(k, k.load(k.input(DType::f32, numbers(n)), k.all())));
    cases.push_back(k.finish("softmax " + std::to_string(s.outer) + " x " + std::to_string(s.inner)));
  }
  for (std::int64_t columns : {100, 700, 5000}) {
    const std::int64_t rows = 600000 / columns;
    KernelBuilder k({columns}, {rows}, ir::Schedule::LanesOuter);
    const auto x = k.load(k.input(DType::f32, numbers(600000)), k.map({1, columns}));
    const auto mean =
        k.op(Op::Mul, k.reduce(Op::Sum, x), k.scalar(DType::f32, 1.0 / static_cast<double>(rows)));
    const auto difference = k.op(Op::Sub, x, mean);
    k.store(k.output(DType::f32, columns), k.outer(),
            k.reduce(Op::Sum, k.op(Op::Mul, difference, difference)));
    cases.push_back(k.finish("variance of " + std::to_string(columns) + " columns"));
  }
  {
    KernelBuilder k({40, 8, 3, 8, 3});
    const auto x = k.load(k.input(DType::f32, numbers(40 * 64)), k.map({64, 8, 0, 1, 0}));
    const auto random = k.random(k.all(), 5, 6);
    k.store(k.output(DType::f32, 40 * 576), k.all(),
            k.op(Op::Where, k.op(Op::Less, random, k.scalar(DType::f32, 0.5)), k.op(Op::Tanh, x),
                 k.scalar(DType::f32, 0)));
    cases.push_back(k.finish("expanded, with dropout"));
  }
  {
    KernelBuilder k({500, 700});
    k.store(k.output(DType::f32, 350000), k.all(),
            k.load(k.input(DType::f32, numbers(350000)), k.map({1, 500})));
    cases.push_back(k.finish("transposed"));
  }
  return cases;
}

}  // namespace

TEST_CASE("kernels give the same bits on one, two and five threads, and agree with the oracle") {
  Host one(1), two(2), five(5);
  for (const KernelCase& c : kernels()) {
    CAPTURE(c.name);
    const auto want = run(*one, c);
    CHECK((run(*two, c) == want));
    CHECK((run(*five, c) == want));
    const auto reference = testing::evaluate(c.kernel, c.bindings);
    const std::size_t out = want.size() - 1;
    CHECK(testing::difference(DType::f32, want[out], reference.buffers[out], reference.errors[out]) == "");
  }
}

TEST_CASE("the host's own matrix product and convolution conform") {
  Host host(2, false);
  testing::check_library_ops(*host, {});
  testing::check_segments(*host, {});
}

TEST_CASE("those of oneDNN conform, where it is built in") {
  Host host(2);
  testing::check_library_ops(*host, {});
}

TEST_CASE("products of 16-bit floats have the same bits for any number of threads") {
  std::vector<std::shared_ptr<library::ProductOp>> ops;
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{300, 330, 700}, {20, 330, 701}, {2, 700, 900}}) {
    auto op = std::make_shared<library::MatMulOp>();
    op->m = m, op->n = n, op->k = k;
    op->a_row = k, op->a_column = 1, op->b_row = 1, op->b_column = k;
    ops.push_back(op);
  }
  using Direction = library::Conv2dOp::Direction;
  for (const Direction direction :
       {Direction::Forward, Direction::BackwardInput, Direction::BackwardWeight}) {
    auto op = std::make_shared<library::Conv2dOp>();
    op->direction = direction;
    op->n = 9, op->c_in = op->c_out = 32, op->h = op->w = op->oh = op->ow = 28, op->kh = op->kw = 3;
    op->padding = {1, 1};
    ops.push_back(op);
  }
  for (const auto& op : ops)
    for (const DType half : {DType::bf16, DType::f16})
      for (const bool onednn : {false, true}) {
        op->stored = {half, half, half};
        const auto a = testing::to_bytes(half, numbers(static_cast<std::size_t>(op->elements_read(0)))),
                   b = testing::to_bytes(half, numbers(static_cast<std::size_t>(op->elements_read(1))));
        CAPTURE(op->describe());
        CAPTURE(onednn);
        std::vector<std::byte> first;
        for (std::int64_t threads : {1, 3}) {
          Host host(threads, onednn);
          std::vector<std::byte> c(static_cast<std::size_t>(op->elements_written(0)) * 2);
          const auto of_a = host->allocate(a.size()), of_b = host->allocate(b.size()),
                     of_c = host->allocate(c.size());
          host->upload({of_a.get(), 0}, a);
          host->upload({of_b.get(), 0}, b);
          const auto executable = host->prepare(*op);
          const runtime::BufferView views[] = {{of_a.get(), 0}, {of_b.get(), 0}, {of_c.get(), 0}};
          testing::run_alone(*host, *executable, {views, {}, {}});
          host->download({of_c.get(), 0}, c);
          if (first.empty()) first = c;
          CHECK((c == first));
#if SINTER_HAS_ONEDNN && defined(__x86_64__)
          // All but few rows and odd depths.
          const auto* matmul = dynamic_cast<const library::MatMulOp*>(op.get());
          if (onednn && half == DType::bf16 && __builtin_cpu_supports("avx512bf16") &&
              (!matmul || matmul->m > 20))
            CHECK(executable->how({}, 1).ends_with("by oneDNN"));
#endif
        }
      }
}

TEST_CASE("a larger product agrees with and without oneDNN, whatever the number of threads") {
  for (bool onednn : {false, true}) {
    library::MatMulOp op;
    op.m = 150, op.n = 330, op.k = 700;
    op.a_row = op.k, op.a_column = 1, op.b_row = 1, op.b_column = op.k;
    std::vector<float> a(150 * 700), b(330 * 700), first;
    const auto values = numbers(a.size() + b.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(values[i]);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(values[a.size() + i]);
    for (std::int64_t threads : {1, 3}) {
      Host host(threads, onednn);
      const auto ba = host->allocate(a.size() * 4), bb = host->allocate(b.size() * 4),
                 bc = host->allocate(150 * 330 * 4);
      host->upload({ba.get(), 0}, std::as_bytes(std::span(a)));
      host->upload({bb.get(), 0}, std::as_bytes(std::span(b)));
      const auto executable = host->prepare(op);
      const runtime::BufferView views[] = {{ba.get(), 0}, {bb.get(), 0}, {bc.get(), 0}};
      testing::run_alone(*host, *executable, {views, {}, {}});
      std::vector<float> c(150 * 330);
      host->download({bc.get(), 0}, std::as_writable_bytes(std::span(c)));
      for (std::size_t i : {0, 329, 149 * 330, 150 * 330 - 1, 12345}) {
        double sum = 0;
        for (std::size_t p = 0; p < 700; ++p)
          sum += static_cast<double>(a[i / 330 * 700 + p]) * b[i % 330 * 700 + p];
        CHECK(c[i] == doctest::Approx(sum).epsilon(1e-4));
      }
      if (first.empty()) first = c;
      CHECK((c == first));
    }
  }
}

// With many columns and a long sum B is packed range by range where several tiles share it, and how many
// tiles there are follows from the number of threads.
TEST_CASE_TEMPLATE("long sums have the same bits for any number of threads and of matrices", T, float,
                   double) {
  constexpr DType dtype = std::is_same_v<T, float> ? DType::f32 : DType::f64;
  for (const auto& [m, n, k] :
       {std::array<std::int64_t, 3>{240, 1000, 1500}, {64, 10, 200000}, {37, 1100, 1030}, {100, 300, 5000}})
    for (const bool is_transposed : {false, true}) {
      library::MatMulOp op;
      op.dtype = dtype;
      op.m = m, op.n = n, op.k = k;
      op.a_row = is_transposed ? 1 : k, op.a_column = is_transposed ? m : 1;
      op.b_row = n, op.b_column = 1;
      op.a_batch = m * k, op.b_batch = 0;
      const std::vector<double> values = numbers(static_cast<std::size_t>(2 * m * k + k * n));
      const std::vector<T> all(values.begin(), values.end());
      const std::size_t size = static_cast<std::size_t>(m * n);
      CAPTURE(op.describe());
      std::vector<T> first;
      for (const std::int64_t batch : {1, 2})
        for (const std::int64_t threads : {1, 2, 4, 7}) {
          op.batch = batch;
          Host host(threads, false);
          const auto data = host->allocate(all.size() * sizeof(T)),
                     result = host->allocate(2 * size * sizeof(T));
          host->upload({data.get(), 0}, std::as_bytes(std::span(all)));
          const auto executable = host->prepare(op);
          const std::size_t of_b = static_cast<std::size_t>(2 * m * k) * sizeof(T);
          const runtime::BufferView views[] = {{data.get(), 0}, {data.get(), of_b}, {result.get(), 0}};
          testing::run_alone(*host, *executable, {views, {}, {}});
          std::vector<T> c(size);
          host->download({result.get(), 0}, std::as_writable_bytes(std::span(c)));
          if (first.empty()) first = c;
          CAPTURE(threads);
          CAPTURE(batch);
          CHECK((c == first));
        }
      for (const std::int64_t i : {std::int64_t{0}, m * n / 2 + 3, m * n - 1}) {
        double sum = 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += static_cast<double>(all[static_cast<std::size_t>(i / n * op.a_row + p * op.a_column)]) *
                 static_cast<double>(all[static_cast<std::size_t>(2 * m * k + p * n + i % n)]);
        CHECK(static_cast<double>(first[static_cast<std::size_t>(i)]) ==
              doctest::Approx(sum).epsilon(1e-4).scale(std::sqrt(static_cast<double>(k))));
      }
    }
}

TEST_CASE("a kernel is launched with other sizes and keeps working") {
  Host host(2);
  KernelBuilder k({10, 20});
  k.store(k.output(DType::f32, 200), k.all(),
          k.op(Op::Neg, k.load(k.input(DType::f32, numbers(200)), k.all())));
  KernelCase c = k.finish("neg");
  const ir::Kernel* kernel = &c.kernel;
  const auto executable = host->compile({&kernel, 1})[0];
  const auto in = host->allocate(4000), out = host->allocate(4000);
  const std::vector<float> x(1000, 2.0f);
  host->upload({in.get(), 0}, std::as_bytes(std::span(x)));
  const runtime::BufferView views[] = {{out.get(), 0}, {in.get(), 0}};
  std::vector<runtime::BufferView> ordered;
  for (const ir::BufferInfo& info : c.kernel.buffers) ordered.push_back(views[info.written ? 0 : 1]);
  for (std::int64_t rows = 1; rows <= 40; ++rows) {
    std::vector<std::int64_t> ints = c.bindings.ints;
    ints[c.kernel.extents[0].index] = rows;
    std::vector<float> y(1000, 7.0f);
    host->upload({out.get(), 0}, std::as_bytes(std::span(y)));
    testing::run_alone(*host, *executable, {ordered, ints, c.bindings.scalars});
    host->download({out.get(), 0}, std::as_writable_bytes(std::span(y)));
    for (std::size_t i = 0; i < 1000; ++i)
      CHECK(y[i] == (i < static_cast<std::size_t>(rows) * 20 ? -2.0f : 7.0f));
  }
  host->begin(nullptr, {});
  CHECK_THROWS_AS(host->launch(*executable, {ordered, {}, c.bindings.scalars}), DeviceError);
  host->abandon();
}
