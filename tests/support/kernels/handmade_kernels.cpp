// Kernels written by hand, one for each feature of kernel IR. Here: elementwise ops, views, indices and
// random numbers; the other files of this name have the rest.
#include "tests/support/kernels/handmade_kernels.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sinter::testing {
namespace {

using ir::ExprId;
using ir::Schedule;

constexpr DType kF32 = DType::f32;
constexpr DType kF64 = DType::f64;
constexpr DType kI32 = DType::i32;
constexpr DType kI64 = DType::i64;
constexpr DType kU8 = DType::u8;
constexpr DType kBool = DType::boolean;

}  // namespace

std::vector<KernelCase> HandmadeKernels::build() {
  elementwise();
  views();
  types();
  indexed();
  random_numbers();
  for (const Schedule schedule : {Schedule::LanesOuter, Schedule::LanesInner}) {
    const std::string suffix = schedule == Schedule::LanesOuter ? " (lanes outer)" : " (lanes inner)";
    for (const Shape2 shape :
         {Shape2{4, 8}, {1, 1}, {3, 257}, {129, 5}, {1, 3000}, {37, 64}, {0, 7}, {5, 0}, {2, 1031}})
      rows(shape, schedule, " " + shape.text() + suffix);
    reductions(schedule, suffix);
  }
  sizes();
  return std::move(cases_);
}

std::vector<DType> HandmadeKernels::dtypes() const {
  std::vector<DType> all = {kF32, kI32, kI64, kU8, kBool};
  if (with_f64_) all.push_back(kF64);
  return all;
}

void HandmadeKernels::elementwise() {
  for (const std::int64_t n : {0, 1, 2, 3, 7, 31, 32, 33, 255, 256, 257, 1000, 1024, 2999}) {
    KernelBuilder k({n});
    const ExprId x = k.load(k.input(kF32, data_.reals(n)), k.all());
    const ExprId y = k.op(Op::Mul, x, k.op(Op::Sigmoid, k.op(Op::Mul, x, k.scalar(kF32, 1.702))));
    k.store(k.output(kF32, n), k.all(), k.op(Op::Add, y, k.scalar(kF32, 0.1)));
    add(k, "elementwise chain of " + std::to_string(n));
  }
  {
    // Every operation is exact here: any contraction to a fused multiply-add shows.
    KernelBuilder k({2000});
    const ExprId a = k.load(k.input(kF32, data_.reals(2000)), k.all());
    const ExprId b = k.load(k.input(kF32, data_.reals(2000)), k.all());
    const ExprId c = k.load(k.input(kF32, data_.reals(2000)), k.all());
    const ExprId d = k.op(Op::Sub, k.op(Op::Mul, a, b), k.op(Op::Mul, b, c));
    k.store(k.output(kF32, 2000), k.all(), k.op(Op::Add, k.op(Op::Mul, d, d), a));
    add(k, "multiply and add without contraction");
  }
  {
    KernelBuilder k({});
    const ExprId x = k.load(k.input(kF32, {2.5}), k.all());
    k.store(k.output(kF32, 1), k.all(), k.op(Op::Neg, x));
    add(k, "rank 0");
  }
  {
    KernelBuilder k({13, 77});
    const auto a = k.input(kF32, data_.reals(13 * 77));
    const auto all = k.all();
    const ExprId product = k.op(Op::Mul, k.load(a, all), k.scalar(kF32, 0.75));
    k.store(a, all, k.op(Op::Add, product, k.load(k.input(kF32, data_.reals(77)), k.map({0, 1}))));
    add(k, "in place a = a * s + b");
  }
  {
    KernelBuilder k({301});
    const auto all = k.all();
    const auto p = k.input(kF32, data_.reals(301)), m = k.input(kF32, data_.reals(301));
    const ExprId g = k.load(k.input(kF32, data_.reals(301)), all);
    const ExprId m1 = k.op(Op::Add, k.op(Op::Mul, k.load(m, all), k.scalar(kF32, 0.9)),
                           k.op(Op::Mul, g, k.scalar(kF32, 0.1)));
    k.store(m, all, m1);
    k.store(p, all, k.op(Op::Sub, k.load(p, all), k.op(Op::Mul, m1, k.scalar(kF32, 0.01))));
    k.store(k.output(kBool, 301), all, k.op(Op::Less, m1, g));
    add(k, "several outputs, two in place");
  }
  {
    KernelBuilder k({600});
    k.set_wide();
    k.avoid_constants();
    const ExprId x = k.load(k.input(kF32, data_.reals(600)), k.all());
    k.store(k.output(kF32, 600), k.all(), k.op(Op::Abs, x));
    add(k, "wide indices, strides as arguments");
  }
  {
    KernelBuilder k({5, 3});
    for (const DType dtype : dtypes()) k.store(k.output(dtype, 15), k.all(), k.scalar(dtype, 3));
    add(k, "fill, all dtypes");
  }
}

