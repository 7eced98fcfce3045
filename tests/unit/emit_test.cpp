// Generated kernel texts: compared with those in tests/golden, and rules that hold for all of them.
#include "jit/emit/emit.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/dialects/table.h"
#include "jit/ir/products/row_product.h"
#include "tests/conformance/kernel_forms.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
using emit::Geometry;
using emit::Target;

Target glsl_target(bool has_workgroups = true) {
  Target target(emit::dialect("glsl"));
  target.has_workgroups = target.vectors = has_workgroups;
  target.subgroup = has_workgroups ? 32 : 0;
  return target;
}

Target cuda_target() {
  Target target(emit::dialect("cuda"));
  target.max_workgroups = 0x7fffffff;
  return target;
}

const std::map<std::string, std::string> kGolden = {
    {"elementwise chain of 1000", "chain"},
    {"in place a = a * s + b", "in_place"},
    {"wide indices, strides as arguments", "wide"},
    {"three-step map", "three_step_map"},
    {"padding with steps", "padding"},
    {"bool ops", "bool_ops"},
    {"bf16 beside others, 1003", "bf16_beside_others"},
    {"softmax of f16 (lanes inner)", "softmax_f16"},
    {"i64 ops", "i64_ops"},
    {"gather with a predicate", "gather"},
    {"dropout and its sum (lanes inner)", "dropout_sum"},
    {"softmax 3x257 (lanes inner)", "softmax_lanes_inner"},
    {"softmax 3x257 (lanes outer)", "softmax_lanes_outer"},
    {"ragged rows by vectors", "flat_vectors"},
    {"means of windows", "windows"},
};

testing::KernelCase ragged_rows() {
  testing::KernelBuilder k({40, 33});
  const std::vector<double> rows(40 * 33, 1.0), row(33, 2.0);
  const auto x = k.load(k.input(DType::f32, rows), k.all());
  const auto y = k.load(k.input(DType::f32, row), k.map({0, 1}));
  k.store(k.output(DType::f32, 40 * 33), k.all(), k.op(Op::Add, x, y));
  return testing::reciprocal_kernels(testing::flat_kernels({k.finish("ragged rows by vectors")})).at(0);
}

testing::KernelCase means_of_windows() {
  testing::KernelBuilder k({8, 9}, {3, 3}, ir::Schedule::LanesOuter);
  const auto window = k.load(k.input(DType::f32, std::vector<double>(17 * 19, 1.0)), k.map({38, 2, 19, 1}));
  const auto sum = k.reduce(Op::Sum, window);
  k.store(k.output(DType::f32, 72), k.outer(), k.op(Op::Mul, sum, k.scalar(DType::f32, 1.0 / 9)));
  return testing::reciprocal_kernels(testing::window_kernels({k.finish("means of windows")})).at(0);
}

std::filesystem::path golden_folder() {
  const char* tests = std::getenv("SINTER_TESTS_FOLDER");
  return (tests ? std::filesystem::path(tests)
                : std::filesystem::path(__FILE__).parent_path().parent_path()) /
         "golden";
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

testing::KernelCase named(const std::string& name) {
  for (testing::KernelCase& c : testing::handmade_kernels())
    if (c.name == name) return std::move(c);
  throw std::out_of_range(name);
}

}  // namespace

TEST_CASE("texts are those of tests/golden") {
  const bool update = std::getenv("SINTER_UPDATE_GOLDEN") != nullptr;
  std::size_t found = 0;
  std::vector<testing::KernelCase> cases = testing::handmade_kernels();
  cases.push_back(ragged_rows());
  cases.push_back(means_of_windows());
  for (const testing::KernelCase& c : cases) {
    const auto golden = kGolden.find(c.name);
    if (golden == kGolden.end()) continue;
    ++found;
    const std::pair<std::string, std::string> texts[] = {
        {".cu", emit::emit(c.kernel, cuda_target()).text},
        {".comp.glsl", emit::emit(c.kernel, glsl_target()).text}};
    for (const auto& [extension, text] : texts) {
      const auto path = golden_folder() / (golden->second + extension);
      if (update) {
        std::filesystem::create_directories(golden_folder());
        std::ofstream(path, std::ios::binary) << text;
      }
      INFO("the text of \""
           << c.name << "\" is not that of " << path.string()
           << "; where the change is meant, run scripts/update-golden and read the difference");
      CHECK(read(path) == text);
    }
  }
  CHECK(found == kGolden.size());
}

