// Special code paths of compiled kernels: results stored past the caches, one divisor for all lanes.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/machine_code/jit.h"
#include "tests/support/kernels/random_kernel.h"
#include "tests/support/one_run.h"

namespace {

using namespace sinter;
namespace host = sinter::runtime::host;

std::vector<float> run(const testing::KernelCase& c, const std::vector<std::vector<float>>& inputs,
                       std::size_t results, std::size_t skipped_bytes) {
  const auto backend = runtime::make_host_backend(host::jit(), true);
  const ir::Kernel* kernel = &c.kernel;
  const auto executable = backend->compile({&kernel, 1}).at(0);
  std::vector<runtime::BufferRef> buffers;
  std::vector<runtime::BufferView> views;
  for (const std::vector<float>& input : inputs) {
    buffers.push_back(backend->allocate(input.size() * 4 + skipped_bytes));
    views.push_back({buffers.back().get(), skipped_bytes});
    backend->upload(views.back(), std::as_bytes(std::span(input)));
  }
  buffers.push_back(backend->allocate(results * 4 + skipped_bytes));
  views.push_back({buffers.back().get(), skipped_bytes});
  testing::run_alone(*backend, *executable, {views, c.bindings.ints, c.bindings.scalars}, c.kernel.faults);
  std::vector<float> out(results);
  backend->download(views.back(), std::as_writable_bytes(std::span(out)));
  return out;
}

std::vector<std::byte> blank(std::size_t floats) { return std::vector<std::byte>(floats * 4); }

}  // namespace

TEST_CASE("large results arrive whatever their alignment") {
  if (host::jit() == nullptr) return;
  // More than 8 MiB: stored past the caches where rows are aligned to vectors.
  for (const auto& [rows, row] :
       {std::pair<std::int64_t, std::int64_t>{1, (3 << 20) + 5}, {3000, 1024}, {3000, 1031}}) {
    const std::size_t n = static_cast<std::size_t>(rows * row);
    testing::KernelBuilder k({rows, row});
    const std::uint16_t x = k.input_bytes(DType::f32, blank(n)),
                        y = k.output(DType::f32, static_cast<std::int64_t>(n));
    k.store(y, k.all(), k.op(Op::Neg, k.load(x, k.all())));
    const testing::KernelCase c = k.finish("negation");
    std::vector<float> in(n);
    for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<float>(i);
    for (const std::size_t skipped : {0, 4, 32}) {
      const std::vector<float> out = run(c, {in}, n, skipped);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < n; ++i) wrong += out[i] != -in[i];
      CHECK_MESSAGE(wrong == 0, wrong << " of " << rows << " x " << row << ", " << skipped << " bytes in");
    }
  }
}

TEST_CASE("lanes by one divisor are what division gives") {
  if (host::jit() == nullptr) return;
  constexpr std::int64_t kRows = 4096, kRow = 256;
  testing::KernelBuilder k({kRows, kRow});
  const std::uint16_t a = k.input_bytes(DType::f32, blank(kRows * kRow)),
                      b = k.input_bytes(DType::f32, blank(kRows));
  const std::uint16_t y = k.output(DType::f32, kRows * kRow);
  k.store(y, k.all(), k.op(Op::Div, k.load(a, k.all()), k.load(b, k.map({1, 0}))));
  const testing::KernelCase c = k.finish("quotient");

  // Numbers of all magnitudes, and special values.
  std::mt19937 random(7);
  const float infinity = std::numeric_limits<float>::infinity(),
              least = std::numeric_limits<float>::denorm_min();
  const float special[] = {0.0f,
                           -0.0f,
                           infinity,
                           -infinity,
                           NAN,
                           1.0f,
                           -1.0f,
                           least,
                           -least,
                           std::numeric_limits<float>::min(),
                           std::numeric_limits<float>::max(),
                           3.0f};
  auto number = [&] {
    if (random() % 16 == 0) return special[random() % std::size(special)];
    const std::uint32_t bits = static_cast<std::uint32_t>(random());
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  auto near_one = [&] { return 1 + static_cast<float>(random() % (1 << 23)) * 0x1p-23f; };
  std::vector<float> dividends(kRows * kRow), divisors(kRows);
  for (std::size_t r = 0; r < kRows; ++r) {
    const bool tame = r % 2 == 0;
    divisors[r] = tame ? near_one() : number();
    for (std::size_t i = 0; i < kRow; ++i) dividends[r * kRow + i] = tame ? near_one() : number();
  }
  const std::vector<float> out = run(c, {dividends, divisors}, dividends.size(), 0);
  std::size_t wrong = 0, far = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float want = dividends[i] / divisors[i / kRow];
    if (std::isnan(want) ? std::isnan(out[i]) : std::memcmp(&want, &out[i], 4) == 0) continue;
    ++wrong;
    const bool tiny = std::abs(dividends[i]) < 0x1p-100f;
    far += !(tiny && std::abs(out[i] - want) <= std::max(std::abs(want) * 0x1p-23f, least));
    if (far == 1)
      MESSAGE(dividends[i] << " / " << divisors[i / kRow] << " gave " << out[i] << ", not " << want);
  }
  CHECK(far == 0);
  MESSAGE(wrong << " of " << out.size() << " tiny dividends gave another last place");
}
