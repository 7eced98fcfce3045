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
  void add(std::span<const std::uint64_t> words);
  /// The hash of the words so far and of `last`, which is not added: a trace may be finished again.
  Fingerprint finish(std::span<const std::uint64_t> last) const;
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sinter::trace
