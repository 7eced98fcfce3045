// GLSL for Vulkan compute. Float temporaries are `precise`: no contraction, so that fused equals unfused.
#include <algorithm>
#include <stdexcept>

#include "jit/emit/contraction/contraction.h"
#include "jit/emit/contraction/matrices.h"
#include "jit/emit/dialects/glsl/exponentials.h"
#include "jit/emit/dialects/glsl/f16.h"
#include "jit/emit/dialects/glsl/glsl.h"
#include "jit/emit/dialects/glsl/workgroups.h"

namespace sinter::emit {

namespace {

std::string_view storage_type(DType dtype) {
  if (size_of(dtype) == 2) return "uint16_t";
  return size_of(dtype) == 1 ? "uint8_t" : c_type(dtype);
}

/// Four values in registers, but for those of 16 bits (is_packed); eight are an array.
std::string_view vector_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "vec4";
    case DType::f64: return "dvec4";
    case DType::i32: return "ivec4";
    case DType::i64:
    case DType::u64: return "i64vec4";
    case DType::i8:
    case DType::i16:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::bf16:
    case DType::f16:
    case DType::f8_e4m3:
    case DType::f8_e5m2: return "uvec4";
    case DType::boolean: return "bvec4";
  }
  return "";
}

/// Two values share a register, as they share a word in memory.
bool is_packed(DType dtype, int width) { return size_of(dtype) == 2 && width == kVector; }

/// What vectors consist of in memory: at most 16 bytes, which is what a binding may begin at. Eight 16-bit
/// values are one of these, eight others are two of those for four.
std::string_view vector_in_memory(DType dtype, int width) {
  if (size_of(dtype) == 2) return width == kWideVector ? "uvec4" : "uvec2";
  switch (dtype) {
    case DType::f64: return "dvec2";
    case DType::i64:
    case DType::u64: return "i64vec2";
    case DType::i8:
    case DType::u8:
    case DType::f8_e4m3:
    case DType::f8_e5m2:
    case DType::boolean: return "u32";
    default: return vector_of(dtype);
  }
}

class GlslDialect : public Dialect {
 public:
  GlslDialect() {
    alone = {"gl_GlobalInvocationID.x", "gl_NumWorkGroups.x * gl_WorkGroupSize.x",
             "gl_WorkGroupID.x",        "gl_NumWorkGroups.x",
             "gl_WorkGroupID.x",        "gl_NumWorkGroups.x"};
    member = {"sn_workgroup * gl_WorkGroupSize.x + gl_LocalInvocationID.x",
              "sn_workgroups * gl_WorkGroupSize.x",
              "sn_workgroup",
              "sn_workgroups",
              "sn_workgroup",
              "sn_workgroups"};
    entry = "main";
    workgroup = "gl_WorkGroupID.x";
    lane = "SN_LANE";
    lanes = "SN_LANES";
    row = "SN_ROW";
    rows = "SN_ROWS";
    barrier = "barrier();";
    workgroup_barrier = "barrier();";
    unroll = "[[unroll]]";
    loads_rows_first = true;
    notes_nan = true;
    tile_edge = 32;  // NVIDIA's compiler keeps fewer loads under way: 70 us beside 126 for x + its transpose
    numbers_vectors = true;
    pairs_halves = true;
    loads_around_rows = true;  // bindings begin and end at multiples of a vector
    has_wide_vectors = true;
    faults = "sn_fault.word";
    member_number = "sn_low";
    handover = {"memoryBarrierBuffer();", "", "sn_turn", "barrier();", "memoryBarrierShared();"};
  }

