// Fingerprints by XXH3.
#include "src/trace/fingerprint.h"

#include <new>

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

namespace sinter::trace {

struct FingerprintBuilder::State {
  XXH3_state_t hash;
};

FingerprintBuilder::FingerprintBuilder() : state_(new State) { reset(); }
FingerprintBuilder::~FingerprintBuilder() = default;

void FingerprintBuilder::reset() { XXH3_128bits_reset(&state_->hash); }

void FingerprintBuilder::add(std::span<const std::uint64_t> words) {
  XXH3_128bits_update(&state_->hash, words.data(), words.size_bytes());
}

Fingerprint FingerprintBuilder::finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  return {hash.high64, hash.low64};
}

}  // namespace sinter::trace
