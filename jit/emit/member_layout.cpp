// Says where the arguments of each member of a launch of several stand.
#include "jit/emit/emit.h"
#include "jit/ir/products/tensor_maps.h"

namespace sinter::emit {

MemberLayout member_layout(const ir::Kernel& kernel) {
  MemberLayout layout;
  layout.maps = ir::tensor_maps(kernel.tiling);
  layout.bytes = layout.maps * ir::kTensorMapBytes;
  auto add = [&](char letter, std::size_t number, std::size_t bytes) {
    layout.fields.push_back({letter, number, layout.bytes, bytes});
    layout.bytes += bytes;
  };
  // Eight bytes first: then nothing needs padding but the end.
  const std::size_t of_int = kernel.wide ? 8 : 4;
  auto of_scalar = [&](std::size_t s) { return size_of(kernel.scalars[s]) == 8 ? std::size_t{8} : 4; };
  for (std::size_t b = 0; b < kernel.buffers.size(); ++b) add('b', b, 8);
  for (std::size_t bytes : {8, 4}) {
    for (std::size_t i = 0; i < kernel.ints; ++i)
      if (of_int == bytes) add('n', i, bytes);
    for (std::size_t s = 0; s < kernel.scalars.size(); ++s)
      if (of_scalar(s) == bytes) add('s', s, bytes);
  }
  layout.first = layout.bytes;
  layout.bytes += 4;
  if (kernel.split) {
    layout.share = layout.bytes;
    layout.bytes += 12;
  }
  const std::size_t alignment = layout.maps > 0 ? ir::kTensorMapAlignment : 8;
  layout.bytes = (layout.bytes + alignment - 1) / alignment * alignment;
  return layout;
}

}  // namespace sinter::emit