TEST_CASE("a text is a function of the kernel and the target") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto a = testing::random_kernel(seed), b = testing::random_kernel(seed);
    for (const Target& target : {cuda_target(), glsl_target(), glsl_target(false)})
      CHECK(emit::emit(a.kernel, target).text == emit::emit(b.kernel, target).text);
  }
}

TEST_CASE("texts stand alone") {
  for (const testing::KernelCase& c : testing::handmade_kernels()) {
    CHECK(emit::emit(c.kernel, cuda_target()).text.find("#include") == std::string::npos);
    // Without workgroups there is no shared memory and no barrier.
    const std::string text = emit::emit(c.kernel, glsl_target(false)).text;
    CHECK(text.find("shared ") == std::string::npos);
    CHECK(text.find("barrier") == std::string::npos);
  }
}

TEST_CASE("each indexed read sets its own fault word, of its member") {
  testing::KernelBuilder k({4});
  const auto index = k.load(k.input(DType::i32, {0, 2, 1, 5}), k.all());
  for (int read = 0; read < 3; ++read)
    k.store(k.output(DType::f32, 4), k.all(),
            k.load_at(k.input(DType::f32, {1, 2, 3}), k.map({0}), index, 1, 3));
  ir::Kernel kernel = k.finish("three gathers").kernel;
  const auto times = [](const std::string& text, const std::string& what) {
    int count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
  };
  const std::string words[] = {"0u", "1u", "2u"};
  const std::string cuda = emit::emit(kernel, cuda_target()).text,
                    glsl = emit::emit(kernel, glsl_target()).text;
  for (const std::string& word : words) {
    // Four neighbours at once are a loop over one text, then come single points.
    CHECK(times(cuda, "fault[" + word + "] = 1u;") == 2);
    CHECK(times(glsl, "sn_fault.word[" + word + "] = 1u;") == 2);
  }
  kernel.members = 8;
  const std::string several = emit::emit(kernel, cuda_target()).text,
                    others = emit::emit(kernel, glsl_target()).text;
  for (const std::string& word : words) {
    CHECK(times(several, "fault[member * 3u + " + word + "] = 1u;") == 2);
    CHECK(times(others, "sn_fault.word[sn_low * 3u + " + word + "] = 1u;") >= 1);
  }
}

TEST_CASE("an i32 index is compared with an extent of 64 bits in 64 bits") {
  for (const bool wide : {false, true}) {
    testing::KernelBuilder k({4});
    if (wide) k.set_wide();
    const auto index = k.load(k.input(DType::i32, {0, 2, 1, 5}), k.all());
    k.store(k.output(DType::f32, 4), k.all(),
            k.load_at(k.input(DType::f32, {1}), k.map({0}), index, 0, wide ? std::int64_t{1} << 32 : 7));
    const ir::Kernel kernel = k.finish("gather").kernel;
    for (const Target& target : {cuda_target(), glsl_target()}) {
      const std::string text = emit::emit(kernel, target).text;
      CHECK((text.find("i64(v0) < i64(n1)") != std::string::npos) == wide);
      CHECK((text.find("v0 < int(n1)") != std::string::npos) != wide);
    }
  }
}

