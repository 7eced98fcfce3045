// Cooperative matrices in SPIR-V: what shaderc makes of the texts of products becomes the extension that
// drivers have. The same modules are checked here by what each instruction must be; a driver that has the
// extension runs contraction_test with them.
#include "jit/compile/cooperative_matrices.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/autodiff.h>
#include <sinter/error.h>
#include <sinter/half.h>
#include <sinter/nn/attention.h>
#include <sinter/sinter.h>

#include "jit/compile/shaderc.h"
#include "jit/emit/contraction/matrix_scopes.h"
#include "src/runtime/vulkan/cooperative_matrices.h"
#include "src/runtime/vulkan/matrix_layout.h"
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

namespace {

/// Checks the modules of attention and its gradients with vectors of so many elements.
void check_attention_texts(ir::DeviceTraits traits, DType dtype, std::int64_t depth) {
  traits.score_tile_bytes = traits.tensor_cores.shared_bytes;
  const Planned p = planned(
      [&](const Device& device) {
        const Device training = device.autodiff();
        std::vector<AnyTensor> x;
        for (int k = 0; k < 3; ++k) x.push_back(input({2, 3, 256, depth}, training, dtype).require_grad());
        const AnyTensor y = nn::detail::attention(x[0], x[1], x[2], {.causal = true}, Location::current());
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
    // Of a known layout all stays in registers, else it is stored by columns.
    CHECK(kernel->attention.layout == traits.tensor_cores.layout);
    CHECK(matrices.stored ==
          (kernel->attention.layout.is_known() ? std::set<std::uint32_t>{} : std::set<std::uint32_t>{1}));
    CHECK(matrices.factor == (dtype == DType::bf16 ? kBf16 : 16));
  }
  CHECK(kernels >= 3);
}

}  // namespace

TEST_CASE("texts of attention become such modules as well") {
  for (const ir::DeviceTraits& device : {nvidia(), with_wide_subgroups()})
    for (const DType dtype : {DType::bf16, DType::f16})
      for (const std::int64_t depth : {24, 64, 128}) {
        CAPTURE(name_of(dtype));
        CAPTURE(depth);
        check_attention_texts(device, dtype, depth);
        ir::DeviceTraits laid = device;
        const bool is_wide = device.tensor_cores.subgroup_lanes == 64;
        laid.tensor_cores.layout = is_wide ? kWideLayout : kNvidiaLayout;
        check_attention_texts(laid, dtype, depth);
        if (is_wide) continue;
        laid.tensor_cores.layout = kAmdLayout;
        laid.tensor_cores.layout.cuts_bf16 = true;
        check_attention_texts(laid, dtype, depth);
      }
}

TEST_CASE("layouts are read off what lanes have") {
  for (const ir::MatrixLayout& layout : {kNvidiaLayout, kAmdLayout, kWideLayout}) {
    const std::vector<std::uint32_t> seen = places_of(layout);
    const std::optional<ir::MatrixLayout> found = ir::layout_of(seen, layout.lanes());
    REQUIRE(found);
    CHECK(*found == layout);
    CHECK(found->lanes_of_row() * found->columns_of_lane() == 16);
    CHECK(found->rows_of_lane() * found->columns_of_lane() * found->lanes() == 256);
  }
  CHECK(kNvidiaLayout.lanes_of_row() == 4);
  CHECK(kNvidiaLayout.rows_of_lane() == 2);
  CHECK(kAmdLayout.lanes_of_row() == 16);
  CHECK(ir::describe(kNvidiaLayout) == "lanes 1 2 4 5 6, elements 0 3 7");
  // Two elements that changed places, one that is there twice, one that is none.
  for (const auto& [from, to] : {std::pair{7u, 9u}, {200u, 3u}}) {
    std::vector<std::uint32_t> seen = places_of(kNvidiaLayout);
    std::swap(seen[from], seen[to]);
    CHECK_FALSE(ir::layout_of(seen, 32));
    seen = places_of(kNvidiaLayout);
    seen[from] = seen[to];
    CHECK_FALSE(ir::layout_of(seen, 32));
    seen[from] = 256 + from;
    CHECK_FALSE(ir::layout_of(seen, 32));
  }
  // Lanes that have a row and are no neighbours; other numbers of lanes and of elements.
  CHECK_FALSE(ir::layout_of(places_of({{4, 5, 0, 1, 6, 2, 3, 7}, 5}), 32));
  const std::vector<std::uint32_t> seen = places_of(kNvidiaLayout);
  for (const int lanes : {0, 24, 512}) CHECK_FALSE(ir::layout_of(seen, lanes));
  CHECK_FALSE(ir::layout_of(std::span(seen).first(128), 32));
}

TEST_CASE("a layout is made use of where first factors have it too, rounded to the nearest") {
  using runtime::vulkan::LayoutWords;
  const auto answer = [](const ir::MatrixLayout& sums, const ir::MatrixLayout& factors, DType dtype,
                         bool cuts = false) {
    LayoutWords words = runtime::vulkan::layout_question();
    words.elements = static_cast<std::uint32_t>(sums.elements());
    const std::vector<std::uint32_t> places = places_of(sums), of_factors = places_of(factors);
    for (std::size_t i = 0; i < 256; ++i) {
      words.places[i] = places[i];
      const float given = std::bit_cast<float>(words.given[i]);
      std::uint32_t bits = dtype == DType::bf16 ? bfloat16(given).bits() : float16(given).bits();
      if (cuts && dtype == DType::bf16) bits = words.given[i] >> 16;
      if (cuts && dtype == DType::f16 &&
          std::abs(float(float16::from_bits(static_cast<std::uint16_t>(bits)))) > std::abs(given))
        --bits;
      words.rounded[of_factors[i] / 2] |= bits << (of_factors[i] % 2 * 16);
    }
    return words;
  };
  for (const DType dtype : {DType::bf16, DType::f16}) {
    CAPTURE(dtype);
    const LayoutWords good = answer(kNvidiaLayout, kNvidiaLayout, dtype);
    CHECK(runtime::vulkan::layout_answered(good, dtype, 32) == std::optional(kNvidiaLayout));
    CHECK(runtime::vulkan::layout_answered(answer(kWideLayout, kWideLayout, dtype), dtype, 64) ==
          std::optional(kWideLayout));
    CHECK_FALSE(runtime::vulkan::layout_answered(answer(kNvidiaLayout, kAmdLayout, dtype), dtype, 32));
    const auto cut =
        runtime::vulkan::layout_answered(answer(kNvidiaLayout, kNvidiaLayout, dtype, true), dtype, 32);
    CHECK(cut.has_value() == (dtype == DType::bf16));
    if (cut) CHECK(cut->cuts_bf16);
    if (cut) CHECK(cut->bits == kNvidiaLayout.bits);
    CHECK_FALSE(runtime::vulkan::layout_answered(good, dtype, 64));
    LayoutWords other = good;
    other.elements = 16;
    CHECK_FALSE(runtime::vulkan::layout_answered(other, dtype, 32));
    // The middle between two numbers is asked for, and numbers on both sides of it.
    int ups = 0, downs = 0;
    for (std::size_t i = 0; i < 256; ++i) {
      const float given = std::bit_cast<float>(good.given[i]);
      const float rounded = dtype == DType::bf16 ? float(bfloat16(given)) : float(float16(given));
      (std::abs(rounded) > std::abs(given) ? ups : downs) += 1;
    }
    CHECK(ups > 50);
    CHECK(downs > 50);
    for (const ir::DeviceTraits& device : {nvidia(), with_wide_subgroups()}) {
      const Words module = compile::compile_glsl(runtime::vulkan::layout_source(glsl_target(device), dtype));
      CHECK_FALSE(compile::has_nv_matrices(module));
      const std::vector<Words> all = instructions(module);
      CHECK(std::count_if(all.begin(), all.end(), [](const Words& i) { return i[0] == 4456; }) == 2);
    }
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

TEST_CASE("elements of bf16 are what was rounded to them") {
  constexpr std::uint32_t kFunction = 7;
  const std::uint32_t marked = emit::marked_scope(emit::MatrixUse::A, true);
  // A variable of matrices, f32 and its pointer, an element, and a number rounded to 16 bits.
  const std::vector<Words> element = {{22, 6, 32},           {28, 7, 5, 4},          {32, 8, kFunction, 7},
                                      {32, 9, kFunction, 2}, {59, 8, 10, kFunction}, {115, 2, 11, 12},
                                      {65, 9, 13, 10, 4, 4}};
  const auto with = [&](const Words& last) {
    std::vector<Words> all = element;
    all.push_back(last);
    return module_with(marked, all);
  };
  const std::vector<Words> made = instructions(compile::with_khr_matrices(with({62, 13, 11})));
  const auto of = [&](std::uint32_t op) {
    std::vector<Words> found;
    std::copy_if(made.begin(), made.end(), std::back_inserter(found),
                 [&](const Words& i) { return i[0] == op; });
    return found;
  };
  std::uint32_t bf16 = 0;
  for (const Words& type : of(22))
    if (type.size() == 4) bf16 = type[1];
  REQUIRE(bf16 != 0);
  const std::vector<Words> converts = of(115), stores = of(62);
  REQUIRE(converts.size() == 2);
  CHECK(Words(converts[1].begin(), converts[1].begin() + 2) == Words{115, bf16});
  CHECK(converts[1][3] == 12);
  CHECK(stores == std::vector<Words>{{62, 13, converts[1][2]}});
  const std::vector<Words> pointers = of(32);
  REQUIRE(pointers.size() == 3);
  CHECK(pointers[2][3] == bf16);
  CHECK(of(65) == std::vector<Words>{{65, pointers[2][1], 13, 10, 4, 4}});
  CHECK(refusal(with({62, 13, 12})).find("no number rounded") != std::string::npos);
  CHECK(refusal(with({61, 2, 14, 13})).find("that is read") != std::string::npos);
  CHECK(refusal(with({61, 2})).find("operands") != std::string::npos);
  // Of matrices of f16 they stay as they are.
  std::vector<Words> all = element;
  all.push_back({62, 13, 11});
  const Words f16 =
      compile::with_khr_matrices(module_with(emit::marked_scope(emit::MatrixUse::A, false), all));
  const std::vector<Words> kept = instructions(f16);
  CHECK(std::find(kept.begin(), kept.end(), Words{62, 13, 11}) != kept.end());
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
