// Compiled kernels over rows of every length up to two vectors (of maths, two rounds) and one: what is left
// of a row is computed, and nothing behind it is written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/machine_code/jit.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/one_run.h"

namespace {

using namespace sinter;
namespace host = sinter::runtime::host;
using ir::ExprId;
using testing::KernelBuilder;
using testing::KernelCase;

constexpr std::int64_t kRows = 3;
constexpr std::size_t kBehind = 1024;  // bytes behind a result, which stay as they are

/// Small whole numbers: sums of them are exact in any order.
std::vector<double> numbers(std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<double>(1 + i % 2));
  return values;
}

struct Tail {
  KernelCase kernel;
  std::size_t result_bytes;
};

/// Rows of `row` elements: y = x op a op x ..., or with `reduced` that minus the row's sum; with `maths`, the
/// hyperbolic tangent of it, or that minus the greatest of the row, which is the same in any order.
Tail tail(DType dtype, std::int64_t row, int operations, bool reduced, bool maths = false) {
  const std::int64_t n = kRows * row;
  const bool half = size_of(dtype) == 2, truth = dtype == DType::boolean;
  KernelBuilder k = reduced ? KernelBuilder({kRows}, {row}) : KernelBuilder({kRows, row});
  const std::uint16_t all = reduced ? k.all() : k.map({row + 1, 1});  // a gap behind each row
  auto load = [&](std::int64_t size) {
    const ExprId bits = k.load(k.input(dtype, numbers(size)), all);
    return half ? k.cast(DType::f32, bits) : bits;
  };
  const std::int64_t size = reduced ? n : n + kRows;
  const ExprId x = load(size), a = load(size);
  ExprId y = x;
  for (int i = 0; i < operations; ++i)
    y = truth        ? k.op(i % 2 == 0 ? Op::And : Op::Or, y, a)
        : i % 2 == 0 ? k.op(Op::Sub, y, a)
                     : k.op(Op::Maximum, y, x);
  if (maths) y = k.op(Op::Tanh, y);
  if (reduced) y = k.op(Op::Sub, y, k.reduce(maths ? Op::Max : Op::Sum, y));
  k.store(k.output(dtype, size), all, half ? k.cast(dtype, y) : y);
  return {k.finish("tail"), static_cast<std::size_t>(size) * size_of(dtype)};
}

std::vector<std::byte> run(runtime::Backend& backend, const Tail& t) {
  const ir::Kernel* kernel = &t.kernel.kernel;
  const auto executable = backend.compile({&kernel, 1}).at(0);
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (std::size_t i = 0; i < t.kernel.bindings.buffers.size(); ++i) {
    std::vector<std::byte> bytes = t.kernel.bindings.buffers[i];
    bytes.resize(bytes.size() + kBehind, std::byte{0xCD});
    buffers.push_back(backend.allocate(bytes.size()));
    views.push_back({buffers.back().get(), 0});
    backend.upload(views.back(), bytes);
  }
  testing::run_alone(backend, *executable, {views, t.kernel.bindings.ints, t.kernel.bindings.scalars},
                     kernel->faults);
  std::vector<std::byte> result(t.result_bytes + kBehind);
  backend.download(views.back(), result);
  return result;
}

void check(host::Jit& jit) {
  const auto compiled = runtime::make_host_backend(&jit, true),
             plain = runtime::make_host_backend(nullptr, false);
  const std::int64_t most = 2 * jit.target().vector_bytes + 1;  // lanes: at most a vector's bytes
  for (const DType dtype :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64, DType::boolean})
    for (const int operations : {2, 18})
      for (const bool reduced : {false, true}) {
        if (reduced && dtype == DType::boolean) continue;
        std::string wrong;
        for (std::int64_t row = 0; row <= most; ++row) {
          const Tail t = tail(dtype, row, operations, reduced);
          if (run(*compiled, t) != run(*plain, t)) wrong += " " + std::to_string(row);
        }
        CHECK_MESSAGE(wrong.empty(), jit.describe()
                                         << ": " << name_of(dtype) << ", " << operations << " operations, "
                                         << (reduced ? "reduced" : "elementwise") << ": rows of" << wrong);
      }
}

void check(const std::string& cpu, const std::string& features, const emit::LlvmTarget* target) {
  std::string reason;
  const auto jit = host::open_jit(base::environment().llvm, cpu, features, reason, target);
  if (jit == nullptr)
    MESSAGE("not checked: " << reason);
  else
    check(*jit);
}

}  // namespace

TEST_CASE("rows of every length, compiled for this processor") { check("", "", nullptr); }

TEST_CASE("rows of every length of maths, which takes several registers at a time and what is left two") {
  std::string reason;
  const auto jit = host::open_jit(base::environment().llvm, "", "", reason);
  if (jit == nullptr) {
    MESSAGE("not checked: " << reason);
    return;
  }
  const auto compiled = runtime::make_host_backend(jit.get(), true),
             plain = runtime::make_host_backend(nullptr, false);
  const std::int64_t round = 8 * jit->target().vector_bytes / 4;
  for (const DType dtype : {DType::f32, DType::bf16})
    for (std::int64_t row = 0; row <= 2 * round + 1; ++row)
      for (const bool reduced : {false, true}) {
        const Tail t = tail(dtype, row, 2, reduced, true);
        CHECK_MESSAGE(run(*compiled, t) == run(*plain, t),
                      name_of(dtype) << (reduced ? ", reduced, rows of " : ", rows of ") << row);
      }
}

#if defined(__x86_64__)
TEST_CASE("rows of every length, compiled for vectors of 16 bytes") {
  check("x86-64", "+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16", nullptr);
}
#endif

TEST_CASE("rows of every length, one loop for whole vectors and the rest") {
  for (const int bytes : {16, 64}) {
    emit::LlvmTarget target;
    target.vector_bytes = bytes;
    target.long_body = 0;
    check("", "", &target);
  }
}
