// Chooses who computes a library op on the host.
#include "src/runtime/host/library.h"

#include <variant>

#include "src/base/env.h"
#include "src/runtime/host/conv2d.h"
#include "src/runtime/host/matmul.h"
#if SINTER_HAS_ONEDNN
#include "src/runtime/host/onednn.h"
#endif

namespace sinter::runtime::host {

bool prefers_channels_last() {
#if SINTER_HAS_ONEDNN
  return base::environment().onednn;
#else
  return false;
#endif
}

ExecutableRef make_library_program(const ir::LibraryOp& op) {
#if SINTER_HAS_ONEDNN
  if (base::environment().onednn)
    if (auto program = make_onednn_program(op)) return program;
#endif
  if (const auto* matmul = std::get_if<ir::MatMulOp>(&op)) return make_matmul(*matmul);
  return make_conv2d(std::get<ir::Conv2dOp>(op));
}

}  // namespace sinter::runtime::host
