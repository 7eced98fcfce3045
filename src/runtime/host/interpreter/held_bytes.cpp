// Adds up the lists of a kernel's code.
#include "jit/ir/held_bytes.h"

#include "src/runtime/host/interpreter/code.h"

namespace sinter::runtime::host {

std::size_t held_bytes(const Code& code) {
  using ir::held_bytes;
  const auto of_section = [](const Section& section) {
    return held_bytes(section.pointers) + held_bytes(section.code);
  };
  std::size_t bytes = held_bytes(code.space.extents) + held_bytes(code.space.maps) +
                      of_section(code.constants) + held_bytes(code.unit) + held_bytes(code.inner) +
                      held_bytes(code.reductions) + held_bytes(code.registers) + held_bytes(code.bounds) +
                      held_bytes(code.scalars);
  for (const BoundMap& map : code.space.maps) {
    bytes += held_bytes(map.strides) + held_bytes(map.parts) + held_bytes(map.rest);
    for (const Split& split : map.rest) bytes += held_bytes(split.extents) + held_bytes(split.strides);
  }
  for (const Section& section : code.unit) bytes += of_section(section);
  for (const Section& section : code.inner) bytes += of_section(section);
  for (const std::vector<BoundValues>& list : code.bounds) bytes += held_bytes(list);
  return bytes;
}

}  // namespace sinter::runtime::host
