// Notes random draws and gives them again.
#include "src/runtime/random_tape.h"

#include <sinter/error.h>

#include "src/runtime/device_core.h"

namespace sinter::runtime {
namespace {

thread_local RandomScope* innermost = nullptr;

}  // namespace

RandomScope::RandomScope() : outer_(innermost) { innermost = this; }
RandomScope::~RandomScope() { innermost = outer_; }

std::pair<std::int64_t, std::int64_t> RandomScope::next(DeviceCore& device) {
  return draw_from(innermost, device);
}

std::pair<std::int64_t, std::int64_t> RandomScope::draw_from(RandomScope* scope, DeviceCore& device) {
  return scope ? scope->draw(device) : device.draw_random();
}

std::pair<std::int64_t, std::int64_t> RandomTape::Noting::draw(DeviceCore& device) {
  const auto key = draw_from(outer_, device);
  tape_.draws_.push_back({&device, key});
  return key;
}

std::pair<std::int64_t, std::int64_t> RandomTape::Replaying::draw(DeviceCore& device) {
  if (next_ == tape_.draws_.size() || tape_.draws_[next_].device != &device)
    throw Error(
        "[checkpoint] when the function ran again it drew other random numbers than the first time, on " +
        device.name() + "; it has to do the same each time");
  return tape_.draws_[next_++].key;
}

}  // namespace sinter::runtime
