// Chooses tiles and splits and writes the arguments of the hand-written products.
#include "src/runtime/vulkan/kernels/products.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include <sinter/error.h>

#include "kernels/embedded.h"
#include "src/runtime/vulkan/kernels/long_loops.h"

namespace sinter::runtime::vulkan {
namespace {

/// The shape of a group's work. Without shared memory a group has all its lanes along n.
struct Tiles {
  int m, n, k;         // of a group
  int lane_m, lane_n;  // of a lane
  bool shared = true;
  int lanes() const { return (m / lane_m) * (n / lane_n); }
};

constexpr Tiles kLarge{128, 128, 8, 8, 8};
constexpr Tiles kMedium{64, 64, 8, 4, 4};
constexpr Tiles kSmall{32, 64, 8, 4, 4};  // for devices of few invocations
constexpr Tiles kFewRows{16, 128, 8, 4, 4};
constexpr Tiles kFewColumns{128, 16, 8, 4, 4};
// llvmpipe takes as long for one load as for twenty multiplications, so each loaded value is used many times.
constexpr Tiles kWithoutBarriers{8, 64, 1, 8, 8, false};
constexpr Tiles kNarrowWithoutBarriers{8, 16, 1, 8, 2, false};

/// The op as a product of matrices, before tiles are chosen.
struct Product {
  std::string operands;  // text that reads and places elements
  DType dtype;
  std::int64_t m, n, k, batch;
  bool a_along_k, b_along_k;         // neighbours in memory are neighbours along k
  std::vector<std::uint32_t> words;  // from word 11 on
  std::int64_t numel[3];             // least sizes of a, b, c
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Multiplier and shift for x / d of the shader's `divided`, exact for x < 2^31.
void push_divisor(std::vector<std::uint32_t>& words, std::int64_t divisor) {
  const auto d = static_cast<std::uint64_t>(std::max<std::int64_t>(divisor, 1));
  const int shift = std::bit_width(d - 1);
  words.push_back(static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + shift)) + d - 1) / d));
  words.push_back(static_cast<std::uint32_t>(shift));
}

/// One more than the farthest position of a strided operand.
std::int64_t span_of(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t batch_stride,
                     std::int64_t row_stride, std::int64_t column_stride) {
  if (batch == 0 || rows == 0 || columns == 0) return 0;
  return (batch - 1) * batch_stride + (rows - 1) * row_stride + (columns - 1) * column_stride + 1;
}

Product product_of(const library::MatMulOp& op) {
  Product p{std::string(kernels::source("matmul.comp")),
            op.dtype,
            op.m,
            op.n,
            op.k,
            op.batch,
            op.a_column == 1 && op.k > 1,
            op.b_row == 1 && op.b_column != 1,
            {},
            {}};
  for (std::int64_t stride : {op.a_batch, op.a_row, op.a_column, op.b_batch, op.b_row, op.b_column})
    p.words.push_back(static_cast<std::uint32_t>(stride));
  p.numel[0] = span_of(op.batch, op.m, op.k, op.a_batch, op.a_row, op.a_column);
  p.numel[1] = span_of(op.batch, op.k, op.n, op.b_batch, op.b_row, op.b_column);
  p.numel[2] = op.batch * op.m * op.n;
  return p;
}

Product product_of(const library::Conv2dOp& op) {
  using Direction = library::Conv2dOp::Direction;
  const std::int64_t in = op.c_in / op.groups, out = op.c_out / op.groups, taps = op.kh * op.kw;
  const std::int64_t input = op.n * op.h * op.w, output = op.n * op.oh * op.ow;
  const bool forward = op.direction == Direction::Forward,
             of_input = op.direction == Direction::BackwardInput;
  Product p{"#define DIRECTION " +
                std::string(forward    ? "0"
                            : of_input ? "1"
                                       : "2") +
                "\n" + std::string(kernels::source("conv2d.comp")),
            op.dtype,
            0,
            0,
            0,
            op.groups,
            true,
            false,
            {},
            {}};
  p.m = of_input ? in : out;
  p.n = forward ? output : of_input ? input : in * taps;
  p.k = forward ? in * taps : of_input ? out * taps : output;
  p.b_along_k = !forward && !of_input;
  for (std::int64_t size : {op.h, op.w, op.oh, op.ow, in, out, op.kh, op.kw, op.stride[0], op.stride[1],
                            op.padding[0], op.padding[1], op.dilation[0], op.dilation[1], op.groups})
    p.words.push_back(static_cast<std::uint32_t>(size));
  push_divisor(p.words, taps);
  push_divisor(p.words, op.kw);
  push_divisor(p.words, of_input ? op.h * op.w : op.oh * op.ow);
  push_divisor(p.words, of_input ? op.w : op.ow);
  push_divisor(p.words, op.stride[0]);
  push_divisor(p.words, op.stride[1]);
  const std::int64_t x = op.n * op.c_in * op.h * op.w, y = op.n * op.c_out * op.oh * op.ow,
                     w = out * op.groups * in * taps;
  p.numel[0] = forward || of_input ? w : y;
  p.numel[1] = of_input ? y : x;
  p.numel[2] = forward ? y : of_input ? x : w;
  return p;
}

