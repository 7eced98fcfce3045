#include "src/runtime/host/products/amx/weights.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "src/runtime/host/products/amx/split.h"
#include "src/runtime/host/products/words.h"

namespace sinter::runtime::host::amx {

PackedWeights::PackedWeights(const library::Conv2dOp& op, const std::vector<Phase>& phases,
                             const Pieces& pieces, std::int64_t steps_of_panel)
    : pieces_(pieces), groups_(op.groups), steps_of_panel_(steps_of_panel) {
  const std::int64_t in = op.c_in / op.groups, out = op.c_out / op.groups, taps = op.kh * op.kw;
  const bool forward = op.direction == library::Conv2dOp::Direction::Forward;
  read_ = forward ? in : out;
  written_ = forward ? out : in;
  read_stride_ = forward ? taps : in * taps;
  written_stride_ = forward ? in * taps : taps;
  group_stride_ = out * in * taps;
  panels_ = parts(written_, kPanelLanes);
  panel_bytes_ = amx::panel_bytes(steps_of_panel * kTileDepth, pieces.of[1]);
  std::int64_t count = 0;
  for (const Phase& phase : phases) {
    Product product;
    for (const Tap& tap : phase.taps) product.taps.push_back(tap.number);
    product.steps = static_cast<std::int64_t>(phase.taps.size()) * parts(read_, kTileDepth);
    product.blocks = parts(product.steps, steps_of_panel);
    product.first = count;
    count += product.blocks * panels_;
    products_.push_back(std::move(product));
  }
  group_bytes_ = count * panel_bytes_;
  bytes_ = groups_ * group_bytes_;
}

std::size_t PackedWeights::held_bytes() const {
  std::size_t bytes = sizeof *this;
  for (const Product& product : products_)
    bytes += sizeof product + product.taps.size() * sizeof product.taps[0];
  return bytes;
}

std::int64_t PackedWeights::offset(std::int64_t number, std::int64_t panel, std::int64_t block) const {
  const auto phases = static_cast<std::int64_t>(products_.size());
  const Product& product = products_[static_cast<std::size_t>(number % phases)];
  return number / phases * group_bytes_ + (product.first + panel * product.blocks + block) * panel_bytes_;
}

bool PackedWeights::pack_all(const float* weights, std::int64_t panel, std::byte* packed) const {
  const std::int64_t number = panel / panels_, phase = number % static_cast<std::int64_t>(products_.size());
  for (std::int64_t block = 0; block < products_[static_cast<std::size_t>(phase)].blocks; ++block)
    if (!pack(weights, number, panel % panels_, block, packed + offset(number, panel % panels_, block)))
      return false;
  return true;
}

bool PackedWeights::pack(const float* weights, std::int64_t number, std::int64_t panel, std::int64_t block,
                         std::byte* to) const {
  const auto phases = static_cast<std::int64_t>(products_.size());
  const Product& product = products_[static_cast<std::size_t>(number % phases)];
  const std::int64_t first = block * steps_of_panel_,
                     steps = std::min(steps_of_panel_, product.steps - first);
  alignas(64) std::array<float, kMostDepth * kPanelLanes> rows;
  std::array<const std::byte*, kMostDepth> begin;
  for (std::int64_t k = 0; k < steps * kTileDepth; ++k)
    begin[static_cast<std::size_t>(k)] = reinterpret_cast<const std::byte*>(rows.data() + k * kPanelLanes);
  for (std::int64_t step = 0; step < steps; ++step)
    gather(weights + number / phases * group_stride_, product, first + step, panel,
           rows.data() + step * kTileDepth * kPanelLanes);
  const std::int64_t lanes = std::min(kPanelLanes, written_ - panel * kPanelLanes);
  return pack_panel(to, {DType::f32, false, lanes, steps * kTileDepth}, begin.data(), pieces_,
                    PanelSide::Second);
}

#if defined(__x86_64__)
SINTER_PACKS void PackedWeights::gather(const float* weights, const Product& product, std::int64_t step,
                                        std::int64_t panel, float* rows) const {
  const auto taps = static_cast<std::int64_t>(product.taps.size());
  const std::int64_t first = step / taps * kTileDepth, end = std::min(first + kTileDepth, read_);
  const std::int64_t lane = panel * kPanelLanes;
  const float* from = weights + product.taps[static_cast<std::size_t>(step % taps)] + first * read_stride_ +
                      lane * written_stride_;
  const __m512i lanes =
      _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                         _mm512_set1_epi32(static_cast<int>(written_stride_)));
  const __mmask16 low = first_lanes(written_ - lane), high = first_lanes(written_ - lane - kWordLanes);
  const __m512 zero = _mm512_setzero_ps();
  for (std::int64_t channel = first; channel < first + kTileDepth; ++channel, rows += kPanelLanes) {
    const bool is_there = channel < end;
    const __mmask16 of_low = is_there ? low : 0, of_high = is_there ? high : 0;
    _mm512_store_ps(rows, _mm512_mask_i32gather_ps(zero, of_low, lanes, from, 4));
    _mm512_store_ps(rows + kWordLanes,
                    _mm512_mask_i32gather_ps(zero, of_high, lanes, from + kWordLanes * written_stride_, 4));
    if (is_there) from += read_stride_;
  }
}
#else
void PackedWeights::gather(const float*, const Product&, std::int64_t, std::int64_t, float*) const {
  throw std::logic_error("no instructions that gather weights");
}
#endif

}  // namespace sinter::runtime::host::amx
