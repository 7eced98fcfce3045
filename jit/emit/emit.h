// Kernel IR to source text by one walker for all languages, and how a kernel's launch is shaped.
//
// A target names the dialect its text is in (dialects/table.h). What the text expects from whoever launches
// it, its ABI, stands in the dialect's own header: dialects/cuda/cuda.h, dialects/glsl/glsl.h. All have this
// in common:
//
//   buffers    in the kernel's order
//   ints       Kernel::ints of them; 32 bits each, or 64 where the kernel is wide
//   scalars    in the kernel's order; u8 and floats of 16 and 8 bits as 32 bits
//   parts      of a split kernel: the number of workgroups that share one unit of work; then memory for
//              partial results (split_scratch_bytes) and a table of 32-bit counters, one for each unit, all
//              zero, which the kernel leaves so
//   fault      where Kernel::faults: the launch's fault words, 32 bits each: Kernel::faults of each member.
//   The
//              kernel sets to 1 those of the LoadAt that met an index out of range, and leaves the others
//              alone
//
// A kernel for several members takes a table instead of buffers, ints and scalars, laid out by member_layout,
// and the number of members. It is launched with Geometry::workgroups workgroups of lanes x rows lanes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::emit {

class Dialect;

/// What the text may use, as plain data.
struct Target {
  /// What most devices of the language can do.
  explicit Target(const Dialect& dialect);

  const Dialect* dialect;
  int workgroup_size = 256;  // lanes of a full workgroup: a power of two, no less than a subgroup
  // Of a large one, if more. Where several workgroups share the inner points of columns, few large ones leave
  // few parts to join (those whose lanes take several columns are half as large); where rows are read again,
  // few rows are under way, which caches hold.
  int large_workgroup_size = 0;
  bool has_workgroups = true;  // shared memory and barriers; without, LanesInner has a lane per outer point
  int subgroup = 0;            // lanes that exchange values without memory, always so many; 0: none
  bool has_f64 = true;
  bool has_i64 = true;
  bool has_byte_storage = true;  // buffers of 8-bit elements
  bool has_half_storage = true;  // buffers of 16-bit elements
  bool fuses_fma = false;        // fma is known to round once and in one instruction; languages that promise
                                 // it do not ask
  bool casts_f16 = false;        // casts to f16 round to the nearest, and f16 keeps its subnormal numbers: on
                                 // devices of languages that leave it open
  bool vectors = true;  // several neighbouring elements are read and written at once where they lie so
  std::size_t tile_bytes =
      0;  // memory of a workgroup, for tiles too; 0: what they are for is read across lanes
  std::int64_t max_workgroups = 65535;
  int tensor_units = 0;  // compute units with the tensor cores that contraction/ writes for; 0: none
  std::int64_t wanted_workgroups = 256;  // so many keep the device busy, and share the work of a split kernel
};

/// True iff an outer point of the kernel has no more lanes than a subgroup, exactly Kernel::row_lanes of
/// them, and a workgroup several points.
bool has_short_rows(const ir::Kernel& kernel, const Target& target);

/// Points that a lane of an elementwise kernel, or of one with small inner loops (Kernel::inner_sizes), takes
/// at once where they do not lie in vectors.
int points_at_once(const ir::Kernel& kernel, const Target& target);

/// True iff the lanes of a workgroup stand in rows, which share the inner points of a lane's outer point.
bool has_rows_of_lanes(const ir::Kernel& kernel, const Target& target);

/// True iff lanes may take several neighbouring columns each while they reduce their part, of a kernel whose
/// columns several workgroups share: its reductions are sums or squared deviations of f32, and few of its
/// loads are of each element by itself.
bool has_vectors_of_columns(const ir::Kernel& kernel, const Target& target);

/// True iff these share the points of all inner loops, counted row-major, and not those of the first alone.
bool shares_all_inner_loops(const ir::Kernel& kernel, const Target& target);

/// Most lanes of a workgroup of this kernel.
int workgroup_lanes(const ir::Kernel& kernel, const Target& target);

struct Source {
  std::string text;
  std::string entry;
};

/// One launch: `workgroups` of lanes x rows lanes. No workgroups: nothing to run.
struct Geometry {
  std::uint32_t workgroups = 0;
  std::uint32_t lanes = 1;
  std::uint32_t rows = 1;
  std::uint32_t shared_bytes = 0;  // of a workgroup, where the launch has to say it
  std::uint32_t cut = 0;           // kernels with tiles: the first tiles that several workgroups share
  std::uint32_t parts =
      1;  // where takes_parts: workgroups that share the inner points of the same outer points
  friend bool operator==(const Geometry&, const Geometry&) = default;
};

/// The text of a kernel: a function of the kernel and the target alone. Throws DTypeError for what the target
/// cannot compute with, naming the op or the dtype.
Source emit(const ir::Kernel& kernel, const Target& target);

/// How a kernel is launched with these ints (Kernel::ints of them).
Geometry geometry(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints);

/// True iff several workgroups may share what one would do (Geometry::parts), and leave what they find to the
/// last of them: the kernel then takes memory for that, split_scratch_bytes of it, and counters, all zero,
/// which it leaves so.
bool takes_parts(const ir::Kernel& kernel, const Target& target);

/// So many workgroups as are to share what `units` of them, with so many lanes each, would do; may be 0.
std::int64_t wanted_parts(const Target& target, std::int64_t lanes, std::int64_t units);

/// How many counters a launch of such a kernel uses, at most.
std::int64_t counters_of(const ir::Kernel& kernel, const Geometry& shape);

/// Words of 32 bits of each partial result of a split kernel: those of the longest.
int words_of_partial(const ir::Kernel& kernel);
/// Memory for what the workgroups of a launch leave, where takes_parts.
std::size_t split_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape,
                                std::span<const std::int64_t> ints);

/// Where a member's work lies among that of a launch of several.
struct MemberPlace {
  std::uint32_t first = 0;  // workgroup
  // Of split kernels: Geometry::parts, and where its partial results and counters begin, in words of 32 bits.
  std::uint32_t parts = 1, partials = 0, counters = 0;
};

/// How a launch of several members is shaped; `ints` are those of all members. `places` becomes those of the
/// members, and behind them where the last one's workgroups, partial results and counters end.
Geometry geometry(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints,
                  std::size_t members, std::vector<MemberPlace>& places);

/// Where one member's arguments stand in the table of a launch of several.
struct MemberLayout {
  struct Field {
    char letter;  // 'b' a buffer's address, 'n' an int, 's' a scalar
    std::size_t number;
    std::size_t offset, bytes;  // 8 or 4 bytes
  };
  std::vector<Field> fields;
  std::size_t maps = 0;   // tensor maps, at the beginning
  std::size_t first = 0;  // offset of the number of the member's first workgroup, 32 bits
  std::size_t share = 0;  // of split kernels: of MemberPlace's other numbers, in their order; else 0
  std::size_t bytes = 0;  // of one member, a multiple of 8, or of what tensor maps are aligned by
};
MemberLayout member_layout(const ir::Kernel& kernel);

/// The schedule the text follows: the kernel's own, but for LanesInner on a target without workgroups.
ir::Schedule schedule_on(const ir::Kernel& kernel, const Target& target);

}  // namespace sinter::emit
