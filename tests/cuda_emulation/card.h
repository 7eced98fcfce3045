// A card that plans are looked at for, where there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace sinter_emulation {

/// What the driver says of a device, and what its memory is.
struct Card {
  const char* name;
  int multiprocessors, cache_bytes, major, minor;
  std::size_t memory_bytes;
  bool has_clusters;
  bool has_tensor_maps;  // and so groups of warps that multiply, where it is of compute capability 9.0
  /// Launches do nothing and any code is taken: plans, texts and what a real NVRTC makes of them are those of
  /// this card.
  bool is_idle;
};

/// The emulated device; with SINTER_EMULATION_IDLE=h100 an idle card with the figures of an H100.
const Card& card();

/// Device memory: of an idle card it takes none of the machine's before it is written to, and of others it is
/// filled with NaN bits, so that reads of unwritten elements show. Null: none left.
void* card_memory(std::size_t bytes);
void free_card_memory(void* memory, std::size_t bytes);

/// The functions that make tensor maps, by name, of a card that has them. What they write kernels read by
/// group_side.h.
const std::map<std::string, void*>& card_functions();

}  // namespace sinter_emulation
