// Gradients as a value: what `backward()` gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>

namespace sinter {

/// The result of `backward()`: the gradient of each leaf. A plain value that can be moved to another thread
/// or changed.
class SINTER_API Gradients {
 public:
  /// The gradient of `leaf`, or nothing when the result did not depend on it. Throws AutodiffError for a
  /// tensor that is no leaf but a result.
  std::optional<AnyTensor> get(const AnyTensor& leaf) const;
  /// Moves the gradient out, so that nothing else holds it and an optimizer can write over its memory.
  std::optional<AnyTensor> remove(const AnyTensor& leaf);
  /// Replaces or adds the gradient of `leaf`; throws ShapeError or DTypeError when shapes or dtypes differ,
  /// AutodiffError when `leaf` is none.
  void set(const AnyTensor& leaf, AnyTensor gradient);

  /// The same for typed tensors (defined in tensor.h).
  template <std::size_t Rank, class Kind>
  std::optional<Tensor<Rank, Kind>> get(const Tensor<Rank, Kind>& leaf) const;
  template <std::size_t Rank, class Kind>
  std::optional<Tensor<Rank, Kind>> remove(const Tensor<Rank, Kind>& leaf);
  template <std::size_t Rank, class Kind>
  void set(const Tensor<Rank, Kind>& leaf, const Tensor<Rank, Kind>& gradient);

  /// Number of leaves that have a gradient here.
  std::size_t size() const;

  struct Entry {
    std::uint64_t leaf;
    AnyTensor gradient;  // an empty handle once it was removed
  };
  std::vector<Entry>& entries() { return entries_; }

 private:
  std::vector<Entry> entries_;  // sorted by leaf
};

}  // namespace sinter
