// CUDA C++: no header is included, so that NVRTC has little to read.
#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/lone_rows.h"
#include "jit/emit/contraction/contraction.h"
#include "jit/emit/dialects/cuda/cuda.h"
#include "jit/emit/dialects/cuda/workgroups.h"
#include "jit/ir/row_words.h"

namespace sinter::emit {

namespace {

std::string_view storage_type(DType dtype) {
  if (size_of(dtype) == 2) return "unsigned short";
  return size_of(dtype) == 1 ? "unsigned char" : c_type(dtype);
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
    entry = "sinter_kernel";
    subgroup = 32;
    workgroup = "blockIdx.x";
    lane = "threadIdx.x";
    lanes = "blockDim.x";
    row = "threadIdx.y";
    rows = "blockDim.y";
    rows_of_subgroups = true;
    joins_together = true;
    goes_along_lone_rows = true;
    makes_floats_of_bytes = true;
    rounds_to_bf16 = true;
    stops_at_branches = true;
    barrier = "sn_barrier();";
    workgroup_barrier = "__syncthreads();";
    cluster_begin = "sn_cluster_begin();";
    cluster_barrier = "sn_cluster_barrier();";
    unroll = "#pragma unroll";
    unroll_rounds = "#pragma unroll";
    faults = "fault";
    member_number = "member";
    has_wide_vectors = true;
    pairs_halves = true;
    divides_by_reciprocals = true;
    loads_around_rows = true;  // buffers lie at multiples of more than a vector, and end so
    handover = {"__threadfence();", "__shared__ u32 turn;", "turn", "__syncthreads();", ""};
  }

  std::string preamble(const ir::Kernel& kernel, const Target&) const override {
    constexpr const char* kFours =
        "#define sn_four float4\n#define SN_FOUR make_float4\n#ifndef LAUNCH_SHARED\n"
        "#define LAUNCH_SHARED(type, name) extern __shared__ __align__(16) type name[]\n#endif\n";
    return "typedef unsigned int u32;\ntypedef long long i64;\ntypedef unsigned long long u64;\n" +
           std::string(cuda_head()) + std::string(cuda_pairs()) + (ir::has_score_tile(kernel) ? kFours : "");
  }
  std::string of_lane(const std::string& value, int mask, const Target&) const override {
    return "__shfl_xor_sync(0xffffffffu, " + value + ", " + std::to_string(mask) + ")";
  }

  std::string open(const ir::Kernel& kernel, const Target& target, const BodyUse& use) const override {
    if (kernel.tiling.any() && target.tensor_units > 0) return open_contraction(kernel, target);
    if (has_attention(kernel, target)) return open_attention(kernel, use);
    const int lanes = workgroup_lanes(kernel, target), blocks = blocks_at_a_time(kernel, lanes, use);
    std::string head, bound = std::to_string(lanes);
    if (blocks > 0) {
      head = "#ifndef SN_BLOCKS\n#define SN_BLOCKS " + std::to_string(blocks) + "\n#endif\n";
      bound += ", SN_BLOCKS";
    }
    head += "extern \"C\" __global__ void ";
    if (kernel.row_cluster > 1) head += "__cluster_dims__(" + std::to_string(kernel.row_cluster) + ", 1, 1) ";
    head += "__launch_bounds__(" + bound + ") sinter_kernel(\n    ";
    if (kernel.members > 1) return open_members(kernel, head, use);
    const bool is_shared = kernel.split || has_lone_rows(kernel, target);
    std::string text = head + arguments(kernel, is_shared ? "u32 parts, char* partials, u32* counters" : "");
    return text + ") {\n" + shared_arrays(use) + "  sn_follow();\n";
  }

  std::size_t shared_bytes(DType dtype) const override { return size_of(dtype); }
  std::string from_shared(DType dtype, const std::string& element) const override {
    return dtype == DType::boolean ? element + " != 0" : element;
  }

  std::string read(const ir::Kernel& kernel, std::size_t buffer, const std::string& position) const override {
    const std::string element = "b" + std::to_string(buffer) + "[" + position + "]";
    return kernel.buffers[buffer].dtype == DType::boolean ? element + " != 0" : element;
  }

  std::string write(const ir::Kernel&, std::size_t buffer, const std::string& position,
                    const std::string& value) const override {
    return "b" + std::to_string(buffer) + "[" + position + "] = " + value + ";";
  }

