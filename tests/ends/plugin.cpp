// A module that is linked with the library and loaded by a program that is not.
#include <thread>

#include <sinter/sinter.h>

namespace {
sinter::Tensor<1> kept;
}

/// 0 where what is computed is right. Leaves a static tensor, the pool's threads, and a thread that still
/// computes.
extern "C" __attribute__((visibility("default"))) int use_sinter(int detach) {
  const sinter::Device device = sinter::Device::host();
  kept = sinter::Tensor<1>::full({200'000}, 1, device) + 1.0;
  const double sum = kept.sum().item();
  if (detach) std::thread([] { kept.sum().item(); }).join();
  return sum == 400'000 ? 0 : 1;
}
