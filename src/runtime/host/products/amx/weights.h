// Panels of weights, packed for all pixels or for some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/library/conv2d.h"
#include "src/runtime/host/products/amx/panel.h"
#include "src/runtime/host/products/amx/windows.h"

namespace sinter::runtime::host::amx {

/// Of a convolution, or of its gradient by x: columns are channels of what is written, and along k there are
/// blocks of 32 channels of what is read, each of which has all taps of a phase in turn, as weights lie.
class PackedWeights {
 public:
  PackedWeights(const library::Conv2dOp& op, const std::vector<Phase>& phases, const Pieces& pieces,
                std::int64_t steps_of_panel);

  /// Of all panels; and of what this object holds itself.
  std::int64_t bytes() const { return bytes_; }
  std::size_t held_bytes() const;

  /// Panels of all products, which threads may pack in turn.
  std::int64_t panels() const { return groups_ * static_cast<std::int64_t>(products_.size()) * panels_; }
  /// False: as pack_panel; likewise pack.
  bool pack_all(const float* weights, std::int64_t panel, std::byte* packed) const;
  const std::byte* packed(const std::byte* all, std::int64_t product, std::int64_t panel,
                          std::int64_t block) const {
    return all + offset(product, panel, block);
  }

  /// Packs one panel of a block of product `product`: of group `product / phases`, phase `product % phases`.
  bool pack(const float* weights, std::int64_t product, std::int64_t panel, std::int64_t block,
            std::byte* to) const;

 private:
  struct Product {
    std::vector<std::int64_t> taps;
    std::int64_t steps = 0, blocks = 0;
    std::int64_t first = 0;  // its panels, in those of a group
  };
  std::int64_t offset(std::int64_t product, std::int64_t panel, std::int64_t block) const;
  /// rows[k * 32 + lane] of a step.
  void gather(const float* weights, const Product& product, std::int64_t step, std::int64_t panel,
              float* rows) const;

  Pieces pieces_;
  std::int64_t groups_, read_, written_;                      // channels of a group
  std::int64_t read_stride_, written_stride_, group_stride_;  // of a channel in the given weights
  std::int64_t panels_, steps_of_panel_, panel_bytes_, group_bytes_ = 0, bytes_ = 0;
  std::vector<Product> products_;  // one for each phase
};

}  // namespace sinter::runtime::host::amx
