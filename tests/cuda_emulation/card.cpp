// What a card is, and one that only plans are looked at for.
#include "card.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

#include "driver.h"

namespace sinter_emulation {

namespace {

const Card kEmulated = {"emulated GPU", 8, 1 << 20, 9, 0, std::size_t{2} << 30, false, false, false};
const Card kIdleH100 = {"idle H100", 132, 50 << 20, 9, 0, std::size_t{80} << 30, true, true, true};

// CU_TENSOR_MAP_DATA_TYPE_UINT8 and _TFLOAT32, and the swizzle of 128 bytes.
constexpr int kBytes = 0, kTf32 = 11, kSwizzle128 = 3, kInvalidValue = 1;

/// cuTensorMapEncodeTiled: group_side.h says what stands where.
int make_tensor_map(void* map, int type, unsigned rank, void* address, const void* sizes, const void* strides,
                    const void* boxes, const void* steps, int, int swizzle, int, int) {
  const auto* size = static_cast<const std::uint64_t*>(sizes);
  const auto* stride = static_cast<const std::uint64_t*>(strides);
  const auto *box = static_cast<const std::uint32_t*>(boxes),
             *step = static_cast<const std::uint32_t*>(steps);
  const std::uint64_t bytes = type == kBytes ? 1 : type == kTf32 ? 4 : 2;
  if (rank < 1 || rank > 5 || swizzle != kSwizzle128 || reinterpret_cast<std::uintptr_t>(address) % 16 != 0)
    return kInvalidValue;
  std::uint64_t words[16] = {reinterpret_cast<std::uintptr_t>(address), rank, bytes, type == kTf32};
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (box[dim] == 0 || box[dim] > 256 || step[dim] != 1 || size[dim] == 0) return kInvalidValue;
    if (dim > 0 && stride[dim - 1] % 16 != 0) return kInvalidValue;
    words[4 + dim] = size[dim];
    words[9 + dim] = dim > 0 ? stride[dim - 1] : bytes;
    words[14 + dim / 4] |= std::uint64_t{box[dim]} << dim % 4 * 16;
  }
  if (box[0] * bytes > 128) return kInvalidValue;
  std::memcpy(map, words, sizeof words);
  return kSuccess;
}
/// cuTensorMapEncodeIm2col, of images (n, h, w, c) or (n, d, h, w, c): where a tensor of boxes has the
/// extents of the third dim and beyond, this has a byte for each corner and for each step.
int make_map_of_windows(void* map, int type, unsigned rank, void* address, const void* sizes,
                        const void* strides, const void* lower, const void* upper, unsigned channels,
                        unsigned pixels, const void* steps, int interleave, int swizzle, int promotion,
                        int fill) {
  if (rank < 4 || rank > 5 || pixels == 0 || pixels > 256) return kInvalidValue;
  constexpr std::uint32_t kOne[] = {1, 1, 1, 1, 1};
  const std::uint32_t boxes[] = {channels, pixels, 1, 1, 1};
  if (const int error = make_tensor_map(map, type, rank, address, sizes, strides, boxes, kOne, interleave,
                                        swizzle, promotion, fill))
    return error;
  const auto *low = static_cast<const std::int32_t*>(lower), *high = static_cast<const std::int32_t*>(upper);
  const auto* step = static_cast<const std::uint32_t*>(steps);
  std::uint64_t words[16];
  std::memcpy(words, map, sizeof words);
  words[14] &= 0xffffffff;
  words[15] = 0;
  for (unsigned k = 0; k + 2 < rank; ++k) {
    const int least = rank == 4 ? -128 : -16, most = -least - 1;
    if (low[k] < least || low[k] > most || high[k] < least || high[k] > most) return kInvalidValue;
    if (step[1 + k] == 0 || step[1 + k] > 8) return kInvalidValue;
    words[14] |= std::uint64_t{step[1 + k]} << (32 + 8 * k);
    words[15] |= std::uint64_t{static_cast<std::uint8_t>(low[k])} << 8 * k |
                 std::uint64_t{static_cast<std::uint8_t>(high[k])} << (32 + 8 * k);
  }
  std::memcpy(map, words, sizeof words);
  return kSuccess;
}

}  // namespace

const Card& card() {
  static const Card one = [] {
    const char* idle = std::getenv("SINTER_EMULATION_IDLE");
    if (idle && std::string(idle) == "h100") return kIdleH100;
    Card emulated = kEmulated;
    emulated.has_tensor_maps = std::getenv("SINTER_EMULATION_GROUPS") != nullptr;
    emulated.has_clusters = std::getenv("SINTER_EMULATION_CLUSTERS") != nullptr;
    if (const char* compute = std::getenv("SINTER_EMULATION_COMPUTE")) emulated.major = std::atoi(compute);
    return emulated;
  }();
  return one;
}

void* card_memory(std::size_t bytes) {
  if (card().is_idle) {
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
  }
  void* memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  if (memory) std::memset(memory, 0xff, bytes);
  return memory;
}

void free_card_memory(void* memory, std::size_t bytes) {
  if (card().is_idle)
    munmap(memory, bytes);
  else
    std::free(memory);
}

const std::map<std::string, void*>& card_functions() {
  static const std::map<std::string, void*> all = {
      {"cuTensorMapEncodeTiled", entry<&make_tensor_map>()},
      {"cuTensorMapEncodeIm2col", entry<&make_map_of_windows>()}};
  static const std::map<std::string, void*> none;
  return card().has_tensor_maps ? all : none;
}

}  // namespace sinter_emulation
