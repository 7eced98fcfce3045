// The spelling of C.
#include "jit/emit/dialects/syntax.h"

namespace sinter::emit {

Type type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return Type::F32;
    case DType::f64: return Type::F64;
    case DType::i32: return Type::I32;
    case DType::i64: return Type::I64;
    case DType::u64: return Type::I64;  // the same bits: nothing is computed in u64
    case DType::i8:
    case DType::i16:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::bf16:
    case DType::f16:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return Type::U32;  // the bits; those of small ones are the low ones
    case DType::boolean: break;
  }
  return Type::Bool;
}

std::string_view c_type(Type type) {
  switch (type) {
    case Type::F32: return "float";
    case Type::F64: return "double";
    case Type::I32: return "int";
    case Type::I64: return "i64";
    case Type::U32: return "u32";
    case Type::Bool: break;
  }
  return "bool";
}

std::string Syntax::literal(Type type, int value) const {
  const std::string digits = std::to_string(value);
  return type == Type::U32 ? digits + "u" : cast(type, digits);
}

std::string Syntax::constant(Type type, const std::string& name, const std::string& value) const {
  return "const " + variable(type, name, value);
}

std::string Syntax::variable(Type type, const std::string& name, const std::string& value) const {
  return this->type(type) + " " + name + " = " + value + ";";
}

std::string Syntax::variables(Type type, const std::vector<std::string>& names,
                              const std::string& value) const {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name + " = " + value;
  return this->type(type) + " " + text + ";";
}

std::string Syntax::array(Type type, const std::string& name, int count) const {
  return this->type(type) + " " + name + "[" + std::to_string(count) + "];";
}

std::string Syntax::array_of(Type type, const std::string& name, int count, const std::string& value) const {
  std::string values = value;
  for (int i = 1; i < count; ++i) values += ", " + value;
  return this->type(type) + " " + name + "[" + std::to_string(count) + "] = {" + values + "};";
}

std::string Syntax::loop(Type type, const std::string& variable, const std::string& first,
                         const std::string& limit, const std::string& step) const {
  return "for (" + this->type(type) + " " + variable + " = " + first + "; " + variable + " < " + limit +
         "; " + variable + " += " + step + ")";
}

std::string Syntax::rounds(const std::string& variable, int count) const {
  return "for (int " + variable + " = 0; " + variable + " < " + std::to_string(count) + "; ++" + variable +
         ")";
}

std::string Syntax::loop_while(const std::string& condition, const std::string& variable,
                               const std::string& step) const {
  return "for (; " + condition + "; " + variable + " += " + step + ")";
}

}  // namespace sinter::emit