TEST_CASE("a contiguous kernel of rank 1 divides nothing") {
  for (const Target& target : {cuda_target(), glsl_target()}) {
    const std::string text = emit::emit(named("elementwise chain of 1000").kernel, target).text;
    const std::string body =
        text.substr(text.find("sinter_kernel") == std::string::npos ? text.find("void main")
                                                                    : text.find("sinter_kernel"));
    CHECK(body.find(" / ") == std::string::npos);
    CHECK(body.find("/=") == std::string::npos);
  }
}

// Compilers move no load before a store of which they cannot tell where it goes.
TEST_CASE("points that a lane takes at once are all loaded before one is stored") {
  for (const Target& target : {cuda_target(), glsl_target()}) {
    const std::string text = emit::emit(named("three-step map").kernel, target).text;
    const bool is_cuda = target.dialect == cuda_target().dialect;
    const std::size_t begin = text.find("points - t >= "), end = text.find("else {", begin);
    REQUIRE(end != std::string::npos);
    const std::string block = text.substr(begin, end - begin);
    const std::size_t load = block.find(is_cuda ? "= b0[" : "= b0.at["),
                      store = block.find(is_cuda ? "b1[" : "b1.at[");
    REQUIRE(load != std::string::npos);
    REQUIRE(store != std::string::npos);
    CHECK(load < store);
    // The loop over the points is closed and opened again between the two.
    const std::size_t loop = block.rfind("for (int u = 0; u < 4; ++u) {", store);
    CHECK(loop != std::string::npos);
    CHECK(load < loop);
  }
}

TEST_CASE("a tile's elements are brought without a branch, those of its own lines among them") {
  testing::KernelBuilder k({70, 90});
  const std::vector<double> values(70 * 90, 1.0);
  const auto turned = k.load(k.input(DType::f32, values), k.map({1, 70}));
  const auto plain = k.load(k.input(DType::f32, values), k.all());
  k.store(k.output(DType::f32, 70 * 90), k.all(), k.op(Op::Add, turned, plain));
  const std::vector<testing::KernelCase> tiled = testing::tile_kernels({k.finish("x and a transpose")});
  REQUIRE(tiled.size() == 1);
  for (Target target : {cuda_target(), glsl_target()}) {
    target.tile_bytes = 48 << 10;
    const std::string text = emit::emit(tiled[0].kernel, target).text;
    const std::size_t tiles = text.find("for (u32 f"), barrier = text.find(target.dialect->barrier, tiles);
    REQUIRE(barrier != std::string::npos);
    const std::string before = text.substr(tiles, barrier - tiles), after = text.substr(barrier);
    const bool is_cuda = target.dialect == cuda_target().dialect;
    for (const std::string buffer : {"b0", "b1"}) {
      const std::string read = "= " + buffer + (is_cuda ? "[" : ".at[");
      CHECK_MESSAGE(before.find(read) != std::string::npos, text);
      CHECK_MESSAGE(after.find(read) == std::string::npos, text);
    }
    CHECK_MESSAGE(before.find("if (") == std::string::npos, text);
    CHECK(before.find("min(at_across, ") != std::string::npos);
    CHECK(after.find("if (at_across < ") != std::string::npos);
  }
}

TEST_CASE("rows of 16 bits that are weighed last are held as others are") {
  testing::KernelBuilder k({4}, {1024}, ir::Schedule::LanesInner);
  const auto row = k.cast(DType::f32, k.load(k.input(DType::bf16, std::vector<double>(4096, 1.0)), k.all()));
  const auto weights =
      k.cast(DType::f32, k.load(k.input(DType::bf16, std::vector<double>(1024, 1.0)), k.map({0, 1})));
  const auto exponentials = k.op(Op::Exp, k.op(Op::Sub, row, k.reduce(Op::Max, row)));
  k.store(k.output(DType::f32, 4), k.outer(), k.reduce(Op::Sum, k.op(Op::Mul, exponentials, weights)));
  ir::DeviceTraits traits;
  traits.row_lanes = 1024;
  const auto held = testing::row_kernels({k.finish("weighed rows")}, traits);
  REQUIRE_FALSE(held.empty());
  for (const testing::KernelCase& c : held) {
    CHECK_FALSE(ir::is_row_product(c.kernel));
    const std::string text = emit::emit(c.kernel, glsl_target()).text;
    CHECK_MESSAGE(text.find("u32 h0[8]") == std::string::npos, text);
  }
}

