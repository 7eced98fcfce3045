// Packs the argument table of a batched launch.
#include "src/runtime/members.h"

#include <cstring>

namespace sinter::runtime {

LaunchArguments arguments_of(const ir::Kernel& kernel, const LaunchArguments& arguments, std::size_t m) {
  const std::size_t buffers = kernel.buffers.size(), scalars = kernel.scalars.size();
  return {arguments.buffers.subspan(m * buffers, buffers),
          arguments.ints.subspan(m * kernel.ints, kernel.ints),
          arguments.scalars.subspan(m * scalars, scalars), 1};
}

void pack_members(const ir::Kernel& kernel, const emit::MemberLayout& layout,
                  const LaunchArguments& arguments, std::span<const std::uint64_t> addresses,
                  std::span<const emit::MemberPlace> places, std::vector<std::byte>& table) {
  std::size_t at = table.size();
  table.resize(at + arguments.members * layout.bytes);
  for (std::size_t m = 0; m < arguments.members; ++m, at += layout.bytes) {
    for (const emit::MemberLayout::Field& field : layout.fields) {
      std::uint64_t bits = 0;
      switch (field.letter) {
        case 'b': bits = addresses[m * kernel.buffers.size() + field.number]; break;
        case 'n': bits = static_cast<std::uint64_t>(arguments.ints[m * kernel.ints + field.number]); break;
        default:
          bits = bits_of(arguments.scalars[m * kernel.scalars.size() + field.number],
                         kernel.scalars[field.number]);
      }
      std::memcpy(table.data() + at + field.offset, &bits,
                  field.bytes);  // little-endian, as all our hosts
    }
    const emit::MemberPlace& place = places[m];
    std::memcpy(table.data() + at + layout.first, &place.first, sizeof place.first);
    if (layout.share == 0) continue;
    const std::uint32_t share[] = {place.parts, place.partials, place.counters};
    std::memcpy(table.data() + at + layout.share, share, sizeof share);
  }
}

}  // namespace sinter::runtime
