// Elementwise operations as LLVM values.
#include <cmath>
#include <iterator>
#include <limits>

#include "jit/emit/llvm/maths.h"
#include "jit/emit/llvm/values.h"

namespace sinter::emit {
namespace {

struct Range {
  std::int64_t least, most;
};
Range range_of(DType dtype) {
  if (dtype == DType::i32)
    return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
}

/// The type of truth values beside values of `type`.
std::string truth_like(const std::string& type) {
  return type[0] == '<' ? type.substr(0, type.find('x')) + "x i1>" : "i1";
}

}  // namespace

/// How an op is written over operands of one kind.
struct LlvmForm {
  using Writer = std::string (LlvmValues::*)(Op op, DType dtype, bool vector, const std::string& a,
                                             const std::string& b);
  enum class Kind : std::uint8_t { Called, ByRule, Instruction, Intrinsic, Written };
  Kind kind = Kind::Called;
  const char* name = nullptr;
  Writer writer = nullptr;
  Writer by_one = nullptr;  // lanes and one scalar for all of them, where that has a better way

  constexpr LlvmForm with_scalar(Writer better) const {
    LlvmForm form = *this;
    form.by_one = better;
    return form;
  }
};

/// The column of the op table: for floats, integers and truth values.
struct LlvmForms {
  LlvmForm of_real, of_integer, of_truth;
  const LlvmForm& of(DType dtype) const {
    return is_float(dtype) ? of_real : dtype == DType::boolean ? of_truth : of_integer;
  }