TEST_CASE("four values of 16 bits are two registers in GLSL, too") {
  const testing::KernelCase softmax = named("softmax of f16 (lanes inner)");
  ir::DeviceTraits traits;
  traits.row_lanes = 1024;
  const std::vector<testing::KernelCase> held = testing::row_kernels({softmax}, traits);
  REQUIRE_FALSE(held.empty());
  const std::string text = emit::emit(held.front().kernel, glsl_target()).text;
  CHECK_MESSAGE(text.find("uvec2 h0[") != std::string::npos, text);
  CHECK_MESSAGE(text.find("[i][k >> 1] >> (16 * (k & 1))") != std::string::npos, text);
}

TEST_CASE("every elementwise op has a function in every language for the dtypes of its rule") {
  for (const OpInfo& op : kOps) {
    if (op.op_class != OpClass::Elementwise || op.op == Op::Cast) continue;
    const std::size_t at = op.text.find("sn_");
    if (at == std::string_view::npos) continue;
    const std::string name(op.text.substr(at, op.text.find('(', at) - at));
    for (DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean}) {
      const bool takes = op.rule == DTypeRule::Float || op.rule == DTypeRule::Bool ? is_float(dtype)
                         : op.rule == DTypeRule::Logic                             ? !is_float(dtype)
                         : op.rule == DTypeRule::Integer                           ? is_int(dtype)
                                                                                   : dtype != DType::boolean;
      if (!takes) continue;
      const std::string full = name + "_" + std::string(name_of(dtype));
      INFO(full);
      for (const emit::Dialect* dialect : emit::dialects()) {
        CHECK_FALSE(dialect->function(full).empty());
        CHECK_NOTHROW(emit::functions_for(full + "(", *dialect, {}));
      }
    }
  }
  const DType all[] = {DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
  for (DType from : all)
    for (DType to : all) {
      const std::string full = "sn_cast_" + std::string(name_of(from)) + "_" + std::string(name_of(to));
      if (from == to) continue;
      INFO(full);
      for (const emit::Dialect* dialect : emit::dialects()) CHECK_FALSE(dialect->function(full).empty());
    }
}

TEST_CASE("what is only stored is cast from and to what is computed in") {
  for (DType stored :
       {DType::bf16, DType::f16, DType::i8, DType::i16, DType::u8, DType::u16, DType::u32, DType::u64})
    for (const auto& [from, to] :
         {std::pair(stored, arithmetic_of(stored)), std::pair(arithmetic_of(stored), stored)}) {
      const std::string full = "sn_cast_" + std::string(name_of(from)) + "_" + std::string(name_of(to));
      INFO(full);
      for (const emit::Dialect* dialect : emit::dialects()) CHECK_FALSE(dialect->function(full).empty());
    }
  Target target = glsl_target();
  target.has_half_storage = false;
  CHECK_THROWS_WITH_AS(emit::emit(named("all of f16").kernel, target),
                       "[emit] this device has no buffers of f16", DTypeError);
}

TEST_CASE("what a target lacks is an error that names it") {
  Target target = glsl_target();
  target.has_f64 = false;
  testing::KernelBuilder k({4});
  k.store(k.output(DType::f64, 4), k.all(),
          k.op(Op::Exp, k.load(k.input(DType::f64, {1, 2, 3, 4}), k.all())));
  const auto f64 = k.finish("f64");
  CHECK_THROWS_WITH_AS(emit::emit(f64.kernel, target), "[emit] this device has no arithmetic for f64",
                       DTypeError);
  CHECK_THROWS_AS(emit::functions_for("sn_exp_i32(", emit::dialect("cuda"), {}), DTypeError);
}