void check_reach(const Product& p) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (std::int64_t numel : {p.numel[0], p.numel[1], p.numel[2], p.m, p.n, p.k, p.batch * p.m * p.n})
    if (numel > kMost)
      throw DeviceError("[vulkan] a matrix product or convolution over " + std::to_string(numel) +
                        " elements is more than the " + std::to_string(kMost) + " that Vulkan kernels reach");
}

Tiles choose_tiles(const Product& p, const DeviceInfo& device) {
  if (device.cpu_kernels) return p.n <= 32 ? kNarrowWithoutBarriers : kWithoutBarriers;
  if (p.m <= 32) return kFewRows;
  if (p.n <= 32) return kFewColumns;
  const std::int64_t large = divide_up(p.m, kLarge.m) * divide_up(p.n, kLarge.n) * p.batch;
  const bool fits = device.shared_bytes >= 2 * 8 * (128 + 4) * size_of(p.dtype);
  if (static_cast<int>(device.max_invocations) < kMedium.lanes()) return kSmall;
  return fits && large * kLarge.lanes() * 4 >= device.lanes ? kLarge : kMedium;
}

/// Groups that share the terms of a sum: where the result alone gives the device too few groups and k is
/// long.
std::int64_t choose_splits(const Product& p, const Tiles& tiles, std::int64_t groups,
                           const DeviceInfo& device) {
  constexpr std::int64_t kLeastDepth = 64, kMostSplits = 256;
  // llvmpipe does not go round a loop more often (long_loops.h).
  const std::int64_t least = device.is_cpu ? divide_up(p.k, kMostRounds / 2) : 1;
  const std::int64_t wanted = std::max<std::int64_t>(device.lanes / tiles.lanes() / 4, 1);
  if (groups >= wanted || groups == 0) return std::max<std::int64_t>(least, 1);
  const std::int64_t splits = std::min({divide_up(wanted, groups), p.k / kLeastDepth, kMostSplits});
  return std::max({splits, least, std::int64_t{1}});
}

/// The declarations before the operands' text. `addresses`: the first word of the buffers' addresses, where
/// they are not bound.
std::string head(const Product& p, const Tiles& tiles, int lanes, bool split, bool combine,
                 std::optional<std::size_t> addresses) {
  const bool f64 = p.dtype == DType::f64;
  std::string text = "#version 450\n#extension GL_EXT_control_flow_attributes : require\n";
  if (addresses)
    text +=
        "#extension GL_EXT_buffer_reference : require\n"
        "#extension GL_EXT_buffer_reference_uvec2 : require\n";
  auto define = [&](const char* name, int value) {
    text += std::string("#define ") + name + " " + std::to_string(value) + "\n";
  };
  text += std::string("#define REAL ") + (f64 ? "double" : "float") + "\n#define VEC4 " +
          (f64 ? "dvec4" : "vec4") + "\n";
  define("TILE_M", tiles.m);
  define("TILE_N", tiles.n);
  define("TILE_K", tiles.k);
  define("LANE_M", tiles.lane_m);
  define("LANE_N", tiles.lane_n);
  define("LANES", lanes);
  define("SHARED", tiles.shared);
  define("A_ALONG_K", p.a_along_k);
  define("B_ALONG_K", p.b_along_k);
  define("SPLIT", split);
  define("COMBINE", combine);
  text += "layout(local_size_x = LANES) in;\n";
  if (addresses) {
    const std::string layout =
        "layout(buffer_reference, std430, buffer_reference_align = " + std::to_string(size_of(p.dtype)) +
        ") restrict ";
    text += layout + "readonly buffer Input { REAL at[]; };\n" + layout +
            "writeonly buffer Output { REAL at[]; };\n"
            "layout(std430, binding = 0) restrict readonly buffer Arguments { uint words[]; };\n";
    std::size_t word = *addresses;
    for (const char* name : {"a Input", "b Input", "c Output"}) {
      text += std::string("#define ") + name + "(uvec2(words[" + std::to_string(word) + "], words[" +
              std::to_string(word + 1) + "])).at\n";
      word += 2;
    }
    return text;
  }
  text +=
      "layout(std430, binding = 0) restrict readonly buffer A { REAL a[]; };\n"
      "layout(std430, binding = 1) restrict readonly buffer B { REAL b[]; };\n"
      "layout(std430, binding = 2) restrict writeonly buffer C { REAL c[]; };\n"
      "layout(std430, binding = 3) restrict readonly buffer Arguments { uint words[]; };\n";
  return text;
}