  static const LlvmForms& of(Op op);
};

const LlvmForms& LlvmForms::of(Op op) {
  using V = LlvmValues;
  constexpr auto instruction = [](const char* name) {
    return LlvmForm{LlvmForm::Kind::Instruction, name, nullptr, nullptr};
  };
  constexpr auto intrinsic = [](const char* name) {
    return LlvmForm{LlvmForm::Kind::Intrinsic, name, nullptr, nullptr};
  };
  constexpr auto written = [](LlvmForm::Writer writer) {
    return LlvmForm{LlvmForm::Kind::Written, nullptr, writer, nullptr};
  };
  constexpr LlvmForm called{};
  constexpr auto both = [](LlvmForm form) { return LlvmForms{form, form, form}; };
  constexpr auto reals = [](LlvmForm form) { return LlvmForms{form, {}, {}}; };
  struct Forms {
    constexpr LlvmForms operator()(LlvmForm real, LlvmForm integer) const { return {real, integer, integer}; }
    constexpr LlvmForms operator()(LlvmForm real, LlvmForm integer, LlvmForm truth) const {
      return {real, integer, truth};
    }
  };
  constexpr Forms forms;
  constexpr LlvmForm special{LlvmForm::Kind::ByRule, nullptr, nullptr, nullptr};
  constexpr LlvmForms by_rule{special, special, special};
  static constexpr LlvmForms table[] = {
#define SINTER_ELEMENTWISE(op, name, arity, rule, text, host, llvm) llvm,
#define SINTER_STRUCTURAL(op, name, arity, op_class) LlvmForms{},
#include "src/trace/ops.def"
#undef SINTER_ELEMENTWISE
#undef SINTER_STRUCTURAL
  };
  static_assert(std::size(table) == kOpCount);
  return table[static_cast<std::size_t>(op)];
}

bool has_llvm_text(Op op, DType dtype) {
  if (LlvmForms::of(op).of(dtype).kind != LlvmForm::Kind::Called) return true;
  return has_llvm_maths(op, dtype);
}

std::string LlvmValues::vector(DType dtype, const LlvmOperand& value) {
  return value.vector ? value.text : w_.splat(llvm_type(dtype), value.text);
}

LlvmOperand LlvmValues::apply(Op op, DType result, DType operands, std::vector<LlvmOperand> args) {
  const DTypeRule rule = info(op).rule;
  if (rule == DTypeRule::Cast) return cast(result, operands, args[0]);
  bool any = false;
  for (const LlvmOperand& arg : args) any |= arg.vector;
  if (rule == DTypeRule::Select) {
    const std::string type = w_.type(result, any);
    const std::string yes = any ? vector(result, args[1]) : args[1].text,
                      no = any ? vector(result, args[2]) : args[2].text;
    return {w_.value("select " + w_.type(DType::boolean, args[0].vector) + " " + args[0].text + ", " + type +
                     " " + yes + ", " + type + " " + no),
            any};
  }
  std::vector<std::string> texts;
  for (const LlvmOperand& arg : args) texts.push_back(any ? vector(operands, arg) : arg.text);
  if (!has_llvm_text(op, operands)) return call_block_function(op, result, operands, any, texts);
  const LlvmForm& form = LlvmForms::of(op).of(operands);
  const std::string type = w_.type(operands, any);
  if (form.by_one != nullptr && any && !args[1].vector)
    return {(this->*form.by_one)(op, operands, true, texts[0], args[1].text), true};
  switch (form.kind) {
    case LlvmForm::Kind::Instruction: {
      std::string line = std::string(form.name) + " " + type + " " + texts[0];
      if (texts.size() == 2) line += ", " + texts[1];
      return {w_.value(line), any};
    }
    case LlvmForm::Kind::Intrinsic:
      return {w_.intrinsic("llvm." + std::string(form.name) + "." + w_.suffix(operands, any), type,
                           {{type, texts[0]}}),
              any};
    case LlvmForm::Kind::Written:
      return {(this->*form.writer)(op, operands, any, texts[0], texts.size() == 2 ? texts[1] : ""), any};
    case LlvmForm::Kind::ByRule:
    case LlvmForm::Kind::Called: break;
  }
  for (std::string& text : texts) text = vector(operands, {text, any});
  const std::string y = llvm_maths(w_, op, operands, texts, in_hot_loop_);
  return {any ? y : w_.first_lane(w_.type(operands, true), y), any};
}

// ---- what takes more than an instruction

std::string LlvmValues::negated(Op, DType dtype, bool vector, const std::string& a, const std::string&) {
  return w_.value("sub " + w_.type(dtype, vector) + " " + w_.integer(dtype, vector, 0) + ", " + a);
}

std::string LlvmValues::magnitude(Op op, DType dtype, bool vector, const std::string& a, const std::string&) {
  const std::string type = w_.type(dtype, vector), minus = negated(op, dtype, vector, a, "");
  const std::string below = w_.value("icmp slt " + type + " " + a + ", " + w_.integer(dtype, vector, 0));
  return w_.value("select " + w_.type(DType::boolean, vector) + " " + below + ", " + type + " " + minus +
                  ", " + type + " " + a);
}

std::string LlvmValues::sign(Op, DType dtype, bool vector, const std::string& a, const std::string&) {
  const std::string type = w_.type(dtype, vector), truth = w_.type(DType::boolean, vector);
  const bool real = is_float(dtype);
  auto constant = [&](int n) { return real ? w_.real(dtype, vector, n) : w_.integer(dtype, vector, n); };
  const std::string above =
      w_.value((real ? "fcmp ogt " : "icmp sgt ") + type + " " + a + ", " + constant(0));
  const std::string below =
      w_.value((real ? "fcmp olt " : "icmp slt ") + type + " " + a + ", " + constant(0));
  const std::string upper = w_.value("select " + truth + " " + above + ", " + type + " " + constant(1) +
                                     ", " + type + " " + constant(0));
  const std::string sign = w_.value("select " + truth + " " + below + ", " + type + " " + constant(-1) +
                                    ", " + type + " " + upper);
  if (!real) return sign;
  const std::string nan = w_.value("fcmp uno " + type + " " + a + ", " + a);
  return w_.value("select " + truth + " " + nan + ", " + type + " " + a + ", " + type + " " + sign);
}

/// Of a number, or of its root.
std::string LlvmValues::reciprocal(Op op, DType dtype, bool vector, const std::string& a,
                                   const std::string&) {
  const std::string type = w_.type(dtype, vector);
  const std::string by =
      op == Op::Recip ? a : w_.intrinsic("llvm.sqrt." + w_.suffix(dtype, vector), type, {{type, a}});
  return w_.value("fdiv " + type + " " + w_.real(dtype, vector, 1) + ", " + by);
}

/// Lanes by one divisor: its reciprocal, and what is missing from the product (P. Markstein, "Computation of
/// elementary functions on the IBM RISC System/6000", 1990). That is what division gives, but for dividends
/// below 2^-100, where the last place may differ. Divisors whose reciprocal might leave the normal numbers
/// are divided by.
std::string LlvmValues::quotient_by_one(Op, DType dtype, bool, const std::string& a, const std::string& b) {
  const std::string one = w_.type(dtype, false), type = w_.type(dtype, true), suffix = w_.suffix(dtype, true);
  const std::string divisor = w_.splat(one, b);
  if (!target_.has_fma) return w_.value("fdiv " + type + " " + a + ", " + divisor);
  auto fma = [&](const std::string& x, const std::string& y, const std::string& z) {
    return w_.intrinsic("llvm.fma." + suffix, type, {{type, x}, {type, y}, {type, z}});
  };
  const std::string size = w_.intrinsic("llvm.fabs." + w_.suffix(dtype, false), one, {{one, b}});
  const std::string small =
      w_.value("fcmp ult " + one + " " + size + ", " + w_.real(dtype, false, std::ldexp(1.0, -100)));
  const std::string large =
      w_.value("fcmp ogt " + one + " " + size + ", " + w_.real(dtype, false, std::ldexp(1.0, 100)));
  const std::string inverse =
      w_.splat(one, w_.value("fdiv " + one + " " + w_.real(dtype, false, 1) + ", " + b));
  const std::string q = w_.value("fmul " + type + " " + a + ", " + inverse);
  const std::string missing = fma(w_.value("fneg " + type + " " + q), divisor, a);
  const std::string better = fma(missing, inverse, q);
  // Where the product is infinite nothing can be added to it; a sum of zeros has lost its sign.
  const std::string no_sum = w_.value("fcmp uno " + type + " " + better + ", " + better);
  const std::string finite = w_.value("select " + w_.type(DType::boolean, true) + " " + no_sum + ", " + type +
                                      " " + q + ", " + type + " " + better);
  const std::string y = w_.intrinsic("llvm.copysign." + suffix, type, {{type, finite}, {type, q}});
  return w_.either(
      w_.value("or i1 " + small + ", " + large), type,
      [&] { return w_.value("fdiv " + type + " " + a + ", " + divisor); }, y);
}

std::string LlvmValues::is_nan(Op, DType dtype, bool vector, const std::string& a, const std::string&) {
  return w_.value("fcmp uno " + w_.type(dtype, vector) + " " + a + ", " + a);
}

std::string LlvmValues::complement(Op, DType dtype, bool vector, const std::string& a, const std::string&) {
  return w_.value("xor " + w_.type(dtype, vector) + " " + a + ", " +
                  w_.integer(dtype, vector, dtype == DType::boolean ? 1 : -1));
}

std::string LlvmValues::extreme(Op op, DType dtype, bool vector, const std::string& a, const std::string& b) {
  return combine(op == Op::Maximum ? Op::Max : Op::Min, dtype, w_.type(dtype, vector), a, b);
}

std::string LlvmValues::combine(Op reduction, DType dtype, const std::string& type, const std::string& a,
                                const std::string& b) {
  const bool real = is_float(dtype);
  const std::string operands = " " + type + " " + a + ", " + b;
  if (reduction == Op::Sum) return w_.value((real ? "fadd" : "add") + operands);
  if (reduction == Op::Prod) return w_.value((real ? "fmul" : "mul") + operands);
  const bool most = reduction == Op::Max;
  if (!most && reduction != Op::Min)
    throw std::logic_error("[llvm] no text for the reduction " + std::string(name_of(reduction)));
  if (dtype == DType::boolean) return w_.value((most ? "or" : "and") + operands);
  const std::string y = ordered(reduction, dtype, type, a, b);
  return real ? with_nan(type, a, y) : y;
}

std::string LlvmValues::ordered(Op reduction, DType dtype, const std::string& type, const std::string& a,
                                const std::string& b) {
  const char* order = reduction == Op::Max ? (is_float(dtype) ? "fcmp ogt " : "icmp sgt ")
                                           : (is_float(dtype) ? "fcmp olt " : "icmp slt ");
  const std::string first = w_.value(order + type + " " + a + ", " + b);
  return w_.value("select " + truth_like(type) + " " + first + ", " + type + " " + a + ", " + type + " " + b);
}

std::string LlvmValues::with_nan(const std::string& type, const std::string& a, const std::string& b) {
  const std::string nan = w_.value("fcmp uno " + type + " " + a + ", " + a);
  return w_.value("select " + truth_like(type) + " " + nan + ", " + type + " " + a + ", " + type + " " + b);
}

/// Counts that are negative or too large shift all bits out; to the right, copies of the sign come in.
std::string LlvmValues::shift(Op op, DType dtype, bool vector, const std::string& a,
                              const std::string& count) {
  const std::string type = w_.type(dtype, vector), truth = w_.type(DType::boolean, vector);
  const auto bits = static_cast<std::int64_t>(8 * size_of(dtype));
  const std::string fits =
      w_.value("icmp ult " + type + " " + count + ", " + w_.integer(dtype, vector, bits));
  auto choose = [&](const std::string& yes, std::int64_t no) {
    return w_.value("select " + truth + " " + fits + ", " + type + " " + yes + ", " + type + " " +
                    w_.integer(dtype, vector, no));
  };
  const std::string by = choose(count, bits - 1);
  if (op == Op::ShiftRight) return w_.value("ashr " + type + " " + a + ", " + by);
  return choose(w_.value("shl " + type + " " + a + ", " + by), 0);
}

/// Quotient towards zero, remainder with the divisor's sign; by zero both are 0, and nothing traps.
std::string LlvmValues::integer_division(Op op, DType dtype, bool vector, const std::string& a,
                                         const std::string& b) {
  const std::string type = w_.type(dtype, vector), truth = w_.type(DType::boolean, vector);
  const std::string zero = w_.integer(dtype, vector, 0), one = w_.integer(dtype, vector, 1);
  auto choose = [&](const std::string& condition, const std::string& yes, const std::string& no) {
    return w_.value("select " + truth + " " + condition + ", " + type + " " + yes + ", " + type + " " + no);
  };
  const std::string by_zero = w_.value("icmp eq " + type + " " + b + ", " + zero);
  std::string quotient, safe;
  if (vector && dtype == DType::i32) {
    // In double, which holds i32 quotients exactly enough; there is no vector instruction for integers.
    const std::string real = w_.vector_of("double");
    safe = choose(by_zero, one, b);
    const std::string x = w_.value("sitofp " + type + " " + a + " to " + real);
    const std::string y = w_.value("sitofp " + type + " " + safe + " to " + real);
    const std::string ratio = w_.value("fdiv " + real + " " + x + ", " + y);
    // The least number by -1 is the one ratio that does not fit.
    const std::string wide = w_.vector_of("i64");
    const std::string whole =
        target_.vector_bytes == 64 ? w_.value("fptosi " + real + " " + ratio + " to " + wide) : "";
    if (!whole.empty()) {
      quotient = w_.value("trunc " + wide + " " + whole + " to " + type);
    } else {
      const std::string least = w_.integer(dtype, vector, range_of(dtype).least);
      const std::string fits =
          w_.value("fcmp olt " + real + " " + ratio + ", " + w_.real(DType::f64, true, 2147483648.0));
      const std::string inside = w_.value("select " + truth + " " + fits + ", " + real + " " + ratio + ", " +
                                          real + " " + w_.real(DType::f64, true, 0));
      quotient = choose(fits, w_.value("fptosi " + real + " " + inside + " to " + type), least);
    }
    quotient = choose(by_zero, zero, quotient);
  } else {
    const std::string minus_one = w_.integer(dtype, vector, -1);
    const std::string by_minus_one = w_.value("icmp eq " + type + " " + b + ", " + minus_one);
    safe = choose(by_minus_one, one, choose(by_zero, one, b));
    quotient = w_.value("sdiv " + type + " " + a + ", " + safe);
    if (op == Op::Div) {
      const std::string minus = w_.value("sub " + type + " " + zero + ", " + a);
      quotient = choose(by_zero, zero, choose(by_minus_one, minus, quotient));
    }
  }
  if (op == Op::Div) return quotient;
  const std::string product = w_.value("mul " + type + " " + quotient + ", " + safe);
  std::string remainder = w_.value("sub " + type + " " + a + ", " + product);
  remainder = choose(by_zero, zero, remainder);
  const std::string signs = w_.value("xor " + type + " " + remainder + ", " + b);
  const std::string differ = w_.value("icmp slt " + type + " " + signs + ", " + zero);
  const std::string some = w_.value("icmp ne " + type + " " + remainder + ", " + zero);
  const std::string moved = w_.value("add " + type + " " + remainder + ", " + b);
  return choose(w_.value("and " + truth + " " + differ + ", " + some), moved, remainder);
}

LlvmOperand LlvmValues::cast(DType to, DType from, const LlvmOperand& value) {
  if (to == from) return value;
  if (is_stored_float(from)) return from_stored(from, value);
  if (is_stored_float(to)) return to_stored(to, value);
  const bool v = value.vector;
  const std::string from_type = w_.type(from, v), to_type = w_.type(to, v), a = from_type + " " + value.text;
  const bool from_real = is_float(from), to_real = is_float(to);
  const bool from_unsigned = is_unsigned(from) || from == DType::boolean;
  auto made = [&](const std::string& instruction) { return LlvmOperand{w_.value(instruction), v}; };
  if (to == DType::boolean) {
    if (from_real) return made("fcmp une " + a + ", " + w_.real(from, v, 0));
    return made("icmp ne " + a + ", " + w_.integer(from, v, 0));
  }
  if (from_real && to_real) return made((to == DType::f64 ? "fpext " : "fptrunc ") + a + " to " + to_type);
  if (to_real) return made((from_unsigned ? "uitofp " : "sitofp ") + a + " to " + to_type);
  if (from_real) {
    // Saturating; a NaN gives 0.
    const std::string name = "llvm.fptosi.sat." + w_.suffix(to, v) + "." + w_.suffix(from, v);
    return {w_.intrinsic(name, to_type, {{from_type, value.text}}), v};
  }
  const std::size_t from_size = from == DType::boolean ? 0 : size_of(from), to_size = size_of(to);
  if (to_size == from_size) return value;
  if (to_size < from_size) return made("trunc " + a + " to " + to_type);
  return made((from_unsigned ? "zext " : "sext ") + a + " to " + to_type);
}

LlvmOperand LlvmValues::call_block_function(Op op, DType result, DType dtype, bool v,
                                            const std::vector<std::string>& args) {
  for (std::string& block : blocks_)
    if (block.empty()) block = w_.local(static_cast<std::size_t>(w_.most_lanes()) * 8);
  auto memory_type = [&](DType d) {
    return v ? w_.vector_of(llvm_memory_type(d)) : std::string(llvm_memory_type(d));
  };
  auto align = [&](DType d) { return v ? 64 : static_cast<int>(size_of(d)); };
  for (std::size_t i = 0; i < args.size(); ++i)
    w_.store(memory_type(dtype), to_memory(dtype, v, args[i]),
             w_.cast_pointer("i8", memory_type(dtype), blocks_[i + 1]), align(dtype));
  w_.line("; " + std::string(name_of(op)) + " of " + std::string(name_of(dtype)));
  llvm_call_function(w_, "%functions", llvm_function(op, dtype), blocks_[0], blocks_[1],
                     args.size() > 1 ? blocks_[2] : "null", "null", v ? w_.lanes() : 1);
  const std::string out = w_.cast_pointer("i8", memory_type(result), blocks_[0]);
  return from_memory(result, v, w_.load(memory_type(result), out, align(result)));
}

}  // namespace sinter::emit
