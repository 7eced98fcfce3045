// A language that is spelled unlike C needs a dialect and nothing else: kernels in a WGSL made up for this
// test.
#include "jit/emit/dialects/dialect.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
using emit::Geometry;
using emit::Target;
using emit::Type;

/// What follows the language's grammar: let and var, select, arrays with a type, ++ as += 1, braces always.
class ToySyntax : public emit::Dialect {
 public:
  using Dialect::constant, Dialect::literal, Dialect::type, Dialect::variable;

  std::string type(Type type) const override {
    switch (type) {
      case Type::F32: return "f32";
      case Type::I32: return "i32";
      case Type::U32: return "u32";
      case Type::Bool: return "bool";
      default: throw std::logic_error("the target has no f64 and no i64");
    }
  }
  std::string choose(const std::string& condition, const std::string& yes,
                     const std::string& no) const override {
    return "select(" + no + ", " + yes + ", " + condition + ")";
  }
  std::string constant(Type type, const std::string& name, const std::string& value) const override {
    return "let " + name + ": " + this->type(type) + " = " + value + ";";
  }
  std::string variable(Type type, const std::string& name, const std::string& value) const override {
    return "var " + name + ": " + this->type(type) + " = " + value + ";";
  }
  std::string variables(Type type, const std::vector<std::string>& names,
                        const std::string& value) const override {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + variable(type, name, value);
    return text;
  }
  std::string array(Type type, const std::string& name, int count) const override {
    return "var " + name + ": " + array_type(type, count) + ";";
  }
  std::string array_of(Type type, const std::string& name, int count,
                       const std::string& value) const override {
    std::string values = value;
    for (int i = 1; i < count; ++i) values += ", " + value;
    return "var " + name + " = " + array_type(type, count) + "(" + values + ");";
  }
  std::string guarded(const std::string& head, const std::string& statement) const override {
    return head + " { " + statement + " }";
  }
  std::string loop(Type type, const std::string& variable, const std::string& first, const std::string& limit,
                   const std::string& step) const override {
    return "for (var " + variable + ": " + this->type(type) + " = " + first + "; " + variable + " < " +
           limit + "; " + variable + " += " + step + ")";
  }
  std::string rounds(const std::string& variable, int count) const override {
    return loop(Type::I32, variable, "0", std::to_string(count), "1");
  }
  std::string changed(const std::string& variable) const override { return "&" + variable; }

 protected:
  std::string array_type(Type type, int count) const {
    return "array<" + this->type(type) + ", " + std::to_string(count) + ">";
  }
};

/// Kernels, memory and workgroups of subgroups of 64 lanes.
class ToyDialect : public ToySyntax {
 public:
  ToyDialect() {
    entry = "toy_kernel";
    subgroup = 64;
    alone = {"at.x * lanes + lane.x", "all.x * lanes", "at.x", "all.x", "at.x", "all.x"};
    workgroup = "at.x";
    lane = "lane.x";
    lanes = "lanes";
    barrier = "workgroupBarrier();";
    faults = "fault";
  }

  std::string preamble(const ir::Kernel&, const Target& target) const override {
    return "enable subgroups;\noverride lanes: u32 = " + std::to_string(target.workgroup_size) + ";\n";
  }
  std::string open(const ir::Kernel& kernel, const Target&, const emit::BodyUse&) const override {
    std::string text, names;
    int binding = 0;
    const auto bind = [&](const std::string& access, const std::string& name, const std::string& element) {
      text += "@group(0) @binding(" + std::to_string(binding++) + ") var<storage, " + access + "> " + name +
              ": array<" + element + ">;\n";
    };
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
      bind(kernel.buffers[b].written ? "read_write" : "read", emit::argument_name('b', b),
           type(kernel.buffers[b].dtype));
    bind("read", "arguments", "u32");
    if (kernel.faults > 0) bind("read_write", "fault", "u32");
    std::size_t at = 0;
    const auto word = [&] { return "arguments[" + std::to_string(at++) + "]"; };
    for (std::size_t i = 0; i < kernel.ints; ++i) names += define_argument(kernel, 'n', i, word());
    for (std::size_t s = 0; s < kernel.scalars.size(); ++s) names += define_argument(kernel, 's', s, word());
    return text +
           "@compute @workgroup_size(lanes)\n"
           "fn toy_kernel(@builtin(workgroup_id) at: vec3<u32>, @builtin(num_workgroups) all: vec3<u32>,\n"
           "              @builtin(local_invocation_id) lane: vec3<u32>) {\n" +
           names;
  }
  std::string from_words(DType dtype, const std::string& words) const override {
    return "bitcast<" + type(dtype) + ">(" + words + ")";
  }

