// The planner on the null device: number of kernels, results written in place, plans found again.
#include <functional>
#include <utility>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/runtime/explain/observe.h"

using namespace sinter;

namespace {

const Device device = Device::null();

/// Number of launches for everything that `program` records, up to the sync of its result.
template <class F>
std::uint64_t launches(F program) {
  device.sync();
  device.reset_statistics();
  auto kept = program();
  device.sync();
  return device.statistics().launches;
}

/// Memory of what plans compute on the way.
struct Temporaries : runtime::TraceObserver {
  Temporaries() { add_observer(*this); }
  ~Temporaries() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override { bytes += run.plan.temporary_bytes(); }
  std::size_t bytes = 0;
};

Tensor<2> blank(std::int64_t rows, std::int64_t columns) {
  return Tensor<2>::from_data(std::vector<float>(static_cast<std::size_t>(rows * columns)), {rows, columns},
                              device);
}

}  // namespace

TEST_CASE("elementwise chains are one kernel") {
  const Tensor<2> x = blank(64, 32), row = blank(1, 32);
  CHECK(launches([&] { return gelu(x); }) == 1);
  CHECK(launches([&] {
          Tensor<2> y = x;
          for (int i = 0; i < 30; ++i) y = y * 1.5 + row;
          return y;
        }) == 1);
  CHECK(launches([&] {
          return where(x > 0.0, x.exp(), (x * 2.0).tanh()) + x.transpose(0, 1).transpose(0, 1);
        }) == 1);
  CHECK(launches([&] { return (x + 1.0).transpose(0, 1).reshape({64 * 32}) * 2.0; }) == 1);
}

TEST_CASE("a reduction takes in the work before and after it") {
  const Tensor<2> x = blank(64, 100);
  CHECK(launches([&] { return (x * x + 1.0).sum(1).sqrt() * 3.0; }) == 1);
  CHECK(launches([&] { return (x.exp()).sum(0) + 1.0; }) == 1);
  CHECK(launches([&] { return softmax(x, 1); }) == 1);
  CHECK(launches([&] { return x.argmax(1); }) == 1);
  CHECK(launches([&] {
          const Tensor<2> centred = x - x.mean(1);
          return centred * (centred.square().mean(1) + 1e-5).rsqrt() * 2.0 + 1.0;
        }) == 1);
}

TEST_CASE("what must run in between keeps two kernels apart") {
  const Tensor<2> x = blank(64, 100), w = blank(100, 100);
  // The sum at the end reads what the first kernel stores, and a product of it.
  CHECK(launches([&] {
          const Tensor<2> centred = x - x.mean(1);
          return centred + centred.matmul(w);
        }) == 3);
  // Here a kernel over other rows is in between.
  CHECK(launches([&] {
          const Tensor<2> centred = (x - x.mean(1)).exp();
          return centred / centred.sum(0);
        }) == 2);
}

TEST_CASE("16-bit floats take as many kernels") {
  const Tensor<2> x = Tensor<2>::zeros({64, 4096}, device, DType::bf16),
                  row = Tensor<2>::ones({1, 4096}, device, DType::bf16);
  x.sync();
  row.sync();
  CHECK(launches([&] { return gelu(x) * row + 1.0; }) == 1);
  CHECK(launches([&] { return softmax(x, 1); }) == 1);
  CHECK(launches([&] {
          const Tensor<2> centred = x - x.mean(1);
          return centred * (centred.square().mean(1) + 1e-5).rsqrt() * row;
        }) == 1);
  // The product of two operands of 16 bits, and the operations after it.
  const Tensor<2> w = Tensor<2>::zeros({4096, 32}, device, DType::bf16);
  w.sync();
  CHECK(launches([&] { return gelu(x.matmul(w)); }) == 1);
  // Rows of odd lengths.
  const Tensor<2> odd = Tensor<2>::zeros({4096, 31}, device, DType::bf16);
  odd.sync();
  CHECK(launches([&] { return gelu(x.matmul(odd)); }) == 1);
}

TEST_CASE("temporaries of the statement that reads are not kept") {
  const Tensor<2> x = blank(1024, 4096);
  device.sync();
  const std::size_t before = device.statistics().bytes_in_use;
  ((x * 2.0 + x) * (x - 1.0)).exp().sync();
  CHECK(device.statistics().bytes_in_use == before);
  CHECK(device.statistics().peak_bytes_in_use == before + 1024 * 4096 * 4);
}

