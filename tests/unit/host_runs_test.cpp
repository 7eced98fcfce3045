// Runs on the host backend: several threads at once, with the same executables; the memory they have before
// they begin; their fault words.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sinter/error.h>

#include "jit/library/conv2d.h"
#include "jit/library/matmul.h"
#include "src/base/env.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/machine_code/jit.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
using library::Conv2dOp;
using runtime::Backend;

using Bytes = std::vector<std::byte>;

/// One launch: an executable, its arguments and the contents of its buffers.
struct Work {
  std::string name;
  runtime::ExecutableRef executable;
  testing::Bindings bindings;
  std::uint32_t faults = 0;
};

struct Result {
  std::vector<Bytes> buffers;
  std::vector<std::uint32_t> faults;
  bool operator==(const Result&) const = default;
};

runtime::RunNeeds needs_of(const Work& work) {
  return {work.executable->workspace_bytes(work.bindings.ints, 1), work.faults};
}

/// The contents of all buffers afterwards.
Result run(Backend& backend, const Work& work) {
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (const Bytes& bytes : work.bindings.buffers) {
    buffers.push_back(backend.allocate(bytes.size()));
    views.push_back({buffers.back().get(), 0});
    backend.upload(views.back(), bytes);
  }
  backend.begin(nullptr, needs_of(work));
  backend.launch(*work.executable, {views, work.bindings.ints, work.bindings.scalars});
  const runtime::FaultReportRef report = backend.submit();
  Result result;
  for (std::size_t i = 0; i < views.size(); ++i) {
    result.buffers.emplace_back(work.bindings.buffers[i].size());
    backend.download(views[i], result.buffers.back());
  }
  if (report != nullptr) {
    CHECK(report->done());
    result.faults.assign(report->words().begin(), report->words().end());
  }
  return result;
}

Work kernel_work(Backend& backend, testing::KernelCase c) {
  const ir::Kernel* kernel = &c.kernel;
  return {c.name, backend.compile({&kernel, 1}).at(0), std::move(c.bindings), c.kernel.faults};
}

