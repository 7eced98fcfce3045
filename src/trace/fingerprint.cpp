// Fingerprints by XXH3.
#include "src/trace/fingerprint.h"

#include <new>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace sinter::trace {

struct FingerprintBuilder::State {
  State() {}  // leaves the words as they are
  XXH3_state_t hash;
  std::uint64_t words[kRoom];
};

FingerprintBuilder::FingerprintBuilder() : state_(new State), waiting_(state_->words) { reset(); }
FingerprintBuilder::~FingerprintBuilder() = default;
FingerprintBuilder::FingerprintBuilder(FingerprintBuilder&&) noexcept = default;
FingerprintBuilder& FingerprintBuilder::operator=(FingerprintBuilder&&) noexcept = default;

void FingerprintBuilder::reset() {
  XXH3_128bits_reset(&state_->hash);
  count_ = 0;
}

void FingerprintBuilder::hash_waiting() {
  XXH3_128bits_update(&state_->hash, waiting_, count_ * sizeof *waiting_);
  count_ = 0;
}

Fingerprint FingerprintBuilder::finish(std::span<const std::uint64_t> last) {
  hash_waiting();
  const XXH128_hash_t words = XXH3_128bits_digest(&state_->hash);
  const XXH128_hash_t own = XXH3_128bits_withSeed(last.data(), last.size_bytes(), words.low64);
  const std::uint64_t both[] = {words.high64, words.low64, own.high64, own.low64};
  const XXH128_hash_t hash = XXH3_128bits(both, sizeof both);
  return {hash.high64, hash.low64};
}

}  // namespace sinter::trace
