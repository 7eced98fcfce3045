// Chooses who computes a library op on the host.
#include "src/runtime/host/products/library.h"

#include <variant>

#include "src/base/env.h"
#include "src/runtime/host/products/conv2d.h"
#include "src/runtime/host/products/matmul.h"
#if SINTER_HAS_ONEDNN
#include "src/runtime/host/products/onednn.h"
#endif

namespace sinter::runtime::host {

bool prefers_channels_last() {
#if SINTER_HAS_ONEDNN
  return base::environment().onednn;
#else
  return false;
#endif
}

namespace {

#if SINTER_HAS_ONEDNN
// A side so short that the other library copies more than it multiplies.
constexpr std::int64_t kNarrow = 16;

bool own_is_faster(const ir::LibraryOp& op) {
  const auto* m = std::get_if<ir::MatMulOp>(&op);
  if (m == nullptr || m->m < 4 || m->n < 4 || m->k < 4) return false;
  return m->n <= kNarrow || m->k <= kNarrow || (m->m <= kNarrow && m->b_column == 1);
}
#endif

}  // namespace

ExecutableRef make_library_program(const ir::LibraryOp& op) {
#if SINTER_HAS_ONEDNN
  if (base::environment().onednn && !own_is_faster(op))
    if (auto program = make_onednn_program(op)) return program;
#endif
  if (const auto* matmul = std::get_if<ir::MatMulOp>(&op)) return make_matmul(*matmul);
  return make_conv2d(std::get<ir::Conv2dOp>(op));
}

}  // namespace sinter::runtime::host
