// CUDA C++: no header is included, so that NVRTC has little to read.
#include "jit/emit/dialects/dialect.h"

#include "jit/emit/dialects/prelude.h"

namespace sinter::emit {

namespace {

std::string_view storage_type(DType dtype) {
  if (is_half(dtype)) return "unsigned short";
  return size_of(dtype) == 1 ? "unsigned char" : value_type(dtype);
}

class CudaDialect : public Dialect {
 public:
  CudaDialect() {
    alone = {"blockIdx.x * blockDim.x + threadIdx.x",
             "gridDim.x * blockDim.x",
             "blockIdx.x * blockDim.y + threadIdx.y",
             "gridDim.x * blockDim.y",
             "blockIdx.x",
             "gridDim.x"};
    member = {"block * blockDim.x + threadIdx.x",
              "blocks * blockDim.x",
              "block * blockDim.y + threadIdx.y",
              "blocks * blockDim.y",
              "block",
              "blocks"};
    group = "blockIdx.x";
    lane = "threadIdx.x";
    lanes = "blockDim.x";
    row = "threadIdx.y";
    rows = "blockDim.y";
    barrier = "sn_barrier();";
    unroll = "#pragma unroll";
    unroll_8 = "#pragma unroll 8";
    set_fault = "*fault = 1u;";
    has_wide_vectors = true;
    has_pointers = true;
  }

  std::string preamble(const ir::Kernel&, const Target&) const override {
    return "typedef unsigned int u32;\ntypedef long long i64;\ntypedef unsigned long long u64;\n" +
           std::string(cuda_head());
  }

  std::string open(const ir::Kernel& kernel, const Target& target, const BodyUse& use) const override {
    const int groups = groups_at_a_time(kernel, use);
    std::string head, bound = std::to_string(group_lanes(kernel, target));
    if (groups > 0) {
      head = "#ifndef SN_GROUPS\n#define SN_GROUPS " + std::to_string(groups) + "\n#endif\n";
      bound += ", SN_GROUPS";
    }
    head += "extern \"C\" __global__ void __launch_bounds__(" + bound + ") sinter_kernel(\n    ";
    if (kernel.members > 1) return open_members(kernel, head);
    std::string text = head;
    bool first = true;
    auto argument = [&](const std::string& declaration) {
      text += (first ? "" : ", ") + declaration;
      first = false;
    };
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) argument(pointer(kernel, b) + name('b', b));
    for (std::size_t i = 0; i < kernel.ints; ++i) argument((kernel.wide ? "i64 " : "int ") + name('n', i));
    for (std::size_t s = 0; s < kernel.scalars.size(); ++s)
      argument(std::string(value_type(kernel.scalars[s])) + " " + name('s', s));
    if (kernel.split) argument("u32 parts, char* partials, u32* counters");
    if (kernel.fault) argument("u32* fault");
    return text + ") {\n  sn_follow();\n";
  }

  std::string define(DType dtype) const override { return "const " + std::string(value_type(dtype)) + " "; }

  std::string read(const ir::Kernel& kernel, std::size_t buffer, const std::string& position) const override {
    const std::string element = "b" + std::to_string(buffer) + "[" + position + "]";
    return kernel.buffers[buffer].dtype == DType::boolean ? element + " != 0" : element;
  }

  std::string write(const ir::Kernel&, std::size_t buffer, const std::string& position,
                    const std::string& value) const override {
    return "b" + std::to_string(buffer) + "[" + position + "] = " + value + ";";
  }

