// Writes the heads of passes.
#include "src/runtime/vulkan/kernels/pass_text.h"

#include <algorithm>

#include "jit/emit/dialects/glsl/glsl.h"
#include "jit/emit/dialects/prelude.h"

namespace sinter::runtime::vulkan {
namespace {

const char* type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i32: return "int";
    default: return "int64_t";
  }
}

}  // namespace

bool needs_int64(const PassList& list) {
  if (list.dtype == DType::i64 ||
      (list.dtype == DType::f64 && list.functions.find("Key") != std::string::npos))
    return true;
  return std::any_of(list.passes.begin(), list.passes.end(), [](const Pass& pass) {
    return std::any_of(pass.buffers.begin(), pass.buffers.end(),
                       [](const PassBuffer& buffer) { return buffer.dtype == DType::i64; });
  });
}

std::string pass_source(const PassList& list, const Pass& pass) {
  std::string text =
      "#version 450\n"
      "#extension GL_EXT_control_flow_attributes : require\n";
  if (list.joins) text += "#extension GL_EXT_shader_atomic_float : enable\n";
  if (list.joins && needs_int64(list)) text += "#extension GL_EXT_shader_atomic_int64 : enable\n";
  if (needs_int64(list)) text += "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n";
  const auto define = [&](const std::string& name, const std::string& value) {
    text += "#define " + name + " " + value + "\n";
  };
  define("Index", "uint");
  define("Word", "uint");
  define("T", type_of(list.dtype));
  define("LANES", std::to_string(pass.lanes));
  define("COLUMNS", std::to_string(Pass::kColumns));
  define("UNROLL", "[[unroll]]");
  define("UNROLL_SOME", "");
  define("ADD_TO(place, x)", "atomicAdd(place, int(x))");
  define("RAISE_TO(place, x)", "atomicMax(place, x)");
  if (list.joins) {
    define("ADD_TERM_TO(place, x)", "atomicAdd(place, x)");
    define("ADD_BY_SWAPS(place, x)",
           "{ Key seen = place; for (;;) { const Key was = atomicCompSwap(place, seen, "
           "BITS(FROM_BITS(seen) + (x))); if (was == seen) break; seen = was; } }");
  }
  text += pass.defines + "layout(local_size_x = LANES) in;\n";
  if (pass.shared_words > 0) {
    define("BARRIER", "barrier()");
    define("TEAM_BARRIER", "barrier()");  // whatever the size of subgroups
    define("ATOMIC_ADD(at, x)", "atomicAdd(memory[at], x)");
    define("ATOMIC_OR(at, x)", "atomicOr(memory[at], x)");
    define("BIT_COUNT(x)", "bitCount(x)");
    if (list.dtype == DType::f64) {
      define("LOW(number)", "unpackDouble2x32(number).x");
      define("HIGH(number)", "unpackDouble2x32(number).y");
      define("JOINED(low, high)", "packDouble2x32(uvec2(low, high))");
    } else if (list.dtype == DType::i64) {
      define("LOW(x)", "Word(x)");
      define("HIGH(x)", "Word((x) >> 32)");
      define("JOINED(low, high)", "((int64_t(high) << 32) | int64_t(low))");
    }
    text += "shared uint memory[" + std::to_string(pass.shared_words) + "];\n";
  }
  std::size_t binding = 0;
  for (const PassBuffer& buffer : pass.buffers) {
    const std::string number = std::to_string(binding++);
    text += "layout(std430, binding = " + number + ") " +
            (buffer.shared    ? "coherent"
             : buffer.written ? "writeonly"
                              : "readonly") +
            " buffer Buffer" + number + " { " + type_of(buffer.dtype) + " " + buffer.name + "_at[]; };\n";
    define(buffer.name + "(i)", buffer.name + "_at[words[" + number + "] + (i)]");
  }
  text += "layout(std430, binding = " + std::to_string(binding) +
          ") restrict readonly buffer Arguments { uint words[]; };\n";
  std::size_t word = binding;
  define("width_bits", "words[" + std::to_string(word++) + "]");
  define("tiles", "words[" + std::to_string(word++) + "]");
  for (const auto& [name, value] : pass.ints) define(name, "words[" + std::to_string(word++) + "]");
  if (pass.shared_words > 0 || list.joins || !list.functions.empty()) {
    define("Key", size_of(list.dtype) == 8 ? "int64_t" : "int");
    const bool wide = list.dtype == DType::f64, integer = !is_float(list.dtype);
    define("BITS(x)", integer ? "(x)" : wide ? "doubleBitsToInt64(x)" : "floatBitsToInt(x)");
    define("FROM_BITS(x)", integer ? "(x)" : wide ? "int64BitsToDouble(x)" : "intBitsToFloat(x)");
  }
  if (!list.functions.empty()) {
    define("SN_FN", "");
    define("u32", "uint");
    if (needs_int64(list)) define("i64", "int64_t"), define("Wide", "int64_t");
    text += emit::functions_for(list.functions, emit::glsl_dialect(), {}) + list.functions;
  }
  text +=
      "void main() {\n"
      "const uint workgroup = gl_WorkGroupID.x + gl_WorkGroupID.y * gl_NumWorkGroups.x;\n"
      "const uint lane = gl_LocalInvocationIndex;\n"
      "const Index row = workgroup / tiles * (LANES >> width_bits) + (lane >> width_bits);\n"
      "const Index width = 1u << width_bits;\n"
      "const Index column = (workgroup % tiles * COLUMNS << width_bits) + (lane & (width - 1));\n";
  text += pass.body.empty() ? pass.glsl : body_text(pass.body);
  return text + "}\n";
}

}  // namespace sinter::runtime::vulkan