void HandmadeKernels::views() {
  {
    KernelBuilder k({6, 5, 7});
    const ExprId row = k.load(k.input(kF32, data_.reals(7)), k.map({0, 0, 1}));
    const ExprId column = k.load(k.input(kF32, data_.reals(6)), k.map({1, 0, 0}));
    const ExprId middle = k.load(k.input(kF32, data_.reals(5)), k.map({0, 1, 0}));
    const ExprId one = k.load(k.input(kF32, {0.5}), k.map({0, 0, 0}));
    k.store(k.output(kF32, 210), k.all(),
            k.op(Op::Add, k.op(Op::Mul, row, column), k.op(Op::Add, middle, one)));
    add(k, "broadcast");
  }
  {
    KernelBuilder k({33, 40});
    const ExprId transposed = k.load(k.input(kF32, data_.reals(33 * 40)), k.map({1, 33}));
    const ExprId flipped = k.load(k.input(kF32, data_.reals(33 * 40)), k.map({-40, -1}, 33 * 40 - 1));
    const ExprId strided = k.load(k.input(kF32, data_.reals(33 * 200)), k.map({200, 3}, 7));
    const ExprId sum = k.op(Op::Sub, k.op(Op::Add, transposed, flipped), strided);
    k.store(k.output(kF32, 33 * 40), k.map({1, 33}), sum);
    k.store(k.output(kF32, 33 * 40 * 2), k.map({80, 2}, 1), sum);
    add(k, "permuted, flipped and strided");
  }
  {
    // x [4, 6, 5] permuted to (5, 4, 6), reshaped to (8, 15).
    KernelBuilder k({8, 15});
    const auto through = k.map({15, 1}, 0, {{{5, 4, 6}, {1, 30, 5}, 0}});
    k.store(k.output(kF32, 120), k.all(), k.load(k.input(kF32, data_.reals(120)), through));
    add(k, "reshape of permute");
  }
  {
    // Three steps: a slice of a reshape of a reshape of a permute.
    KernelBuilder k({5, 4});
    const auto through = k.map({8, 2}, 3, {{{10, 6}, {1, 10}, 0}, {{3, 4, 5}, {1, 15, 3}, 2}});
    k.store(k.output(kF32, 20), k.all(), k.load(k.input(kF32, data_.reals(64)), through));
    add(k, "three-step map");
  }
  for (const bool wide : {false, true}) {
    // Rows and columns of (6, 7), each twice, one cut off, beside those one further on; what is left of both.
    KernelBuilder k({10, 11});
    if (wide) k.set_wide();
    const std::uint16_t x = k.input(kF32, data_.reals(6 * 7));
    const auto row = k.quotient({}, {1, 0}, 1, 6, 2), column = k.quotient({}, {0, 1}, 1, 7, 2);
    const ExprId near = k.load(x, k.map_with({{row, 7}, {column, 1}}, {0, 0}));
    const ExprId inside = k.in_bounds(k.map({0, 1}), {{11, 0, 1, 9}});
    const ExprId far = k.load(x, k.map_with({{row, 7}, {column, 1}}, {0, 0}, 1), inside);
    const ExprId rest = k.load(x, k.map_with({{row, -14}, {column, -2}}, {7, 1}, 8 + 14 + 2));
    k.store(k.output(kF32, 110), k.all(), k.op(Op::Sub, k.op(Op::Add, near, far), rest));
    add(k, wide ? "quotients of rows and columns (wide)" : "quotients of rows and columns");
  }
  for (const ir::Schedule schedule : {ir::Schedule::LanesInner, ir::Schedule::LanesOuter}) {
    // A quotient of a quotient, one that falls along the loop, and one of outer and inner loops.
    KernelBuilder k({5, 6}, {3, 20}, schedule);
    const std::uint16_t x = k.input(kF32, data_.reals(400));
    const auto third = k.quotient({}, {0, 0, 0, 1}, 2, 8, 3),
               nested = k.quotient({{third, 1}}, {0, 1, 0, 0}, 0, 7, 2),
               falling = k.quotient({}, {0, 0, 0, -1}, 20, 6, 4),
               mixed = k.quotient({}, {3, 0, 1, 2}, 0, 11, 5);
    const ExprId a = k.load(x, k.map_with({{third, 4}, {nested, 10}}, {0, 1, 1, 0})),
                 b = k.load(x, k.map_with({{falling, 20}, {mixed, 9}}, {0, 0, 0, 1}, 3)),
                 outer = k.load(x, k.map_with({{k.quotient({}, {2, 1, 0, 0}, 0, 5, 3), 7}}, {1, 0, 0, 0}));
    const ExprId sum = k.reduce(Op::Sum, k.op(Op::Mul, a, b));
    k.store(k.output(kF32, 30), k.outer(), k.op(Op::Add, sum, outer));
    add(k, std::string("quotients in sums") +
               (schedule == ir::Schedule::LanesInner ? " (lanes inner)" : " (lanes outer)"));
  }
  for (const bool avoid_constants : {false, true}) {
    KernelBuilder k({9, 11});
    if (avoid_constants) k.avoid_constants();
    // 4 x 5 stretched by (2, 2), two rows before, one column before.
    const ExprId inside = k.in_bounds(k.all(), {{9, 2, 2, 4}, {11, 1, 2, 5}});
    const auto at = k.map({11, 1}, 0, {{{9, 11}, {1, 1}, 0}});
    const ExprId plain = k.load(k.input(kF32, data_.reals(9 + 11)), at, inside);
    k.store(k.output(kF32, 99), k.all(), k.op(Op::Where, inside, plain, k.scalar(kF32, -1)));
    add(k, avoid_constants ? "padding with steps, strides as arguments" : "padding with steps");
  }
  {
    // Convolution-like padding: positions outside of the 6 x 7 image would lie outside of the buffer.
    KernelBuilder k({8, 9});
    const ExprId inside = k.in_bounds(k.all(), {{8, 1, 1, 6}, {9, 1, 1, 7}});
    k.store(k.output(kF32, 72), k.all(), k.load(k.input(kF32, data_.reals(42)), k.map({7, 1}, -8), inside));
    add(k, "padded load with a predicate");
  }
  {
    KernelBuilder k({4, 3, 2, 2, 3, 5});
    // x [5, 3, 2, 2, 3, 4] with its dims in reverse order.
    const ExprId x = k.load(k.input(kF32, data_.reals(720)), k.map({1, 4, 12, 24, 48, 144}));
    k.store(k.output(kF32, 720), k.all(), x);
    add(k, "rank 6");
  }
}

