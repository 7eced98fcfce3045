// Kernels written by hand that reduce.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/kernels/handmade_kernels.h"

namespace sinter::testing {
namespace {

using ir::ExprId;
using ir::Schedule;

constexpr DType kF32 = DType::f32;
constexpr DType kF64 = DType::f64;
constexpr DType kI32 = DType::i32;
constexpr DType kI64 = DType::i64;
constexpr DType kBool = DType::boolean;

}  // namespace

void HandmadeKernels::rows(const Shape2& shape, Schedule schedule, const std::string& suffix) {
  const auto [rows, columns] = shape;
  const std::int64_t n = rows * columns;
  {
    KernelBuilder k({rows}, {columns}, schedule);
    const ExprId x = k.load(k.input(kF32, data_.reals(n)), k.all());
    const ExprId e = k.op(Op::Exp, k.op(Op::Sub, x, k.reduce(Op::Max, x)));
    k.store(k.output(kF32, n), k.all(), k.op(Op::Div, e, k.reduce(Op::Sum, e)));
    add(k, "softmax" + suffix);
  }
  {
    KernelBuilder k({rows}, {columns}, schedule);
    const auto at = k.all();
    const auto buffer = k.input(kF32, data_.reals(n));
    const ExprId x = k.load(buffer, at);
    const ExprId e = k.op(Op::Exp, k.op(Op::Sub, x, k.reduce(Op::Max, x)));
    k.store(buffer, at, k.op(Op::Div, e, k.reduce(Op::Sum, e)));
    add(k, "softmax in place" + suffix);
  }
  {
    KernelBuilder k({rows}, {columns}, schedule);
    const ExprId x = k.load(k.input(kF32, data_.reals(n)), k.all());
    const ExprId count = k.scalar(kF32, static_cast<double>(columns));
    const ExprId mean = k.op(Op::Div, k.reduce(Op::Sum, x), count);
    const ExprId centred = k.op(Op::Sub, x, mean);
    const ExprId variance = k.op(Op::Div, k.reduce(Op::Sum, k.op(Op::Mul, centred, centred)), count);
    const ExprId scale = k.op(Op::Rsqrt, k.op(Op::Add, variance, k.scalar(kF32, 1e-5)));
    const ExprId gamma = k.load(k.input(kF32, data_.reals(columns)), k.inner());
    const ExprId beta = k.load(k.input(kF32, data_.reals(columns)), k.inner());
    k.store(k.output(kF32, n), k.all(),
            k.op(Op::Add, k.op(Op::Mul, k.op(Op::Mul, centred, scale), gamma), beta));
    k.store(k.output(kF32, rows), k.outer(), mean);
    k.store(k.output(kF32, rows), k.outer(), scale);
    add(k, "layer norm" + suffix);
  }
  {
    // Index of the first largest element: the least index where x equals the maximum.
    KernelBuilder k({rows}, {columns}, schedule);
    std::vector<std::int64_t> few = data_.integers(n, -20, 20);
    const ExprId x = k.load(k.input(kF32, few), k.all());
    const ExprId is_max = k.op(Op::Equal, x, k.reduce(Op::Max, x));
    const ExprId at = k.op(Op::Where, is_max, k.index(k.inner()), k.scalar(kI64, 1 << 30));
    k.store(k.output(kI64, rows), k.outer(), k.reduce(Op::Min, at));
    add(k, "argmax" + suffix);
  }
  if (columns > 0) {
    // Lanes without a point of their own find no index, and report no fault.
    KernelBuilder k({rows}, {columns}, schedule);
    const ExprId first = k.reduce(Op::Min, k.index(k.inner()));
    k.store(k.output(kF32, rows), k.outer(),
            k.load_at(k.input(kF32, data_.reals(columns)), k.map({0, 0}), first, 1, columns));
    add(k, "picked by a reduction" + suffix);
  }
  {
    // Column sums of the transposed matrix: the inner dim is the strided one.
    KernelBuilder k({columns}, {rows}, schedule);
    const ExprId x = k.load(k.input(kF32, data_.reals(n)), k.map({1, columns}));
    k.store(k.output(kF32, columns), k.outer(), k.reduce(Op::Sum, x));
    add(k, "column sum" + suffix);
  }
  {
    KernelBuilder k({}, {rows, columns}, schedule);
    const ExprId x = k.load(k.input(kF32, data_.reals(n)), k.all());
    k.store(k.output(kF32, 1), k.outer(), k.reduce(Op::Sum, x));
    k.store(k.output(kF32, 1), k.outer(), k.reduce(Op::Max, x));
    add(k, "whole sum" + suffix);
  }
}

void HandmadeKernels::reductions(Schedule schedule, const std::string& suffix) {
  std::vector<DType> numeric = {kF32, kI32, kI64};
  if (with_f64_) numeric.push_back(kF64);
  for (const DType dtype : numeric)
    for (const std::int64_t size : {0, 1, 100}) {
      KernelBuilder k({7}, {size}, schedule);
      std::vector<double> values = data_.reals(7 * size, 0.5, 1.6);
      if (!is_float(dtype))
        for (double& v : values) v = static_cast<double>(data_.integer(-300, 300) * 2 + 1);
      const ExprId x = k.load(k.input(dtype, values), k.all());
      for (const Op op : {Op::Sum, Op::Prod, Op::Max, Op::Min})
        k.store(k.output(dtype, 7), k.outer(), k.reduce(op, x));
      add(k, "all reductions of " + std::to_string(size) + " " + std::string(name_of(dtype)) + suffix);
    }
  for (const std::int64_t size : {0, 1, 2, 300}) {
    KernelBuilder k({40}, {size}, schedule);
    std::vector<std::int64_t> values = data_.integers(40 * size, 0, 1);
    for (std::int64_t i = 0; i < 10 * size; ++i) values[i] = i < 5 * size;
    const ExprId x = k.load(k.input(kBool, values), k.all());
    k.store(k.output(kBool, 40), k.outer(), k.reduce(Op::Max, x));
    k.store(k.output(kBool, 40), k.outer(), k.reduce(Op::Min, x));
    k.store(k.output(kI64, 40), k.outer(), k.reduce(Op::Sum, k.cast(kI64, x)));
    add(k, "any, all and count of " + std::to_string(size) + suffix);
  }
  {
    const double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    KernelBuilder k({5}, {67}, schedule);
    std::vector<double> values = data_.reals(5 * 67);
    values[3] = nan;
    values[67 + 66] = nan;
    values[2 * 67] = inf;
    values[3 * 67 + 40] = -inf;
    values[4 * 67 + 1] = inf;
    values[4 * 67 + 50] = -inf;
    const ExprId x = k.load(k.input(kF32, values), k.all());
    for (const Op op : {Op::Sum, Op::Max, Op::Min}) k.store(k.output(kF32, 5), k.outer(), k.reduce(op, x));
    add(k, "reductions of NaN and infinity" + suffix);
  }
  {
    // Error must stay small however many terms there are.
    KernelBuilder k({1}, {100000}, schedule);
    const ExprId x =
        k.load(k.input(kF32, data_.reals(1000, 0, 1)), k.map({0, 1}, 0, {{{100, 1000}, {0, 1}, 0}}));
    k.store(k.output(kF32, 1), k.outer(), k.reduce(Op::Sum, x));
    add(k, "sum of many" + suffix);
  }
  {
    KernelBuilder k({3, 4}, {5, 6, 7}, schedule);
    const ExprId x = k.load(k.input(kF32, data_.reals(2520)), k.map({7, 21, 84, 420, 1}));
    const ExprId bias = k.load(k.input(kF32, data_.reals(4)), k.map({0, 1, 0, 0, 0}));
    const ExprId sum = k.reduce(Op::Sum, k.op(Op::Abs, x));
    k.store(k.output(kF32, 12), k.outer(), k.op(Op::Add, sum, bias));
    add(k, "several outer and inner dims" + suffix);
  }
  {
    // A reduction of what does not depend on the inner dims, and one that nothing else follows.
    KernelBuilder k({6}, {9}, schedule);
    const ExprId row = k.load(k.input(kF32, data_.reals(6)), k.outer());
    k.store(k.output(kF32, 6), k.outer(), k.reduce(Op::Sum, row));
    k.store(k.output(kF32, 54), k.all(), row);
    k.store(k.output(kI64, 6), k.outer(), k.reduce(Op::Max, k.index(k.all())));
    add(k, "reduction of an outer value" + suffix);
  }
  {
    // An Outer value of a last phase stored at an Inner place, and an Outer buffer written in place.
    KernelBuilder k({12}, {11}, schedule);
    const auto at = k.outer();
    const auto running = k.input(kF32, data_.reals(12));
    const ExprId x = k.load(k.input(kF32, data_.reals(132)), k.all());
    const ExprId total = k.reduce(Op::Sum, x);
    k.store(running, at, k.op(Op::Add, k.op(Op::Mul, k.load(running, at), k.scalar(kF32, 0.9)), total));
    k.store(k.output(kF32, 132), k.all(), total);
    k.store(k.output(kF32, 132), k.all(), k.op(Op::Neg, x));
    add(k, "running sum in place" + suffix);
  }
  {
    // Gather and scale inside a reduction, with an index out of range in one of two cases.
    for (const bool bad : {false, true}) {
      KernelBuilder k({10}, {25}, schedule);
      std::vector<std::int64_t> where = data_.integers(250, 0, 39);
      if (bad) where[133] = 40;
      const ExprId at = k.load(k.input(kI64, where), k.all());
      const ExprId x = k.load_at(k.input(kF32, data_.reals(40)), k.map({0, 0}), at, 1, 40);
      k.store(k.output(kF32, 10), k.outer(), k.reduce(Op::Sum, x));
      add(k, std::string(bad ? "sum of a gather with a bad index" : "sum of a gather") + suffix);
    }
  }
  // Gathered rows that several phases go over, picked by an index of the row and scaled by one of the column.
  for (int wrong = 0; wrong < 3; ++wrong) {
    KernelBuilder k({6}, {256}, schedule);
    std::vector<std::int64_t> rows = data_.integers(6, 0, 9), columns = data_.integers(256, 0, 19);
    if (wrong == 1) rows[5] = 10;
    if (wrong == 2) columns[255] = -1;
    const ExprId row = k.load(k.input(kI64, rows), k.outer()),
                 column = k.load(k.input(kI32, columns), k.inner());
    const ExprId x = k.load_at(k.input(kF32, data_.reals(2560)), k.inner(), row, 256, 10);
    const ExprId scale = k.load_at(k.input(kF32, data_.reals(20)), k.map({0, 0}), column, 1, 20);
    const ExprId scaled = k.op(Op::Mul, x, scale);
    const ExprId centered = k.op(Op::Sub, scaled, k.reduce(Op::Max, scaled));
    k.store(k.output(kF32, 6 * 256), k.all(), k.op(Op::Sub, centered, k.reduce(Op::Sum, centered)));
    const char* names[] = {"with good indices", "with a bad row", "with a bad column"};
    add(k, std::string("gathered rows ") + names[wrong] + suffix);
  }
  {
    KernelBuilder k({8}, {100}, schedule);
    const ExprId kept = k.op(Op::Less, k.random(k.all(), 9, 1), k.scalar(kF32, 0.5));
    const ExprId x = k.load(k.input(kF32, data_.reals(800)), k.all());
    const ExprId dropped = k.op(Op::Where, kept, k.op(Op::Mul, x, k.scalar(kF32, 2)), k.scalar(kF32, 0));
    k.store(k.output(kF32, 800), k.all(), dropped);
    k.store(k.output(kF32, 8), k.outer(), k.reduce(Op::Sum, dropped));
    add(k, "dropout and its sum" + suffix);
  }
}

}  // namespace sinter::testing
