// The host's Fourier transforms against sums of doubles: lengths, numbers of lines, strides and threads at
// random, in memory of exactly their size.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "jit/library/fourier.h"
#include "src/base/env.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/host/host_backend.h"
#include "tests/support/one_run.h"

using namespace sinter;
using library::AlongAxis;
using library::Fourier;
using library::FourierOp;
using library::FourierScale;

namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<std::int64_t>(values.size()))];
  }
  template <class T>
  std::vector<T> numbers(std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& value : values) value = static_cast<T>(static_cast<double>(random_()) / 0x1p63 - 1);
    return values;
  }

 private:
  std::mt19937_64 random_;
};

std::int64_t span_of(const FourierOp& op, const AlongAxis& at) {
  if (op.lines() == 0) return 0;
  return (op.outer - 1) * at.outer_stride + (op.length_in() - 1) * at.stride +
         (op.inner - 1) * at.inner_stride + 1;
}

/// An operand's strides: in one of the orders of its three axes, with gaps or without, or repeated.
AlongAxis strides(Draw& draw, const FourierOp& op) {
  AlongAxis at{op.outer, op.length_in(), op.inner};
  const std::int64_t gap = draw.one_of<std::int64_t>({0, 0, 1, 5});
  std::int64_t* const by_stride[][3] = {{&at.inner_stride, &at.stride, &at.outer_stride},
                                        {&at.inner_stride, &at.stride, &at.outer_stride},
                                        {&at.stride, &at.inner_stride, &at.outer_stride},
                                        {&at.outer_stride, &at.stride, &at.inner_stride},
                                        {&at.stride, &at.outer_stride, &at.inner_stride}};
  std::int64_t stride = draw.one_of<std::int64_t>({1, 1, 1, 2});
  for (std::int64_t* const one : by_stride[draw.below(5)]) {
    *one = stride;
    stride *= one == &at.inner_stride ? op.inner : one == &at.outer_stride ? op.outer : op.length_in();
    stride += gap;
  }
  if (draw.below(8) == 0) *draw.one_of({&at.inner_stride, &at.outer_stride, &at.stride}) = 0;
  return at;
}

template <class T>
struct Parts {
  std::vector<T> re, im;  // im is empty where there is none
};

/// Results without gaps.
template <class T>
Parts<T> compute(const FourierOp& op, const Parts<T>& x, std::size_t threads) {
  const base::Environment before = base::environment();
  base::mutable_environment().host_threads = static_cast<std::int64_t>(threads);
  const auto host = runtime::make_host_backend();
  base::mutable_environment() = before;
  const auto executable = host->prepare(op);
  const auto count = static_cast<std::size_t>(op.elements_written(0));
  const auto nothing = std::numeric_limits<T>::quiet_NaN();
  Parts<T> y{std::vector<T>(count, nothing), {}};
  if (op.transform != Fourier::ToReal) y.im = y.re;
  std::deque<runtime::host::HostBuffer> buffers;
  const auto add = [&](const std::vector<T>& part) {
    const std::span memory(const_cast<T*>(part.data()), part.size());
    buffers.emplace_back(*host, std::as_writable_bytes(memory));
  };
  add(x.re);
  if (op.has_imaginary) add(x.im);
  add(y.re);
  if (op.transform != Fourier::ToReal) add(y.im);
  std::vector<runtime::BufferView> views;
  for (runtime::host::HostBuffer& buffer : buffers) views.push_back({&buffer, 0});
  testing::run_alone(*host, *executable, {views, {}, {}});
  return y;
}