void HandmadeKernels::indexed() {
  struct Gather {
    const char* name;
    std::int64_t low, high;
  };
  for (const Gather g : {Gather{"gather", 0, 9},
                         {"gather with an index too large", 0, 10},
                         {"gather with a negative index", -1, 9}})
    for (const DType dtype : {kI64, kI32}) {
      // x [10, 6], index [50]: rows of x.
      KernelBuilder k({50, 6});
      std::vector<std::int64_t> where = data_.integers(50, 0, 9);
      where[17] = g.low;
      where[49] = g.high;
      const ExprId at = k.load(k.input(dtype, where), k.map({1, 0}));
      k.store(k.output(kF32, 300), k.all(),
              k.load_at(k.input(kF32, data_.reals(60)), k.map({0, 1}), at, 6, 10));
      add(k, std::string(g.name) + " (" + std::string(name_of(dtype)) + ")");
    }
  {
    // Where the mask is false the index is invalid and must not be used.
    KernelBuilder k({64});
    std::vector<std::int64_t> mask = data_.integers(64, 0, 1), where = data_.integers(64, 0, 31);
    for (std::size_t i = 0; i < 64; ++i)
      if (mask[i] == 0) where[i] = i % 2 == 0 ? -1000000 : 1000000;
    const ExprId on = k.load(k.input(kBool, mask), k.all());
    const ExprId at = k.load(k.input(kI64, where), k.all());
    k.store(k.output(kF32, 64), k.all(),
            k.load_at(k.input(kF32, data_.reals(32)), k.map({0}), at, 1, 32, on));
    add(k, "gather with a predicate");
  }
  // Several indexed reads, one of which is wrong: under a predicate, of truth values, of 16-bit floats.
  for (int wrong = 0; wrong < 4; ++wrong) {
    KernelBuilder k({70});
    const auto index = [&](int number) {
      std::vector<std::int64_t> where = data_.integers(70, 0, 8);
      if (number == wrong) where[number == 1 ? 67 : 69] = number % 2 == 0 ? 9 : -1;
      return k.load(k.input(number % 2 == 0 ? kI64 : kI32, where), k.all());
    };
    std::vector<std::int64_t> mask = data_.integers(70, 0, 1);
    mask[67] = 1;
    const ExprId on = k.load(k.input(kBool, mask), k.all());
    const auto here = k.map({0});
    const ExprId plain = k.load_at(k.input(kF32, data_.reals(9)), here, index(0), 1, 9);
    const ExprId masked = k.load_at(k.input(kF32, data_.reals(9)), here, index(1), 1, 9, on);
    const ExprId truth = k.load_at(k.input(kBool, data_.integers(9, 0, 1)), here, index(2), 1, 9);
    const ExprId half = k.load_at(k.input(DType::bf16, data_.reals(9)), here, index(3), 1, 9);
    k.store(k.output(kF32, 70), k.all(), k.op(Op::Where, truth, plain, masked));
    k.store(k.output(kF32, 70), k.all(), k.cast(kF32, half));
    add(k, "four gathers, number " + std::to_string(wrong) + " with a bad index");
  }
}

void HandmadeKernels::random_numbers() {
  for (const bool normal : {false, true}) {
    const std::string name = normal ? "random normal" : "random uniform";
    for (const std::int64_t seed : {std::int64_t{0}, std::int64_t{42}, std::int64_t{-7}, INT64_MAX}) {
      KernelBuilder k({1001});
      k.store(k.output(kF32, 1001), k.all(), k.random(k.all(), seed, seed / 3 + 1, normal));
      add(k, name + " with seed " + std::to_string(seed));
    }
    KernelBuilder k({19, 21});
    k.store(k.output(kF32, 399), k.all(), k.random(k.map({1, 19}, 1 << 20), 5, 6, normal));
    add(k, name + " in another order");
  }
}

std::vector<KernelCase> handmade_kernels(bool with_f64) { return HandmadeKernels(with_f64).build(); }

}  // namespace sinter::testing