  bool has_vectors(const ir::Kernel&, const Target& target) const override { return target.vectors; }
  std::string address(std::size_t buffer) const override { return "u64(" + argument_name('b', buffer) + ")"; }
  std::string declare_vector(DType dtype, int width, const std::string& name, int count) const override {
    const std::string array = count ? "[" + std::to_string(count) + "]" : "", size = std::to_string(width);
    if (size_of(dtype) == 2) return "SnPairs<" + size + "> " + name + array + ";";
    return std::string(c_type(dtype)) + " " + name + array + "[" + size + "];";
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

  bool casts_vectors_to(DType dtype) const override { return is_half(dtype); }
  std::string store_cast_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                                const std::string& position, const std::string& from) const override {
    return "sn_store_floats" + std::to_string(width) + "_" +
           std::string(name_of(kernel.buffers[buffer].dtype)) + "(b" + std::to_string(buffer) + " + (" +
           position + "), " + from + ");";
  }

  // C++ leaves the overflow of signed integers undefined; ours wrap.
  std::string operand(const OpInfo& op, DType dtype, const std::string& value) const override {
    return wraps(op, dtype) ? (dtype == DType::i64 ? "u64(" : "u32(") + value + ")" : value;
  }
  std::string result(const OpInfo& op, DType dtype, const std::string& text) const override {
    return wraps(op, dtype) ? std::string(c_type(dtype)) + text : text;
  }

  std::string extreme(DType dtype, bool least) const override {
    switch (dtype) {
      case DType::f32: return least ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
      case DType::f64:
        return least ? "__longlong_as_double(0xfff0000000000000ll)"
                     : "__longlong_as_double(0x7ff0000000000000ll)";
      case DType::i64: return least ? "i64(0x8000000000000000ull)" : "0x7fffffffffffffffll";
      default: return "";
    }
  }

  std::string workgroup_function(const std::string& name, Op, DType dtype, const std::string& combine,
                                 const Target& target, int lanes) const override {
    return cuda_exchange(name, dtype, combine, target, lanes);
  }
  std::string workgroup_function_of_several(const std::string& name, DType dtype,
                                            const std::vector<std::string>& combines, const Target& target,
                                            int lanes) const override {
    return cuda_exchange_several(name, dtype, combines, target, lanes);
  }
  std::string workgroup_welford(const std::string& name, DType dtype, const Target& target,
                                int lanes) const override {
    return cuda_exchange_welford(name, dtype, target, lanes);
  }
  std::string cluster_function(const std::string& name, DType dtype, std::size_t values,
                               const std::string& join, int cluster) const override {
    return cuda_cluster(name, dtype, values, join, cluster);
  }
  std::string cluster_memory(const std::string& name, DType dtype, std::size_t values,
                             int cluster) const override {
    return std::string("__shared__ ") + (size_of(dtype) == 8 ? "u64 " : "u32 ") + name + "_places[2][" +
           std::to_string(values) + "][" + std::to_string(cluster) + "]; __shared__ u64 " + name +
           "_came[2]; u32 " + name + "_turn = 0u; sn_cluster_open(" + name + "_came);";
  }
  std::string cluster_call(const std::string& function, const std::string& name,
                           const std::vector<std::string>& values, const std::string& rank) const override {
    std::string arguments;
    for (const std::string& value : values) arguments += value + ", ";
    return function + "(" + arguments + name + "_places, " + name + "_came, " + name + "_turn, " + rank +
           ");";
  }

  // Each call has memory of its own: what another call's barrier has let through may be written over.
  std::string workgroup_call(const std::string& function, DType dtype, const std::vector<std::string>& values,
                             const std::string& lanes, bool again, const Target& target) const override {
    std::string arguments;
    for (const std::string& value : values) arguments += value + ", ";
    return "{ __shared__ " + std::string(c_type(dtype)) + " warps[" + std::to_string(values.size()) + "][" +
           std::to_string(cuda_most_warps(target)) + "]; " + function + "(" + arguments + "warps, " + lanes +
           ", " + (again ? "true" : "false") + "); }";
  }

  std::string row_function(const std::string& name, Op op, DType dtype, const std::string& combine,
                           const Target& target) const override {
    return cuda_rows(name, op, dtype, combine, target);
  }

  std::string put_partial(DType dtype, const std::string& slot, int words,
                          const std::string& value) const override {
    return "*(" + partial_type(dtype) + "*)" + place_of_slot(slot, words) + " = " + value + ";";
  }
  std::string get_partial(DType dtype, const std::string& slot, int words) const override {
    // From the second-level cache: the first level may hold what was there before.
    const std::string text = "__ldcg((const " + partial_type(dtype) + "*)" + place_of_slot(slot, words) + ")";
    return dtype == DType::boolean ? text + " != 0u" : text;
  }
  std::string counter(const std::string& unit) const override { return "counters[" + unit + "]"; }
  std::string counter_address(const std::string& unit) const override { return "counters + " + unit; }

