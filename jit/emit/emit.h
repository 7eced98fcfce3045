// Kernel IR to source text: CUDA C++ and GLSL from one walker, and how a kernel's launch is shaped.
//
// What the text expects from whoever launches it
//
// CUDA    one entry point `sinter_kernel`; arguments in this order: a pointer per buffer, the ints (int32, or
// int64 when
//         the kernel is wide), the scalars by value (u8, bf16 and f16 as 32-bit), a `unsigned int*` fault
//         word when Kernel::fault. Compile with --fmad=false. The block is Geometry::lanes x Geometry::rows
//         threads.
//
//         A kernel for several members takes their arguments as one struct by value, Kernel::members times
//         MemberLayout::bytes, then the number of members (32 bits), then the fault word.
//
//         A split kernel takes, before the fault word: the parts (32 bits), memory for partial results of
//         split_scratch_bytes, and a table of 32-bit counters, one for each group over the parts, all zero,
//         which it leaves so.
//
// GLSL    entry point `main`; bindings of descriptor set 0, all storage buffers: 0 .. n-1 the kernel's
// buffers, n the
//         arguments, n + 1 the fault word (one uint) when Kernel::fault. The arguments are 32-bit words
//         without gaps: first the ints (one word each; two, low word first, when the kernel is wide), then
//         the scalars (f32: its bits; i32; bool and u8: 0 or 1, or the number; bf16 and f16: their bits; i64
//         and the bits of f64: two words, low word first); at least one word must be bound. Specialization
//         constant 0 (uint) is the group size and must be Geometry::lanes (Geometry::rows is always 1). A
//         kernel for several members has two bindings: the arguments, one word with the number of members and
//         then MemberLayout::bytes for each, and the fault word; buffers are named by their addresses. A
//         split kernel has its parts as the last word of the arguments, and two bindings more before the
//         fault word: partial results and counters.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::emit {

enum class Language : std::uint8_t { Cuda, Glsl };

/// What the text may use, as plain data.
struct Target {
  Language language = Language::Cuda;
  int group_size = 256;    // lanes of a full group; a power of two, at least 32 when barriers may be used
  bool has_groups = true;  // shared memory and barriers; without, LanesInner runs as one lane per outer point
  bool has_f64 = true;
  bool has_i64 = true;
  bool has_byte_storage = true;  // bool and u8 buffers
  bool has_half_storage = true;  // bf16 and f16 buffers
  bool fuses_fma = false;        // GLSL: fma rounds once and in one instruction
  int subgroup = 0;     // GLSL: lanes that hand each other values without memory, always so many; 0: none
  bool vectors = true;  // four neighbouring elements are read and written at once where they lie so
  std::int64_t max_groups = 65535;
  std::int64_t wanted_groups =
      256;  // groups that keep the device busy: so many share the work of a split kernel
};

/// Most lanes of a group of this kernel.
int group_lanes(const ir::Kernel& kernel, const Target& target);

struct Source {
  std::string text;
  std::string entry;
};

/// One launch: `groups` groups of lanes x rows lanes. No groups: nothing to run.
struct Geometry {
  std::uint32_t groups = 0;
  std::uint32_t lanes = 1;
  std::uint32_t rows = 1;
  std::uint32_t parts = 1;  // split kernels: groups that share the inner points of the same outer points
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// The text of a kernel: a function of the kernel and the target alone. Throws DTypeError for what the target
/// cannot compute with, naming the op or the dtype.
Source emit(const ir::Kernel& kernel, const Target& target);

/// How a kernel is launched with these ints (Kernel::ints of them).
Geometry geometry(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints);

/// Memory for the partial results of a split kernel's launch.
std::size_t split_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape,
                                std::span<const std::int64_t> ints);

/// How a launch of several members is shaped; `ints` are those of all members. `firsts` becomes the first
/// group of each.
Geometry geometry(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints,
                  std::size_t members, std::vector<std::uint32_t>& firsts);

/// Where one member's arguments stand in the table of a launch of several.
struct MemberLayout {
  struct Field {
    char letter;  // 'b' a buffer's address, 'n' an int, 's' a scalar
    std::size_t number;
    std::size_t offset, bytes;  // 8 or 4 bytes
  };
  std::vector<Field> fields;
  std::size_t first = 0;  // offset of the member's first group, 32 bits
  std::size_t bytes = 0;  // of one member, a multiple of 8
};
MemberLayout member_layout(const ir::Kernel& kernel);

/// The schedule the text follows: the kernel's own, but for LanesInner on a target without groups.
ir::Schedule schedule_on(const ir::Kernel& kernel, const Target& target);

}  // namespace sinter::emit
