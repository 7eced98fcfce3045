// Notes random draws and gives them again; where they come from.
#include "src/runtime/random_tape.h"

#include <sinter/error.h>
#include <sinter/random.h>

#include "src/runtime/device_core.h"

namespace sinter::runtime {
namespace {

thread_local RandomScope* innermost = nullptr;
thread_local Generator* generator = nullptr;

/// From the innermost generator, or the thread's stream.
std::pair<std::int64_t, std::int64_t> draw_below_tapes(DeviceCore& device) {
  if (!generator) return device.draw_random();
  RandomState state = generator->state();
  const std::pair key(static_cast<std::int64_t>(state.seed), static_cast<std::int64_t>(state.next++));
  generator->set_state(state);
  return key;
}

}  // namespace

RandomScope::RandomScope() : outer_(innermost) { innermost = this; }
RandomScope::~RandomScope() { innermost = outer_; }

std::pair<std::int64_t, std::int64_t> RandomScope::next(DeviceCore& device) {
  return draw_from(innermost, device);
}

std::pair<std::int64_t, std::int64_t> RandomScope::draw_from(RandomScope* scope, DeviceCore& device) {
  return scope ? scope->draw(device) : draw_below_tapes(device);
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

namespace sinter {

DrawFrom::DrawFrom(Generator& generator) : outer_(std::exchange(runtime::generator, &generator)) {}
DrawFrom::~DrawFrom() { runtime::generator = outer_; }

}  // namespace sinter