  std::string read(const ir::Kernel&, std::size_t buffer, const std::string& position) const override {
    return emit::argument_name('b', buffer) + "[" + position + "]";
  }
  std::string write(const ir::Kernel&, std::size_t buffer, const std::string& position,
                    const std::string& value) const override {
    return emit::argument_name('b', buffer) + "[" + position + "] = " + value + ";";
  }

  bool has_vectors(const ir::Kernel&, const Target& target) const override { return target.vectors; }
  std::string declare_vector(DType dtype, int width, const std::string& name, int) const override {
    return array(emit::type_of(dtype), name, width);
  }
  std::string load_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                          const std::string& position, const std::string& to) const override {
    std::string elements;
    for (int i = 0; i < width; ++i)
      elements += (i ? ", " : "") + read(kernel, buffer, position + " + " + std::to_string(i));
    return to + " = " + array_type(emit::type_of(kernel.buffers[buffer].dtype), width) + "(" + elements +
           ");";
  }
  std::string store_vector(const ir::Kernel& kernel, int width, std::size_t buffer,
                           const std::string& position, const std::string& from) const override {
    std::string text;
    for (int i = 0; i < width; ++i)
      text += (i ? " " : "") + write(kernel, buffer, position + " + " + std::to_string(i),
                                     from + "[" + std::to_string(i) + "]");
    return text;
  }

  std::string extreme(DType, bool least) const override { return least ? "-3.4028234e38f" : "3.4028234e38f"; }
  std::string_view function(std::string_view name) const override {
    if (name == "sn_exp_f32") return "fn sn_exp_f32(a: f32) -> f32 { return exp(a); }\n";
    if (name == "sn_div_f32") return "fn sn_div_f32(a: f32, b: f32) -> f32 { return a / b; }\n";
    if (name == "sn_max_f32") return "fn sn_max_f32(a: f32, b: f32) -> f32 { return max(a, b); }\n";
    return "";
  }

  std::string workgroup_function(const std::string& name, Op, DType dtype, const std::string& combine,
                                 const Target& target, int) const override {
    const std::string number = type(dtype), width = std::to_string(target.subgroup),
                      most = std::to_string(target.workgroup_size / target.subgroup);
    return "var<workgroup> " + name + "_parts: array<" + number + ", " + most + ">;\nfn " + name +
           "(mine: " + number + ", lane: u32) -> " + number + " {\n  " + variable(dtype, "v", "mine") +
           "\n  for (var d: u32 = " + width + "u / 2u; d > 0u; d = d / 2u) {\n    " +
           constant(dtype, "w", "subgroupShuffleXor(v, d)") + "\n    v = " + combine + ";\n  }\n  " + name +
           "_parts[lane / " + width + "u] = v;\n  workgroupBarrier();\n  v = " + name +
           "_parts[0];\n  for (var i: u32 = 1u; i < lanes / " + width + "u; i += 1u) {\n    " +
           constant(dtype, "w", name + "_parts[i]") + "\n    v = " + combine +
           ";\n  }\n  workgroupBarrier();\n  return v;\n}\n";
  }
  std::string workgroup_call(const std::string& function, DType, const std::vector<std::string>& values,
                             const std::string&, bool, const Target&) const override {
    return values[0] + " = " + function + "(" + values[0] + ", lane.x);";
  }
};

Target toy_target() {
  static const ToyDialect dialect;
  Target target(dialect);
  target.has_f64 = target.has_i64 = target.has_byte_storage = target.has_half_storage = false;
  return target;
}

testing::KernelCase named(const std::string& name) {
  for (testing::KernelCase& c : testing::handmade_kernels())
    if (c.name == name) return std::move(c);
  throw std::out_of_range(name);
}

emit::Source source_of(const testing::KernelCase& c) { return emit::emit(c.kernel, toy_target()); }

/// Each part stands in the text, in this order.
void check_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    const std::size_t found = text.find(part, at);
    CHECK_MESSAGE(found != std::string::npos, "\"" << part << "\" is missing after " << at << " in\n"
                                                   << text);
    if (found != std::string::npos) at = found + part.size();
  }
}

/// What only C or its relatives have.
void check_nothing_of_c(const std::string& text) {
  for (const std::string part :
       {"?", "const ", "float ", "int ", "bool v", "unsigned", "precise ", "(int)", "(float)", "++", "(u32 ",
        "(int ", "= {", "i64", "u64", "  u32 ", "SN_FN", "#", "[["})
    CHECK_MESSAGE(text.find(part) == std::string::npos, "\"" << part << "\" stands in\n" << text);
}

}  // namespace

