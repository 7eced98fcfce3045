// Floats of 16 and 8 bits as LLVM values: their bits, which integer arithmetic turns into f32 and back, f16
// where the processor has no instruction for it. Those for bf16 take denormal numbers for 0, and are not
// used.
//
// The steps are those of include/sinter/half.h and float8.h.
#include <bit>
#include <cmath>
#include <cstdint>

#include "jit/emit/llvm/values.h"

namespace sinter::emit {
namespace {

/// What a dtype's bits consist of, and the f32 numbers where it changes its ways.
struct Format {
  unsigned bits, fraction, bias;
  std::uint32_t first_special;  // infinity; of e4m3, which has none, its NaN
  std::uint32_t nan;
  const char* type;

  std::uint32_t sign() const { return 1u << (bits - 1); }
  /// Bits of an f32's fraction that are dropped.
  unsigned dropped() const { return 23 - fraction; }
  std::uint32_t rebias() const { return (127 - bias) << 23; }
  /// The least number that is not denormal, as f32.
  std::uint32_t least_normal() const { return (128 - bias) << 23; }
  /// The step of denormal numbers, and the f32 number whose last place is as much.
  double step() const { return std::ldexp(1.0, 1 - static_cast<int>(bias + fraction)); }
  float rounder() const { return static_cast<float>(std::ldexp(step(), 23)); }
};

constexpr Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f8_e4m3: return {8, 3, 7, 0x7f, 0x7f, "i8"};
    case DType::f8_e5m2: return {8, 2, 15, 0x7c, 0x7f, "i8"};
    default: return {16, 10, 15, 0x7c00, 0x7e00, "i16"};
  }
}

/// Vectors of 32-bit integers, or one of them.
class Words {
 public:
  Words(LlvmWriter& writer, bool vector) : w_(writer), vector_(vector) {}

  std::string type(const char* element) const { return vector_ ? w_.vector_of(element) : element; }
  std::string number(std::uint32_t n) {
    const std::string text = std::to_string(static_cast<std::int32_t>(n));
    return vector_ ? w_.splat("i32", text) : text;
  }
  std::string op(const char* name, const std::string& a, const std::string& b) {
    return w_.value(std::string(name) + " " + type("i32") + " " + a + ", " + b);
  }
  std::string op(const char* name, const std::string& a, std::uint32_t b) { return op(name, a, number(b)); }
  std::string choose(const std::string& condition, const std::string& a, const std::string& b) {
    return w_.value("select " + type("i1") + " " + condition + ", " + type("i32") + " " + a + ", " +
                    type("i32") + " " + b);
  }
  std::string convert(const char* how, const char* from, const std::string& value, const char* to) {
    return w_.value(std::string(how) + " " + type(from) + " " + value + " to " + type(to));
  }
  std::string real(const char* name, const std::string& a, double b) {
    return w_.value(std::string(name) + " " + type("float") + " " + a + ", " +
                    w_.real(DType::f32, vector_, b));
  }

 private:
  LlvmWriter& w_;
  const bool vector_;
};

}  // namespace

LlvmOperand LlvmValues::from_stored(DType stored, const LlvmOperand& bits) {
  Words words(w_, bits.vector);
  const Format format = format_of(stored);
  if (stored == DType::f16 && target_.has_f16)
    return {words.convert("fpext", "half", words.convert("bitcast", "i16", bits.text, "half"), "float"),
            bits.vector};
  const std::string whole = words.convert("zext", format.type, bits.text, "i32");
  if (stored == DType::bf16)
    return {words.convert("bitcast", "i32", words.op("shl", whole, 16), "float"), bits.vector};
  if (stored == DType::f8_e5m2 && target_.has_f16) {  // the upper half of an f16
    const std::string half = words.convert("trunc", "i32", words.op("shl", whole, 8), "i16");
    return from_stored(DType::f16, {half, bits.vector});
  }
  const std::string sign = words.op("shl", words.op("and", whole, format.sign()), 32 - format.bits),
                    size = words.op("and", whole, format.sign() - 1);
  const std::string scaled = words.real("fmul", words.convert("sitofp", "i32", size, "float"), format.step());
  const std::string denormal = words.convert("bitcast", "float", scaled, "i32");
  const std::string finite = words.op("icmp ult", size, format.first_special);
  const std::string bias =
      words.choose(finite, words.number(format.rebias()), words.number(2 * format.rebias()));
  const std::string normal = words.op("add", words.op("shl", size, format.dropped()), bias);
  const std::string number =
      words.choose(words.op("icmp ult", size, 1u << format.fraction), denormal, normal);
  return {words.convert("bitcast", "i32", words.op("or", sign, number), "float"), bits.vector};
}

LlvmOperand LlvmValues::to_stored(DType stored, const LlvmOperand& number) {
  Words words(w_, number.vector);
  if (stored == DType::f16 && target_.has_f16)
    return {words.convert("bitcast", "half", words.convert("fptrunc", "float", number.text, "half"), "i16"),
            number.vector};
  const std::string bits = words.convert("bitcast", "float", number.text, "i32");
  // Half a step less one bit, and that bit where the last place kept is odd: ties go to even.
  const auto rounded = [&](const std::string& from, std::uint32_t dropped) {
    const std::string odd = words.op("and", words.op("lshr", from, dropped), 1);
    return words.op("add", words.op("add", from, (1u << (dropped - 1)) - 1), odd);
  };
  const Format format = format_of(stored);
  std::string result;
  if (stored == DType::bf16) {
    const std::string is_nan = w_.value("fcmp uno " + words.type("float") + " " + number.text + ", " +
                                        w_.real(DType::f32, number.vector, 0));
    result = words.op("lshr", words.choose(is_nan, words.op("or", bits, 0x400000u), rounded(bits, 16)), 16);
  } else {
    const std::string size = words.op("and", bits, 0x7fffffffu);
    const std::string is_small = words.op("icmp ult", size, format.least_normal());
    const std::string whole =
        words.op("lshr", rounded(words.op("sub", size, format.rebias()), format.dropped()), format.dropped());
    const std::string normal = words.choose(words.op("icmp ult", whole, format.first_special), whole,
                                            words.number(format.first_special));
    const std::string small = words.real(
        "fadd", words.convert("bitcast", "i32", words.choose(is_small, size, words.number(0)), "float"),
        format.rounder());
    const std::string denormal = words.op("sub", words.convert("bitcast", "float", small, "i32"),
                                          std::bit_cast<std::uint32_t>(format.rounder()));
    std::string of_size = words.choose(is_small, denormal, normal);
    if (format.first_special != format.nan) {
      std::string nan = words.number(format.nan);
      if (stored == DType::f16)
        nan = words.op("or", words.op("and", words.op("lshr", size, 13), 0x3ffu), format.nan);
      of_size = words.choose(words.op("icmp ugt", size, 0x7f800000u), nan, of_size);
    }
    const std::string sign = words.op("and", words.op("lshr", bits, 32 - format.bits), format.sign());
    result = words.op("or", sign, of_size);
  }
  return {words.convert("trunc", "i32", result, format.type), number.vector};
}

}  // namespace sinter::emit
