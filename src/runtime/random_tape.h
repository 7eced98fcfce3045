// The random numbers that a stretch of program drew, so that it draws the same ones when it runs again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinter::runtime {

class DeviceCore;

/// Seed and stream number of each random op, in the order of the draws.
class RandomTape {
 public:
  struct Draw {
    const DeviceCore* device;
    std::pair<std::int64_t, std::int64_t> key;
  };

  /// While it lives, what the calling thread draws is noted.
  class Noting;
  /// While it lives, the calling thread draws what was noted, from the first one on; its own streams and
  /// generators stay where they are. A draw that was not noted throws Error.
  class Replaying;

 private:
  std::vector<Draw> draws_;
};

/// The tapes of a thread, innermost first. Below them is the generator that DrawFrom names, else the thread's
/// stream on the device.
class RandomScope {
 public:
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;
  /// What the thread draws next, within its scopes.
  static std::pair<std::int64_t, std::int64_t> next(DeviceCore& device);

 protected:
  RandomScope();
  ~RandomScope();
  virtual std::pair<std::int64_t, std::int64_t> draw(DeviceCore& device) = 0;
  static std::pair<std::int64_t, std::int64_t> draw_from(RandomScope* scope, DeviceCore& device);
  RandomScope* const outer_;
};

class RandomTape::Noting : RandomScope {
 public:
  explicit Noting(RandomTape& tape) : tape_(tape) {}

 private:
  std::pair<std::int64_t, std::int64_t> draw(DeviceCore& device) override;
  RandomTape& tape_;
};

class RandomTape::Replaying : RandomScope {
 public:
  explicit Replaying(const RandomTape& tape) : tape_(tape) {}

 private:
  std::pair<std::int64_t, std::int64_t> draw(DeviceCore& device) override;
  const RandomTape& tape_;
  std::size_t next_ = 0;
};

}  // namespace sinter::runtime
