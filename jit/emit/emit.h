// Kernel IR to source text: CUDA C++ and GLSL from one walker, and how a kernel's launch is shaped.
//
// What the text expects from whoever launches it
//
// CUDA    one entry point `sinter_kernel`; arguments in this order: a pointer per buffer, the ints (int32, or
// int64 when
//         the kernel is wide), the scalars by value (u8 as 32-bit), a `unsigned int*` fault word when
//         Kernel::fault. Compile with --fmad=false. The block is Geometry::lanes x Geometry::rows threads.
//
// GLSL    entry point `main`; bindings of descriptor set 0, all storage buffers: 0 .. n-1 the kernel's
// buffers, n the
//         arguments, n + 1 the fault word (one uint) when Kernel::fault. The arguments are 32-bit words
//         without gaps: first the ints (one word each; two, low word first, when the kernel is wide), then
//         the scalars (f32: its bits; i32; bool and u8: 0 or 1, or the number; i64 and the bits of f64: two
//         words, low word first); at least one word must be bound. Specialization constant 0 (uint) is the
//         group size and must be Geometry::lanes (Geometry::rows is always 1).
#pragma once

#include <cstdint>
#include <span>
#include <string>

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
  std::int64_t max_groups = 65535;
};

struct Source {
  std::string text;
  std::string entry;
};

/// One launch: `groups` groups of lanes x rows lanes. No groups: nothing to run.
struct Geometry {
  std::uint32_t groups = 0;
  std::uint32_t lanes = 1;
  std::uint32_t rows = 1;
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// The text of a kernel: a function of the kernel and the target alone. Throws DTypeError for what the target
/// cannot compute with, naming the op or the dtype.
Source emit(const ir::Kernel& kernel, const Target& target);

/// How a kernel is launched with these ints (Kernel::ints of them).
Geometry geometry(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints);

/// The schedule the text follows: the kernel's own, but for LanesInner on a target without groups.
ir::Schedule schedule_on(const ir::Kernel& kernel, const Target& target);

}  // namespace sinter::emit
