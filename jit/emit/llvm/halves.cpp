// 16-bit floats as LLVM values: their bits, which integer arithmetic turns into f32 and back, f16 where the
// processor has no instruction for it. Those for bf16 take denormal numbers for 0, and are not used.
//
// The steps are those of include/sinter/half.h.
#include "jit/emit/llvm/values.h"

namespace sinter::emit {
namespace {

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

LlvmOperand LlvmValues::from_half(DType half, const LlvmOperand& bits) {
  Words words(w_, bits.vector);
  const std::string whole = words.convert("zext", "i16", bits.text, "i32");
  if (half == DType::bf16)
    return {words.convert("bitcast", "i32", words.op("shl", whole, 16), "float"), bits.vector};
  if (target_.has_f16)
    return {words.convert("fpext", "half", words.convert("bitcast", "i16", bits.text, "half"), "float"),
            bits.vector};
  const std::string sign = words.op("shl", words.op("and", whole, 0x8000u), 16),
                    size = words.op("and", whole, 0x7fffu);
  const std::string scaled = words.real("fmul", words.convert("sitofp", "i32", size, "float"), 0x1p-24);
  const std::string denormal = words.convert("bitcast", "float", scaled, "i32");
  const std::string finite = words.op("icmp ult", size, 0x7c00u);
  const std::string bias = words.choose(finite, words.number(112u << 23), words.number(224u << 23));
  const std::string normal = words.op("add", words.op("shl", size, 13), bias);
  const std::string number = words.choose(words.op("icmp ult", size, 0x400u), denormal, normal);
  return {words.convert("bitcast", "i32", words.op("or", sign, number), "float"), bits.vector};
}

LlvmOperand LlvmValues::to_half(DType half, const LlvmOperand& number) {
  Words words(w_, number.vector);
  if (half == DType::f16 && target_.has_f16)
    return {words.convert("bitcast", "half", words.convert("fptrunc", "float", number.text, "half"), "i16"),
            number.vector};
  const std::string bits = words.convert("bitcast", "float", number.text, "i32");
  // Half a step less one bit, and that bit where the last place kept is odd: ties go to even.
  const auto rounded = [&](const std::string& from, std::uint32_t dropped) {
    const std::string odd = words.op("and", words.op("lshr", from, dropped), 1);
    return words.op("add", words.op("add", from, (1u << (dropped - 1)) - 1), odd);
  };
  std::string result;
  if (half == DType::bf16) {
    const std::string is_nan = w_.value("fcmp uno " + words.type("float") + " " + number.text + ", " +
                                        w_.real(DType::f32, number.vector, 0));
    result = words.op("lshr", words.choose(is_nan, words.op("or", bits, 0x400000u), rounded(bits, 16)), 16);
  } else {
    const std::string size = words.op("and", bits, 0x7fffffffu);
    const std::string is_nan = words.op("icmp ugt", size, 0x7f800000u);
    const std::string is_small = words.op("icmp ult", size, 0x38800000u);
    const std::string whole = words.op("lshr", rounded(words.op("sub", size, 112u << 23), 13), 13);
    const std::string normal =
        words.choose(words.op("icmp ult", whole, 0x7c00u), whole, words.number(0x7c00u));
    const std::string small = words.real(
        "fadd", words.convert("bitcast", "i32", words.choose(is_small, size, words.number(0)), "float"), 0.5);
    const std::string denormal =
        words.op("sub", words.convert("bitcast", "float", small, "i32"), 0x3f000000u);
    const std::string finite = words.choose(is_small, denormal, normal);
    const std::string nan = words.op("or", words.op("and", words.op("lshr", size, 13), 0x3ffu), 0x7e00u);
    const std::string sign = words.op("and", words.op("lshr", bits, 16), 0x8000u);
    result = words.op("or", sign, words.choose(is_nan, nan, finite));
  }
  return {words.convert("trunc", "i32", result, "i16"), number.vector};
}

}  // namespace sinter::emit