  std::string preamble(const ir::Kernel& kernel, const Target& target) const override {
    std::string text = "#version 450\n";
    if (target.has_i64) text += "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n";
    bool bytes = false, halves = false;
    for (const ir::BufferInfo& buffer : kernel.buffers) {
      bytes = bytes || size_of(buffer.dtype) == 1;
      halves = halves || size_of(buffer.dtype) == 2;
    }
    if (halves) text += "#extension GL_EXT_shader_16bit_storage : require\n";
    if (bytes) text += "#extension GL_EXT_shader_8bit_storage : require\n";
    const bool exchange = target.subgroup && (ir::has_score_tile(kernel) ||
                                              schedule_on(kernel, target) == ir::Schedule::LanesInner);
    if (exchange)
      text +=
          "#extension GL_KHR_shader_subgroup_basic : require\n#extension GL_KHR_shader_subgroup_shuffle : "
          "require\n";
    if (exchange || target.vectors || !kernel.inner_sizes.empty())
      text += "#extension GL_EXT_control_flow_attributes : require\n";
    if (kernel.members > 1)
      text +=
          "#extension GL_EXT_buffer_reference : require\n#extension GL_EXT_buffer_reference_uvec2 : "
          "require\n";
    if (has_tiles(kernel, target) || kernel.attention.by == ir::Attention::By::Matrices)
      text += matrix_extensions();
    if (target.casts_f16 && casts_f16(kernel)) text += glsl_f16_modes();
    if (ir::has_score_tile(kernel)) text += "#define sn_four vec4\n#define SN_FOUR vec4\n";
    text += "#define u32 uint\n";
    if (target.has_i64) text += "#define i64 int64_t\n#define u64 uint64_t\n";
    return text + "#define SN_FN\nlayout(local_size_x = " + std::to_string(target.workgroup_size) +
           ", local_size_x_id = 0) in;\n" + places(kernel, target);
  }

  std::string open(const ir::Kernel& kernel, const Target& target, const BodyUse& use) const override {
    const std::string fours =
        use.shared_fours > 0 ? "shared vec4 sn_tile[" + std::to_string(use.shared_fours) + "];\n" : "";
    if (kernel.members > 1) return fours + open_members(kernel);
    std::string text = fours;
    std::size_t binding = 0;
    auto block = [&](const std::string& qualifiers, const std::string& name, const std::string& member) {
      text += "layout(std430, binding = " + std::to_string(binding) + ") " + qualifiers + " buffer " + name +
              "_t { " + member + "; } " + name + ";\n";
    };
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b, ++binding) {
      const ir::BufferInfo& buffer = kernel.buffers[b];
      const bool vectors = use.in_vectors.count(b) != 0;
      // Single elements and vectors are two views of one binding: what is written through one is not the
      // other's alone.
      std::string qualifiers = vectors && buffer.written ? "" : "restrict";
      if (!buffer.written || !buffer.read) {
        qualifiers += qualifiers.empty() ? "" : " ";
        qualifiers += buffer.written ? "writeonly" : "readonly";
      }
      block(qualifiers, "b" + std::to_string(b), std::string(storage_type(buffer.dtype)) + " at[]");
      const std::string_view vector = vector_in_memory(buffer.dtype, vector_width(kernel, target));
      if (vectors) block(qualifiers, "b" + std::to_string(b) + "_4", std::string(vector) + " at[]");
    }
    auto more = [&](const std::string& qualifiers, const std::string& name) {
      block(qualifiers, name, "u32 word[]");
      ++binding;
    };
    more("restrict readonly", "sn_arguments");
    if (takes_parts(kernel, target)) {
      more("restrict coherent", "sn_partials");
      more("restrict coherent", "sn_counters");
    }
    if (kernel.split) text += "shared u32 sn_turn;\n";
    if (kernel.faults > 0) more("restrict", "sn_fault");
    for (const SharedArray& array : use.shared)
      text += "shared " + std::string(c_type(array.dtype)) + " " + array.name + "[" +
              std::to_string(array.elements) + "];\n";
    text += "void main() {\n";

