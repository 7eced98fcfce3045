// Kernels whose numbers take more than 32 bits, over small buffers: views that repeat their elements,
// positions far from the first.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/kernels/handmade_kernels.h"

namespace sinter::testing {
namespace {

using ir::ExprId;

constexpr std::int64_t k31 = std::int64_t{1} << 31, k32 = std::int64_t{1} << 32, k33 = std::int64_t{1} << 33;

}  // namespace

void HandmadeKernels::sizes() {
  // Indices of tables with more rows than an i32 counts; all rows are one.
  for (const std::int64_t extent : {k31, k31 + 5, 2 * k31 - 1, k32 + 2, k33})
    for (const DType dtype : {DType::i32, DType::i64})
      for (const bool bad : {false, true}) {
        KernelBuilder k({40, 3});
        k.set_wide();
        std::vector<std::int64_t> where = data_.integers(40, 0, k31 - 1);
        where[0] = k31 - 1;
        where[1] = 5;
        if (dtype == DType::i64) where[2] = extent - 1;
        if (bad) where[39] = dtype == DType::i64 ? extent : -1;
        const ExprId at = k.load(k.input(dtype, where), k.map({1, 0}));
        k.store(k.output(DType::f32, 120), k.all(),
                k.load_at(k.input(DType::f32, data_.reals(3)), k.map({0, 1}), at, 0, extent));
        // One index for all lanes.
        k.store(k.output(DType::f32, 120), k.all(),
                k.load_at(k.input(DType::f32, data_.reals(3)), k.map({0, 1}),
                          k.load(k.input(dtype, {0, 5}), k.map({0, 0}, 1)), 0, extent));
        add(k, "gather from " + std::to_string(extent) + " rows (" + std::string(name_of(dtype)) + ")" +
                   (bad ? " with a bad index" : ""));
      }
  for (const DType dtype : {DType::i32, DType::i64}) {
    // Only the first row is there.
    KernelBuilder k({50});
    k.set_wide();
    std::vector<std::int64_t> where(50);
    where[49] = 1;
    const ExprId at = k.load(k.input(dtype, where), k.all());
    const ExprId first = k.op(Op::Equal, k.cast(DType::i64, at), k.scalar(DType::i64, 0));
    k.store(k.output(DType::f32, 50), k.all(),
            k.load_at(k.input(DType::f32, data_.reals(50)), k.all(), at, k33, 2, first));
    add(k, "gather of rows far apart (" + std::string(name_of(dtype)) + ")");
  }
  for (const std::int64_t offset : {k31 - 3, k32 - 3, k33 + 3}) {
    KernelBuilder k({70});
    k.set_wide();
    const auto here = k.map({1}, offset), steps = k.map({k33}, offset);
    k.store(k.output(DType::i64, 70), k.all(), k.index(here));
    k.store(k.output(DType::i64, 70), k.all(), k.index(steps));
    k.store(k.output(DType::f32, 70), k.all(), k.random(here, 5, 7, false));
    k.store(k.output(DType::f32, 70), k.all(), k.random(here, 5, 7, true));
    k.store(k.output(DType::f32, 70), k.all(), k.random(steps, 5, 7, false));
    add(k, "positions from " + std::to_string(offset) + " on");
  }
  {
    KernelBuilder k({70});
    k.set_wide();
    const ExprId inside = k.in_bounds(k.map({1}, k32), {{k33, k32 + 4, 3, k31}}),
                 split = k.in_bounds(k.map({k31}), {{k32, 9, 1, k32}, {k32, k31, 1, 1}});
    k.store(k.output(DType::boolean, 70), k.all(), inside);
    k.store(k.output(DType::boolean, 70), k.all(), split);
    k.store(k.output(DType::f32, 70), k.all(), k.load(k.input(DType::f32, data_.reals(70)), k.all(), inside));
    add(k, "a frame with sizes beyond 32 bits");
  }
  {
    // A number that is split by extents beyond 32 bits.
    KernelBuilder k({70});
    k.set_wide();
    const auto far = k.map({k31 + 1}, 0, {{{40, k32}, {1, 0}, 0}});
    k.store(k.output(DType::f32, 70), k.all(), k.load(k.input(DType::f32, data_.reals(40)), far));
    add(k, "a map through extents beyond 32 bits");
  }
}

}  // namespace sinter::testing
