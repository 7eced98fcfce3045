// Kernels written by hand: one for each thing that kernel IR can say.
#include <cmath>
#include <limits>

#include "tests/support/random_kernel.h"
#include "tests/support/test_data.h"

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
constexpr DType kBf16 = DType::bf16;
constexpr DType kF16 = DType::f16;

struct Shape2 {
  std::int64_t rows, columns;
  std::string text() const { return std::to_string(rows) + "x" + std::to_string(columns); }
};

class Collection {
 public:
  explicit Collection(bool with_f64) : with_f64_(with_f64) {}

  std::vector<KernelCase> build() {
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
    return std::move(cases_);
  }

 private:
  void add(KernelBuilder& k, std::string name) { cases_.push_back(k.finish(std::move(name))); }

  void elementwise() {
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

  void views() {
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

  std::vector<DType> dtypes() const {
    std::vector<DType> all = {kF32, kI32, kI64, kU8, kBool};
    if (with_f64_) all.push_back(kF64);
    return all;
  }

  void types() {
    const double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> reals = {0,     -0.0,  0.5,   -0.5,       1,     -1,    1.5,  2.5,   -2.5,
                                       254.9, 255.5, 256,   -1000,      1e9,   3e9,   -3e9, 1e18,  1e19,
                                       -1e19, 1e30,  -1e30, 16777217.0, inf,   -inf,  nan,  1e-40, 65535,
                                       0.999, -0.99, 127,   128.7,      8e-46, 3.4e38};
    const std::vector<std::int64_t> integers = {
        0,          1,        -1,       2,         127,        128,          255,         256,
        257,        -128,     -129,     65536,     2147483647, 2147483648,   -2147483648, -2147483649,
        4294967296, 16777217, 33554435, INT64_MAX, INT64_MIN,  INT64_MAX - 1};
    for (const DType from : dtypes())
      for (const DType to : dtypes()) {
        // i32 inputs are cut to what fits; a large real is not an i32 input.
        std::vector<std::int64_t> whole = integers;
        for (std::int64_t& v : whole) {
          if (from == kI32) v = static_cast<std::int32_t>(static_cast<std::uint32_t>(v));
          if (from == kU8) v &= 255;
          if (from == kBool) v &= 1;
        }
        const std::int64_t n = is_float(from) ? reals.size() : whole.size();
        KernelBuilder k({n});
        const auto in = is_float(from) ? k.input(from, reals) : k.input(from, whole);
        k.store(k.output(to, n), k.all(), k.cast(to, k.load(in, k.all())));
        add(k, "cast " + std::string(name_of(from)) + " to " + std::string(name_of(to)));
      }
    for (const DType half : {kBf16, kF16}) halves(half, reals);
    {
      KernelBuilder k({1003});
      const ExprId pixel = k.cast(kF32, k.load(k.input(kU8, data_.integers(1003, 0, 255)), k.all()));
      k.store(k.output(kF32, 1003), k.all(), k.op(Op::Mul, pixel, k.scalar(kF32, 1.0 / 256)));
      add(k, "u8 load");
    }
    {
      // Bytes next to each other belong to different lanes.
      KernelBuilder k({1003});
      const ExprId bytes = k.load(k.input(kU8, data_.integers(1003, 0, 255)), k.map({-1}, 1002));
      k.store(k.output(kU8, 1003), k.all(), bytes);
      k.store(k.output(kU8, 1003), k.all(),
              k.cast(kU8, k.load(k.input(kF32, data_.reals(1003, -20, 300)), k.all())));
      add(k, "u8 store");
    }
    {
      KernelBuilder k({517});
      const ExprId a = k.load(k.input(kBool, data_.integers(517, 0, 1)), k.all());
      const ExprId b = k.load(k.input(kBool, data_.integers(517, 0, 1)), k.all());
      const auto out = [&](ExprId x) { k.store(k.output(kBool, 517), k.all(), x); };
      out(k.op(Op::And, a, b));
      out(k.op(Op::Or, a, b));
      out(k.op(Op::Xor, a, b));
      out(k.op(Op::Not, a));
      out(k.op(Op::Equal, a, b));
      out(k.op(Op::NotEqual, a, b));
      out(k.op(Op::Less, a, b));
      out(k.op(Op::Where, a, b, k.scalar(kBool, 1)));
      add(k, "bool ops");
    }
    for (const DType dtype : {kI32, kI64}) {
      KernelBuilder k({700});
      const std::int64_t limit = dtype == kI32 ? INT32_MAX : INT64_MAX;
      const ExprId a = k.load(k.input(dtype, data_.integers(700, -limit / 2, limit / 2)), k.all());
      const ExprId b = k.load(k.input(dtype, data_.integers(700, -3, 3)), k.all());
      const auto out = [&](ExprId x) { k.store(k.output(dtype, 700), k.all(), x); };
      for (const Op op :
           {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Remainder, Op::And, Op::Or, Op::Xor, Op::Maximum})
        out(k.op(op, a, b));
      out(k.op(Op::Mul, a, a));
      out(k.op(Op::Not, a));
      out(k.op(Op::Sign, b));
      add(k, std::string(name_of(dtype)) + " ops");
    }
    {
      KernelBuilder k({10, 90});
      k.store(k.output(kI64, 900), k.all(), k.index(k.all()));
      k.store(k.output(kI64, 900), k.all(), k.index(k.map({-1, 10}, 5)));
      add(k, "index");
    }
  }

  /// 16-bit floats: all of them to f32, numbers of all sizes to them, moves that keep bits, vectors with what is larger.
  void halves(DType half, const std::vector<double>& reals) {
    const std::string name(name_of(half));
    std::vector<std::byte> patterns(std::size_t{1} << 17);
    for (std::size_t i = 0; i < patterns.size() / 2; ++i) {
      patterns[2 * i] = static_cast<std::byte>(i & 255);
      patterns[2 * i + 1] = static_cast<std::byte>(i >> 8);
    }
    const auto every = to_doubles(half, patterns);
    {
      KernelBuilder k({65536});
      const ExprId x = k.load(k.input_bytes(half, patterns), k.all());
      k.store(k.output(kF32, 65536), k.all(), k.cast(kF32, x));
      k.store(k.output(half, 65536), k.all(), k.cast(half, k.cast(kF32, x)));
      k.store(k.output(half, 65536), k.map({-1}, 65535), x);
      add(k, "all of " + name);
    }
    {
      // Each number, what lies halfway to the next, and the f32 on either side of that.
      std::vector<double> numbers = reals;
      for (std::size_t i = 0; i + 1 < every.size(); ++i) {
        if (!std::isfinite(every[i]) || !std::isfinite(every[i + 1]) || data_.chance(0.5)) continue;
        const float between = static_cast<float>((every[i] + every[i + 1]) / 2);
        for (const float x : {between, std::nextafter(between, INFINITY), std::nextafter(between, -INFINITY)})
          numbers.push_back(x);
      }
      for (const double x : {65504.0, 65519.996, 65520.0, 3.38953139e38, 3.3961775e38}) numbers.insert(numbers.end(), {x, -x});
      const auto n = static_cast<std::int64_t>(numbers.size());
      KernelBuilder k({n});
      k.store(k.output(half, n), k.all(), k.cast(half, k.load(k.input(kF32, numbers), k.all())));
      add(k, "f32 to " + name);
    }
    for (const std::int64_t n : {4096, 1003, 4}) {
      KernelBuilder k({n});
      const ExprId x = k.load(k.input(half, data_.reals(n)), k.all()), y = k.load(k.input(half, data_.reals(n)), k.all());
      const ExprId test = k.load(k.input(kBool, data_.integers(n, 0, 1)), k.all());
      const ExprId sum = k.op(Op::Add, k.cast(kF32, x), k.load(k.input(kF32, data_.reals(n)), k.all()));
      k.store(k.output(half, n), k.all(), k.cast(half, sum));
      k.store(k.output(half, n), k.all(), k.op(Op::Where, test, x, y));
      k.store(k.output(half, n), k.all(), k.op(Op::Where, test, y, k.scalar(half, 0.3)));
      k.store(k.output(kF32, n), k.all(), sum);
      k.store(k.output(kBool, n), k.all(), k.op(Op::Less, sum, k.cast(kF32, y)));
      add(k, name + " beside others, " + std::to_string(n));
    }
    for (const auto schedule : {ir::Schedule::LanesInner, ir::Schedule::LanesOuter}) {
      KernelBuilder k({7}, {1028}, schedule);
      const ExprId x = k.cast(kF32, k.load(k.input(half, data_.reals(7 * 1028)), k.all()));
      const ExprId centred = k.op(Op::Sub, x, k.reduce(Op::Max, x));
      k.store(k.output(half, 7 * 1028), k.all(), k.cast(half, k.op(Op::Div, k.op(Op::Exp, centred), k.reduce(Op::Sum, k.op(Op::Exp, centred)))));
      add(k, "softmax of " + name + (schedule == ir::Schedule::LanesInner ? " (lanes inner)" : " (lanes outer)"));
    }
  }

  void indexed() {
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
      // Where the mask is off the index is wild and must not matter.
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
  }

  void random_numbers() {
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

  // Kernels that reduce each row.
  void rows(const Shape2& shape, Schedule schedule, const std::string& suffix) {
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
      // The place of the first largest element: the least index where x equals the maximum.
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
      k.store(k.output(kF32, rows), k.outer(), k.load_at(k.input(kF32, data_.reals(columns)), k.map({0, 0}), first, 1, columns));
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

  void reductions(Schedule schedule, const std::string& suffix) {
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

  bool with_f64_;
  TestData data_{2024};
  std::vector<KernelCase> cases_;
};

}  // namespace

std::vector<KernelCase> handmade_kernels(bool with_f64) { return Collection(with_f64).build(); }

}  // namespace sinter::testing
