// Cooperative matrices in SPIR-V: what shaderc makes of the texts of products becomes the extension that
// drivers have. The same modules are checked here by what each instruction must be; a driver that has the
// extension runs contraction_test with them.
#include "jit/compile/cooperative_matrices.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/error.h>
#include <sinter/nn/attention.h>
#include <sinter/sinter.h>

#include "jit/compile/shaderc.h"
#include "jit/emit/contraction/matrix_scopes.h"
#include "src/runtime/vulkan/cooperative_matrices.h"
#include "tests/support/matrix_devices.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using Words = std::vector<std::uint32_t>;

/// The instructions of a module, each with its number first.
std::vector<Words> instructions(const Words& module) {
  std::vector<Words> found;
  for (std::size_t at = 5; at < module.size(); at += module[at] >> 16) {
    REQUIRE((module[at] >> 16) > 0);
    REQUIRE(at + (module[at] >> 16) <= module.size());
    const auto first = module.begin() + static_cast<std::ptrdiff_t>(at);
    found.emplace_back(first, first + (module[at] >> 16));
    found.back()[0] &= 0xffff;
  }
  return found;
}

std::string text_of(const Words& instruction) {
  return reinterpret_cast<const char*>(instruction.data() + 1);
}

/// What a module has of matrices, found by following ids: fails where an operand is not what it must be.
struct Matrices {
  explicit Matrices(const Words& module) {
    const std::vector<Words> all = instructions(module);
    std::map<std::uint32_t, std::uint32_t> numbers, type_of, floats;
    std::set<std::uint32_t> defined;
    for (const Words& i : all) {
      if (i[0] == 17) capabilities.insert(i[1]);
      if (i[0] == 10) extensions.insert(text_of(i));
      if (i[0] == 43) numbers[i[2]] = i[3];
      if (i[0] == 22) floats[i[1]] = i[2] + (i.size() > 3 ? 1000 + i[3] : 0);
      for (const std::uint32_t nv : {5358, 5359, 5360, 5361, 5362}) CHECK(i[0] != nv);
      if (i[0] == 43) CHECK(defined.count(i[1]) == 1);  // its type stands before it
      if (i[0] == 4456) {
        REQUIRE(i.size() == 7);
        for (std::size_t k = 2; k < 7; ++k) CHECK(defined.count(i[k]) == 1);
        CHECK(numbers.at(i[3]) == 3);
        types[i[1]] = {floats.at(i[2]), numbers.at(i[4]), numbers.at(i[5]), numbers.at(i[6])};
      }
      if (i[0] == 4457) {
        CHECK(types.count(i[1]) == 1);
        if (types.at(i[1]).use != 2) layouts.insert(numbers.at(i[4]));
        CHECK(numbers.count(i[4]) == 1);
        CHECK(numbers.count(i[5]) == 1);  // the stride
        type_of[i[2]] = i[1];
      }
      if (i[0] == 4458) {
        stored.insert(numbers.at(i[3]));
        CHECK(numbers.count(i[4]) == 1);
        CHECK(types.at(type_of.at(i[2])).use == 2);
        ++stores;
      }
      if (i[0] == 61) type_of[i[2]] = i[1];  // of variables
      if (i[0] == 4459) {
        REQUIRE(i.size() == 6);
        const Type &result = types.at(i[1]), &a = types.at(type_of.at(i[3])), &b = types.at(type_of.at(i[4])),
                   &sum = types.at(type_of.at(i[5]));
        CHECK(std::vector{a.use, b.use, sum.use, result.use} == std::vector<std::uint32_t>{0, 1, 2, 2});
        CHECK(a.rows == result.rows);
        CHECK(b.columns == result.columns);
        CHECK(a.columns == b.rows);
        factor = a.component;
        CHECK(b.component == factor);
        CHECK(result.component == 32);
        ++products;
      }
      // Of instructions with a result; those of matrices, types and constants are what is asked about.
      if (i[0] >= 19 && i[0] <= 33) defined.insert(i[1]);
      if (i[0] >= 41 && i[0] <= 52) defined.insert(i[2]);
      if (i[0] == 43) largest = std::max(largest, i[2]);
    }
    CHECK(largest < module[3]);
  }

  struct Type {
    std::uint32_t component, rows, columns, use;
  };
  std::map<std::uint32_t, Type> types;
  std::set<std::uint32_t> capabilities, layouts, stored;  // layouts of factors, and of what is stored
  std::set<std::string> extensions;
  std::uint32_t factor = 0, largest = 0;
  int stores = 0, products = 0;
};

