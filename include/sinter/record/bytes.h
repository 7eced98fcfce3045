// Bytes that are shared, not copied: those of a tensor in a record.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/detail/shared.h>

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
      : Bytes(bytes.data(), bytes.size()) {}
  /// Copies nothing: the bytes have to stay for as long as any copy of this does. What is part of the
  /// program's text (see `sinter embed`) does.
  static Bytes view(std::span<const std::byte> bytes) {
    Bytes view;
    view.data_ = bytes.data();
    view.size_ = bytes.size();
    return view;
  }
  /// The same of bytes that stay for as long as `owner`, a std::shared_ptr for example, which is kept.
  template <class O>
  static Bytes view(std::span<const std::byte> bytes, O owner) {
    Bytes view;
    view.data_ = bytes.data();
    view.size_ = bytes.size();
    view.owner_ = Kept::of(KeptAs<O>(std::move(owner)));
    return view;
  }

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::byte* begin() const { return data_; }
  const std::byte* end() const { return data_ + size_; }
  std::byte operator[](std::size_t i) const { return data_[i]; }
  /// A part that shares the same bytes; offset + size is at most size().
  Bytes part(std::size_t offset, std::size_t size) const {
    Bytes part = *this;
    part.data_ += offset;
    part.size_ = size;
    return part;
  }

  /// Whether the contents are equal.
  friend bool operator==(const Bytes& a, const Bytes& b) {
    return a.size() == b.size() &&
           (a.empty() || a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

 private:
  struct Nothing {};
  using Kept = detail::Shared<const Nothing>;
  template <class O>
  struct KeptAs : Nothing {
    explicit KeptAs(O owner) : owner(std::move(owner)) {}
    O owner;
  };
  SINTER_API Bytes(const std::byte* data, std::size_t size);

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  Kept owner_;
};

}  // namespace sinter::record
