// Devices whose tensor cores are reached by cooperative matrices, which need not be there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "jit/ir/traits.h"
#include "tests/support/planned_products.h"

namespace sinter::testing {

inline ir::DeviceTraits with_matrices(int compute_units, std::size_t shared_kib, int subgroup,
                                      std::vector<ir::MatrixShape> matrices) {
  ir::DeviceTraits traits;
  traits.grid_reductions = true;
  traits.reciprocals = true;
  traits.tensor_cores = {compute_units, shared_kib << 10, false, 1024, std::move(matrices), {}, subgroup,
                         1024};
  return traits;
}

/// A lane of NVIDIA's has two neighbours in each half of a row, and the same eight rows below.
inline constexpr ir::MatrixLayout kNvidiaLayout{{1, 2, 4, 5, 6, 0, 3, 7}, 5};
/// As AMD's RDNA 3: of a lane's column every second row, or, in subgroups of 64, every fourth.
inline constexpr ir::MatrixLayout kAmdLayout{{0, 1, 2, 3, 4, 5, 6, 7}, 5},
    kWideLayout{{0, 1, 2, 3, 4, 5, 6, 7}, 6};

/// What lanes of such a layout have: row * 16 + column, by lane and element.
inline std::vector<std::uint32_t> places_of(const ir::MatrixLayout& layout) {
  std::vector<std::uint32_t> places(256);
  const auto lanes = static_cast<std::size_t>(layout.lanes()), elements = places.size() / lanes;
  for (std::size_t place = 0; place < places.size(); ++place)
    for (std::size_t b = 0; b < layout.bits.size(); ++b)
      places[place % lanes * elements + place / lanes] |= static_cast<std::uint32_t>(place >> b & 1)
                                                          << layout.bits[b];
  return places;
}

/// What Mesa's device in software has, for subgroups of eight lanes.
inline ir::DeviceTraits lavapipe() {
  return with_matrices(1, 32, 8, {{8, 8, 8, DType::f16, DType::f16}, {8, 8, 8, DType::f16, DType::f32}});
}

/// As NVIDIA's cards, whose matrices are of several sizes.
inline ir::DeviceTraits nvidia() {
  std::vector<ir::MatrixShape> shapes;
  for (const std::uint16_t n : {8, 16}) {
    for (const DType added : {DType::f16, DType::f32}) shapes.push_back({16, n, 16, DType::f16, added});
    shapes.push_back({16, n, 16, DType::bf16, DType::f32});
  }
  return with_matrices(132, 48, 32, shapes);
}

/// Of AMD's and Intel's kind: one size of matrices each, subgroups of 64 and of 16 lanes.
inline ir::DeviceTraits with_wide_subgroups() {
  return with_matrices(60, 64, 64,
                       {{16, 16, 16, DType::f16, DType::f32}, {16, 16, 16, DType::bf16, DType::f32}});
}
inline ir::DeviceTraits with_flat_matrices() {
  return with_matrices(32, 64, 16,
                       {{8, 16, 16, DType::f16, DType::f32}, {8, 16, 16, DType::bf16, DType::f32}});
}

inline emit::Target glsl_target(const ir::DeviceTraits& traits) {
  emit::Target target(emit::dialect("glsl"));
  target.tensor_units = traits.tensor_cores.compute_units;
  target.subgroup = traits.tensor_cores.subgroup_lanes;
  return target;
}

}  // namespace sinter::testing