TEST_CASE("views and dead work cost nothing") {
  const Tensor<2> x = blank(64, 32);
  CHECK(launches([&] { return x.transpose(0, 1); }) == 0);
  CHECK(launches([&] { return x.reshape({32, 64}); }) == 0);
  CHECK(launches([&] { return x.narrow(0, 3, 5); }) == 0);
  CHECK(launches([&] {
          const Tensor<2> unused = x.exp().sum(1).expand({64, 32}) * x;
          return x + 1.0;
        }) == 1);
  CHECK(launches([&] { return x.exp() + x.exp(); }) == 1);
}

TEST_CASE("matrix products take transposed operands as they lie") {
  const Tensor<2> a = blank(64, 32), b = blank(16, 32);
  CHECK(launches([&] { return a.matmul(b.transpose(0, 1)); }) == 1);
  CHECK(launches([&] { return relu(a.matmul(b.transpose(0, 1)) + 1.0); }) == 2);
}

TEST_CASE("a product and one that reads the same transposed share the copy that both need") {
  const Tensor<2> w = blank(64, 16), x = blank(64, 8);
  const Tensor<4> heads = blank(8, 512).reshape({2, 4, 32, 16});
  const Temporaries temporaries;
  // (batch, heads, positions, width) to rows of all positions, which strides do not express.
  CHECK(launches([&] {
          const Tensor<2> rows = heads.transpose(1, 2).reshape({64, 64});
          return std::pair(rows.matmul(w), rows.transpose(0, 1).matmul(x));
        }) == 3);
  CHECK(temporaries.bytes == 64 * 64 * sizeof(float));
}

TEST_CASE("a dying operand is written in place") {
  Tensor<2> x = blank(64, 32);
  device.reset_statistics();
  x = x * 2.0 + 1.0;
  device.sync();
  CHECK(device.statistics().bytes_in_place == 64 * 32 * 4);
  const Tensor<2> held = x;
  device.reset_statistics();
  x = x * 2.0 + 1.0;
  device.sync();
  CHECK(device.statistics().bytes_in_place == 0);
  const Tensor<1> view = x.reshape({64 * 32});
  device.reset_statistics();
  x = x * 2.0 + 1.0;
  device.sync();
  CHECK_MESSAGE(device.statistics().bytes_in_place == 0, "a view of the same memory is held");
  device.reset_statistics();
  x = x + x.transpose(0, 1).reshape({64, 32});
  device.sync();
  CHECK_MESSAGE(device.statistics().bytes_in_place == 0, "other elements are read than written");
}

TEST_CASE("nothing is written in place that another member of the launch reads") {
  // So many results of two tensors are two kernels of one text.
  Tensor<2> x = blank(8, 8);
  const Tensor<2> other = blank(8, 8);
  std::vector<Tensor<2>> results;
  device.sync();
  device.reset_statistics();
  for (int i = 0; i < 44; ++i) results.push_back(x + other * (i + 2.0));
  x = other;
  device.sync();
  CHECK(device.statistics().launches == 1);
  CHECK(device.statistics().bytes_in_place == 0);
}

TEST_CASE("equal stretches of program have one plan") {
  Tensor<2> x = blank(8, 8);
  device.sync();
  device.reset_statistics();
  for (int i = 0; i < 10; ++i) {
    x = x * (0.5 + i) + 1.0;
    device.flush();
  }
  CHECK(device.statistics().plans_built <= 1);
  CHECK(device.statistics().plans_found >= 9);
  {
    const ForbidCompilation guard;
    x = x * 3.0 + 1.0;
    device.flush();
    const Tensor<2> other = x - 1.0;
    CHECK_THROWS_AS(device.flush(), Error);
  }
}

TEST_CASE("a loop that never reads is flushed by count") {
  Tensor<2> x = blank(8, 8);
  device.sync();
  device.reset_statistics();
  for (int i = 0; i < 20000; ++i) x = x + 1.0;
  CHECK(device.statistics().traces >= 4);
  device.sync();
  CHECK(device.statistics().plans_built <= 3);
}

TEST_CASE("several groups share the work of a large sum in one launch") {
  const Tensor<1> x = Tensor<1>::from_data(std::vector<float>(1 << 20), {1 << 20}, device);
  CHECK(launches([&] { return x.sum(); }) == 1);
  const Tensor<1> prime = Tensor<1>::from_data(std::vector<float>(1000003), {1000003}, device);
  CHECK(launches([&] { return prime.sum(); }) == 1);
}

