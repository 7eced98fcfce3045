// Kernels written by hand: casts between all dtypes, 16-bit floats, bytes, truth values and integers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/kernels/handmade_kernels.h"

namespace sinter::testing {
namespace {

using ir::ExprId;

constexpr DType kF32 = DType::f32;
constexpr DType kI32 = DType::i32;
constexpr DType kI64 = DType::i64;
constexpr DType kU8 = DType::u8;
constexpr DType kBool = DType::boolean;
constexpr DType kBf16 = DType::bf16;
constexpr DType kF16 = DType::f16;

}  // namespace

void HandmadeKernels::types() {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
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
      // i32 inputs are limited to the range of i32; a large real is no i32 input.
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
  for (const DType stored : {kBf16, kF16, DType::f8_e4m3, DType::f8_e5m2}) stored_floats(stored, reals);
  for (const DType small : {DType::i8, DType::i16, DType::u16, DType::u32, DType::u64}) {
    const std::int64_t least = is_unsigned(small) ? 0 : -128;
    KernelBuilder k({1003});
    const ExprId x = k.load(k.input(small, data_.integers(1003, least, 127)), k.map({-1}, 1002));
    const ExprId wide = k.cast(arithmetic_of(small), x);
    k.store(k.output(small, 1003), k.all(), x);
    k.store(k.output(kF32, 1003), k.all(), k.cast(kF32, x));
    k.store(k.output(small, 1003), k.all(), k.cast(small, k.op(Op::Mul, wide, wide)));
    add(k, std::string(name_of(small)) + " load and store");
  }
  {
    KernelBuilder k({1003});
    const ExprId pixel = k.cast(kF32, k.load(k.input(kU8, data_.integers(1003, 0, 255)), k.all()));
    k.store(k.output(kF32, 1003), k.all(), k.op(Op::Mul, pixel, k.scalar(kF32, 1.0 / 256)));
    add(k, "u8 load");
  }
  {
    // Adjacent bytes belong to different lanes.
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

void HandmadeKernels::stored_floats(DType stored, const std::vector<double>& reals) {
  const std::string name(name_of(stored));
  const std::size_t size = size_of(stored);
  const std::int64_t count = std::int64_t{1} << 8 * size;
  std::vector<std::byte> patterns(static_cast<std::size_t>(count) * size);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    patterns[i] = static_cast<std::byte>(i / size >> 8 * (i % size) & 255);
  const auto every = to_doubles(stored, patterns);
  {
    KernelBuilder k({count});
    const ExprId x = k.load(k.input_bytes(stored, patterns), k.all());
    k.store(k.output(kF32, count), k.all(), k.cast(kF32, x));
    k.store(k.output(stored, count), k.all(), k.cast(stored, k.cast(kF32, x)));
    k.store(k.output(stored, count), k.map({-1}, count - 1), x);
    add(k, "all of " + name);
  }
  {
    // Each number, what lies halfway to the next, and the f32 on either side of that.
    std::vector<double> numbers = reals;
    for (std::size_t i = 0; i + 1 < every.size(); ++i) {
      if (!std::isfinite(every[i]) || !std::isfinite(every[i + 1]) || (size > 1 && data_.chance(0.5)))
        continue;
      const float between = static_cast<float>((every[i] + every[i + 1]) / 2);
      for (const float x : {between, std::nextafter(between, INFINITY), std::nextafter(between, -INFINITY)})
        numbers.push_back(x);
    }
    for (const double x : {65504.0, 65519.996, 65520.0, 3.38953139e38, 3.3961775e38, 448.0, 464.0, 464.00003,
                           480.0, 57344.0, 61439.996, 61440.0})
      numbers.insert(numbers.end(), {x, -x});
    const auto n = static_cast<std::int64_t>(numbers.size());
    KernelBuilder k({n});
    k.store(k.output(stored, n), k.all(), k.cast(stored, k.load(k.input(kF32, numbers), k.all())));
    add(k, "f32 to " + name);
  }
  for (const std::int64_t n : {4096, 1003, 4}) {
    KernelBuilder k({n});
    const ExprId x = k.load(k.input(stored, data_.reals(n)), k.all()),
                 y = k.load(k.input(stored, data_.reals(n)), k.all());
    const ExprId test = k.load(k.input(kBool, data_.integers(n, 0, 1)), k.all());
    const ExprId sum = k.op(Op::Add, k.cast(kF32, x), k.load(k.input(kF32, data_.reals(n)), k.all()));
    k.store(k.output(stored, n), k.all(), k.cast(stored, sum));
    k.store(k.output(stored, n), k.all(), k.op(Op::Where, test, x, y));
    k.store(k.output(stored, n), k.all(), k.op(Op::Where, test, y, k.scalar(stored, 0.3)));
    k.store(k.output(kF32, n), k.all(), sum);
    k.store(k.output(kBool, n), k.all(), k.op(Op::Less, sum, k.cast(kF32, y)));
    add(k, name + " beside others, " + std::to_string(n));
  }
  for (const auto schedule : {ir::Schedule::LanesInner, ir::Schedule::LanesOuter}) {
    KernelBuilder k({7}, {1028}, schedule);
    const ExprId x = k.cast(kF32, k.load(k.input(stored, data_.reals(7 * 1028)), k.all()));
    const ExprId centred = k.op(Op::Sub, x, k.reduce(Op::Max, x));
    k.store(k.output(stored, 7 * 1028), k.all(),
            k.cast(stored, k.op(Op::Div, k.op(Op::Exp, centred), k.reduce(Op::Sum, k.op(Op::Exp, centred)))));
    add(k,
        "softmax of " + name + (schedule == ir::Schedule::LanesInner ? " (lanes inner)" : " (lanes outer)"));
  }
}

}  // namespace sinter::testing
