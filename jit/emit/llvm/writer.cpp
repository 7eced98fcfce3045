// How values, vectors, memory and loops are spelled.
#include "jit/emit/llvm/writer.h"

#include <bit>
#include <cctype>
#include <cstdio>
#include <utility>

namespace sinter::emit {

const char* llvm_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i32:
    case DType::u32: return "i32";
    case DType::i64:
    case DType::u64: return "i64";
    case DType::i8:
    case DType::u8:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return "i8";
    case DType::i16:
    case DType::u16:
    case DType::bf16:
    case DType::f16: return "i16";
    case DType::boolean: return "i1";
  }
  return "";
}

const char* llvm_memory_type(DType dtype) { return dtype == DType::boolean ? "i8" : llvm_type(dtype); }

const char* llvm_suffix(DType dtype) {
  if (dtype == DType::f32) return "f32";
  if (dtype == DType::f64) return "f64";
  return llvm_type(dtype);
}

std::string llvm_real(DType dtype, double value) {
  // A float constant is written as the double that equals it.
  const double exact = dtype == DType::f32 ? static_cast<double>(static_cast<float>(value)) : value;
  char text[24];
  std::snprintf(text, sizeof text, "0x%016llX",
                static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(exact)));
  return text;
}

std::string LlvmWriter::value(const std::string& instruction) {
  std::string name = "%v" + std::to_string(values_++);
  (to_entry_ ? entry_ : body_).append("  ").append(name).append(" = ").append(instruction).append("\n");
  return name;
}

std::string LlvmWriter::named(const std::string& name, const std::string& instruction) {
  const std::string full = "%" + name + std::to_string(values_++);
  line(full + " = " + instruction);
  return full;
}

void LlvmWriter::line(const std::string& instruction) {
  (to_entry_ ? entry_ : body_).append("  ").append(instruction).append("\n");
}

std::string LlvmWriter::splat(const std::string& type, const std::string& scalar) {
  const bool is_name = scalar[0] == '%';
  if (scalar == "0" || scalar == "false" || scalar == "0x0000000000000000") return "zeroinitializer";
  if (is_name) {
    const std::string vector = vector_of(type);
    const std::string one = value("insertelement " + vector + " poison, " + type + " " + scalar + ", i32 0");
    return value("shufflevector " + vector + " " + one + ", " + vector + " poison, <" +
                 std::to_string(lanes_) + " x i32> zeroinitializer");
  }
  std::string& text = constants_[vector_of(type) + " " + scalar];
  if (text.empty()) {
    text = "<";
    for (int lane = 0; lane < lanes_; ++lane) text += (lane > 0 ? ", " : "") + type + " " + scalar;
    text += ">";
  }
  return text;
}

std::string LlvmWriter::iota(const std::string& type) const {
  std::string text = "<";
  for (int lane = 0; lane < lanes_; ++lane)
    text += (lane > 0 ? ", " : "") + type + " " + std::to_string(lane);
  return text + ">";
}

std::string LlvmWriter::real(DType dtype, bool vector, double number) {
  const std::string text = llvm_real(dtype, number);
  return vector ? splat(llvm_type(dtype), text) : text;
}

std::string LlvmWriter::integer(DType dtype, bool vector, std::int64_t number) {
  const std::string text =
      dtype == DType::boolean ? (number != 0 ? "true" : "false") : std::to_string(number);
  return vector ? splat(llvm_type(dtype), text) : text;
}

std::string LlvmWriter::intrinsic(const std::string& name, const std::string& result,
                                  const std::vector<std::pair<std::string, std::string>>& arguments) {
  std::string types, operands;
  for (const auto& [type, operand] : arguments) {
    types += (types.empty() ? "" : ", ") + type;
    operands += (operands.empty() ? "" : ", ") + type + " " + operand;
  }
  if (name.starts_with("llvm."))
    module_.declarations.insert("declare " + result + " @" + name + "(" + types + ")");
  const std::string call = "call " + result + " @" + name + "(" + operands + ")";
  if (result != "void") return value(call);
  line(call);
  return "";
}

std::string LlvmWriter::first_lane(const std::string& vector_type, const std::string& vector) {
  return value("extractelement " + vector_type + " " + vector + ", i32 0");
}

// ---- memory

std::string LlvmWriter::cast_pointer(const std::string& from, const std::string& to,
                                     const std::string& pointer) {
  if (!module_.typed_pointers || from == to) return pointer;
  return value("bitcast " + from + "* " + pointer + " to " + to + "*");
}

std::string LlvmWriter::element(const std::string& type, const std::string& pointer,
                                const std::string& index) {
  return value("getelementptr " + type + ", " + pointer_to(type) + " " + pointer + ", i64 " + index);
}

std::string LlvmWriter::load(const std::string& type, const std::string& pointer, int align) {
  return value("load " + type + ", " + pointer_to(type) + " " + pointer + ", align " + std::to_string(align));
}