  std::string_view function(std::string_view name) const override { return cuda_function(name); }
  void add_functions(const Target& target, std::map<std::string, std::string>& functions) const override {
    functions["sn_barrier"] = cuda_barrier(target);
    cuda_cluster_functions(functions);
  }

 protected:
  std::string from_words(DType dtype, const std::string& words) const override {
    switch (dtype) {
      case DType::f32: return "__int_as_float(int(" + words + "))";
      case DType::f64: return "__longlong_as_double(i64(" + words + "))";
      case DType::boolean: return words + " != 0u";
      default: return type(dtype) + "(" + words + ")";
    }
  }

 private:
  /// Declares what every kernel for one member takes; `more` stands before the fault words.
  static std::string arguments(const ir::Kernel& kernel, const std::string& more) {
    std::string text;
    auto argument = [&](const std::string& declaration) { text += (text.empty() ? "" : ", ") + declaration; };
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
      argument(pointer(kernel, b) + argument_name('b', b));
    for (std::size_t i = 0; i < kernel.ints; ++i)
      argument((kernel.wide ? "i64 " : "int ") + argument_name('n', i));
    for (std::size_t s = 0; s < kernel.scalars.size(); ++s)
      argument(std::string(c_type(kernel.scalars[s])) + " " + argument_name('s', s));
    if (!more.empty()) argument(more);
    if (kernel.faults > 0) argument("u32* fault");
    return text;
  }

  /// Of a kernel that jit/emit/contraction writes.
  std::string open_contraction(const ir::Kernel& kernel, const Target& target) const {
    const ir::Tiling& t = kernel.tiling;
    const bool has_maps = t.has_groups();
    std::string maps;
    for (const std::string& name : names_of_tensor_maps(t))
      maps += ", const __grid_constant__ TensorMap " + name;
    const std::string cluster =
        t.cluster > 1 ? "__cluster_dims__(" + std::to_string(t.cluster) + ", 1, 1) " : "";
    const std::string head = "extern \"C\" __global__ void " + cluster + "__launch_bounds__(" +
                             std::to_string(workgroup_lanes(kernel, target)) + ", " +
                             std::to_string(t.workgroups) + ") sinter_kernel(\n    ";
    const std::string shared = "int cut, float* partials, u32* counters";
    const std::string windows =
        std::string(has_maps && t.a.windows ? ", const __grid_constant__ Windows w_a" : "") +
        (has_maps && t.b.windows ? ", const __grid_constant__ Windows w_b" : "") + ") {\n  sn_follow();\n";
    if (kernel.members > 1) return open_products(kernel, head, shared + windows);
    return "#define SN_OF_MEMBER(place)\n" + head + arguments(kernel, shared) + maps + windows;
  }

  /// Of several products: what differs between them is defined for each tile.
  std::string open_products(const ir::Kernel& kernel, const std::string& head,
                            const std::string& rest) const {
    if (kernel.faults > 0) throw std::logic_error("emit: several products that tell of faults");
    std::string maps, ints, own = "const sn_member& mine = members.at[(place).member];";
    for (const std::string& map : names_of_tensor_maps(kernel.tiling)) {
      maps += (maps.empty() ? "" : ", ") + map;
      own += " const TensorMap& " + map + " = mine." + map + ";";
    }
    for (const MemberLayout::Field& field : member_layout(kernel).fields) {
      const std::string name = field_name(field);
      if (field.letter == 'n')
        ints += define_argument(kernel, 'n', field.number, "members.at[0]." + name);
      else
        own += on_one_line(field.letter == 'b' ? define_buffer(kernel, field)
                                               : define_argument(kernel, 's', field.number, "mine." + name));
    }
    return members_struct(kernel, maps.empty() ? "" : "  TensorMap " + maps + ";\n") +
           "#define SN_OF_MEMBER(place) " + own + "\n" + head +
           "const __grid_constant__ sn_members members, u32 count, " + rest + ints;
  }

