// CUDA C++: no header is included, so that NVRTC has little to read.
#include "jit/emit/dialect.h"
#include "jit/emit/prelude.h"

namespace sinter::emit {

namespace {

std::string_view storage_type(DType dtype) {
  return size_of(dtype) == 1 ? "unsigned char" : value_type(dtype);
}

class CudaDialect : public Dialect {
 public:
  CudaDialect() {
    global_lane = "blockIdx.x * blockDim.x + threadIdx.x";
    global_lanes = "gridDim.x * blockDim.x";
    lane = "threadIdx.x";
    lanes = "blockDim.x";
    point = "blockIdx.x * blockDim.y + threadIdx.y";
    points = "gridDim.x * blockDim.y";
    barrier = "sn_barrier();";
    unroll = "#pragma unroll";
    set_fault = "*fault = 1u;";
    has_vectors = true;
  }

  std::string preamble(const ir::Kernel&, const Target&) const override {
    return "typedef unsigned int u32;\n"
           "typedef long long i64;\n"
           "typedef unsigned long long u64;\n"
           "#define SN_FN static __device__ __forceinline__\n";
  }

  std::string open(const ir::Kernel& kernel, const Target& target, ir::Schedule) const override {
    std::string text = "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(target.group_size) +
                       ") sinter_kernel(\n    ";
    bool first = true;
    auto argument = [&](const std::string& declaration) {
      text += (first ? "" : ", ") + declaration;
      first = false;
    };
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b) {
      const ir::BufferInfo& buffer = kernel.buffers[b];
      argument((buffer.written ? "" : "const ") + std::string(storage_type(buffer.dtype)) +
               "* __restrict__ b" + std::to_string(b));
    }
    for (std::size_t i = 0; i < kernel.ints; ++i)
      argument((kernel.wide ? "i64 n" : "int n") + std::to_string(i));
    for (std::size_t s = 0; s < kernel.scalars.size(); ++s)
      argument(std::string(value_type(kernel.scalars[s])) + " s" + std::to_string(s));
    if (kernel.fault) argument("u32* fault");
    return text + ")";
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
      case DType::boolean: return low ? "false" : "true";
    }
    return "";
  }

  // Within a warp by exchange: both sides of each pair compute the same, so all lanes end with the same bits.
  // Then the warps' results likewise.
  std::string group_function(const std::string& name, Op op, DType dtype, const std::string& combine,
                             const Target&) const override {
    const std::string type(value_type(dtype));
    const std::string exchanged = size_of(dtype) == 1 ? type + "(__shfl_xor_sync(0xffffffffu, int(v), d))"
                                                      : "__shfl_xor_sync(0xffffffffu, v, d)";
    const std::string across = "  for (int d = 16; d > 0; d >>= 1) {\n    const " + type +
                               " w = " + exchanged + ";\n    v = " + combine + ";\n  }\n";
    return "SN_FN " + type + " " + name + "(" + type + " v) {\n" + across +
           "  if (blockDim.x <= 32u) return v;\n"
           "  __shared__ " +
           type +
           " warps[32];\n"
           "  const u32 lane = threadIdx.x & 31u;\n"
           "  __syncthreads();\n"
           "  if (lane == 0u) warps[threadIdx.x >> 5] = v;\n"
           "  __syncthreads();\n"
           "  v = lane < (blockDim.x >> 5) ? warps[lane] : " +
           identity(op, dtype) + ";\n" + across + "  return v;\n}\n";
  }

  std::string_view function(std::string_view name) const override { return cuda_function(name); }

 private:
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
