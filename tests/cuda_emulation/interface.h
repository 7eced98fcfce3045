// The interface between the emulated driver and the kernels it runs.
#pragma once

namespace sinter_emulation {

struct Index3 {
  unsigned x, y, z;
};

/// Shared memory that a launch may ask for, where cuFuncSetAttribute allows it.
constexpr unsigned kMostShared = 227 << 10;

struct State {
  Index3 thread, block, block_size, grid_size;
  void (*wait_for_block)();
  void (*wait_for_warp)();
  /// Exchanges values with the lane whose number differs by `mask` (shfl_xor).
  void (*exchange)(const void* value, void* other, unsigned long bytes, int mask);
  /// Lets the other threads of the block run first.
  void (*yield)();
};

/// The emulated NVRTC's output: this header, then a shared object.
struct CodeHeader {
  char magic[8];
  unsigned long long bytes;
};
inline constexpr char kCodeMagic[8] = {'E', 'M', 'U', 'L', 'A', 'T', 'E', 'D'};

}  // namespace sinter_emulation