  /// Of a kernel that jit/emit/attention writes.
  static std::string open_attention(const ir::Kernel& kernel, const BodyUse& use) {
    std::string maps;
    if (kernel.attention.by == ir::Attention::By::Groups)
      for (std::size_t map = 0; map < rows_of(kernel).size(); ++map)
        maps += ", const __grid_constant__ TensorMap t_" + std::to_string(map);
    return "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(attention_lanes(kernel)) +
           ", " + std::to_string(kernel.attention.workgroups) + ") sinter_kernel(\n    " +
           arguments(kernel, "") + maps + ") {\n  sn_follow();\n" +
           (use.shared_fours > 0 ? "  LAUNCH_SHARED(float4, sn_tile);\n" : "");
  }

  /// Small blocks that hold rows, several on a multiprocessor: one computes while others load. Left alone,
  /// the compiler takes more registers than that leaves; where this leaves too few, it compiles again for one
  /// block less (jit/compile/nvrtc.h). 0: nothing is asked of it.
  static int blocks_at_a_time(const ir::Kernel& kernel, int lanes, const BodyUse& use) {
    if (kernel.row_elements == 0) return 0;
    if (has_parts(kernel))
      return std::max(
          static_cast<int>(ir::lanes_at_once(ir::words_of_row(kernel, kernel.row_elements))) / lanes, 1);
    if (lanes > 256) return 0;
    return (use.held_words <= 32 ? 4 : 3) * 256 / lanes;
  }
  static std::string place_of_slot(const std::string& slot, int words) {
    return "(partials + " + std::to_string(4 * words) + "ull * (" + slot + "))";
  }
  static std::string partial_type(DType dtype) {
    return dtype == DType::boolean ? "u32" : std::string(c_type(dtype));
  }
  static std::string pointer(const ir::Kernel& kernel, std::size_t b) {
    const ir::BufferInfo& buffer = kernel.buffers[b];
    // That results overlap nothing is enough for loads to move. Inputs are not __restrict__: the compiler
    // would read them by the non-coherent path, for which they must not change while the kernel is resident,
    // and the kernel before this one may still be writing them then (sn_follow).
    const std::string type(storage_type(buffer.dtype));
    return buffer.written ? type + "* __restrict__ " : "const " + type + "* ";
  }

  static std::string shared_arrays(const BodyUse& use) {
    std::string text;
    for (const SharedArray& array : use.shared)
      text += "  __shared__ " + std::string(storage_type(array.dtype)) + " " + array.name + "[" +
              std::to_string(array.elements) + "];\n";
    return text;
  }

  /// The members' arguments are a table; each block finds the member it works for, and its own number among
  /// that member's blocks.
  std::string open_members(const ir::Kernel& kernel, const std::string& head, const BodyUse& use) const {
    const std::string most = std::to_string(kernel.members);
    const auto if_split = [&](const std::string& text) { return kernel.split ? text : ""; };
    std::string text = members_struct(kernel, "") + head +
                       "const __grid_constant__ sn_members members, u32 count" +
                       if_split(", char* all_partials, u32* all_counters") +
                       (kernel.faults > 0 ? ", u32* fault" : "") + ") {\n";
    text += shared_arrays(use);
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
    text += if_split(
        "  const u32 parts = mine.parts_;\n"
        "  char* const partials = all_partials + 4ull * mine.partials_;\n"
        "  u32* const counters = all_counters + mine.counters_;\n");
    return text + define_member(
                      kernel, member_layout(kernel), [&](const Field& f) { return define_buffer(kernel, f); },
                      [](const Field& f) { return "mine." + field_name(f); });
  }

  // ---- the table of several members, of which a text calls its own `mine`
  using Field = MemberLayout::Field;
  static std::string field_name(const Field& field) {
    return argument_name(field.letter, field.number) + "_";
  }
  static std::string define_buffer(const ir::Kernel& kernel, const Field& field) {
    const std::string type = pointer(kernel, field.number);
    return "  " + type + argument_name('b', field.number) + " = (" + type.substr(0, type.find('*') + 1) +
           ")mine." + field_name(field) + ";\n";
  }
  static std::string members_struct(const ir::Kernel& kernel, const std::string& maps) {
    std::string fields = maps;
    for (const Field& f : member_layout(kernel).fields)
      fields += "  " + std::string(f.bytes == 8 ? "u64 " : "u32 ") + field_name(f) + ";\n";
    return "struct sn_member {\n" + fields + "  u32 first_;\n" +
           (kernel.split ? "  u32 parts_, partials_, counters_;\n" : "") +
           "};\nstruct sn_members { sn_member at[" + std::to_string(kernel.members) + "]; };\n";
  }
  static std::string on_one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
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
