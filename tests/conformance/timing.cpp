// Times kernels on a backend.
#include "tests/conformance/timing.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {

namespace {

using runtime::BufferRef;
using runtime::BufferView;
using Clock = std::chrono::steady_clock;

/// Median of 5 of the mean of `repeats` launches in a row, in milliseconds.
double time_launches(runtime::Backend& backend, runtime::Executable& executable,
                     const runtime::LaunchArguments& arguments, int repeats) {
  backend.wait_until_ready(executable, arguments.ints, arguments.members);
  const runtime::RunNeeds needs{executable.workspace_bytes(arguments.ints, arguments.members), 0};
  backend.begin(nullptr, needs);
  backend.launch(executable, arguments);
  backend.submit();
  backend.synchronize();
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    backend.begin(nullptr, needs);
    for (int r = 0; r < repeats; ++r) backend.launch(executable, arguments);
    backend.submit();
    backend.synchronize();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count() / repeats);
  }
  std::sort(times.begin(), times.end());
  return times[2];
}

/// Times a kernel that was built with tiny buffers on buffers of `bytes`.
void time_kernel(runtime::Backend& backend, const char* name, const KernelCase& c,
                 const std::vector<std::size_t>& bytes) {
  const auto compiling = Clock::now();
  const ir::Kernel* kernel = &c.kernel;
  const runtime::ExecutableRef executable = backend.compile({&kernel, 1}).front();
  const double compiled = std::chrono::duration<double, std::milli>(Clock::now() - compiling).count();
  std::vector<BufferRef> buffers;
  std::vector<BufferView> views;
  std::size_t moved = 0;
  for (std::size_t size : bytes) {
    buffers.push_back(backend.allocate(size));
    views.push_back({buffers.back().get(), 0});
    const std::vector<std::byte> zeros(std::min<std::size_t>(size, std::size_t{1} << 20));
    for (std::size_t at = 0; at < size; at += zeros.size())
      backend.upload({buffers.back().get(), at}, std::span(zeros).first(std::min(zeros.size(), size - at)));
    moved += size;
  }
  const double ms = time_launches(backend, *executable, {views, c.bindings.ints, c.bindings.scalars}, 20);
  std::printf("%-44s %9.4f ms  %8.1f GB/s   (compile %.1f ms)\n", name, ms,
              static_cast<double>(moved) / ms * 1e-6, compiled);
}

void time_product(runtime::Backend& backend, const std::string& name, const library::LibraryOp& op,
                  std::size_t a, std::size_t b, std::size_t c, double flops) {
  const auto compiling = Clock::now();
  const runtime::ExecutableRef executable = backend.prepare(op);
  const double compiled = std::chrono::duration<double, std::milli>(Clock::now() - compiling).count();
  const BufferRef buffers[] = {backend.allocate(4 * a), backend.allocate(4 * b), backend.allocate(4 * c)};
  const std::vector<BufferView> views = {{buffers[0].get(), 0}, {buffers[1].get(), 0}, {buffers[2].get(), 0}};
  const double ms = time_launches(backend, *executable, {views, {}, {}}, 5);
  std::printf("%-44s %9.4f ms  %8.2f TFLOP/s (compile %.1f ms)\n", name.c_str(), ms, flops / ms * 1e-9,
              compiled);
}

void time_matmul(runtime::Backend& backend, std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed,
                 bool b_transposed) {
  library::MatMulOp op;
  op.m = m;
  op.n = n;
  op.k = k;
  op.a_row = a_transposed ? 1 : k;
  op.a_column = a_transposed ? m : 1;
  op.b_row = b_transposed ? 1 : n;
  op.b_column = b_transposed ? k : 1;
  const std::string name = "matmul " + std::to_string(m) + " x " + std::to_string(n) + " x " +
                           std::to_string(k) + (a_transposed ? " a^T" : "") + (b_transposed ? " b^T" : "");
  auto count = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  time_product(backend, name, op, count(m * k), count(k * n), count(m * n),
               2.0 * static_cast<double>(m * n * k));
}

void time_conv(runtime::Backend& backend, std::int64_t n, std::int64_t c_in, std::int64_t size,
               std::int64_t c_out) {
  for (auto direction : {library::Conv2dOp::Direction::Forward, library::Conv2dOp::Direction::BackwardInput,
                         library::Conv2dOp::Direction::BackwardWeight}) {
    library::Conv2dOp op;
    op.direction = direction;
    op.n = n;
    op.c_in = c_in;
    op.h = op.w = size;
    op.c_out = c_out;
    op.kh = op.kw = 3;
    op.padding = {1, 1};
    op.oh = op.ow = size;
    auto count = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    const std::size_t x = count(n * c_in * size * size), y = count(n * c_out * size * size),
                      w = count(c_out * c_in * 9);
    const int d = static_cast<int>(direction);
    const char* names[] = {"", " grad x", " grad w"};
    const std::string name = "conv " + std::to_string(n) + "x" + std::to_string(c_in) + "x" +
                             std::to_string(size) + "x" + std::to_string(size) + "-" + std::to_string(c_out) +
                             " 3x3" + names[d];
    time_product(backend, name, op, d == 1 ? y : x, d == 2 ? y : w,
                 d == 0   ? y
                 : d == 1 ? x
                          : w,
                 2.0 * static_cast<double>(y) * static_cast<double>(c_in * 9));
  }
}

