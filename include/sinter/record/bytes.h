// Bytes that are shared, not copied: those of a tensor in a record.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>

namespace sinter::record {

/// A run of bytes that do not change. Copies share them: in memory of their own, in a file that is mapped, or
/// in memory of somebody else's.
class Bytes {
 public:
  Bytes() = default;
  /// Takes the vector over; a span is copied.
  SINTER_API Bytes(std::vector<std::byte> bytes);
  template <class B, std::size_t N>
  requires std::is_same_v<std::remove_const_t<B>, std::byte> Bytes(std::span<B, N> bytes)
      : Bytes(std::vector<std::byte>(bytes.begin(), bytes.end())) {}
  /// Copies nothing: the bytes have to stay for as long as `owner`, or, without one, as any copy of this.
  /// What is part of the program's text (see `sinter embed`) needs no owner.
  static Bytes view(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr) {
    Bytes view;
    view.span_ = bytes;
    view.owner_ = std::move(owner);
    return view;
  }

  const std::byte* data() const { return span_.data(); }
  std::size_t size() const { return span_.size(); }
  bool empty() const { return span_.empty(); }
  const std::byte* begin() const { return span_.data(); }
  const std::byte* end() const { return span_.data() + span_.size(); }
  std::byte operator[](std::size_t i) const { return span_[i]; }
  /// A part that shares the same bytes; offset + size is at most size().
  Bytes part(std::size_t offset, std::size_t size) const { return view(span_.subspan(offset, size), owner_); }

  /// Whether the contents are equal.
  friend bool operator==(const Bytes& a, const Bytes& b) {
    return a.size() == b.size() &&
           (a.empty() || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

 private:
  std::span<const std::byte> span_;
  std::shared_ptr<const void> owner_;
};

}  // namespace sinter::record