void LlvmWriter::store(const std::string& type, const std::string& stored, const std::string& pointer,
                       int align, bool streams) {
  if (streams) module_.declarations.insert("!0 = !{i32 1}");
  line("store " + type + " " + stored + ", " + pointer_to(type) + " " + pointer + ", align " +
       std::to_string(align) + (streams ? ", !nontemporal !0" : ""));
}

std::string LlvmWriter::local(std::size_t bytes) {
  const std::string array = "[" + std::to_string(bytes) + " x i8]";
  return in_entry([&] {
    const std::string memory = value("alloca " + array + ", align 64");
    return cast_pointer(array, "i8", memory);
  });
}

// ---- control

LlvmWriter::Names LlvmWriter::loop(const std::string& begin, const std::string& end, const std::string& step,
                                   const std::vector<LlvmCarried>& carried,
                                   const std::function<Names(const std::string&, const Names&)>& body,
                                   const std::string& kind) {
  const std::string name = label(kind);
  const std::string i = "%" + name + ".i";
  line("br label %" + name + ".pre");
  body_ += name + ".pre:\n";
  line("br label %" + name + ".head");
  body_ += name + ".head:\n";
  line(i + " = phi i64 [ " + begin + ", %" + name + ".pre ], [ " + i + ".next, %" + name + ".latch ]");
  Names names;
  for (std::size_t c = 0; c < carried.size(); ++c) names.push_back("%" + name + ".c" + std::to_string(c));
  const std::size_t phis = body_.size();  // written once the next values have names
  const std::string more = value("icmp slt i64 " + i + ", " + end);
  line("br i1 " + more + ", label %" + name + ".body, label %" + name + ".exit");
  body_ += name + ".body:\n";
  const Names next = body(i, names);
  line("br label %" + name + ".latch");
  body_ += name + ".latch:\n";
  line(i + ".next = add nsw i64 " + i + ", " + step);
  line("br label %" + name + ".head");
  body_ += name + ".exit:\n";
  std::string text;
  for (std::size_t c = 0; c < carried.size(); ++c)
    text += "  " + names[c] + " = phi " + carried[c].type + " [ " + carried[c].value + ", %" + name +
            ".pre ], [ " + next[c] + ", %" + name + ".latch ]\n";
  body_.insert(phis, text);
  return names;
}

void LlvmWriter::when(const std::string& condition, const std::function<void()>& body, bool goes_on) {
  const std::string name = label();
  line("br i1 " + condition + ", label %" + name + ".then, label %" + name + ".end");
  body_ += name + ".then:\n";
  body();
  if (goes_on) line("br label %" + name + ".end");
  body_ += name + ".end:\n";
}

void LlvmWriter::choose(const std::string& condition, const std::function<void()>& yes,
                        const std::function<void()>& no) {
  const std::string name = label();
  line("br i1 " + condition + ", label %" + name + ".then, label %" + name + ".else");
  body_ += name + ".then:\n";
  yes();
  line("br label %" + name + ".end");
  body_ += name + ".else:\n";
  no();
  line("br label %" + name + ".end");
  body_ += name + ".end:\n";
}

std::string LlvmWriter::either(const std::string& condition, const std::string& type,
                               const std::function<std::string()>& yes, const std::string& otherwise) {
  const std::string name = label();
  line("br label %" + name + ".before");
  body_ += name + ".before:\n";
  line("br i1 " + condition + ", label %" + name + ".then, label %" + name + ".end");
  body_ += name + ".then:\n";
  const std::string result = yes();
  line("br label %" + name + ".done");
  body_ += name + ".done:\n";
  line("br label %" + name + ".end");
  body_ += name + ".end:\n";
  return value("phi " + type + " [ " + otherwise + ", %" + name + ".before ], [ " + result + ", %" + name +
               ".done ]");
}

std::string LlvmWriter::pick(const std::string& condition, const std::string& type,
                             const std::function<std::string()>& yes,
                             const std::function<std::string()>& no) {
  const std::string name = label();
  line("br i1 " + condition + ", label %" + name + ".then, label %" + name + ".else");
  body_ += name + ".then:\n";
  const std::string first = yes();
  line("br label %" + name + ".yes");
  body_ += name + ".yes:\n";
  line("br label %" + name + ".end");
  body_ += name + ".else:\n";
  const std::string second = no();
  line("br label %" + name + ".no");
  body_ += name + ".no:\n";
  line("br label %" + name + ".end");
  body_ += name + ".end:\n";
  return value("phi " + type + " [ " + first + ", %" + name + ".yes ], [ " + second + ", %" + name + ".no ]");
}

std::string LlvmWriter::function(const std::string& head) const {
  return head + " {\nentry:\n" + entry_ + "  br label %start\nstart:\n" + body_ + "}\n";
}

}  // namespace sinter::emit
