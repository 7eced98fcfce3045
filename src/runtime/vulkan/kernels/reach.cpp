// Computes bounds of index maps.
#include "src/runtime/vulkan/kernels/reach.h"

#include <algorithm>

namespace sinter::runtime::vulkan {

KernelReach::KernelReach(const ir::Kernel& kernel)
    : parts_(kernel.parts), columns_(kernel.extents.begin() + kernel.outer_rank, kernel.extents.end()) {
  for (const ir::BufferInfo& buffer : kernel.buffers)
    element_bytes_.push_back(static_cast<std::int64_t>(size_of(buffer.dtype)));
  const auto begin = [&](std::size_t buffer, std::size_t map) {
    // Only the last step determines an element's position, with the first where it adds quotients; earlier
    // steps only compute its coordinates.
    const std::vector<ir::MapStep>& steps = kernel.maps[map].steps;
    const ir::MapStep& step = steps.back().maps.empty() ? steps.back() : steps.front();
    const bool first = &step == &steps.front();
    Use use;
    use.buffer = buffer;
    use.offset = step.offset;
    for (std::size_t c = 0; c < step.strides.size(); ++c)
      if (!step.strides[c].is_zero())
        use.terms.push_back({step.strides[c], (first ? kernel.extents : step.extents)[c]});
    for (std::size_t k = 0; k < steps.back().maps.size(); ++k)
      use.terms.push_back(
          {steps.back().strides[k], kernel.maps[steps.back().maps[k]].steps.back().extents[0]});
    return use;
  };
  const auto add = [&](Use use) {
    if (std::find(uses_.begin(), uses_.end(), use) == uses_.end()) uses_.push_back(std::move(use));
  };
  for (const ir::Expr& expr : kernel.exprs) {
    if (!ir::reads_memory(expr)) continue;
    Use use = begin(expr.buffer, expr.map);
    if (expr.kind == ir::ExprKind::LoadAt && !expr.stride.is_zero())
      use.terms.push_back({expr.stride, expr.extent});
    if (expr.kind == ir::ExprKind::Row) {
      use.length = expr.length;
      use.apart = expr.stride;
    }
    add(std::move(use));
  }
  for (const ir::Store& store : kernel.stores) {
    Use use = begin(store.buffer, store.map);
    const ir::Expr& value = kernel.exprs[store.value];
    use.has_parts = value.kind == ir::ExprKind::Partial;
    if (value.kind == ir::ExprKind::Combine) {
      use.length = kernel.exprs[value.args[1]].length;
      use.apart = ir::IntRef::one();
    }
    add(std::move(use));
  }
}

void KernelReach::compute(std::span<const std::int64_t> ints, std::vector<std::int64_t>& bytes) const {
  auto value = [&](ir::IntRef ref) {
    return ref.is_zero() ? std::int64_t{0} : ref.is_one() ? std::int64_t{1} : ints[ref.index];
  };
  bytes.assign(element_bytes_.size(), 0);
  for (const Use& use : uses_) {
    std::int64_t last = value(use.offset) + (use.length - 1) * value(use.apart);
    if (use.has_parts) {
      std::int64_t columns = 1;
      for (const ir::IntRef& size : columns_) columns *= value(size);
      last += columns * (value(parts_) - 1);
    }
    bool empty = false;
    for (const Term& term : use.terms) {
      last += std::max<std::int64_t>(value(term.stride) * (value(term.extent) - 1), 0);
      empty |= value(term.extent) <= 0;
    }
    if (!empty) bytes[use.buffer] = std::max(bytes[use.buffer], (last + 1) * element_bytes_[use.buffer]);
  }
}

}  // namespace sinter::runtime::vulkan
