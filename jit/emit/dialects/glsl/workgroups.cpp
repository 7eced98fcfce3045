// Workgroups and their subgroups in GLSL.
#include "jit/emit/dialects/glsl/workgroups.h"

#include <vector>

namespace sinter::emit {

namespace {

/// Eight bytes go as two words: not every device exchanges them otherwise.
std::string exchanged(DType dtype, const std::string& function, const std::string& value,
                      const std::string& lane) {
  switch (dtype) {
    case DType::f64: return "packDouble2x32(" + function + "(unpackDouble2x32(" + value + "), " + lane + "))";
    case DType::i64: return "packInt2x32(" + function + "(unpackInt2x32(" + value + "), " + lane + "))";
    case DType::boolean: return function + "(u32(" + value + "), " + lane + ") != 0u";
    default: return function + "(" + value + ", " + lane + ")";
  }
}

/// The parts of a function that goes over a workgroup by exchange: within each subgroup; then each subgroup
/// leaves its result and all of them combine all results, which takes one barrier. Calls take turns with two
/// places for results: when one is written again, the call in between has had its barrier, so everybody has
/// read it. A number of subgroups is a power of two.
struct Exchange {
  std::string size, turn;
  std::string
      leave;  // the head of the statements that leave a subgroup's result, in place [turn][gl_SubgroupID]
  std::string place,
      rest;  // a lane's subgroup; what is done where there are more of them than a subgroup has lanes
  std::string across_lanes, across_subgroups;  // heads of loops over the distance of a pair

  bool is_alone;      // no more lanes than a subgroup has: there is nothing across subgroups
  std::string first;  // lane of the subgroup: the first one of this lane's point