constexpr std::uint32_t kBf16 = 16 + 1000;  // with the encoding 0

}  // namespace

TEST_CASE("texts of products become modules of the extension that drivers have") {
  for (const ir::DeviceTraits& traits : {lavapipe(), nvidia(), with_wide_subgroups(), with_flat_matrices()})
    for (const DType dtype : {DType::bf16, DType::f16})
      for (const bool transposed : {false, true}) {
        if (!traits.tensor_cores.multiplies(dtype)) continue;
        CAPTURE(name_of(dtype));
        const Shape a = transposed ? Shape{64, 96} : Shape{96, 64},
                    b = transposed ? Shape{40, 64} : Shape{64, 40};
        const Planned p = product(a, b, transposed, transposed, dtype, traits);
        REQUIRE(p.tiled == 1);
        const Words module = compile::compile_glsl(emit::emit(*p.kernel, glsl_target(traits)).text);
        CHECK_FALSE(compile::has_nv_matrices(module));
        const Matrices matrices(module);
        const ir::Tiling::Matrices& of = p.kernel->tiling.matrices;
        CHECK(matrices.types.size() == 3);
        for (const auto& [id, type] : matrices.types) {
          CHECK(type.rows == (type.use == 1 ? of.k : of.m));
          CHECK(type.columns == (type.use == 0 ? of.k : of.n));
        }
        CHECK(matrices.products == 1);  // within loops
        CHECK(matrices.stores == 2);    // to memory, of parts, and to lanes
        // A lies along the sum and B across it, or the other way round: both by rows, or both by columns.
        CHECK(matrices.layouts == std::set<std::uint32_t>{transposed ? 1u : 0u});
        CHECK(matrices.stored == std::set<std::uint32_t>{0});
        CHECK(matrices.factor == (dtype == DType::bf16 ? kBf16 : 16));
        CHECK(matrices.capabilities.count(6022) == 1);
        CHECK(matrices.capabilities.count(5357) == 0);
        CHECK(matrices.extensions.count("SPV_KHR_cooperative_matrix") == 1);
        CHECK(matrices.extensions.count("SPV_NV_cooperative_matrix") == 0);
        for (const std::uint32_t capability : {5116, 5118})
          CHECK(matrices.capabilities.count(capability) == (dtype == DType::bf16 ? 1 : 0));
        CHECK(matrices.extensions.count("SPV_KHR_bfloat16") == (dtype == DType::bf16 ? 1 : 0));
      }
}

TEST_CASE("texts of attention become such modules as well") {
  for (ir::DeviceTraits traits : {nvidia(), with_wide_subgroups()})
    for (const DType dtype : {DType::bf16, DType::f16})
      for (const std::int64_t depth : {24, 64, 128}) {
        CAPTURE(name_of(dtype));
        CAPTURE(depth);
        traits.score_tile_bytes = traits.tensor_cores.shared_bytes;
        const Planned p = planned(
            [&](const Device& device) {
              const Device training = device.autodiff();
              std::vector<AnyTensor> x;
              for (int k = 0; k < 3; ++k)
                x.push_back(input({2, 3, 256, depth}, training, dtype).require_grad());
              const AnyTensor y =
                  nn::detail::attention(x[0], x[1], x[2], {.causal = true}, Location::current());
              std::vector<AnyTensor> results = gradient(y, std::span<const AnyTensor>(x), {.seed = x[0]});
              results.push_back(y);
              for (AnyTensor& result : results) result = result.inner();
              return results;
            },
            traits);
        int kernels = 0;
        for (const auto& kernel : p.plan.kernels) {
          if (!kernel->attention.any()) continue;
          ++kernels;
          const Words module = compile::compile_glsl(emit::emit(*kernel, glsl_target(traits)).text);
          CHECK_FALSE(compile::has_nv_matrices(module));
          const Matrices matrices(module);
          CHECK(matrices.types.size() == 3);
          for (const auto& [id, type] : matrices.types) CHECK((type.rows == 16 && type.columns == 16));
          CHECK(matrices.stored == std::set<std::uint32_t>{1});  // by columns
          CHECK(matrices.factor == (dtype == DType::bf16 ? kBf16 : 16));
        }
        CHECK(kernels >= 3);
      }
}