TEST_CASE("an elementwise kernel in a language unlike C") {
  testing::KernelBuilder k({2, 3});
  const auto x = k.load(k.input(DType::f32, {1, -2, 3, -4, 5, -6}), k.all());
  const auto scaled = k.op(Op::Mul, x, k.scalar(DType::f32, 0.5));
  k.store(k.output(DType::f32, 6), k.map({1, 2}), k.op(Op::Where, k.op(Op::Less, x, scaled), scaled, x));
  const emit::Source source = source_of(k.finish("leaky relu, transposed"));
  CHECK(source.entry == "toy_kernel");
  CHECK(source.text == R"(enable subgroups;
override lanes: u32 = 256;
@group(0) @binding(0) var<storage, read> b0: array<f32>;
@group(0) @binding(1) var<storage, read_write> b1: array<f32>;
@group(0) @binding(2) var<storage, read> arguments: array<u32>;
@compute @workgroup_size(lanes)
fn toy_kernel(@builtin(workgroup_id) at: vec3<u32>, @builtin(num_workgroups) all: vec3<u32>,
              @builtin(local_invocation_id) lane: vec3<u32>) {
  let n0: i32 = bitcast<i32>(arguments[0]);
  let n1: i32 = bitcast<i32>(arguments[1]);
  let n2: i32 = bitcast<i32>(arguments[2]);
  let n3: i32 = bitcast<i32>(arguments[3]);
  let s0: f32 = bitcast<f32>(arguments[4]);
  let vectors: bool = ((n1 | n2) & 3) == 0;
  let points: u32 = u32(n0) * u32(n1);
  let points4: u32 = select(u32(0), points - points % u32(4), vectors);
  for (var f: u32 = u32(at.x * lanes + lane.x) * u32(4); f < points4; f += u32(all.x * lanes) * u32(4)) {
    var t0: u32 = f;
    let y: i32 = i32(t0 % u32(n1));
    t0 /= u32(n1);
    let x0: i32 = i32(t0);
    var l0: array<f32, 4>;
    l0 = array<f32, 4>(b0[x0 * n2 + y + 0], b0[x0 * n2 + y + 1], b0[x0 * n2 + y + 2], b0[x0 * n2 + y + 3]);
    for (var k: i32 = 0; k < 4; k += 1) {
      let x1: i32 = y + k;
      let v0: f32 = l0[k];
      let v2: f32 = (v0 * s0);
      let v3: bool = (v0 < v2);
      let v4: f32 = (select(v0, v2, v3));
      b1[x0 + x1 * n3] = v4;
    }
  }
  for (var t: u32 = points4 + u32(at.x) * (u32(lanes) * u32(4)); t < points; )"
                       R"(t += u32(all.x) * (u32(lanes) * u32(4))) {
    if (points - t >= (u32(lanes) * u32(4))) {
      var w0: array<f32, 4>;
      for (var u: i32 = 0; u < 4; u += 1) {
        let f: u32 = t + u32(u) * u32(lanes) + u32(lane.x);
        var t0: u32 = f;
        let x1: i32 = i32(t0 % u32(n1));
        t0 /= u32(n1);
        let x0: i32 = i32(t0);
        let v0: f32 = b0[x0 * n2 + x1];
        let v2: f32 = (v0 * s0);
        let v3: bool = (v0 < v2);
        let v4: f32 = (select(v0, v2, v3));
        w0[u] = v4;
      }
      for (var u: i32 = 0; u < 4; u += 1) {
        let f: u32 = t + u32(u) * u32(lanes) + u32(lane.x);
        var t0: u32 = f;
        let x1: i32 = i32(t0 % u32(n1));
        t0 /= u32(n1);
        let x0: i32 = i32(t0);
        b1[x0 + x1 * n3] = w0[u];
      }
    }
    else {
      for (var f: u32 = t + u32(lane.x); f < points; f += u32(lanes)) {
        var t0: u32 = f;
        let x1: i32 = i32(t0 % u32(n1));
        t0 /= u32(n1);
        let x0: i32 = i32(t0);
        let v0: f32 = b0[x0 * n2 + x1];
        let v2: f32 = (v0 * s0);
        let v3: bool = (v0 < v2);
        let v4: f32 = (select(v0, v2, v3));
        b1[x0 + x1 * n3] = v4;
      }
    }
  }
}
)");
}

TEST_CASE("padding in a language unlike C") {
  const std::string text = source_of(named("padded load with a predicate")).text;
  check_nothing_of_c(text);
  check_order(
      text, {"for (var t: u32 = points4 + ", "let f: u32 = t + u32(u) * u32(lanes) + u32(lane.x);",
             "var v0: bool = true;\n        {\n", "var t: u32 = u32(x0 * n2 + x1);",
             "let c1: i32 = i32(t % u32(n5));", "t /= u32(n5);",
             "v0 = c1 >= 1 && (c1 - 1) < n6 && c0 >= 1 && (c0 - 1) < n4;", "var v1: f32 = f32(0);",
             "if (v0) {\n          v1 = b0[n8 + x0 * n7 + x1];\n        }\n        b1[x0 * n9 + x1] = v1;"});
}