  Exchange(const std::string& name, const Target& target, int lanes)
      : size(std::to_string(target.subgroup) + "u"),
        turn(name + "_turn"),
        is_alone(lanes <= target.subgroup && lanes < target.workgroup_size),
        first(is_alone ? "gl_SubgroupInvocationID / " + std::to_string(lanes) + "u * " +
                             std::to_string(lanes) + "u"
                       : "0u") {
    across_lanes = "  [[unroll]]\n  for (u32 d = " + (is_alone ? std::to_string(lanes) + "u" : size) +
                   " >> 1; d > 0u; d >>= 1) {\n";
    leave = "  const u32 count = gl_WorkGroupSize.x / " + size +
            ";\n  if (count > 1u) {\n    if (gl_SubgroupInvocationID == 0u)";
    place = "gl_SubgroupInvocationID & (count - 1u)";
    const bool many = target.workgroup_size / target.subgroup > target.subgroup;
    if (many)
      rest = "    for (u32 i = gl_SubgroupInvocationID + " + size + "; i < count; i += " + size + ") {\n";
    across_subgroups =
        "    [[unroll]]\n    for (u32 d = " + (many ? "min(count, " + size + ")" : std::string("count")) +
        " >> 1; d > 0u; d >>= 1) {\n";
  }
  static std::string places(const Target& target) {
    return "[" + std::to_string(target.workgroup_size / target.subgroup) + "]";
  }
};

/// Floats with their lower bits turned over where they are negative are in order as whole numbers, which take
/// one instruction to compare. NaN is beyond all of them.
std::string exchange_of_keys(const std::string& name, Op op, const Target& target, int lanes) {
  const std::string keys = "keys_of_" + name, nan = op == Op::Max ? "0x7fffffff" : "int(0x80000000u)";
  return glsl_exchange(keys, op, DType::i32, op == Op::Max ? "max(v, w)" : "min(v, w)", target, lanes) +
         "float " + name +
         "(float mine) {\n"
         "  const int bits = floatBitsToInt(mine);\n"
         "  const int key = " +
         keys + "(sn_is_nan_f32(mine) ? " + nan +
         " : bits ^ ((bits >> 31) & 0x7fffffff));\n"
         "  return intBitsToFloat(key ^ ((key >> 31) & 0x7fffffff));\n}\n";
}

}  // namespace

std::string glsl_exchange(const std::string& name, Op op, DType dtype, const std::string& combine,
                          const Target& target, int lanes) {
  const bool is_extreme = (op == Op::Max || op == Op::Min) && is_float(dtype);
  if (is_extreme && dtype == DType::f32) return exchange_of_keys(name, op, target, lanes);
  const Exchange x(name, target, lanes);
  const std::string type(c_type(dtype)), parts = name + "_parts";
  const auto with = [&](const std::string& other, const std::string& indent) {
    return indent + "  const " + type + " w = " + other + ";\n" + indent + "  v = " + combine + ";\n" +
           indent + "}\n";
  };
  const std::string pair = exchanged(dtype, "subgroupShuffleXor", "v", "d");
  std::string text = type + " " + name + "(" + type + " mine) {\n  " + (is_float(dtype) ? "precise " : "") +
                     type + " v = mine;\n" + x.across_lanes + with(pair, "  ");
  if (!x.is_alone) {
    text = "shared " + type + " " + parts + "[2]" + Exchange::places(target) + ";\nu32 " + x.turn +
           " = 0u;\n" + text + x.leave + " " + parts + "[" + x.turn +
           "][gl_SubgroupID] = v;\n    barrier();\n    v = " + parts + "[" + x.turn + "][" + x.place + "];\n";
    if (!x.rest.empty()) text += x.rest + with(parts + "[" + x.turn + "][i]", "    ");
    text += x.across_subgroups + with(pair, "    ") + "    " + x.turn + " ^= 1u;\n  }\n";
  }
  // Of +0 and -0 each lane may have found another; the first one speaks for all.
  return text + "  return " + (is_extreme ? exchanged(dtype, "subgroupShuffle", "v", x.first) : "v") +
         ";\n}\n";
}

// Both sides of a pair take the same one as the first.
std::string glsl_exchange_welford(const std::string& name, DType dtype, const Target& target, int lanes) {
  const Exchange x(name, target, lanes);
  const std::string type(c_type(dtype)), parts = name + "_parts";
  const std::string join =
      "sn_join_welford_" + std::string(name_of(dtype)) + "(n, mean, m2, on, omean, om2);";
  const auto other = [&](const std::string& v) { return exchanged(dtype, "subgroupShuffleXor", v, "d"); };
  const auto with_pair = [&](const std::string& indent) {
    const std::string line = "\n" + indent + "  ";
    return indent + "  " + type + " on = " + other("n") + ", omean = " + other("mean") +
           ", om2 = " + other("m2") + ";" + line + "if ((gl_SubgroupInvocationID & d) != 0u) {" + line +
           "  const " + type + " sn = n, smean = mean, sm2 = m2;" + line +
           "  n = on; mean = omean; m2 = om2;" + line + "  on = sn; omean = smean; om2 = sm2;" + line + "}" +
           line + join + "\n" + indent + "}\n";
  };
  const auto part = [&](const std::string& number, const std::string& place) {
    return parts + "[" + x.turn + "][" + number + "][" + place + "]";
  };
  if (x.is_alone)
    return "void " + name + "(inout " + type + " n, inout " + type + " mean, inout " + type + " m2) {\n" +
           x.across_lanes + with_pair("  ") + "}\n";
  std::string text = "shared " + type + " " + parts + "[2][3]" + Exchange::places(target) + ";\nu32 " +
                     x.turn + " = 0u;\nvoid " + name + "(inout " + type + " n, inout " + type +
                     " mean, inout " + type + " m2) {\n" + x.across_lanes + with_pair("  ") + x.leave +
                     " {\n      " + part("0", "gl_SubgroupID") + " = n;\n      " +
                     part("1", "gl_SubgroupID") + " = mean;\n      " + part("2", "gl_SubgroupID") +
                     " = m2;\n    }\n    barrier();\n    n = " + part("0", x.place) +
                     ";\n    mean = " + part("1", x.place) + ";\n    m2 = " + part("2", x.place) + ";\n";
  if (!x.rest.empty())
    text += x.rest + "      const " + type + " on = " + part("0", "i") + ", omean = " + part("1", "i") +
            ", om2 = " + part("2", "i") + ";\n      " + join + "\n    }\n";
  return text + x.across_subgroups + with_pair("    ") + "    " + x.turn + " ^= 1u;\n  }\n}\n";
}

std::string glsl_rows(const std::string& name, Op op, DType dtype, const std::string& combine,
                      const Target& target) {
  const std::string type(c_type(dtype)), places = "[" + std::to_string(target.workgroup_size) + "]";
  const bool welford = op == Op::SquaredDeviations;
  const std::vector<std::string> values =
      welford ? std::vector<std::string>{"n", "mean", "m2"} : std::vector<std::string>{"v"};
  std::string memory, head, put, get, others;
  for (const std::string& value : values) {
    const std::string parts = name + "_" + value, other = welford ? "o" + value : "w";
    memory += "shared " + type + " " + parts + places + ";\n";
    head += (head.empty() ? "" : ", ") + ("inout " + type + " ") + value;
    put += " " + parts + "[gl_LocalInvocationID.x] = " + value + ";";
    get += "  " + value + " = " + parts + "[SN_LANE];\n";
    others +=
        "      const " + type + " " + other + " = " + parts + "[gl_LocalInvocationID.x + left * SN_LANES];\n";
  }
  const std::string join =
      welford ? "      sn_join_welford_" + std::string(name_of(dtype)) + "(n, mean, m2, on, omean, om2);\n"
              : std::string("      ") + (is_float(dtype) ? "precise " : "") + type + " joined = " + combine +
                    ";\n      v = joined;\n";
  // In halves, as above. What the call before left may still be read.
  return memory + "void " + name + "(" + head + ") {\n  if (SN_ROWS == 1u) return;\n  barrier();\n " + put +
         "\n  barrier();\n"
         "  for (u32 rows = SN_ROWS; rows > 1u;) {\n"
         "    const u32 left = (rows + 1u) / 2u;\n"
         "    if (SN_ROW + left < rows) {\n" +
         others + join + "     " + put +
         "\n    }\n"
         "    rows = left;\n"
         "    barrier();\n"
         "  }\n" +
         get + "}\n";
}

std::string glsl_tree(const std::string& name, DType dtype, const std::string& combine,
                      const Target& target) {
  const std::string type(c_type(dtype)), memory = name + "_lanes";
  return "shared " + type + " " + memory + "[" + std::to_string(target.workgroup_size) + "];\n" + type + " " +
         name + "(" + type +
         " mine) {\n"
         "  const u32 lane = gl_LocalInvocationID.x;\n"
         "  " +
         memory +
         "[lane] = mine;\n"
         "  barrier();\n"
         "  for (u32 half_ = gl_WorkGroupSize.x >> 1; half_ > 0u; half_ >>= 1) {\n"
         "    if (lane < half_) {\n"
         "      const " +
         type + " v = " + memory + "[lane], w = " + memory +
         "[lane + half_];\n"
         "      " +
         (is_float(dtype) ? "precise " : "") + type + " u = " + combine +
         ";\n"
         "      " +
         memory +
         "[lane] = u;\n"
         "    }\n"
         "    barrier();\n"
         "  }\n"
         "  const " +
         type + " whole = " + memory +
         "[0];\n"
         "  barrier();\n"
         "  return whole;\n}\n";
}

std::string glsl_tree_welford(const std::string& name, DType dtype, const Target& target) {
  const std::string type(c_type(dtype)), n = name + "_n", mean = name + "_mean", m2 = name + "_m2";
  const std::string lanes = "[" + std::to_string(target.workgroup_size) + "]";
  return "shared " + type + " " + n + lanes + ", " + mean + lanes + ", " + m2 + lanes + ";\nvoid " + name +
         "(inout " + type + " my_n, inout " + type + " my_mean, inout " + type +
         " my_m2) {\n"
         "  const u32 lane = gl_LocalInvocationID.x;\n"
         "  " +
         n + "[lane] = my_n; " + mean + "[lane] = my_mean; " + m2 +
         "[lane] = my_m2;\n"
         "  barrier();\n"
         "  for (u32 half_ = gl_WorkGroupSize.x >> 1; half_ > 0u; half_ >>= 1) {\n"
         "    if (lane < half_) {\n"
         "      sn_join_welford_" +
         std::string(name_of(dtype)) + "(my_n, my_mean, my_m2, " + n + "[lane + half_], " + mean +
         "[lane + half_], " + m2 +
         "[lane + half_]);\n"
         "      " +
         n + "[lane] = my_n; " + mean + "[lane] = my_mean; " + m2 +
         "[lane] = my_m2;\n"
         "    }\n"
         "    barrier();\n"
         "  }\n"
         "  my_n = " +
         n + "[0]; my_mean = " + mean + "[0]; my_m2 = " + m2 +
         "[0];\n"
         "  barrier();\n}\n";
}

}  // namespace sinter::emit
