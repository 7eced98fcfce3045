// The arguments of one kernel launch, in the form the driver needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <sinter/dtype.h>

namespace sinter::runtime::cuda {

/// An argument that may differ between runs of a plan; all others follow from the plan. `number` is the index
/// of the buffer, int or scalar in the launch.
struct Patch {
  enum class Source : std::uint8_t { Buffer, Int, Scalar, Workspace, Counters, Faults };
  Source source = Source::Buffer;
  DType dtype = DType::f32;  // of a scalar
  std::uint8_t bytes = 8;    // 8, 4 or 1
  std::uint32_t number = 0;
  std::uint32_t offset = 0;
};

/// The arguments' values, pointers to them, and the list of patches.
class Parameters {
 public:
  Parameters() = default;
  Parameters(const Parameters& other) { *this = other; }
  Parameters& operator=(const Parameters& other) {
    bytes_ = other.bytes_;
    offsets_ = other.offsets_;
    patches_ = other.patches_;
    pointers_.clear();  // they point into `other`
    return *this;
  }

  void clear() {
    bytes_.clear();
    offsets_.clear();
    patches_.clear();
    pointers_.clear();
  }

  /// Adds an uninitialised argument of this many bytes, aligned to 8.
  std::byte* room(std::size_t bytes) { return add(bytes, 8); }

  template <class T>
  void push(const T& value) {
    std::memcpy(add(sizeof(T), alignof(T)), &value, sizeof(T));
  }

  /// Marks the next pushed argument, or the bytes at `patch.offset`, as a patch.
  void patch_next(Patch patch) {
    patch.offset = static_cast<std::uint32_t>((bytes_.size() + patch.bytes - 1) / patch.bytes * patch.bytes);
    patches_.push_back(patch);
  }
  void patch_at(Patch patch) { patches_.push_back(patch); }

  const std::vector<Patch>& patches() const { return patches_; }

  /// True iff the patch has this value.
  bool holds(const Patch& patch, std::uint64_t bits) const {
    const std::byte* at = bytes_.data() + patch.offset;
    switch (patch.bytes) {
      case 8: return read<std::uint64_t>(at) == bits;
      case 4: return read<std::uint32_t>(at) == static_cast<std::uint32_t>(bits);
      default: return read<std::uint8_t>(at) == static_cast<std::uint8_t>(bits);
    }
  }

  /// Overwrites a patch; true iff the value changed.
  bool set(const Patch& patch, std::uint64_t bits) {
    std::byte* at = bytes_.data() + patch.offset;
    switch (patch.bytes) {
      case 8: return exchange(at, bits);
      case 4: return exchange(at, static_cast<std::uint32_t>(bits));
      default: return exchange(at, static_cast<std::uint8_t>(bits));
    }
  }

  /// Copies the values of `other`, which has the same layout; true iff any value changed.
  bool assign(const Parameters& other) {
    if (bytes_ == other.bytes_) return false;
    std::memcpy(bytes_.data(), other.bytes_.data(), bytes_.size());
    return true;
  }
  bool same_layout(const Parameters& other) const {
    return offsets_ == other.offsets_ && bytes_.size() == other.bytes_.size();
  }

  /// The pointer array for the driver; valid until an argument is added.
  void** pointers() {
    if (pointers_.empty())
      for (std::size_t offset : offsets_) pointers_.push_back(bytes_.data() + offset);
    return pointers_.data();
  }

 private:
  /// Typed, not memcmp of variable length: this runs for every patch of every replay.
  template <class T>
  static T read(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  }
  template <class T>
  static bool exchange(std::byte* at, T value) {
    T old;
    std::memcpy(&old, at, sizeof(T));
    std::memcpy(at, &value, sizeof(T));
    return old != value;
  }

  std::byte* add(std::size_t bytes, std::size_t alignment) {
    const std::size_t at = (bytes_.size() + alignment - 1) / alignment * alignment;
    bytes_.resize(at + bytes);
    offsets_.push_back(at);
    return bytes_.data() + at;
  }

  std::vector<std::byte> bytes_;
  std::vector<std::size_t> offsets_;
  std::vector<Patch> patches_;
  std::vector<void*> pointers_;
};

}  // namespace sinter::runtime::cuda
