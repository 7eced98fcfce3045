// What a card is, and one that only plans are looked at for.
#include "card.h"

#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

#include "driver.h"

namespace sinter_emulation {

namespace {

const Card kEmulated = {"emulated GPU", 8, 1 << 20, 9, 0, std::size_t{2} << 30, false, false};
const Card kIdleH100 = {"idle H100", 132, 50 << 20, 9, 0, std::size_t{80} << 30, true, true};

/// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, of whose arguments nobody reads anything here.
int make_tensor_map(void*, int, unsigned, void*, const void*, const void*, const void*, const void*, int, int,
                    int, int) {
  return kSuccess;
}
int make_map_of_windows(void*, int, unsigned, void*, const void*, const void*, const void*, const void*,
                        unsigned, unsigned, const void*, int, int, int, int) {
  return kSuccess;
}

}  // namespace

const Card& card() {
  static const Card one = [] {
    const char* idle = std::getenv("SINTER_EMULATION_IDLE");
    if (idle && std::string(idle) == "h100") return kIdleH100;
    Card emulated = kEmulated;
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
  static const std::map<std::string, void*> idle = {
      {"cuTensorMapEncodeTiled", entry<&make_tensor_map>()},
      {"cuTensorMapEncodeIm2col", entry<&make_map_of_windows>()}};
  static const std::map<std::string, void*> none;
  return card().is_idle ? idle : none;
}

}  // namespace sinter_emulation
