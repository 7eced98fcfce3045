// Blocks and their warps in CUDA.
#include "jit/emit/dialects/cuda/workgroups.h"

#include <algorithm>
#include <bit>

namespace sinter::emit {

namespace {

constexpr int kMostLanes = 1024;  // of a block

std::string unsigned_text(int number) { return std::to_string(number) + "u"; }

/// The lanes of a warp as texts.
struct Warp {
  std::string half, shift, mask;
  /// `lanes` of each point: several points share a warp that has more.
  Warp(const Target& target, int lanes)
      : half(unsigned_text(std::min(target.subgroup, lanes) / 2)),
        shift(std::to_string(std::countr_zero(static_cast<unsigned>(target.subgroup)))),
        mask(unsigned_text(target.subgroup - 1)) {}
  static std::string exchange(const std::string& value) {
    return "__shfl_xor_sync(0xffffffffu, " + value + ", d)";
  }
};

}  // namespace

int cuda_most_warps(const Target& target) { return kMostLanes / target.subgroup; }

// Within a warp by exchange: both sides of each pair compute the same, so all lanes end with the same bits.
// Then the warps' results likewise; their number is a power of two.
std::string cuda_exchange(const std::string& name, DType dtype, const std::string& combine,
                          const Target& target, int lanes) {
  const Warp warp(target, lanes);
  const std::string type(c_type(dtype)), most = std::to_string(cuda_most_warps(target));
  const std::string exchanged =
      size_of(dtype) == 1 ? type + "(" + Warp::exchange("int(v)") + ")" : Warp::exchange("v");
  const auto across = [&](const std::string& from) {
    return "  for (u32 d = " + from + "; d > 0u; d >>= 1) {\n    const " + type + " w = " + exchanged +
           ";\n    v = " + combine + ";\n  }\n";
  };
  return "SN_FN void " + name + "(" + type + "& v, " + type + " (*warps)[" + most +
         "], u32 lanes, bool again) {\n" + across(warp.half) + "  const u32 count = lanes >> " + warp.shift +
         ";\n"
         "  if (count <= 1u) return;\n"
         "  if (again) __syncthreads();\n"
         "  if ((threadIdx.x & " +
         warp.mask + ") == 0u) warps[0][threadIdx.x >> " + warp.shift +
         "] = v;\n"
         "  __syncthreads();\n"
         "  v = warps[0][threadIdx.x & (count - 1u)];\n" +
         across("count >> 1") + "}\n";
}

// As cuda_exchange, value by value: each of them gets the bits that it would get alone.
std::string cuda_exchange_several(const std::string& name, DType dtype,
                                  const std::vector<std::string>& combines, const Target& target, int lanes) {
  const Warp warp(target, lanes);
  const std::string type(c_type(dtype)), most = std::to_string(cuda_most_warps(target));
  std::string head, exchanged, combined, put, get;
  for (std::size_t i = 0; i < combines.size(); ++i) {
    const std::string number = std::to_string(i), v = "v" + number;
    head += type + "& " + v + ", ";
    exchanged +=
        "    const " + type + " w" + number + " = " +
        (size_of(dtype) == 1 ? type + "(" + Warp::exchange("int(" + v + ")") + ")" : Warp::exchange(v)) +
        ";\n";
    combined += "    " + v + " = " + combines[i] + ";\n";
    put += " warps[" + number + "][warp] = " + v + ";";
    get += "  " + v + " = warps[" + number + "][other];\n";
  }
  const auto across = [&](const std::string& from) {
    return "  for (u32 d = " + from + "; d > 0u; d >>= 1) {\n" + exchanged + combined + "  }\n";
  };
  return "SN_FN void " + name + "(" + head + type + " (*warps)[" + most + "], u32 lanes, bool again) {\n" +
         across(warp.half) + "  const u32 count = lanes >> " + warp.shift + ", warp = threadIdx.x >> " +
         warp.shift +
         ", other = threadIdx.x & (count - 1u);\n"
         "  if (count <= 1u) return;\n"
         "  if (again) __syncthreads();\n"
         "  if ((threadIdx.x & " +
         warp.mask + ") == 0u) {" + put + " }\n  __syncthreads();\n" + get + across("count >> 1") + "}\n";
}

// As cuda_exchange; both sides of a pair must take the same one as the first, so that they compute the same.
std::string cuda_exchange_welford(const std::string& name, DType dtype, const Target& target, int lanes) {
  const Warp warp(target, lanes);
  const std::string type(c_type(dtype)), join = "sn_join_welford_" + std::string(name_of(dtype)),
                                         most = std::to_string(cuda_most_warps(target));
  const auto across = [&](const std::string& from) {
    return "  for (u32 d = " + from + "; d > 0u; d >>= 1) {\n    const " + type +
           " on = " + Warp::exchange("n") + ", om = " + Warp::exchange("mean") +
           ",\n        os = " + Warp::exchange("m2") + ";\n    const " + type +
           " a = n, b = mean, c = m2;\n"
           "    if (threadIdx.x & d) { n = on; mean = om; m2 = os; " +
           join + "(n, mean, m2, a, b, c); }\n    else " + join + "(n, mean, m2, on, om, os);\n  }\n";
  };
  return "SN_FN void " + name + "(" + type + "& n, " + type + "& mean, " + type + "& m2, " + type +
         " (*warps)[" + most + "], u32 lanes, bool again) {\n" + across(warp.half) +
         "  const u32 count = lanes >> " + warp.shift + ", warp = threadIdx.x >> " + warp.shift +
         ", other = threadIdx.x & (count - 1u);\n"
         "  if (count <= 1u) return;\n"
         "  if (again) __syncthreads();\n"
         "  if ((threadIdx.x & " +
         warp.mask +
         ") == 0u) { warps[0][warp] = n; warps[1][warp] = mean; warps[2][warp] = m2; }\n"
         "  __syncthreads();\n"
         "  n = warps[0][other]; mean = warps[1][other]; m2 = warps[2][other];\n" +
         across("count >> 1") + "}\n";
}

// In halves: the lower rows take in the upper ones, until one is left.
std::string cuda_rows(const std::string& name, Op op, DType dtype, const std::string& combine,
                      const Target& target) {
  const std::string type(c_type(dtype));
  const bool welford = op == Op::SquaredDeviations;
  const std::string memory =
      std::string("parts[") + (welford ? "3" : "1") + "][" + std::to_string(target.workgroup_size) + "]";
  std::string head = type + "& v", put = "parts[0][mine] = v;\n", get = "  v = parts[0][threadIdx.x];\n",
              join = "      const " + type + " w = parts[0][other];\n      v = " + combine + ";\n";
  if (welford) {
    head = type + "& n, " + type + "& mean, " + type + "& m2";
    put = "parts[0][mine] = n; parts[1][mine] = mean; parts[2][mine] = m2;\n";
    get = "  n = parts[0][threadIdx.x]; mean = parts[1][threadIdx.x]; m2 = parts[2][threadIdx.x];\n";
    join = "      sn_join_welford_" + std::string(name_of(dtype)) +
           "(n, mean, m2, parts[0][other], parts[1][other], parts[2][other]);\n";
  }
  return "SN_FN void " + name + "(" + head + ") {\n  if (blockDim.y == 1u) return;\n  __shared__ " + type +
         " " + memory +
         ";\n  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;\n  __syncthreads();\n  " + put +
         "  __syncthreads();\n"
         "  for (u32 rows = blockDim.y; rows > 1u;) {\n"
         "    const u32 left = (rows + 1u) / 2u;\n"
         "    if (threadIdx.y + left < rows) {\n"
         "      const u32 other = mine + left * blockDim.x;\n" +
         join + "      " + put +
         "    }\n"
         "    rows = left;\n"
         "    __syncthreads();\n"
         "  }\n" +
         get + "}\n";
}

// Each block sends its values to all blocks of the cluster, itself among them, whose barriers count the bytes
// that come; then every lane combines them in the order of the blocks. A barrier of the whole cluster would
// wait until global memory has what was written to it before. Two places take turns: a block sends for the
// second time from now once it has heard of the first, which the others send when all their lanes have read
// what came before.
std::string cuda_cluster(const std::string& name, DType dtype, std::size_t values, const std::string& join,
                         int cluster) {
  const std::string type(c_type(dtype)), count = std::to_string(values), blocks = std::to_string(cluster);
  const bool is_wide = size_of(dtype) == 8;
  const std::string word = is_wide ? "u64" : "u32", suffix = is_wide ? "b64" : "b32",
                    bytes = std::to_string(values * static_cast<std::size_t>(cluster) * (is_wide ? 8 : 4));
  const auto bits = [&](const std::string& value) {
    switch (dtype) {
      case DType::f32: return "u32(__float_as_int(" + value + "))";
      case DType::f64: return "u64(__double_as_longlong(" + value + "))";
      default: return word + "(" + value + ")";
    }
  };
  const auto value = [&](const std::string& words) {
    switch (dtype) {
      case DType::f32: return "__int_as_float(int(" + words + "))";
      case DType::f64: return "__longlong_as_double(i64(" + words + "))";
      case DType::boolean: return words + " != 0u";
      default: return type + "(" + words + ")";
    }
  };
  std::string text = "SN_FN void " + name + "(";
  for (std::size_t i = 0; i < values; ++i) text += type + "& v" + std::to_string(i) + ", ";
  text += word + " (&places)[2][" + count + "][" + blocks + "], u64 (&came)[2], u32& turn, u32 rank) {\n" +
          "  const u32 slot = turn & 1u, own = sn_cluster_address(&came[slot]);\n" +
          "  if (threadIdx.x == 0u) sn_cluster_expect(own, " + bytes + "u);\n" + "  if (threadIdx.x < " +
          blocks + "u) {\n" + "    const u32 their = sn_cluster_address_of(own, threadIdx.x);\n";
  for (std::size_t i = 0; i < values; ++i) {
    const std::string number = std::to_string(i);
    text += "    asm volatile(\"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes." + suffix +
            " [%0], %1, [%2];\" :: \"r\"(sn_cluster_address_of(sn_cluster_address(&places[slot][" + number +
            "][rank]), threadIdx.x)), \"" + (is_wide ? "l" : "r") + "\"(" + bits("v" + number) +
            "), \"r\"(their) : \"memory\");\n";
  }
  text += "  }\n  sn_cluster_wait(own, turn >> 1 & 1u);\n";
  for (std::size_t i = 0; i < values; ++i)
    text += "  v" + std::to_string(i) + " = " + value("places[slot][" + std::to_string(i) + "][0]") + ";\n";
  text += "  for (u32 b = 1u; b < " + blocks + "u; ++b) {\n";
  for (std::size_t i = 0; i < values; ++i)
    text += "    const " + type + " w" + std::to_string(i) + " = " +
            value("places[slot][" + std::to_string(i) + "][b]") + ";\n";
  return text + "    " + join + "\n  }\n  ++turn;\n}\n";
}

void cuda_cluster_functions(std::map<std::string, std::string>& functions) {
  functions["sn_cluster_address"] =
      "SN_FN u32 sn_cluster_address(const void* at) {\n"
      "  u32 address;\n"
      "  asm(\"{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }\" : \"=r\"(address) : "
      "\"l\"(at));\n"
      "  return address;\n}\n";
  functions["sn_cluster_address_of"] =
      "SN_FN u32 sn_cluster_address_of(u32 own, u32 rank) {\n"
      "  u32 address;\n"
      "  asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(address) : \"r\"(own), \"r\"(rank));\n"
      "  return address;\n}\n";
  functions["sn_cluster_expect"] =
      "SN_FN void sn_cluster_expect(u32 came, u32 bytes) {\n"
      "  asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" :: \"r\"(came), "
      "\"r\"(bytes) : \"memory\");\n}\n";
  functions["sn_cluster_wait"] =
      "SN_FN void sn_cluster_wait(u32 came, u32 parity) {\n"
      "  u32 done;\n"
      "  do {\n"
      "    asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
      "selp.u32 %0, 1, 0, p; }\" : \"=r\"(done) : \"r\"(came), \"r\"(parity) : \"memory\");\n"
      "  } while (done == 0u);\n}\n";
  functions["sn_cluster_open"] =
      "SN_FN void sn_cluster_open(u64 (&came)[2]) {\n"
      "  if (threadIdx.x < 2u)\n"
      "    asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" :: "
      "\"r\"(sn_cluster_address(&came[threadIdx.x])) : \"memory\");\n}\n";
  functions["sn_cluster_barrier"] =
      "SN_FN void sn_cluster_barrier() {\n"
      "  asm volatile(\"barrier.cluster.arrive.release.aligned;\\n\\t"
      "barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");\n}\n";
  functions["sn_cluster_begin"] =
      "SN_FN void sn_cluster_begin() {\n"
      "  asm volatile(\"fence.mbarrier_init.release.cluster;\\n\\t"
      "barrier.cluster.arrive.relaxed.aligned;\\n\\t"
      "barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");\n}\n";
}

std::string cuda_barrier(const Target& target) {
  return "SN_FN void sn_barrier() {\n"
         "  if (blockDim.x > " +
         unsigned_text(target.subgroup) +
         ") __syncthreads();\n"
         "  else __syncwarp();\n"
         "}\n";
}

}  // namespace sinter::emit