    std::size_t at = 0;
    auto word = [&] { return "sn_arguments.word[" + std::to_string(at++) + "]"; };
    auto pair = [&] {
      const std::string low = word();
      return "uvec2(" + low + ", " + word() + ")";
    };
    for (std::size_t i = 0; i < kernel.ints; ++i)
      text += define_argument(kernel, 'n', i, kernel.wide ? pair() : word());
    for (std::size_t s = 0; s < kernel.scalars.size(); ++s)
      text += define_argument(kernel, 's', s, size_of(kernel.scalars[s]) == 8 ? pair() : word());
    if (takes_parts(kernel, target)) text += "  const u32 parts = " + word() + ";\n";
    return text;
  }

  using Dialect::exact;
  std::string exact(Type type, const std::string& name, const std::string& value) const override {
    const bool is_real = type == Type::F32 || type == Type::F64;
    return (is_real ? "precise " : "const ") + variable(type, name, value);
  }

  std::string read(const ir::Kernel& kernel, std::size_t buffer, const std::string& position) const override {
    const std::string element = at(kernel, buffer, position);
    const DType dtype = kernel.buffers[buffer].dtype;
    if (dtype == DType::boolean) return "u32(" + element + ") != 0u";
    return size_of(dtype) < 4 ? "u32(" + element + ")" : element;
  }

  std::string write(const ir::Kernel& kernel, std::size_t buffer, const std::string& position,
                    const std::string& value) const override {
    const std::size_t size = size_of(kernel.buffers[buffer].dtype);
    const std::string small = size == 1   ? "uint8_t(u32(" + value + "))"
                              : size == 2 ? "uint16_t(" + value + ")"
                                          : value;
    return at(kernel, buffer, position) + " = " + small + ";";
  }

  // The kernels of several members reach their buffers through addresses, which a vector would ask more of.
  bool has_vectors(const ir::Kernel& kernel, const Target& target) const override {
    return target.vectors && kernel.members == 1;
  }
  std::string declare_vector(DType dtype, int width, const std::string& name, int count) const override {
    if (width == kWideVector) return std::string(c_type(dtype)) + " " + name + "[8];";
    return std::string(is_packed(dtype, width) ? vector_in_memory(dtype, width) : vector_of(dtype)) + " " +
           name + (count ? "[" + std::to_string(count) + "]" : "") + ";";
  }
  std::string element(DType dtype, int width, const std::string& vector) const override {
    if (!is_packed(dtype, width)) return Dialect::element(dtype, width, vector);
    return "(" + vector + "[k >> 1] >> (16 * (k & 1)) & 65535u)";
  }
  std::string set_element(DType dtype, int width, const std::string& vector,
                          const std::string& value) const override {
    if (!is_packed(dtype, width)) return Dialect::set_element(dtype, width, vector, value);
    const std::string word = vector + "[k >> 1]";
    return word + " = bitfieldInsert(" + word + ", " + value + ", 16 * (k & 1), 16);";
  }
  std::string load_vector(const ir::Kernel& kernel, int width, std::size_t buffer, const std::string& number,
                          const std::string& to) const override {
    const DType dtype = kernel.buffers[buffer].dtype;
    if (width == kVector) return to + " = " + load4(dtype, buffer, number) + ";";
    const std::string pair = "2u * (" + number + ")";
    const std::string parts = size_of(dtype) == 2
                                  ? "const uvec4 words = " + at4(buffer, number) +
                                        ", a = sn_halves(words.xy), b = sn_halves(words.zw); "
                                  : "const " + std::string(vector_of(dtype)) +
                                        " a = " + load4(dtype, buffer, pair) +
                                        ", b = " + load4(dtype, buffer, pair + " + 1u") + "; ";
    return "{ " + parts + to + " = " + std::string(c_type(dtype)) +
           "[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }";
  }
  std::string store_vector(const ir::Kernel& kernel, int width, std::size_t buffer, const std::string& number,
                           const std::string& from) const override {
    const DType dtype = kernel.buffers[buffer].dtype;
    if (width == kVector) return store4(dtype, buffer, number, from);
    const std::string_view type = vector_of(dtype);
    const std::string first = four(type, from, 0), second = four(type, from, 4);
    if (size_of(dtype) == 2)
      return at4(buffer, number) + " = uvec4(sn_words_of_halves(" + first + "), sn_words_of_halves(" +
             second + "));";
    const std::string pair = "2u * (" + number + ")";
    return "{ const " + std::string(type) + " a = " + first + ", b = " + second + "; " +
           store4(dtype, buffer, pair, "a") + " " + store4(dtype, buffer, pair + " + 1u", "b") + " }";
  }

  bool casts_vectors_to(DType dtype) const override { return dtype == DType::bf16; }
  std::string store_cast_vector(const ir::Kernel&, int width, std::size_t buffer, const std::string& number,
                                const std::string& from) const override {
    const std::string call =
        width == kVector ? "sn_words_of_bf16(" + from + ")"
                         : "sn_words_of_8_bf16(" + four("vec4", from, 0) + ", " + four("vec4", from, 4) + ")";
    return at4(buffer, number) + " = " + call + ";";
  }

  // NVIDIA's driver makes 1 of x / x whatever x is, also through factors: of 0, infinity and NaN too.
  std::string_view with_itself(const OpInfo& op, DType dtype) const override {
    if (op.op != Op::Div || !is_float(dtype)) return "";
    return dtype == DType::f64 ? "sn_div_by_itself_f64" : "sn_div_by_itself_f32";
  }

  // GLSL orders numbers only.
  std::string operand(const OpInfo& op, DType dtype, const std::string& value) const override {
    return op.rule == DTypeRule::Compare && dtype == DType::boolean ? "int(" + value + ")" : value;
  }

  std::string extreme(DType dtype, bool least) const override {
    switch (dtype) {
      case DType::f32: return least ? "uintBitsToFloat(0xff800000u)" : "uintBitsToFloat(0x7f800000u)";
      case DType::f64:
        return std::string("packDouble2x32(uvec2(0u, ") + (least ? "0xfff00000u))" : "0x7ff00000u))");
      case DType::i64:
        return std::string("packInt2x32(ivec2(uvec2(") +
               (least ? "0u, 0x80000000u)))" : "0xffffffffu, 0x7fffffffu)))");
      default: return "";
    }
  }

  std::string workgroup_function(const std::string& name, Op op, DType dtype, const std::string& combine,
                                 const Target& target, int lanes) const override {
    return target.subgroup ? glsl_exchange(name, op, dtype, combine, target, lanes)
                           : glsl_tree(name, dtype, combine, target);
  }
  std::string workgroup_welford(const std::string& name, DType dtype, const Target& target,
                                int lanes) const override {
    return target.subgroup ? glsl_exchange_welford(name, dtype, target, lanes)
                           : glsl_tree_welford(name, dtype, target);
  }
  std::string row_function(const std::string& name, Op op, DType dtype, const std::string& combine,
                           const Target& target) const override {
    return glsl_rows(name, op, dtype, combine, target);
  }

  std::string workgroup_call(const std::string& function, DType, const std::vector<std::string>& values,
                             const std::string&, bool, const Target&) const override {
    std::string arguments;
    for (const std::string& value : values) arguments += (arguments.empty() ? "" : ", ") + value;
    return (values.size() == 1 ? values[0] + " = " : "") + function + "(" + arguments + ");";
  }

  std::string lane_in_subgroups(const Target& target) const override {
    return target.subgroup > 0
               ? "(gl_SubgroupID * " + std::to_string(target.subgroup) + "u + gl_SubgroupInvocationID)"
               : "gl_LocalInvocationID.x";
  }
  std::string of_lane(const std::string& value, int mask, const Target& target) const override {
    if (target.subgroup <= mask) return "";
    return "subgroupShuffleXor(" + value + ", " + std::to_string(mask) + "u)";
  }

  std::string put_partial(DType dtype, const std::string& slot, int words,
                          const std::string& value) const override {
    const auto word = [&](int i) { return word_of_slot(slot, words, i); };
    switch (dtype) {
      case DType::f32: return word(0) + " = floatBitsToUint(" + value + ");";
      case DType::f64:
        return "{ const uvec2 both = unpackDouble2x32(" + value + "); " + word(0) + " = both.x; " + word(1) +
               " = both.y; }";
      case DType::i64:
        return "{ const uvec2 both = uvec2(unpackInt2x32(" + value + ")); " + word(0) + " = both.x; " +
               word(1) + " = both.y; }";
      default: return word(0) + " = u32(" + value + ");";
    }
  }
  std::string get_partial(DType dtype, const std::string& slot, int words) const override {
    const auto word = [&](int i) { return word_of_slot(slot, words, i); };
    return from_words(dtype, size_of(dtype) == 8 ? "uvec2(" + word(0) + ", " + word(1) + ")" : word(0));
  }
  std::string counter(const std::string& unit) const override { return "sn_counters.word[" + unit + "]"; }

  std::string_view function(std::string_view name) const override { return glsl_function(name); }
  void add_functions(const Target& target, std::map<std::string, std::string>& functions) const override {
    if (target.fuses_fma) functions.merge(glsl_fused_exponentials());
    if (target.casts_f16) functions.merge(glsl_f16_casts());
  }

 protected:
  /// Two words are a uvec2.
  std::string from_words(DType dtype, const std::string& words) const override {
    switch (dtype) {
      case DType::f32: return "uintBitsToFloat(" + words + ")";
      case DType::f64: return "packDouble2x32(" + words + ")";
      case DType::i32: return "int(" + words + ")";
      case DType::i64:
      case DType::u64: return "packInt2x32(ivec2(" + words + "))";
      case DType::i8:
      case DType::i16:
      case DType::u8:
      case DType::u16:
      case DType::u32:
      case DType::bf16:
      case DType::f16:
      case DType::f8_e4m3:
      case DType::f8_e5m2: return words;
      case DType::boolean: return words + " != 0u";
    }
    return "";
  }

 private:
  static std::string word_of_slot(const std::string& slot, int words, int i) {
    return "sn_partials.word[" + std::to_string(words) + "u * u32(" + slot + ") + " + std::to_string(i) +
           "u]";
  }

  /// True iff something is cast to f16 or from it, as which floats of 8 bits are read that have as many bits
  /// of exponent.
  static bool casts_f16(const ir::Kernel& kernel) {
    const auto is_cast = [](const auto& of) { return of.dtype == DType::f16 || of.dtype == DType::f8_e5m2; };
    return std::any_of(kernel.buffers.begin(), kernel.buffers.end(), is_cast) ||
           std::any_of(kernel.exprs.begin(), kernel.exprs.end(), is_cast);
  }

  /// What the lanes and rows of a workgroup are called. Short rows follow the subgroups, however these lie in
  /// the workgroup.
  static std::string places(const ir::Kernel& kernel, const Target& target) {
    if (has_short_rows(kernel, target)) {
      const std::string lanes = std::to_string(kernel.row_lanes) + "u",
                        of_subgroup = std::to_string(target.subgroup / kernel.row_lanes) + "u";
      return "#define SN_LANES " + lanes + "\n#define SN_LANE (gl_SubgroupInvocationID % " + lanes +
             ")\n#define SN_ROWS (gl_WorkGroupSize.x / " + lanes + ")\n#define SN_ROW (gl_SubgroupID * " +
             of_subgroup + " + gl_SubgroupInvocationID / " + lanes + ")\n";
    }
    if (has_rows_of_lanes(kernel, target))
      return "layout(constant_id = 1) const uint SN_LANES = " + std::to_string(target.workgroup_size) +
             ";\n#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)\n"
             "#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)\n"
             "#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)\n";
    return "#define SN_LANES gl_WorkGroupSize.x\n#define SN_LANE gl_LocalInvocationID.x\n"
           "#define SN_ROWS 1u\n#define SN_ROW 0u\n";
  }

  /// The members' arguments are a table; each workgroup finds the member it works for, and its own number
  /// among that member's workgroups. Buffers are reached through their addresses.
  std::string open_members(const ir::Kernel& kernel) const {
    if (kernel.split) throw std::logic_error("emit: members of a kernel whose workgroups share their work");
    std::string text;
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
      const ir::BufferInfo& buffer = kernel.buffers[b];
      const std::string type(storage_type(buffer.dtype)), access = buffer.written ? "" : "readonly ";
      text += "layout(buffer_reference, std430, buffer_reference_align = " +
              std::to_string(size_of(buffer.dtype)) + ") " + access + "buffer b" + std::to_string(b) +
              "_t { " + type + " at[]; };\n";
    }
    text +=
        "layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;\n";
    if (kernel.faults > 0)
      text += "layout(std430, binding = 1) restrict buffer sn_fault_t { u32 word[]; } sn_fault;\n";
    const MemberLayout layout = member_layout(kernel);
    const std::string words = std::to_string(layout.bytes / 4) + "u",
                      first = std::to_string(layout.first / 4) + "u";
    // Word 0 is the number of members.
    text += "u32 sn_first(u32 member) { return sn_arguments.word[1u + member * " + words + " + " + first +
            "]; }\n"
            "void main() {\n"
            "  const u32 sn_count = sn_arguments.word[0];\n"
            "  u32 sn_low = 0u, sn_high = sn_count;\n"
            "  while (sn_high - sn_low > 1u) {\n"
            "    const u32 middle = (sn_low + sn_high) >> 1;\n"
            "    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;\n"
            "  }\n"
            "  const u32 sn_mine = 1u + sn_low * " +
            words +
            ";\n"
            "  const u32 sn_workgroup = gl_WorkGroupID.x - sn_first(sn_low);\n"
            "  const u32 sn_workgroups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - "
            "sn_first(sn_low);\n";
    using Field = MemberLayout::Field;
    const auto word = [](std::size_t byte) {
      return "sn_arguments.word[sn_mine + " + std::to_string(byte / 4) + "u]";
    };
    const auto words_of = [&](const Field& f) {
      return f.bytes == 8 ? "uvec2(" + word(f.offset) + ", " + word(f.offset + 4) + ")" : word(f.offset);
    };
    const auto buffer = [&](const Field& f) {
      const std::string name = argument_name('b', f.number);
      return "  " + name + "_t " + name + " = " + name + "_t(" + words_of(f) + ");\n";
    };
    return text + define_member(kernel, layout, buffer, words_of);
  }

  /// Four of an array's eight values.
  static std::string four(std::string_view type, const std::string& from, int first) {
    std::string values;
    for (int k = first; k < first + 4; ++k)
      values += (values.empty() ? "" : ", ") + from + "[" + std::to_string(k) + "]";
    return std::string(type) + "(" + values + ")";
  }
  static std::string load4(DType dtype, std::size_t buffer, const std::string& number) {
    const std::string one = at4(buffer, number), two = "2u * (" + number + ")";
    switch (size_of(dtype)) {
      case 1:
        return dtype == DType::boolean ? "notEqual(sn_bytes(" + one + "), uvec4(0u))"
                                       : "sn_bytes(" + one + ")";
      case 8:
        return std::string(vector_of(dtype)) + "(" + at4(buffer, two) + ", " + at4(buffer, two + " + 1u") +
               ")";
      default: return one;
    }
  }
  static std::string store4(DType dtype, std::size_t buffer, const std::string& number,
                            const std::string& from) {
    const std::string one = at4(buffer, number), two = "2u * (" + number + ")";
    switch (size_of(dtype)) {
      case 1: return one + " = sn_word(uvec4(" + from + "));";
      case 8:
        return at4(buffer, two) + " = " + from + ".xy; " + at4(buffer, two + " + 1u") + " = " + from + ".zw;";
      default: return one + " = " + from + ";";
    }
  }

  static std::string at4(std::size_t buffer, const std::string& number) {
    return "b" + std::to_string(buffer) + "_4.at[" + number + "]";
  }

  static std::string at(const ir::Kernel& kernel, std::size_t buffer, const std::string& position) {
    return "b" + std::to_string(buffer) + ".at[" + (kernel.wide ? "u32(" + position + ")" : position) + "]";
  }
};

}  // namespace

const Dialect& glsl_dialect() {
  static const GlslDialect instance;
  return instance;
}

}  // namespace sinter::emit
