// What each thread allows: the precision of its products, the order of its sums.
#include <sinter/precision.h>

#include "src/base/env.h"

namespace sinter {
namespace {

constexpr std::uint8_t kOfEnvironment = 0xff;
thread_local std::uint8_t of_thread = kOfEnvironment, order_of_thread = kOfEnvironment;

}  // namespace

MatmulPrecision matmul_precision() {
  return of_thread == kOfEnvironment ? base::environment().matmul_precision
                                     : static_cast<MatmulPrecision>(of_thread);
}

MatmulPrecisionScope::MatmulPrecisionScope(MatmulPrecision precision) : before_(of_thread) {
  of_thread = static_cast<std::uint8_t>(precision);
}

MatmulPrecisionScope::~MatmulPrecisionScope() { of_thread = before_; }

SumOrder sum_order() {
  return order_of_thread == kOfEnvironment ? base::environment().sum_order
                                           : static_cast<SumOrder>(order_of_thread);
}

SumOrderScope::SumOrderScope(SumOrder order) : before_(order_of_thread) {
  order_of_thread = static_cast<std::uint8_t>(order);
}

SumOrderScope::~SumOrderScope() { order_of_thread = before_; }

}  // namespace sinter
