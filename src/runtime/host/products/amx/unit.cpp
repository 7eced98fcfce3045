// Products of tiles, by the processor's unit and by ordinary instructions that give the same bits. Highway
// knows no tiles, so this is written in intrinsics.
#include "src/runtime/host/products/amx/unit.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>

#include "src/base/env.h"
#include "src/runtime/host/products/gemm_pairs.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define SINTER_HAS_AMX 1
#define SINTER_FUSED [[gnu::target("fma")]]
#define SINTER_AMX_TARGET [[gnu::target("amx-tile,amx-bf16")]]
#else
#define SINTER_HAS_AMX 0
#define SINTER_FUSED
#define SINTER_AMX_TARGET
#endif

namespace sinter::runtime::host::amx {
namespace {

#if SINTER_HAS_AMX
/// Asks Linux for the state of tiles, which a process has to do once (Documentation/arch/x86/xstate.rst).
bool is_permitted() {
  constexpr long kRequest = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & bit_AMX_BF16) != 0 && (d & bit_AMX_TILE) != 0;
}

/// Palette 1: eight tiles of 16 rows of 64 bytes.
struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t zeros[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Tiles 0 to 3 are sums (rows in front, columns behind), 4 and 5 of the first factor, 6 and 7 of the second.
struct Processor {
  SINTER_AMX_TARGET static void clear() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  SINTER_AMX_TARGET static void load(int i, const void* from, std::int64_t bytes) {
    switch (i) {
      case 0: _tile_loadd(0, from, bytes); break;
      case 1: _tile_loadd(1, from, bytes); break;
      case 2: _tile_loadd(2, from, bytes); break;
      case 3: _tile_loadd(3, from, bytes); break;
      case 4: _tile_loadd(4, from, bytes); break;
      case 5: _tile_loadd(5, from, bytes); break;
      case 6: _tile_loadd(6, from, bytes); break;
      default: _tile_loadd(7, from, bytes); break;
    }
  }
  SINTER_AMX_TARGET static void store(int i, void* to, std::int64_t bytes) {
    switch (i) {
      case 0: _tile_stored(0, to, bytes); break;
      case 1: _tile_stored(1, to, bytes); break;
      case 2: _tile_stored(2, to, bytes); break;
      default: _tile_stored(3, to, bytes); break;
    }
  }
  SINTER_AMX_TARGET static void multiply(int c) {
    switch (c) {
      case 0: _tile_dpbf16ps(0, 4, 6); break;
      case 1: _tile_dpbf16ps(1, 4, 7); break;
      case 2: _tile_dpbf16ps(2, 5, 6); break;
      default: _tile_dpbf16ps(3, 5, 7); break;
    }
  }
};
#endif

float without_denormals(float x) {
  return (std::bit_cast<std::uint32_t>(x) & 0x7f800000u) == 0
             ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x80000000u)
             : x;
}

/// As Intel's manual describes the instructions.
struct Emulation {
  void clear() { std::memset(tiles_, 0, 4 * sizeof(Tile)); }
  void load(int i, const void* from, std::int64_t bytes) {
    for (std::int64_t r = 0; r < kTileRows; ++r)
      std::memcpy(tiles_[i].words[r], static_cast<const std::byte*>(from) + r * bytes, 64);
  }
  void store(int i, void* to, std::int64_t bytes) {
    for (std::int64_t r = 0; r < kTileRows; ++r)
      std::memcpy(static_cast<std::byte*>(to) + r * bytes, tiles_[i].words[r], 64);
  }
  /// Even and odd neighbours are summed up by themselves, with fused multiplies, then added to the tile.
  SINTER_FUSED void multiply(int c) {
    const Tile &a = tiles_[4 + c / 2], &b = tiles_[6 + c % 2];
    const auto number = [](std::uint32_t bits) { return without_denormals(std::bit_cast<float>(bits)); };
    for (std::int64_t r = 0; r < kTileRows; ++r) {
      float even[kTileWords] = {}, odd[kTileWords] = {};
      for (std::int64_t p = 0; p < kTileWords; ++p)
        for (std::int64_t j = 0; j < kTileWords; ++j) {
          const std::uint32_t x = a.words[r][p], y = b.words[p][j];
          even[j] = without_denormals(__builtin_fmaf(number(x << 16), number(y << 16), even[j]));
          odd[j] =
              without_denormals(__builtin_fmaf(number(x & 0xffff0000u), number(y & 0xffff0000u), odd[j]));
        }
      for (std::int64_t j = 0; j < kTileWords; ++j) {
        std::uint32_t& sum = tiles_[c].words[r][j];
        sum = std::bit_cast<std::uint32_t>(
            without_denormals(number(sum) + without_denormals(even[j] + odd[j])));
      }
    }
  }