  bool has_vectors(const ir::Kernel&, const Target& target) const override { return target.vectors; }
  std::string declare_vector(DType dtype, int width, const std::string& name, int count) const override {
    const std::string array = count ? "[" + std::to_string(count) + "]" : "";
    return std::string(value_type(dtype)) + " " + name + array + "[" + std::to_string(width) + "];";
  }
  std::string load_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                          const std::string& position, const std::string& to) const override {
    return "sn_load" + std::to_string(width) + "_" + std::string(name_of(kernel.buffers[buffer].dtype)) +
           "(" + to + ", b" + std::to_string(buffer) + " + (" + position + "));";
  }
  std::string store_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                           const std::string& position, const std::string& from) const override {
    return "sn_store" + std::to_string(width) + "_" + std::string(name_of(kernel.buffers[buffer].dtype)) +
           "(b" + std::to_string(buffer) + " + (" + position + "), " + from + ");";
  }

  // C++ leaves the overflow of signed integers undefined; ours wrap.
  std::string operand(const OpInfo& op, DType dtype, const std::string& value) const override {
    return wraps(op, dtype) ? (dtype == DType::i64 ? "u64(" : "u32(") + value + ")" : value;
  }
  std::string result(const OpInfo& op, DType dtype, const std::string& text) const override {
    return wraps(op, dtype) ? std::string(value_type(dtype)) + text : text;
  }

  std::string identity(Op op, DType dtype) const override {
    if (op == Op::Sum) return std::string(value_type(dtype)) + "(0)";
    if (op == Op::Prod) return std::string(value_type(dtype)) + "(1)";
    const bool low = op == Op::Max;
    switch (dtype) {
      case DType::f32: return low ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
      case DType::f64:
        return low ? "__longlong_as_double(0xfff0000000000000ll)"
                   : "__longlong_as_double(0x7ff0000000000000ll)";
      case DType::i32: return low ? "int(0x80000000u)" : "0x7fffffff";
      case DType::i64: return low ? "i64(0x8000000000000000ull)" : "0x7fffffffffffffffll";
      case DType::u8: return low ? "0u" : "255u";
      case DType::bf16:
      case DType::f16: break;  // they are not reduced, but what was made of them
      case DType::boolean: return low ? "false" : "true";
    }
    return "";
  }

  // Within a warp by exchange: both sides of each pair compute the same, so all lanes end with the same bits.
  // Then the warps' results likewise; their number is a power of two.
  std::string group_function(const std::string& name, Op, DType dtype, const std::string& combine,
                             const Target&) const override {
    const std::string type(value_type(dtype));
    const std::string exchanged = size_of(dtype) == 1 ? type + "(__shfl_xor_sync(0xffffffffu, int(v), d))"
                                                      : "__shfl_xor_sync(0xffffffffu, v, d)";
    const auto across = [&](const std::string& from) {
      return "  for (u32 d = " + from + "; d > 0u; d >>= 1) {\n    const " + type + " w = " + exchanged +
             ";\n    v = " + combine + ";\n  }\n";
    };
    return "SN_FN void " + name + "(" + type + "& v, " + type + " (*warps)[32], u32 lanes, bool again) {\n" +
           across("16u") +
           "  const u32 count = lanes >> 5;\n"
           "  if (count <= 1u) return;\n"
           "  if (again) __syncthreads();\n"
           "  if ((threadIdx.x & 31u) == 0u) warps[0][threadIdx.x >> 5] = v;\n"
           "  __syncthreads();\n"
           "  v = warps[0][threadIdx.x & (count - 1u)];\n" +
           across("count >> 1") + "}\n";
  }

  // As group_function; both sides of a pair must take the same one as the first, so that they compute the
  // same.
  std::string group_moments(const std::string& name, DType dtype, const Target&) const override {
    const std::string type(value_type(dtype)), join = "sn_join_moments_" + std::string(name_of(dtype));
    const auto across = [&](const std::string& from) {
      return "  for (u32 d = " + from + "; d > 0u; d >>= 1) {\n    const " + type +
             " on = __shfl_xor_sync(0xffffffffu, n, d), om = __shfl_xor_sync(0xffffffffu, mean, d),\n"
             "        os = __shfl_xor_sync(0xffffffffu, m2, d);\n    const " +
             type +
             " a = n, b = mean, c = m2;\n"
             "    if (threadIdx.x & d) { n = on; mean = om; m2 = os; " +
             join +
             "(n, mean, m2, a, b, c); }\n"
             "    else " +
             join + "(n, mean, m2, on, om, os);\n  }\n";
    };
    return "SN_FN void " + name + "(" + type + "& n, " + type + "& mean, " + type + "& m2, " + type +
           " (*warps)[32], u32 lanes, bool again) {\n" + across("16u") +
           "  const u32 count = lanes >> 5, warp = threadIdx.x >> 5, other = threadIdx.x & (count - 1u);\n"
           "  if (count <= 1u) return;\n"
           "  if (again) __syncthreads();\n"
           "  if ((threadIdx.x & 31u) == 0u) { warps[0][warp] = n; warps[1][warp] = mean; warps[2][warp] = "
           "m2; }\n"
           "  __syncthreads();\n"
           "  n = warps[0][other]; mean = warps[1][other]; m2 = warps[2][other];\n" +
           across("count >> 1") + "}\n";
  }

  // Each call has memory of its own: what another call's barrier has let through may be written over.
  std::string group_call(const std::string& function, DType dtype, const std::vector<std::string>& values,
                         const std::string& lanes, bool again) const override {
    std::string arguments;
    for (const std::string& value : values) arguments += value + ", ";
    return "{ __shared__ " + std::string(value_type(dtype)) + " warps[" + std::to_string(values.size()) +
           "][32]; " + function + "(" + arguments + "warps, " + lanes + ", " + (again ? "true" : "false") +
           "); }";
  }

  std::string row_function(const std::string& name, Op op, DType dtype,
                           const std::string& combine) const override {
    const std::string type(value_type(dtype));
    const bool moments = op == Op::SquaredDeviations;
    const std::string memory = moments ? "parts[3][256]" : "parts[1][256]";
    std::string head = type + "& v", put = "  parts[0][mine] = v;\n", get = "  v = parts[0][threadIdx.x];\n",
                join = "    const " + type + " w = parts[0][other];\n    v = " + combine + ";\n";
    if (moments) {
      head = type + "& n, " + type + "& mean, " + type + "& m2";
      put = "  parts[0][mine] = n; parts[1][mine] = mean; parts[2][mine] = m2;\n";
      get = "  n = parts[0][threadIdx.x]; mean = parts[1][threadIdx.x]; m2 = parts[2][threadIdx.x];\n";
      join = "    sn_join_moments_" + std::string(name_of(dtype)) +
             "(n, mean, m2, parts[0][other], parts[1][other], parts[2][other]);\n";
    }
    return "SN_FN void " + name + "(" + head + ") {\n  if (blockDim.y == 1u) return;\n  __shared__ " + type +
           " " + memory +
           ";\n  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;\n  __syncthreads();\n" + put +
           "  __syncthreads();\n" + get +
           "  for (u32 i = 1u; i < blockDim.y; ++i) {\n    const u32 other = i * blockDim.x + "
           "threadIdx.x;\n" +
           join + "  }\n}\n";
  }

  std::string put_partial(DType dtype, const std::string& slot, const std::string& value) const override {
    return "*(" + partial_type(dtype) + "*)(partials + 8ull * (" + slot + ")) = " + value + ";";
  }
  std::string get_partial(DType dtype, const std::string& slot) const override {
    // From the second-level cache: the first level may hold what was there before.
    const std::string text = "__ldcg((const " + partial_type(dtype) + "*)(partials + 8ull * (" + slot + ")))";
    return dtype == DType::boolean ? text + " != 0u" : text;
  }
  std::vector<std::string> pass_on(const std::string& unit) const override {
    return {"__threadfence();", "__shared__ u32 turn;",
            "__syncthreads();", "if (threadIdx.x == 0u) turn = atomicAdd(counters + " + unit + ", 1u);",
            "__syncthreads();", "if (turn + 1u != parts) return;",
            "__threadfence();", "if (threadIdx.x == 0u) counters[" + unit + "] = 0u;"};
  }

  std::string_view function(std::string_view name) const override { return cuda_function(name); }

 private:
  /// Small groups that hold rows, several on a core: one computes while others load. Left alone, the compiler
  /// takes more registers than that leaves; where this leaves too few, it compiles again for one group less
  /// (jit/compile/nvrtc.h). 0: nothing is asked of it.
  static int groups_at_a_time(const ir::Kernel& kernel, const BodyUse& use) {
    if (kernel.row_elements == 0 || kernel.row_lanes > 256) return 0;
    return use.held_words <= 32 ? 4 : 3;
  }
  static std::string partial_type(DType dtype) {
    return dtype == DType::boolean ? "u32" : std::string(value_type(dtype));
  }
  static std::string name(char letter, std::size_t number) { return letter + std::to_string(number); }

  static std::string pointer(const ir::Kernel& kernel, std::size_t b) {
    const ir::BufferInfo& buffer = kernel.buffers[b];
    return (buffer.written ? "" : "const ") + std::string(storage_type(buffer.dtype)) + "* __restrict__ ";
  }

  /// The members' arguments are a table; each block finds the member it works for, and its own number among
  /// that member's blocks.
  static std::string open_members(const ir::Kernel& kernel, const std::string& head) {
    std::string fields, names;
    const MemberLayout layout = member_layout(kernel);
    for (const MemberLayout::Field& f : layout.fields) {
      const std::string n = name(f.letter, f.number);
      fields += "  " + std::string(f.bytes == 8 ? "u64 " : "u32 ") + n + "_;\n";
      if (f.letter == 'b') {
        const std::string type = pointer(kernel, f.number);
        names += "  " + type + n + " = (" + type.substr(0, type.find('*') + 1) + ")mine." + n + "_;\n";
        continue;
      }
      const DType dtype =
          f.letter == 'n' ? (kernel.wide ? DType::i64 : DType::i32) : kernel.scalars[f.number];
      const std::string type(value_type(dtype)), word = "mine." + n + "_";
      names += "  const " + type + " " + n + " = " +
               (dtype == DType::f32       ? "__int_as_float(int(" + word + "))"
                : dtype == DType::f64     ? "__longlong_as_double(i64(" + word + "))"
                : dtype == DType::boolean ? word + " != 0u"
                                          : type + "(" + word + ")") +
               ";\n";
    }
    const std::string most = std::to_string(kernel.members);
    std::string text = "struct sn_member {\n" + fields +
                       "  u32 first_;\n};\nstruct sn_members { sn_member at[" + most + "]; };\n" + head +
                       "const __grid_constant__ sn_members members, u32 count" +
                       (kernel.fault ? ", u32* fault" : "") + ") {\n";
    text +=
        "  sn_follow();\n"
        "  u32 member = 0u;\n"
        "  for (u32 step = " +
        most +
        "u >> 1; step > 0u; step >>= 1)\n"
        "    if (member + step < count && members.at[member + step].first_ <= blockIdx.x) member += step;\n"
        "  const sn_member& mine = members.at[member];\n"
        "  const u32 block = blockIdx.x - mine.first_;\n"
        "  const u32 blocks = (member + 1u < count ? members.at[member + 1u].first_ : gridDim.x) - "
        "mine.first_;\n";
    return text + names;
  }

  static bool wraps(const OpInfo& op, DType dtype) {
    return (dtype == DType::i32 || dtype == DType::i64) && op.rule == DTypeRule::Same &&
           op.text.front() == '(';
  }
};

}  // namespace

const Dialect& cuda_dialect() {
  static const CudaDialect instance;
  return instance;
}

}  // namespace sinter::emit
