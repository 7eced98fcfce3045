// The precision of each thread's products.
#include <sinter/precision.h>

#include "src/base/env.h"

namespace sinter {
namespace {

constexpr std::uint8_t kOfEnvironment = 0xff;
thread_local std::uint8_t of_thread = kOfEnvironment;

}  // namespace

MatmulPrecision matmul_precision() {
  return of_thread == kOfEnvironment ? base::environment().matmul_precision
                                     : static_cast<MatmulPrecision>(of_thread);
}

MatmulPrecisionScope::MatmulPrecisionScope(MatmulPrecision precision) : before_(of_thread) {
  of_thread = static_cast<std::uint8_t>(precision);
}

MatmulPrecisionScope::~MatmulPrecisionScope() { of_thread = before_; }

}  // namespace sinter
