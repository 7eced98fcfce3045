// Positions beyond 2^31 on the host. Buffers are large, but hardly any of their pages are touched.
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "jit/library/matmul.h"
#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/machine_code/jit.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
using runtime::Backend;

constexpr std::int64_t kHalf = std::int64_t{1} << 31;

/// Null where the system does not promise so much.
runtime::BufferRef allocate(Backend& backend, std::int64_t bytes) try {
  return backend.allocate(static_cast<std::size_t>(bytes));
} catch (const DeviceError& e) {
  MESSAGE("not checked: " << e.what());
  return nullptr;
}

template <class T>
void put(Backend& backend, runtime::Buffer& to, std::int64_t at, const T& value) {
  backend.upload({&to, static_cast<std::size_t>(at) * sizeof(T)}, std::as_bytes(std::span(&value, 1)));
}

std::vector<std::uint32_t> launch(Backend& backend, runtime::Executable& executable,
                                  const runtime::LaunchArguments& arguments, std::uint32_t faults) {
  backend.begin(nullptr, {executable.workspace_bytes(arguments.ints, 1), faults});
  backend.launch(executable, arguments);
  const runtime::FaultReportRef report = backend.submit();
  if (report == nullptr) return {};
  return {report->words().begin(), report->words().end()};
}

}  // namespace

TEST_CASE_TEMPLATE("an index into a table of more than 2^31 rows", Index, std::int32_t, std::int64_t) {
  constexpr std::int64_t kRows = kHalf + 64;
  constexpr bool kLong = sizeof(Index) == 8;
  const std::vector<std::int64_t> rows = {0, 7, kHalf - 1, kLong ? kHalf : 3, kLong ? kHalf + 63 : 4};
  std::vector<runtime::host::Jit*> compilers{nullptr};
  if (runtime::host::jit() != nullptr) compilers.push_back(runtime::host::jit());
  for (runtime::host::Jit* jit : compilers) {
    const auto backend = runtime::make_host_backend(jit, true);
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, kLong ? kRows : std::int64_t{-7}}) {
      std::vector<std::int64_t> indices = rows;
      if (bad != 0) indices[1] = bad;
      const std::int64_t n = static_cast<std::int64_t>(indices.size());
      testing::KernelBuilder k({n});
      k.set_wide();
      const std::uint16_t table = k.input_bytes(DType::u8, {}),
                          index = k.input(kLong ? DType::i64 : DType::i32, indices),
                          out = k.output(DType::u8, n);
      k.store(out, k.all(), k.load_at(table, k.map({0}), k.load(index, k.all()), 1, kRows));
      const testing::KernelCase c = k.finish("table");
      const ir::Kernel* kernel = &c.kernel;
      const auto executable = backend->compile({&kernel, 1}).at(0);

      const runtime::BufferRef large = allocate(*backend, kRows), positions = backend->allocate(64),
                               result = backend->allocate(64);
      if (large == nullptr) return;
      for (std::size_t i = 0; i < rows.size(); ++i)
        put(*backend, *large, rows[i], static_cast<std::uint8_t>(i + 1));
      backend->upload({positions.get(), 0}, c.bindings.buffers[1]);
      const runtime::BufferView views[] = {{large.get(), 0}, {positions.get(), 0}, {result.get(), 0}};
      const std::vector<std::uint32_t> words =
          launch(*backend, *executable, {views, c.bindings.ints, c.bindings.scalars}, 1);
      CHECK(words == std::vector<std::uint32_t>{bad != 0});
      std::vector<std::uint8_t> got(rows.size());
      backend->download({result.get(), 0}, std::as_writable_bytes(std::span(got)));
      CHECK(got == std::vector<std::uint8_t>{1, static_cast<std::uint8_t>(bad != 0 ? 0 : 2), 3, 4, 5});
    }
  }
}

TEST_CASE("a matrix product whose rows are 2^30 elements apart") {
  constexpr std::int64_t kApart = (std::int64_t{1} << 30) + 5, kRows = 4, kDepth = 40, kColumns = 48;
  const auto backend = runtime::make_host_backend(nullptr, true);
  for (const bool onednn : {false, true})
    for (const bool a_is_large : {true, false}) {
      INFO("oneDNN " << onednn << ", a " << a_is_large);
      library::MatMulOp op;
      op.dtype = DType::f32;
      op.m = a_is_large ? kRows : kColumns, op.k = kDepth, op.n = a_is_large ? kColumns : kRows;
      op.a_row = a_is_large ? kApart : kDepth, op.a_column = 1;
      op.b_row = a_is_large ? kColumns : 1, op.b_column = a_is_large ? 1 : kApart;
      const bool before = std::exchange(base::mutable_environment().onednn, onednn);
      const auto executable = backend->prepare(op);
      base::mutable_environment().onednn = before;

      const runtime::BufferRef large = allocate(*backend, (3 * kApart + kDepth) * 4),
                               small = backend->allocate(kColumns * kDepth * 4),
                               out = backend->allocate(kRows * kColumns * 4);
      if (large == nullptr) return;
      for (std::int64_t i = 0; i < kRows; ++i)
        for (std::int64_t p = 0; p < kDepth; ++p)
          put(*backend, *large, i * kApart + p, static_cast<float>(i + 1));
      for (std::int64_t i = 0; i < kColumns * kDepth; ++i) put(*backend, *small, i, 1.0f);
      const runtime::BufferView l{large.get(), 0}, s{small.get(), 0}, o{out.get(), 0};
      const runtime::BufferView views[] = {a_is_large ? l : s, a_is_large ? s : l, o};
      launch(*backend, *executable, {views, {}, {}}, 0);
      std::vector<float> got(kRows * kColumns);
      backend->download(o, std::as_writable_bytes(std::span(got)));
      int wrong = 0;
      for (std::int64_t i = 0; i < op.m; ++i)
        for (std::int64_t j = 0; j < op.n; ++j)
          wrong += got[static_cast<std::size_t>(i * op.n + j)] !=
                   static_cast<float>(kDepth * ((a_is_large ? i : j) + 1));
      CHECK(wrong == 0);
    }
}
