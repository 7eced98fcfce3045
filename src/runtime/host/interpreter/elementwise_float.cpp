// The host's vector functions over f32 and f64, for each target.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/interpreter/elementwise_float.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/interpreter/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {

void add_float_functions(host::BlockFunctions& functions) {
  add_elementwise<DType::f32, float>(functions);
  add_elementwise<DType::f64, double>(functions);
  add_reductions<DType::f32, float>(functions);
  add_reductions<DType::f64, double>(functions);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(add_float_functions);
void host::add_float_functions(BlockFunctions& functions) {
  HWY_DYNAMIC_DISPATCH(add_float_functions)(functions);
}
}  // namespace sinter::runtime
#endif