ProductPlan plan(const Product& p, const DeviceInfo& device) {
  if (p.dtype != DType::f32 && !(p.dtype == DType::f64 && device.has_f64))
    throw DTypeError("[vulkan] " + device.name + " has no matrix product or convolution of " +
                     std::string(name_of(p.dtype)));
  check_reach(p);
  ProductPlan plan;
  plan.element_bytes = size_of(p.dtype);
  plan.operations = 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
                    static_cast<double>(p.batch);
  plan.input_bytes[0] = static_cast<std::size_t>(p.numel[0]) * size_of(p.dtype);
  plan.input_bytes[1] = static_cast<std::size_t>(p.numel[1]) * size_of(p.dtype);
  plan.output_bytes = static_cast<std::size_t>(p.numel[2]) * size_of(p.dtype);

  const Tiles tiles = choose_tiles(p, device);
  // A lane of its own for each column, or for each LANE_M x LANE_N block of the tile.
  const int lanes = tiles.shared ? tiles.lanes() : tiles.n / tiles.lane_n;
  const std::int64_t tiles_m = divide_up(p.m, tiles.m), tiles_n = divide_up(p.n, tiles.n);
  const std::int64_t blocks = tiles_m * tiles_n * p.batch;
  const std::int64_t elements = p.batch * p.m * p.n;
  const std::int64_t wanted_splits = choose_splits(p, tiles, blocks, device);
  const std::int64_t depth = divide_up(divide_up(p.k, wanted_splits), tiles.k) * tiles.k;
  const std::int64_t splits = depth ? divide_up(p.k, depth) : 1;

  // An input may begin somewhat behind its binding.
  const VkDeviceSize farthest =
      std::max({plan.input_bytes[0] + device.storage_alignment,
                plan.input_bytes[1] + device.storage_alignment, static_cast<VkDeviceSize>(plan.output_bytes),
                splits > 1 ? static_cast<VkDeviceSize>(splits * elements) * size_of(p.dtype) : 0});
  plan.by_address = farthest > device.max_storage_range;
  if (plan.by_address && !device.has_addresses)
    throw DeviceError("[vulkan] a matrix product or convolution touches " + std::to_string(farthest) +
                      " bytes of one buffer; kernels on " + device.name + " reach " +
                      std::to_string(device.max_storage_range) + ", for want of bufferDeviceAddress");

  auto words = [&](std::int64_t last) {
    std::vector<std::uint32_t> all;
    for (std::int64_t value :
         {p.m, p.n, p.k, p.batch, tiles_m, tiles_n, splits, depth, last, std::int64_t{0}, std::int64_t{0}})
      all.push_back(static_cast<std::uint32_t>(value));
    all.insert(all.end(), p.words.begin(), p.words.end());
    if (plan.by_address) all.resize(all.size() + kAddressWords);
    return all;
  };
  auto text = [&](int group_lanes, bool combine) {
    const std::optional<std::size_t> addresses =
        plan.by_address ? std::optional(words(0).size() - kAddressWords) : std::nullopt;
    return head(p, tiles, group_lanes, splits > 1, combine, addresses) + p.operands +
           std::string(kernels::source("product.comp"));
  };
  plan.product = {text(lanes, false), words(blocks * splits), static_cast<std::uint32_t>(lanes),
                  static_cast<std::uint64_t>(blocks * splits)};
  if (splits > 1) {
    constexpr int kCombineLanes = 64;
    plan.combine = {text(kCombineLanes, true), words(elements), kCombineLanes,
                    static_cast<std::uint64_t>(divide_up(elements, kCombineLanes))};
    plan.partial_bytes = static_cast<std::size_t>(splits * elements) * size_of(p.dtype);
  }
  return plan;
}

}  // namespace

ProductPlan plan_product(const library::MatMulOp& op, const DeviceInfo& device) {
  return plan(product_of(op), device);
}

ProductPlan plan_product(const library::Conv2dOp& op, const DeviceInfo& device) {
  ProductPlan result = plan(product_of(op), device);
  // The weight, or the gradient that takes its place, is the op's second input.
  std::swap(result.inputs[0], result.inputs[1]);
  return result;
}

LibraryTable<ProductPlan(const library::LibraryOp&, const DeviceInfo&)>& product_table() {
  using Direction = library::Conv2dOp::Direction;
  const auto matmul = [](const library::LibraryOp& op, const DeviceInfo& device) {
    return plan_product(library::as<library::MatMulOp>(op), device);
  };
  const auto conv2d = [](const library::LibraryOp& op, const DeviceInfo& device) {
    return plan_product(library::as<library::Conv2dOp>(op), device);
  };
  // Never destroyed: devices may outlive static objects.
  static auto* table = new LibraryTable<ProductPlan(const library::LibraryOp&, const DeviceInfo&)>{
      {&library::matmul(), matmul},
      {&library::conv2d(Direction::Forward), conv2d},
      {&library::conv2d(Direction::BackwardInput), conv2d},
      {&library::conv2d(Direction::BackwardWeight), conv2d},
  };
  return *table;
}

}  // namespace sinter::runtime::vulkan
