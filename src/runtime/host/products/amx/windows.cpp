#include "src/runtime/host/products/amx/windows.h"

#include <utility>

namespace sinter::runtime::host::amx {

Phase phase_of_y(const library::Conv2dOp& op) {
  Phase phase;
  phase.origin_step = op.stride;
  phase.count = {op.oh, op.ow};
  for (std::int64_t r = 0; r < op.kh; ++r)
    for (std::int64_t s = 0; s < op.kw; ++s)
      phase.taps.push_back(
          {r * op.kw + s, {r * op.dilation[0] - op.padding[0], s * op.dilation[1] - op.padding[1]}});
  return phase;
}

std::vector<Phase> phases_of_x(const library::Conv2dOp& op) {
  const Pair size = {op.h, op.w};
  std::vector<Phase> phases;
  for (std::int64_t i = 0; i < op.stride[0]; ++i)
    for (std::int64_t j = 0; j < op.stride[1]; ++j) {
      Phase phase;
      phase.first = {i, j};
      phase.step = op.stride;
      for (const std::size_t d : {0, 1})
        phase.count[d] = phase.first[d] >= size[d] ? 0 : (size[d] - phase.first[d] - 1) / op.stride[d] + 1;
      for (std::int64_t r = 0; r < op.kh; ++r)
        for (std::int64_t s = 0; s < op.kw; ++s) {
          // Row y of y reads rows y * stride + r * dilation - padding of x.
          const Pair from = {i + op.padding[0] - r * op.dilation[0], j + op.padding[1] - s * op.dilation[1]};
          if (from[0] % op.stride[0] == 0 && from[1] % op.stride[1] == 0)
            phase.taps.push_back({r * op.kw + s, {from[0] / op.stride[0], from[1] / op.stride[1]}});
        }
      phases.push_back(std::move(phase));
    }
  return phases;
}

}  // namespace sinter::runtime::host::amx
