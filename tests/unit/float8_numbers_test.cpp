// The 8-bit floating-point types on the host: all codes, and f32 sampled densely, against their definition,
// and values that PyTorch gives (x.to(torch.float8_e4m3fn), x.to(torch.float8_e5m2)).
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/dtype.h>

using namespace sinter;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

static_assert(float8_e4m3(1.0f).bits() == 0x38 && float8_e5m2(1.0f).bits() == 0x3c);
static_assert(float8_e4m3(-448.0f) == -448.0f && float8_e5m2(57344.0f) == 57344.0f);
static_assert(float8_e4m3::from_bits(1) == 0x1p-9f && float8_e5m2::from_bits(1) == 0x1p-16f);
static_assert(dtype_of<float8_e4m3> == DType::f8_e4m3 && dtype_of<float8_e5m2> == DType::f8_e5m2);
static_assert(size_of(DType::f8_e4m3) == 1 && arithmetic_of(DType::f8_e5m2) == DType::f32);
static_assert(is_float(DType::f8_e4m3) && !is_half(DType::f8_e4m3) && !is_int(DType::f8_e5m2));
static_assert(promote(DType::f8_e4m3, DType::f8_e5m2) == DType::f32);
static_assert(promote(DType::f8_e4m3, DType::f16) == DType::f16);
static_assert(promote(DType::bf16, DType::f8_e5m2) == DType::bf16);
static_assert(promote(DType::f8_e5m2, DType::i64) == DType::f8_e5m2);
static_assert(promote(DType::bf16, DType::f16) == DType::f32 &&
              promote(DType::f16, DType::f64) == DType::f64);

/// What a code says by its definition: sign, `exponent` bits with `bias`, the rest a fraction.
double defined(unsigned code, int exponent, int bias) {
  const int fraction = 7 - exponent;
  const int power = static_cast<int>(code >> fraction & ((1u << exponent) - 1));
  const double rest = std::ldexp(code & ((1u << fraction) - 1), -fraction);
  const double size = power == 0 ? std::ldexp(rest, 1 - bias) : std::ldexp(1 + rest, power - bias);
  return code & 0x80 ? -size : size;
}

struct Format {
  int exponent, bias;
  unsigned special;        // the first code that is no number
  double largest, beyond;  // from half-way between both on, ties to the even one, there is no number
  bool has_infinity;
};
constexpr Format kE4m3 = {4, 7, 0x7f, 448, 480, false}, kE5m2 = {5, 15, 0x7c, 57344, 65536, true};

/// The nearest code, by looking at all of them.
template <class T>
double nearest(double x, const Format& format) {
  if (std::isnan(x)) return x;
  double best = format.beyond;
  unsigned best_code = format.special;
  for (unsigned code = 0; code < format.special; ++code) {
    const double number = defined(code, format.exponent, format.bias);
    const double near = std::abs(number - std::abs(x)), nearest = std::abs(best - std::abs(x));
    if (near < nearest || (near == nearest && code % 2 == 0)) best = number, best_code = code;
  }
  if (best_code == format.special || std::abs(x) >= format.beyond)
    best = format.has_infinity ? HUGE_VAL : NAN;
  return std::copysign(best, x);
}

template <class T>
void check_codes(const Format& format) {
  for (unsigned code = 0; code < 256; ++code) {
    const T number = T::from_bits(static_cast<std::uint8_t>(code));
    const float x = number;
    const unsigned size = code & 0x7f;
    CAPTURE(code);
    if (size > format.special || (size == format.special && !format.has_infinity)) {
      CHECK(std::isnan(x));
      CHECK(T(x).bits() == (code | 0x7f));
    } else {
      const double expected = defined(code, format.exponent, format.bias);
      CHECK(x == (size == format.special ? static_cast<float>(std::copysign(HUGE_VAL, expected))
                                         : static_cast<float>(expected)));
      CHECK(std::signbit(x) == (code >= 128));
      CHECK(T(x).bits() == code);
    }
  }
}

template <class T>
int count_wrong(const std::vector<float>& numbers, const Format& format) {
  int wrong = 0;
  for (const float x : numbers) {
    const float found = T(x);
    const double expected = nearest<T>(static_cast<double>(x), format);
    wrong += std::isnan(expected)
                 ? !std::isnan(found)
                 : static_cast<double>(found) != expected || std::signbit(found) != std::signbit(x);
  }
  return wrong;
}

}  // namespace

TEST_CASE("all codes of the 8-bit floats are what they are defined as, and come back from float") {
  check_codes<float8_e4m3>(kE4m3);
  check_codes<float8_e5m2>(kE5m2);
}

TEST_CASE("floats become the nearest 8-bit float, ties to even, and nothing saturates") {
  std::vector<float> numbers;
  // A prime step visits all exponents and all low bits.
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 104729)
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  // Each number, half-way to the next, and the floats on either side of that.
  for (const Format& format : {kE4m3, kE5m2})
    for (unsigned code = 0; code <= format.special; ++code) {
      const double low = defined(code, format.exponent, format.bias),
                   high = code + 1 < format.special ? defined(code + 1, format.exponent, format.bias)
                                                    : format.beyond;
      const auto middle = static_cast<float>((low + high) / 2);
      for (const float x :
           {static_cast<float>(low), middle, std::nextafter(middle, 0.0f), std::nextafter(middle, kInf)}) {
        numbers.push_back(x);
        numbers.push_back(-x);
      }
    }
  CHECK(count_wrong<float8_e4m3>(numbers, kE4m3) == 0);
  CHECK(count_wrong<float8_e5m2>(numbers, kE5m2) == 0);
}

TEST_CASE("8-bit floats are PyTorch's: float8_e4m3fn and float8_e5m2") {
  struct Case {
    float x;
    unsigned e4m3, e5m2;
  };
  for (const Case& c :
       {Case{0.0f, 0x00, 0x00},       Case{-0.0f, 0x80, 0x80},      Case{0.1f, 0x1d, 0x2e},
        Case{-0.3f, 0xaa, 0xb5},      Case{1.0625f, 0x38, 0x3c},  // a tie of e4m3
        Case{1.1875f, 0x3a, 0x3d},                                // another, to the even one above
        Case{1.125f, 0x39, 0x3c},                                 // a tie of e5m2
        Case{0x1p-9f, 0x01, 0x18},    Case{0x1p-10f, 0x00, 0x14},   Case{0x1.8p-10f, 0x01, 0x16},
        Case{0x1p-17f, 0x00, 0x00},   Case{0x1.8p-17f, 0x00, 0x01}, Case{448.0f, 0x7e, 0x5f},
        Case{464.0f, 0x7e, 0x5f},  // half-way to 480, which e4m3 does not have
        Case{464.00003f, 0x7f, 0x5f}, Case{-480.0f, 0xff, 0xe0},    Case{57344.0f, 0x7f, 0x7b},
        Case{61439.996f, 0x7f, 0x7b}, Case{61440.0f, 0x7f, 0x7c},   Case{-1e9f, 0xff, 0xfc},
        Case{kInf, 0x7f, 0x7c},       Case{-kInf, 0xff, 0xfc},      Case{kNan, 0x7f, 0x7f},
        Case{-kNan, 0xff, 0xff}}) {
    CAPTURE(c.x);
    CHECK(float8_e4m3(c.x).bits() == c.e4m3);
    CHECK(float8_e5m2(c.x).bits() == c.e5m2);
  }
}