TEST_CASE("what is too large for one kernel is divided") {
  std::vector<Tensor<2>> many;
  for (int i = 0; i < 100; ++i) many.push_back(blank(8, 8));
  const std::uint64_t count = launches([&] {
    Tensor<2> sum = many[0];
    for (int i = 1; i < 100; ++i) sum = sum + many[static_cast<std::size_t>(i)].exp();
    return sum;
  });
  CHECK(count > 1);
  CHECK(count < 20);
  CHECK(launches([&] {
          Tensor<2> x = many[0];
          for (int i = 0; i < 900; ++i) x = x.pad({1, 0}, {0, 1}, 0.0).narrow(0, 0, 8).narrow(1, 0, 8) * 2.0;
          return x;
        }) < 100);
  // Every step reads two shifted positions of the step before: inlined, the work would grow quadratically.
  const std::uint64_t shifted = launches([&] {
    Tensor<1> x = blank(1, 2000).reshape({2000});
    for (int i = 0; i < 1000; ++i) x = x.narrow(0, 1, x.shape()[0] - 1) + x.narrow(0, 0, x.shape()[0] - 1);
    return x;
  });
  CHECK(shifted > 1);
  CHECK(shifted < 200);
}

TEST_CASE("what is joined is one kernel, and each piece is read once") {
  std::vector<Tensor<2>> pieces;
  for (int i = 0; i < 8; ++i) pieces.push_back(blank(16, 8 + i));
  CHECK(launches([&] {
          std::vector<Tensor<2>> computed;
          for (const Tensor<2>& piece : pieces) computed.push_back(gelu(piece) * 2.0);
          return Tensor<2>::cat(computed, 1);
        }) == 1);
  CHECK(launches([&] { return (Tensor<2>::cat(pieces, 1) * 2.0).sum(1); }) == 1);
  const Tensor<2> x = blank(64, 32), part = blank(10, 32);
  CHECK(launches([&] { return relu(x.slice_assign({s(3, 13)}, part * 2.0) + 1.0); }) == 1);
  CHECK(launches([&] { return x.roll(3, 1) + x; }) == 1);
  CHECK(launches([&] { return x.repeat({3, 1}) * 2.0; }) == 1);
  CHECK(launches([&] { return x.split({10, 22}, 1)[1]; }) == 0);
  CHECK(launches([&] { return Tensor<2>::stack({x, x * 2.0, x.exp()}, 0); }) == 1);
}

TEST_CASE("a signal with edges is stored where windows overlap many times") {
  const Tensor<2> x = blank(16, 1 << 17);
  const auto frames = [&](std::int64_t hop) {
    const Tensor<2> edged = Tensor<2>::cat({x.narrow(1, 1, 64).flip(1), x, x.narrow(1, 0, 64).flip(1)}, 1);
    return edged.dynamic().windows(-1, 128, hop) * 2.0;
  };
  CHECK(launches([&] { return frames(4); }) == 2);
  CHECK(launches([&] { return frames(32); }) == 1);
  CHECK(launches([&] { return x.dynamic().windows(-1, 128, 4) * 2.0; }) == 1);
}

TEST_CASE("long lists are joined in few kernels") {
  std::vector<Tensor<2>> pieces;
  for (int i = 0; i < 100; ++i) pieces.push_back(blank(4, 8));
  const std::uint64_t hundred = launches([&] { return Tensor<2>::cat(pieces, 0); });
  CHECK(hundred > 1);
  CHECK(hundred <= 8);  // seven groups and their concatenation
  // Slices of one tensor are one buffer, so groups are divided only where an element would go through too
  // many conditions.
  const Tensor<2> x = blank(200, 8);
  const auto slices = [&](int count) {
    std::vector<Tensor<2>> pieces;
    for (int i = 0; i < count; ++i) pieces.push_back(x.narrow(0, (i * 7) % 150, 3));
    return Tensor<2>::cat(pieces, 0);
  };
  CHECK(launches([&] { return slices(16); }) == 1);
  CHECK(launches([&] { return slices(40); }) == 3);  // two groups, and what is left with both
  CHECK(launches([&] { return slices(600); }) < 60);
  for (int i = 0; i < 900; ++i) pieces.push_back(pieces[static_cast<std::size_t>(i)]);
  CHECK(launches([&] { return Tensor<2>::cat(pieces, 0); }) < 100);
}

TEST_CASE("a part is written over the tensor that dies") {
  for (std::int64_t rows : {2, 60}) {
    Tensor<2> x = blank(64, 32);
    const Tensor<2> part = blank(rows, 32);
    device.sync();
    device.reset_statistics();
    x = x.slice_assign({s(1, 1 + rows)}, part);
    device.sync();
    CHECK(device.statistics().bytes_in_place == 64 * 32 * 4);
  }
}