/// The builder needs contents; the timing allocates the real buffers.
KernelCase gelu(std::int64_t n) {
  KernelBuilder k({n});
  const auto x = k.load(k.input_bytes(DType::f32, {}), k.all());
  const auto half = k.op(Op::Mul, x, k.scalar(DType::f32, 0.5));
  const auto erf = k.op(Op::Erf, k.op(Op::Mul, x, k.scalar(DType::f32, 0.70710678)));
  k.store(k.output(DType::f32, 0), k.all(), k.op(Op::Mul, half, k.op(Op::Add, erf, k.scalar(DType::f32, 1))));
  return k.finish("gelu");
}

KernelCase dropout(std::int64_t n) {
  KernelBuilder k({n});
  const auto x = k.load(k.input_bytes(DType::f32, {}), k.all());
  const auto keep = k.op(Op::Less, k.random(k.all(), 1, 2), k.scalar(DType::f32, 0.9));
  k.store(k.output(DType::f32, 0), k.all(), k.op(Op::Where, keep, x, k.scalar(DType::f32, 0)));
  return k.finish("dropout");
}

KernelCase softmax(std::int64_t rows, std::int64_t columns) {
  KernelBuilder k({rows}, {columns}, ir::Schedule::LanesInner);
  const auto x = k.load(k.input_bytes(DType::f32, {}), k.all());
  const auto e = k.op(Op::Exp, k.op(Op::Sub, x, k.reduce(Op::Max, x)));
  k.store(k.output(DType::f32, 0), k.all(), k.op(Op::Div, e, k.reduce(Op::Sum, e)));
  return k.finish("softmax");
}

KernelCase sum_rows(std::int64_t rows, std::int64_t columns, ir::Schedule schedule) {
  KernelBuilder k({rows}, {columns}, schedule);
  k.store(k.output(DType::f32, 0), k.outer(),
          k.reduce(Op::Sum, k.load(k.input_bytes(DType::f32, {}), k.all())));
  return k.finish("sum");
}

/// [splits, rows, columns] over rows, one lane per (split, column).
KernelCase sum_columns(std::int64_t splits, std::int64_t rows, std::int64_t columns) {
  KernelBuilder k({splits, columns}, {rows}, ir::Schedule::LanesOuter);
  const auto x = k.load(k.input_bytes(DType::f32, {}), k.map({rows * columns, 1, columns}));
  k.store(k.output(DType::f32, 0), k.outer(), k.reduce(Op::Sum, x));
  return k.finish("sum of columns");
}

}  // namespace

void print_timings(runtime::Backend& backend) {
  std::printf("%s: %s\n", backend.traits().name.c_str(), backend.traits().description.c_str());
  const std::int64_t n = std::int64_t{64} << 20;
  const std::size_t bytes = 4 * static_cast<std::size_t>(n);
  time_kernel(backend, "gelu (erf), 64 Mi", gelu(n), {bytes, bytes});
  time_kernel(backend, "dropout, 64 Mi", dropout(n), {bytes, bytes});
  const std::int64_t rows = 8192, columns = 4096;
  const std::size_t matrix = static_cast<std::size_t>(4 * rows * columns);
  time_kernel(backend, "softmax 8192 x 4096", softmax(rows, columns), {matrix, matrix});
  time_kernel(backend, "sum of 1024 parts of 65536", sum_rows(1024, 65536, ir::Schedule::LanesInner),
              {bytes, 4096});
  time_kernel(backend, "sum along rows, 8192 x 4096", sum_rows(rows, columns, ir::Schedule::LanesInner),
              {matrix, 4 * 8192});
  time_kernel(backend, "sum over rows, 64 x (128 x 4096)", sum_columns(64, 128, 4096),
              {matrix, 4 * 64 * 4096});
  for (std::int64_t size : {1024, 4096}) time_matmul(backend, size, size, size, false, false);
  time_matmul(backend, 4096, 4096, 4096, false, true);
  time_matmul(backend, 4096, 4096, 4096, true, false);
  time_matmul(backend, 64, 512, 1024, false, false);
  time_matmul(backend, 512, 1024, 64, true, false);
  time_matmul(backend, 256, 512, 784, false, false);
  time_conv(backend, 64, 64, 56, 64);
  time_conv(backend, 64, 8, 26, 16);
}

}  // namespace sinter::testing