 private:
  Tile tiles_[8];
};

/// Keeps the compiler from moving what is read and written over what comes in between.
struct FenceScope {
  FenceScope() { std::atomic_signal_fence(std::memory_order_seq_cst); }
  ~FenceScope() { std::atomic_signal_fence(std::memory_order_seq_cst); }
};

template <class Tiles, int kRows, int kColumns>
SINTER_AMX_TARGET void multiply_block(const Block& s, float* c, std::int64_t c_row, bool accumulate) {
  Tiles tiles;
  // To g++ instructions of tiles read and write no memory.
  const FenceScope fence;
  const std::int64_t c_bytes = c_row * static_cast<std::int64_t>(sizeof(float));
  const auto sums = [&](int r, int j) { return c + r * kTileRows * c_row + j * kTileWords; };
  if (!accumulate) {
    tiles.clear();
  } else {
    tiles.load(0, sums(0, 0), c_bytes);
    if constexpr (kColumns > 1) tiles.load(1, sums(0, 1), c_bytes);
    if constexpr (kRows > 1) tiles.load(2, sums(1, 0), c_bytes);
    if constexpr (kRows > 1 && kColumns > 1) tiles.load(3, sums(1, 1), c_bytes);
  }
  constexpr std::int64_t kRowBytes = kTileWords * sizeof(std::uint32_t);
  const TileAt *a = s.a, *b = s.b;
  for (std::int64_t step = 0; step < s.steps; ++step, a += 2, b += 2) {
    int has_a = -1, has_b = -1;
    for (int t = 0; t < s.term_count; ++t) {
      const Term term = s.terms[t];
      if (term.a != has_a) {
        tiles.load(4, a[0].first + term.a * a[0].piece_bytes, kRowBytes);
        if constexpr (kRows > 1) tiles.load(5, a[1].first + term.a * a[1].piece_bytes, kRowBytes);
        has_a = term.a;
      }
      if (term.b != has_b) {
        tiles.load(6, b[0].first + term.b * b[0].piece_bytes, kRowBytes);
        if constexpr (kColumns > 1) tiles.load(7, b[1].first + term.b * b[1].piece_bytes, kRowBytes);
        has_b = term.b;
      }
      tiles.multiply(0);
      if constexpr (kColumns > 1) tiles.multiply(1);
      if constexpr (kRows > 1) tiles.multiply(2);
      if constexpr (kRows > 1 && kColumns > 1) tiles.multiply(3);
    }
  }
  tiles.store(0, sums(0, 0), c_bytes);
  if constexpr (kColumns > 1) tiles.store(1, sums(0, 1), c_bytes);
  if constexpr (kRows > 1) tiles.store(2, sums(1, 0), c_bytes);
  if constexpr (kRows > 1 && kColumns > 1) tiles.store(3, sums(1, 1), c_bytes);
}

template <class Tiles>
void multiply_any(const Block& s, float* c, std::int64_t c_row, bool accumulate) {
  if (s.row_tiles > 1)
    return s.column_tiles > 1 ? multiply_block<Tiles, 2, 2>(s, c, c_row, accumulate)
                              : multiply_block<Tiles, 2, 1>(s, c, c_row, accumulate);
  return s.column_tiles > 1 ? multiply_block<Tiles, 1, 2>(s, c, c_row, accumulate)
                            : multiply_block<Tiles, 1, 1>(s, c, c_row, accumulate);
}

bool has_unit() {
#if SINTER_HAS_AMX
  static const bool found = has_instructions() && is_permitted();
  return found;
#else
  return false;
#endif
}

#if SINTER_HAS_AMX
SINTER_AMX_TARGET void configure() {
  static constexpr Configuration kConfiguration;
  _tile_loadconfig(&kConfiguration);
}
SINTER_AMX_TARGET void release() { _tile_release(); }
#endif

}  // namespace

Unit unit() {
  const std::string& wanted = base::environment().amx;
  if (wanted == "0" || !multiplies_pairs()) return Unit::None;
  if (wanted == "emulated") return Unit::Emulated;
  return has_unit() ? Unit::Amx : Unit::None;
}

TileScope::TileScope(Unit unit) : unit_(unit) {
#if SINTER_HAS_AMX
  if (unit_ == Unit::Amx) configure();
#endif
}
TileScope::~TileScope() {
#if SINTER_HAS_AMX
  if (unit_ == Unit::Amx) release();
#endif
}

void multiply_tiles(Unit unit, const Block& block, float* c, std::int64_t c_row, bool accumulate) {
#if SINTER_HAS_AMX
  if (unit == Unit::Amx) return multiply_any<Processor>(block, c, c_row, accumulate);
#endif
  if (unit == Unit::None) throw std::logic_error("no unit for products of tiles");
  multiply_any<Emulation>(block, c, c_row, accumulate);
}

}  // namespace sinter::runtime::host::amx