Bytes numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  Bytes bytes(count * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

Work op_work(Backend& backend, const library::LibraryOp& op) {
  Work work{op.describe(), backend.prepare(op), {}, 0};
  for (std::size_t i = 0; i < 2; ++i)
    work.bindings.buffers.push_back(numbers(static_cast<std::size_t>(op.elements_read(i)), unsigned(i)));
  work.bindings.buffers.emplace_back(static_cast<std::size_t>(op.elements_written(0)) * sizeof(float));
  return work;
}

library::MatMulOp matmul_op(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  library::MatMulOp op;
  op.dtype = DType::f32;
  op.batch = batch, op.m = m, op.n = n, op.k = k;
  op.a_batch = m * k, op.a_row = k, op.a_column = 1;
  op.b_batch = batch == 1 ? 0 : k * n, op.b_row = n, op.b_column = 1;
  return op;
}

Conv2dOp conv_op(Conv2dOp::Direction direction, std::int64_t n, bool last) {
  Conv2dOp op;
  op.dtype = DType::f32;
  op.direction = direction;
  op.n = n, op.c_in = 6, op.h = 17, op.w = 16, op.c_out = 10, op.kh = op.kw = 3, op.oh = 17, op.ow = 16;
  op.padding = {1, 1};
  op.groups = 2;
  op.x_last = op.y_last = last;
  return op;
}

/// y = x * 2 + 1, row sums of a few long rows, and softmax-like rows, of many sizes.
testing::KernelCase elementwise(std::int64_t rows, std::int64_t row) {
  testing::KernelBuilder k({rows, row});
  const std::size_t n = static_cast<std::size_t>(rows * row);
  const std::uint16_t x = k.input_bytes(DType::f32, numbers(n, 3)), y = k.output(DType::f32, rows * row);
  const ir::ExprId v = k.load(x, k.all());
  k.store(y, k.all(), k.op(Op::Exp, k.op(Op::Mul, v, v)));
  return k.finish("elementwise");
}
testing::KernelCase row_sums(std::int64_t rows, std::int64_t row) {
  testing::KernelBuilder k({rows}, {row});
  const std::uint16_t x = k.input_bytes(DType::f32, numbers(static_cast<std::size_t>(rows * row), 4)),
                      y = k.output(DType::f32, rows);
  k.store(y, k.outer(), k.reduce(Op::Sum, k.load(x, k.all())));
  return k.finish("row sums");
}

/// y[i] = t[a[i]] + t[b[i]], with one index out of range in the operands whose bits `bad` has.
testing::KernelCase lookups(std::int64_t count, unsigned bad) {
  const std::size_t n = static_cast<std::size_t>(count);
  std::vector<std::int64_t> a(n, 1), b(n, 2);
  if ((bad & 1) != 0) a[n / 2] = 4;
  if ((bad & 2) != 0) b[n - 1] = -1;
  testing::KernelBuilder k({count});
  const std::uint16_t t = k.input(DType::f32, {1, 2, 3, 4}), ia = k.input(DType::i64, a),
                      ib = k.input(DType::i64, b), y = k.output(DType::f32, count);
  const std::uint16_t at = k.map({0});
  const ir::ExprId x = k.load_at(t, at, k.load(ia, k.all()), 1, 4),
                   z = k.load_at(t, at, k.load(ib, k.all()), 1, 4);
  k.store(y, k.all(), k.op(Op::Add, x, z));
  return k.finish("lookups");
}

/// Kernels that take one thread and all, split reductions, products and convolutions of both kinds.
std::vector<Work> all_work(Backend& backend) {
  std::vector<Work> work;
  work.push_back(kernel_work(backend, elementwise(3, 33)));
  work.push_back(kernel_work(backend, elementwise(300, 1000)));
  work.push_back(kernel_work(backend, row_sums(2, 300'000)));
  work.push_back(kernel_work(backend, row_sums(500, 100)));
  work.push_back(kernel_work(backend, lookups(1000, 0)));
  using Direction = Conv2dOp::Direction;
  for (const bool onednn : {true, false}) {
    const bool before = std::exchange(base::mutable_environment().onednn, onednn);
    work.push_back(op_work(backend, matmul_op(1, 150, 140, 300)));
    work.push_back(op_work(backend, matmul_op(6, 20, 30, 10)));
    for (const Direction direction :
         {Direction::Forward, Direction::BackwardInput, Direction::BackwardWeight})
      for (const bool last : {false, true}) work.push_back(op_work(backend, conv_op(direction, 9, last)));
    base::mutable_environment().onednn = before;
  }
  return work;
}

/// Backends that interpret and, where there is a compiler, compile.
std::vector<std::unique_ptr<Backend>> backends() {
  std::vector<std::unique_ptr<Backend>> made;
  made.push_back(runtime::make_host_backend(nullptr, true));
  if (runtime::host::Jit* jit = runtime::host::jit())
    for (const bool always : {true, false}) made.push_back(runtime::make_host_backend(jit, always));
  return made;
}

void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

struct Threads {
  explicit Threads(int count) : before(base::environment().host_threads) {
    base::mutable_environment().host_threads = count;
  }
  ~Threads() { base::mutable_environment().host_threads = before; }
  std::int64_t before;
};

}  // namespace

TEST_CASE("the same executables run in several threads at once, and give the same bits") {
  for (const int pool_threads : {1, 3}) {
    const Threads setting(pool_threads);
    for (const auto& backend : backends()) {
      CHECK(backend->runs_concurrently());
      const std::vector<Work> work = all_work(*backend);
      std::vector<Result> alone;
      for (const Work& w : work) alone.push_back(run(*backend, w));
      std::atomic<int> wrong{0};
      const std::uint64_t launched = backend->statistics().launches;
      in_threads(4, [&](int t) {
        for (std::size_t i = 0; i < 2 * work.size(); ++i) {
          const std::size_t w = (i + static_cast<std::size_t>(t) * 5) % work.size();
          if (!(run(*backend, work[w]) == alone[w])) ++wrong;
        }
      });
      CHECK(wrong.load() == 0);
      CHECK(backend->statistics().launches == launched + 8 * work.size());
      CHECK(backend->statistics().bytes_in_use == 0);
    }
  }
}

TEST_CASE("threads launch one kernel for many sizes at once") {
  for (const auto& backend : backends()) {
    // Rows shorter than vectors: joined loops, compiled by whoever is first. More sizes than have code for
    // ever.
    const Work first = kernel_work(*backend, elementwise(7, 5));
    std::vector<Work> work;
    for (std::int64_t rows = 1; rows < 40; ++rows) {
      work.push_back({"", first.executable, elementwise(rows * 50, 2 + rows % 3).bindings, 0});
    }
    const auto fresh = kernel_work(*backend, elementwise(7, 5)).executable;
    std::vector<Result> alone;
    for (const Work& w : work) alone.push_back(run(*backend, w));
    for (Work& w : work) w.executable = fresh;
    std::atomic<int> wrong{0};
    in_threads(4, [&](int t) {
      for (std::size_t i = 0; i < 3 * work.size(); ++i) {
        const std::size_t w = (i * (1 + static_cast<std::size_t>(t % 2) * 4)) % work.size();
        if (!(run(*backend, work[w]) == alone[w])) ++wrong;
        static_cast<void>(fresh->how(work[w].bindings.ints, 1));
      }
    });
    CHECK(wrong.load() == 0);
  }
}

TEST_CASE("threads compile, launch and drop the same kernels") {
  for (const auto& backend : backends()) {
    std::atomic<int> wrong{0};
    in_threads(4, [&](int) {
      for (int i = 0; i < 15; ++i) {
        const Result result = run(*backend, kernel_work(*backend, lookups(64, 0)));
        float value = 0;
        std::memcpy(&value, result.buffers[3].data(), sizeof value);
        if (value != 5) ++wrong;
      }
    });
    CHECK(wrong.load() == 0);
  }
}

TEST_CASE("each run has fault words of its own") {
  const auto made = backends();
  for (const auto& backend : made) {
    // Machine code sets the first of them all, for now.
    const bool interprets = &backend == &made.front();
    for (const std::int64_t count : {5, 100'000}) {
      std::vector<Work> work;
      for (unsigned bad = 0; bad < 4; ++bad) work.push_back(kernel_work(*backend, lookups(count, bad)));
      std::atomic<int> wrong{0};
      in_threads(4, [&](int t) {
        for (unsigned i = 0; i < 20; ++i) {
          const unsigned bad = (i + static_cast<unsigned>(t)) % 4;
          const std::vector<std::uint32_t> words = run(*backend, work[bad]).faults;
          if (words.size() != 2) ++wrong;
          if (interprets && (words[0] != (bad & 1) || words[1] != (bad >> 1))) ++wrong;
          if ((words[0] + words[1] != 0) != (bad != 0)) ++wrong;
        }
      });
      CHECK(wrong.load() == 0);
    }
  }
}

TEST_CASE("a launch's fault words follow those of the launches before it") {
  const auto backend = runtime::make_host_backend(nullptr, true);
  const Work bad = kernel_work(*backend, lookups(5, 2)), good = kernel_work(*backend, lookups(5, 0));
  const auto start = [&](const Work& work, std::uint32_t first) {
    std::vector<runtime::BufferRef> buffers;
    std::vector<runtime::BufferView> views;
    for (const Bytes& bytes : work.bindings.buffers) {
      buffers.push_back(backend->allocate(bytes.size()));
      views.push_back({buffers.back().get(), 0});
      backend->upload(views.back(), bytes);
    }
    backend->launch(*work.executable, {views, work.bindings.ints, work.bindings.scalars, 1, first});
  };
  backend->begin(nullptr, {needs_of(bad).workspace_bytes, 6});
  start(good, 0);
  start(bad, 2);
  start(good, 4);
  CHECK_THROWS_AS(start(good, 5), DeviceError);
  const runtime::FaultReportRef report = backend->submit();
  REQUIRE(report != nullptr);
  CHECK(std::vector<std::uint32_t>(report->words().begin(), report->words().end()) ==
        std::vector<std::uint32_t>{0, 0, 0, 1, 0, 0});
  // Without words, and after the end of a run.
  backend->begin(nullptr, {});
  CHECK(backend->submit() == nullptr);
  CHECK_THROWS_AS(start(good, 0), DeviceError);
}

TEST_CASE("where memory ends, a run does not begin") {
  const Threads setting(3);
  for (const auto& backend : backends()) {
    const std::vector<Work> work = all_work(*backend);
    auto& pool = static_cast<runtime::host::HostBuffer&>(*backend->allocate(1)).pool();
    for (const Work& w : work) {
      const Result whole = run(*backend, w);
      for (std::int64_t left = 0;; ++left) {
        INFO(w.name << ", allocation " << left);
        REQUIRE(left < 10);
        // As an executor does: buffers, then the run, then its launches.
        std::vector<runtime::BufferRef> buffers;
        std::vector<runtime::BufferView> views;
        bool begun = false;
        pool.fail(left);
        try {
          for (const Bytes& bytes : w.bindings.buffers) {
            buffers.push_back(backend->allocate(bytes.size()));
            views.push_back({buffers.back().get(), 0});
            backend->upload(views.back(), bytes);
          }
          backend->begin(nullptr, needs_of(w));
          begun = true;
          backend->launch(*w.executable, {views, w.bindings.ints, w.bindings.scalars});
          backend->submit();
        } catch (const DeviceError& e) {
          CHECK_FALSE_MESSAGE(begun, e.what());
          backend->abandon();
        }
        pool.fail(-1);
        if (!begun) continue;
        Bytes last(whole.buffers.back().size());
        backend->download(views.back(), last);
        CHECK(last == whole.buffers.back());
        break;
      }
      CHECK(backend->statistics().bytes_in_use == 0);
    }
  }
}

TEST_CASE("a launch has no more memory than its run said") {
  const auto backend = runtime::make_host_backend(nullptr, true);
  const bool before = std::exchange(base::mutable_environment().onednn, false);
  const Work work = op_work(*backend, matmul_op(1, 60, 50, 40));
  base::mutable_environment().onednn = before;
  const std::size_t bytes = needs_of(work).workspace_bytes;
  REQUIRE(bytes > 0);
  const runtime::BufferRef buffer = backend->allocate(std::size_t{1} << 20);
  const runtime::BufferView view{buffer.get(), 0}, views[] = {view, view, view};
  backend->begin(nullptr, {bytes - 1, 0});
  CHECK_THROWS_AS(backend->launch(*work.executable, {views, {}, {}}), DeviceError);
  backend->abandon();
  backend->begin(nullptr, {bytes, 0});
  CHECK_NOTHROW(backend->launch(*work.executable, {views, {}, {}}));
  backend->submit();
}

#if !defined(__SANITIZE_THREAD__)  // which does not let a child of a process with threads start any
TEST_CASE("a forked child computes") {
  const Threads setting(3);
  for (const auto& backend : backends()) {
    const std::vector<Work> work = all_work(*backend);
    std::vector<Result> parents;
    for (const Work& w : work) parents.push_back(run(*backend, w));
    std::atomic<bool> stop{false};
    std::thread other([&] {
      while (!stop) run(*backend, work[1]);
    });
    for (int i = 0; i < 10; ++i) {
      const pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::alarm(60);
        bool same = true;
        for (std::size_t w = 0; w < work.size(); ++w) same = same && run(*backend, work[w]) == parents[w];
        _exit(same ? 0 : 1);
      }
      int status = 0;
      REQUIRE(waitpid(child, &status, 0) == child);
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == 0);
    }
    stop = true;
    other.join();
  }
}
#endif

TEST_CASE("small runs per second, from one thread and from two" * doctest::skip()) {
  for (const auto& backend : backends()) {
    const Work work = kernel_work(*backend, elementwise(1, 100));
    const runtime::RunNeeds needs = needs_of(work);
    const auto rate = [&](int threads) {
      std::atomic<std::uint64_t> runs{0};
      const auto begin = std::chrono::steady_clock::now();
      in_threads(threads, [&](int) {
        const runtime::BufferRef in = backend->allocate(400);
        float result[100];
        std::uint64_t own = 0;
        while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(1)) {
          for (int i = 0; i < 100; ++i, ++own) {
            const runtime::BufferRef out = backend->allocate(400);
            const runtime::BufferView views[] = {{in.get(), 0}, {out.get(), 0}};
            backend->begin(nullptr, needs);
            backend->launch(*work.executable, {views, work.bindings.ints, work.bindings.scalars});
            backend->submit();
            backend->download(views[1], std::as_writable_bytes(std::span(result)));
          }
        }
        runs += own;
      });
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
      return static_cast<double>(runs.load()) / time.count();
    };
    const double one = rate(1), two = rate(2);
    MESSAGE(work.executable->how(work.bindings.ints, 1)
            << ": " << one << " from one thread, " << two << " from two (" << two / one << " times)");
  }
}