struct Sum {
  double re, im;
  double energy;  // of the terms, squares added up: about that of the result where numbers are at random
};
/// A result of a line, as the op's definition has it.
template <class T>
Sum sum_of(const FourierOp& op, const Parts<T>& x, std::int64_t line, std::int64_t k) {
  const auto at = [&](const std::vector<T>& part, const AlongAxis& along, std::int64_t j) {
    return static_cast<long double>(part[static_cast<std::size_t>(
        line / op.inner * along.outer_stride + line % op.inner * along.inner_stride + j * along.stride)]);
  };
  const std::int64_t n = op.length;
  const bool back = op.transform == Fourier::ToReal;
  long double re = 0, im = 0, energy = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const bool mirrored = back && j > n / 2;
    const std::int64_t from = mirrored ? n - j : j;
    const long double a = at(x.re, op.real, from);
    long double b = op.has_imaginary ? at(x.im, op.imaginary, from) : 0;
    if (back && (j == 0 || 2 * j == n)) b = 0;
    if (mirrored) b = -b;
    const long double angle = (back ? 2 : -2) * std::numbers::pi_v<long double> *
                              static_cast<long double>(j * k % n) / static_cast<long double>(n);
    const long double c = std::cos(angle), s = std::sin(angle);
    re += a * c - b * s;
    im += a * s + b * c;
    energy += a * a + b * b;
  }
  const long double by = op.scale == FourierScale::One        ? 1
                         : op.scale == FourierScale::ByLength ? 1 / static_cast<long double>(n)
                                                              : 1 / std::sqrt(static_cast<long double>(n));
  return {static_cast<double>(re * by), static_cast<double>(im * by), static_cast<double>(energy * by * by)};
}

/// All results of some lines, or some of them where they are many.
template <class T>
void check_sums(Draw& draw, const FourierOp& op, const Parts<T>& x, const Parts<T>& y) {
  double apart = 0, norm = 0;
  const std::int64_t lines = std::min<std::int64_t>(op.lines(), 3);
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::int64_t line = i == 0 ? op.lines() - 1 : draw.below(op.lines());
    const std::int64_t count = op.length_out(), most = 3 + 40000 / op.length;
    for (std::int64_t s = 0; s < std::min(count, most); ++s) {
      const std::int64_t k = count <= most ? s : draw.below(count);
      const Sum want = sum_of(op, x, line, k);
      const auto place =
          static_cast<std::size_t>(line / op.inner * count * op.inner + k * op.inner + line % op.inner);
      const double re = static_cast<double>(y.re[place]) - want.re;
      const double im = y.im.empty() ? 0 : static_cast<double>(y.im[place]) - want.im;
      apart += re * re + im * im;
      norm += std::max(want.energy, want.re * want.re + want.im * want.im);
    }
  }
  const double error = norm == 0 ? apart : std::sqrt(apart / norm);
  CHECK(error <= (sizeof(T) == 4 ? 4e-7 : 8e-16));
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
void check(Draw& draw, Fourier transform, std::int64_t length, std::int64_t outer, std::int64_t inner) {
  FourierOp op;
  op.dtype = sizeof(T) == 4 ? DType::f32 : DType::f64;
  op.transform = transform;
  op.scale = draw.one_of({FourierScale::One, FourierScale::ByLength, FourierScale::ByRoot});
  op.length = length, op.outer = outer, op.inner = inner;
  op.has_imaginary = transform == Fourier::ToReal || (transform == Fourier::Complex && draw.below(3) > 0);
  op.real = strides(draw, op);
  op.imaginary = op.has_imaginary && draw.below(2) == 0 ? strides(draw, op) : op.real;
  CAPTURE(op.describe());
  CAPTURE(op.key());
  const Parts<T> x{draw.numbers<T>(span_of(op, op.real)), draw.numbers<T>(span_of(op, op.imaginary))};
  const Parts<T> y = compute(op, x, 1), z = compute(op, x, 3);
  CHECK(same_bits(y.re, z.re));
  CHECK(same_bits(y.im, z.im));
  check_sums(draw, op, x, y);
}

constexpr Fourier kTransforms[] = {Fourier::Complex, Fourier::FromReal, Fourier::ToReal};

