// Tensors, modules, optimizers and devices of static storage duration, constructed before and after the first
// use of the library, in two translation units, and destroyed after main.
#include "tests/ends/statics.h"

#include "tests/ends/check.h"

namespace {

ends::Kept here;
// Destroyed before, or after, those of the other file: both orders happen, as `here` has one like it.
ends::Late last_of_file(5);
const sinter::Device device_before_main = sinter::Device::host();
thread_local ends::Late of_main_thread(7);

}  // namespace

int main() {
  ends::hang_after(60);
  ends::require(ends::made_by_initialiser.sum().item() == 12, "a tensor that was recorded before main");
  ends::use(here);
  ends::use(ends::before_use);
  ends::use(ends::after_use());
  last_of_file.tensor = sinter::Tensor<1>::from_data({1, 2, 3}, device_before_main);
  of_main_thread.tensor = last_of_file.tensor;
}