namespace {

/// A module by hand: capabilities, a type of that scope, and what follows.
Words module_with(std::uint32_t scope, const std::vector<Words>& more = {}) {
  Words module = {0x07230203, 0x00010500, 0, 20, 0};
  const auto add = [&](const Words& i) {
    module.push_back(static_cast<std::uint32_t>(i.size()) << 16 | i[0]);
    module.insert(module.end(), i.begin() + 1, i.end());
  };
  add({17, 5357});
  add({21, 1, 32, 0});
  add({22, 2, 16});
  add({43, 1, 3, scope});
  add({43, 1, 4, 8});
  add({5358, 5, 2, 3, 4, 4});
  for (const Words& i : more) add(i);
  return module;
}

std::string refusal(const Words& module) {
  try {
    (void)compile::with_khr_matrices(module);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("what is not as texts of products have it is refused by name") {
  using emit::MatrixUse;
  CHECK(refusal(module_with(emit::marked_scope(MatrixUse::A, false))).empty());
  CHECK(refusal(module_with(emit::marked_scope(MatrixUse::B, true))).empty());
  CHECK(refusal(module_with(3)).find("scope 3, which says of no use") != std::string::npos);
  // A layout that is no constant.
  const std::uint32_t marked = emit::marked_scope(MatrixUse::A, false);
  CHECK(refusal(module_with(marked, {{54, 9, 9, 0, 9}, {5359, 5, 10, 11, 4, 12}})).find("a layout") !=
        std::string::npos);
  Words broken = module_with(marked);
  broken.push_back(100u << 16 | 43);
  CHECK(refusal(broken).find("beyond the module's end") != std::string::npos);
  CHECK(refusal({1, 2, 3}).find("no SPIR-V") != std::string::npos);
  CHECK(refusal(module_with(marked, {{5359, 5, 10}})).find("operands") != std::string::npos);
}

TEST_CASE("operands of memory, and lengths, stay what they are") {
  const std::uint32_t marked = emit::marked_scope(emit::MatrixUse::A, false);
  const Words made = compile::with_khr_matrices(module_with(marked, {{20, 6},
                                                                     {41, 6, 7},
                                                                     {54, 9, 9, 0, 9},
                                                                     {5359, 5, 10, 11, 4, 7, 48, 3},
                                                                     {5360, 11, 10, 4, 7, 40, 3},
                                                                     {5362, 1, 12, 5}}));
  const std::vector<Words> all = instructions(made);
  const auto of = [&](std::uint32_t op) {
    return *std::find_if(all.begin(), all.end(), [&](const Words& i) { return i[0] == op; });
  };
  const Words load = of(4457), store = of(4458);
  CHECK(Words(load.begin(), load.begin() + 4) == Words{4457, 5, 10, 11});
  CHECK(Words(load.begin() + 5, load.end()) == Words{4, 48, 3});
  CHECK(Words(store.begin(), store.begin() + 3) == Words{4458, 11, 10});
  CHECK(Words(store.begin() + 4, store.end()) == Words{4, 40, 3});
  CHECK(load[4] == store[3]);
  CHECK(of(4460) == Words{4460, 1, 12, 5});
}

TEST_CASE("of a driver's matrices those of subgroups and 16-bit floats are taken") {
  using runtime::vulkan::CooperativeMatrixProperties;
  const auto of = [](std::int32_t factors, std::int32_t sums, std::int32_t scope = 3) {
    CooperativeMatrixProperties p;
    p.MSize = 16, p.NSize = 8, p.KSize = 32;
    p.AType = p.BType = factors;
    p.CType = p.ResultType = sums;
    p.scope = scope;
    return p;
  };
  constexpr std::int32_t kF16 = 0, kF32 = 1, kS8 = 3, kS32 = 5, kBf16Type = 1000141000;
  CooperativeMatrixProperties mixed = of(kF16, kF32);
  mixed.BType = kF32;
  const std::vector all = {of(kF16, kF32),      of(kF16, kF16),    of(kS8, kS32),
                           of(kBf16Type, kF32), of(kF16, kF32, 2), mixed};
  CHECK(runtime::vulkan::matrix_shapes(all, false).size() == 2);
  const std::vector<ir::MatrixShape> shapes = runtime::vulkan::matrix_shapes(all, true);
  REQUIRE(shapes.size() == 3);
  CHECK(shapes[0].m == 16);
  CHECK(shapes[0].n == 8);
  CHECK(shapes[0].k == 32);
  CHECK(shapes[0].multiplied == DType::f16);
  CHECK(shapes[0].added == DType::f32);
  CHECK(shapes[2].multiplied == DType::bf16);
}
