// The fingerprint of a trace: a 128-bit hash of its structure, built while it is recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sinter::trace {

struct Fingerprint {
  std::uint64_t high = 0, low = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Fingerprint& f) {
    return H::combine(std::move(h), f.high, f.low);
  }
};

/// XXH3-128 over a stream of words. Addresses, names and scalar values never go in.
class FingerprintBuilder {
 public:
  FingerprintBuilder();
  ~FingerprintBuilder();
  FingerprintBuilder(FingerprintBuilder&&) noexcept;
  FingerprintBuilder& operator=(FingerprintBuilder&&) noexcept;

  /// The next words go where this points to, at most `most` of them and of kMostAtOnce; `add_up_to` behind
  /// the last one adds them.
  std::uint64_t* room_for(std::size_t most) {
    if (kRoom - count_ < most) hash_waiting();
    return waiting_ + count_;
  }
  void add_up_to(const std::uint64_t* end) { count_ = static_cast<std::size_t>(end - waiting_); }
  static constexpr std::size_t kMostAtOnce = 320;

  /// The hash of the words so far and of `last`, which is not added: a trace may be finished again.
  Fingerprint finish(std::span<const std::uint64_t> last);
  void reset();

 private:
  struct State;
  // Words of many ops are hashed at once: the hash is fast for long inputs, and slow to begin.
  static constexpr std::size_t kRoom = 1024;
  void hash_waiting();

  std::unique_ptr<State> state_;
  std::uint64_t* waiting_ = nullptr;  // in the state
  std::size_t count_ = 0;             // of those that wait
};

}  // namespace sinter::trace