void check_all(Draw& draw, std::int64_t length, std::int64_t outer, std::int64_t inner) {
  for (const Fourier transform : kTransforms) {
    check<float>(draw, transform, length, outer, inner);
    check<double>(draw, transform, length, outer, inner);
  }
}

/// A product of 2, 3, 5, 7, 11 and 13.
std::int64_t length_below(Draw& draw, std::int64_t end) {
  std::int64_t length = 1;
  while (true) {
    const std::int64_t next = length * draw.one_of<std::int64_t>({2, 2, 2, 3, 5, 7, 11, 13});
    if (next >= end || draw.below(10) == 0) return length;
    length = next;
  }
}

}  // namespace

TEST_CASE("transforms of any length, shape and strides are their sums") {
  Draw draw(1);
  for (std::int64_t length = 1; length <= 66; ++length)
    if (length == 1 || library::has_fourier_factors(length)) check_all(draw, length, 1 + draw.below(40), 1);
  for (int i = 0; i < 60; ++i)
    check_all(draw, length_below(draw, 1500), draw.one_of<std::int64_t>({1, 1, 2, 7, 8, 16, 35}),
              draw.one_of<std::int64_t>({1, 1, 2, 7, 8, 16, 17, 35}));
  for (int i = 0; i < 20; ++i)
    check_all(draw, length_below(draw, 40000), draw.one_of<std::int64_t>({1, 1, 2, 3, 9}), 1);
}

TEST_CASE("long lines, and many") {
  Draw draw(2);
  for (const std::int64_t length : {8192, 16384, 16500, 30030, 19683, 28561, 65536, 100000})
    check_all(draw, length, draw.one_of<std::int64_t>({1, 2, 7}), 1);
  for (const std::int64_t length : {1 << 19, 1 << 20, 3 * 5 * 7 * 11 * 13 * 64})
    check_all(draw, length, 1, 1);
  check_all(draw, 2048, 2, 40);
  check_all(draw, 4, 5000, 1);
  check_all(draw, 240, 300, 3);
}

TEST_CASE("no lines") {
  Draw draw(3);
  for (const std::int64_t length : {1, 6, 4096}) {
    check_all(draw, length, 0, 1);
    check_all(draw, length, 3, 0);
  }
}

TEST_CASE("infinities and NaN stay in their line") {
  Draw draw(4);
  for (const std::int64_t length : {6, 15, 512, 945, 4096})
    for (const std::int64_t inner : {1, 5, 20})
      for (const Fourier transform : kTransforms) {
        if (inner > 1 && length > 600) continue;
        FourierOp op;
        op.dtype = DType::f32;
        op.transform = transform;
        op.length = length, op.outer = 21, op.inner = inner;
        op.has_imaginary = transform != Fourier::FromReal;
        op.real = {op.outer, op.length_in(), inner, op.length_in() * inner, inner, 1};
        op.imaginary = op.real;
        CAPTURE(op.describe());
        Parts<float> x{draw.numbers<float>(span_of(op, op.real)), draw.numbers<float>(span_of(op, op.real))};
        const Parts<float> before = compute(op, x, 2);
        const std::int64_t slice = 2, column = inner / 2;
        const auto place = static_cast<std::size_t>((slice * op.length_in() + 1) * inner + column);
        x.re[place] = draw.one_of({std::numeric_limits<float>::infinity(), std::nanf("")});
        const Parts<float> after = compute(op, x, 2);
        bool others = true, own = true;
        for (std::size_t i = 0; i < before.re.size(); ++i) {
          const auto at = static_cast<std::int64_t>(i);
          const bool is_own = at / (op.length_out() * inner) == slice && at % inner == column;
          const bool is_finite =
              std::isfinite(after.re[i]) && (after.im.empty() || std::isfinite(after.im[i]));
          if (is_own)
            own = own && !is_finite;
          else
            others =
                others && before.re[i] == after.re[i] && (before.im.empty() || before.im[i] == after.im[i]);
        }
        CHECK(own);
        CHECK(others);
      }
}