TEST_CASE("a map of several steps in a language unlike C") {
  const std::string text = source_of(named("three-step map")).text;
  check_nothing_of_c(text);
  check_order(text, {"var m0: i32 = ", "var t: u32 = u32(m0);", "let c", ": i32 = i32(t % u32(n", "m0 = "});
}

TEST_CASE("indexed reads in a language unlike C") {
  testing::KernelBuilder k({4});
  const auto index = k.load(k.input(DType::i32, {0, 2, 1, 5}), k.all());
  k.store(k.output(DType::f32, 4), k.all(),
          k.load_at(k.input(DType::f32, {1, 2, 3}), k.map({0}), index, 1, 3));
  const std::string text = source_of(k.finish("gather")).text;
  check_nothing_of_c(text);
  check_order(text, {"var<storage, read_write> fault: array<u32>;", "let v0: i32 = b0[x0];",
                     "if (v0 >= i32(0) && v0 < i32(n1)) {\n", "v1 = b1[i32(v0)];\n",
                     "else {\n      fault[0u] = 1u;\n"});
}

TEST_CASE("a reduction of rows in a language unlike C, by subgroups of 64 lanes") {
  const testing::KernelCase softmax = named("softmax 129x5 (lanes inner)");
  const std::string text = source_of(softmax).text;
  check_nothing_of_c(text);
  check_order(text,
              {"var<workgroup> sn_workgroup_max_f32_parts: array<f32, 4>;", "for (var d: u32 = 64u / 2u;",
               "let inner4: u32 = select(u32(0), inner - inner % u32(4), vectors);",
               "for (var f: u32 = u32(at.x); f < points; f += u32(all.x)) {", "var r1: f32 = -3.4028234e38f;",
               "var g: u32 = u32(lane.x) * u32(4);",
               "for (; g + u32(lanes) * u32(4) * u32(3) < inner4; g += u32(lanes) * u32(4) * u32(4)) {",
               "for (var u: i32 = 0; u < 4; u += 1) {", "var l0: array<f32, 4>;",
               "for (var j: u32 = inner4 + u32(lane.x); j < inner; j += u32(lanes)) {",
               "r1 = sn_workgroup_max_f32(r1, lane.x);", "let v1: f32 = r1;", "let left: u32 = inner4 - h;",
               "let end: u32 = h + (select(u32(u32(lanes) * u32(4) * 32), left, left < ",
               "var q4 = array<f32, 4>(f32(0), f32(0), f32(0), f32(0));", "var q4: f32 = f32(0);",
               "r4 = sn_workgroup_sum_f32(r4, lane.x);", "sn_div_f32(", "b1[x0 * n3 + x1] = "});

  // A subgroup for each row: rows of lanes are the dialect's to have.
  const auto shape = [&](const Target& target) {
    return emit::geometry(softmax.kernel, target, softmax.bindings.ints);
  };
  CHECK(shape(toy_target()) == Geometry{129, 64, 1});
  Target wide_warps(emit::dialect("cuda"));
  CHECK(wide_warps.subgroup == 32);
  CHECK(shape(wide_warps) == Geometry{17, 32, 8});
  wide_warps.subgroup = 64;
  CHECK(shape(wide_warps) == Geometry{33, 64, 4});
  const std::string of_wide_warps = emit::emit(softmax.kernel, wide_warps).text;
  check_order(of_wide_warps, {"float (*warps)[16]", "u32 d = 32u;", "lanes >> 6;", "threadIdx.x & 63u",
                              "threadIdx.x >> 6", "warps[1][16]"});
}

TEST_CASE("what a dialect leaves out is an error where a kernel needs it") {
  testing::KernelBuilder k({2}, {5});
  const auto x = k.load(k.input(DType::f32, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), k.all());
  k.store(k.output(DType::f32, 2), k.outer(), k.reduce(Op::Sum, x));
  testing::KernelCase sums = k.finish("sums");
  CHECK_NOTHROW(source_of(sums));
  sums.kernel.split = true;
  CHECK_THROWS_WITH_AS(source_of(sums),
                       "[emit] a kernel needs partial results, which its target's dialect does not have",
                       std::logic_error);
}

TEST_CASE("dialects are found by name") {
  CHECK(emit::dialect("cuda").entry == "sinter_kernel");
  CHECK(emit::dialect("glsl").entry == "main");
  CHECK_THROWS_AS(emit::dialect("wgsl"), std::invalid_argument);
}
