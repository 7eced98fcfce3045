// A lock for the few instructions that copy a handle, without <atomic>, which takes long to compile.
#pragma once

#include <sinter/detail/api.h>

namespace sinter::detail {

class SINTER_API SpinLock {
 public:
  SpinLock() = default;
  void lock();
  void unlock();

 private:
  int locked_ = 0;
};

}  // namespace sinter::detail