TEST_CASE("a device whose fma rounds once gets the shorter exponential") {
  testing::KernelBuilder k({4});
  k.store(k.output(DType::f32, 4), k.all(),
          k.op(Op::Exp, k.load(k.input(DType::f32, {1, 2, 3, 4}), k.all())));
  const auto c = k.finish("exp");
  Target target = glsl_target();
  CHECK(emit::emit(c.kernel, target).text.find("fma(a, 1.4426950216293335, -k)") == std::string::npos);
  target.fuses_fma = true;
  CHECK(emit::emit(c.kernel, target).text.find("fma(a, 1.4426950216293335, -k)") != std::string::npos);
}

TEST_CASE("a device that casts to f16 by itself is asked to round to the nearest") {
  const auto text_of = [](DType from, DType to, const Target& target) {
    testing::KernelBuilder k({4});
    k.store(k.output(to, 4), k.all(), k.cast(to, k.load(k.input(from, {1, 2, 3, 4}), k.all())));
    return emit::emit(k.finish("cast").kernel, target).text;
  };
  Target target = glsl_target();
  const std::string by_bits = text_of(DType::f16, DType::f32, target);
  CHECK(by_bits.find("spirv_execution_mode") == std::string::npos);
  target.casts_f16 = true;
  const std::string reads = text_of(DType::f16, DType::f32, target),
                    writes = text_of(DType::f32, DType::f16, target),
                    neither = text_of(DType::f32, DType::bf16, target),
                    of_8_bits = text_of(DType::f8_e5m2, DType::f32, target);
  for (const std::string& text : {reads, writes}) CHECK(text.find(", 4462, 16);") != std::string::npos);
  CHECK(reads.find("unpackFloat2x16(a)") != std::string::npos);
  CHECK(writes.find("packFloat2x16(f16vec2(float16_t(a), float16_t(0.0))) & SN_F16_BITS") !=
        std::string::npos);
  CHECK(of_8_bits.find(", 4462, 16);") != std::string::npos);
  CHECK(of_8_bits.find("unpackFloat2x16(a)") != std::string::npos);
  CHECK(neither.find("spirv_execution_mode") == std::string::npos);
}

TEST_CASE("launches cover all points and respect limits") {
  auto pointwise = [](std::int64_t n) {
    testing::KernelBuilder k({1});
    k.store(k.output(DType::f32, 1), k.all(), k.scalar(DType::f32, 1));
    auto c = k.finish("fill");
    c.bindings.ints[c.kernel.extents[0].index] = n;
    return c;
  };
  auto shape = [](const testing::KernelCase& c, const Target& target) {
    return emit::geometry(c.kernel, target, c.bindings.ints);
  };
  CHECK(shape(pointwise(0), cuda_target()) == Geometry{0, 1, 1});
  CHECK(shape(pointwise(1), glsl_target()) == Geometry{1, 256, 1});
  CHECK(shape(pointwise(257), glsl_target()) == Geometry{2, 256, 1});
  CHECK(shape(pointwise(std::int64_t{1} << 30), glsl_target()).workgroups == 65535);
  CHECK(shape(pointwise(std::int64_t{1} << 20), cuda_target()) ==
        Geometry{1024, 256, 1});  // four points per lane

  const auto rows = named("softmax 129x5 (lanes inner)");
  CHECK(shape(rows, cuda_target()) == Geometry{17, 32, 8});  // a warp each
  CHECK(shape(rows, glsl_target()) == Geometry{129, 32, 1});
  CHECK(shape(rows, glsl_target(false)) == Geometry{1, 256, 1});  // a lane each
  CHECK(shape(named("softmax 1x3000 (lanes inner)"), cuda_target()) == Geometry{1, 256, 1});
  CHECK(shape(named("softmax 5x0 (lanes inner)"), cuda_target()).workgroups == 1);  // identities are stored
}
