// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as far as reading ONNX
// takes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <sinter/error.h>

namespace sinter::testing::onnx {

/// The fields of one message, in the order in which they stand. Throws DataError where the bytes are none.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  /// Goes to the next field; false at the end.
  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t tag = varint();
    number_ = tag >> 3;
    if (number_ == 0) fail("a field has the number 0");
    switch (tag & 7) {
      case 0: value_ = varint(); break;
      case 1: bytes_ = take(8); break;
      case 2: bytes_ = take(varint()); break;
      case 5: bytes_ = take(4); break;
      default: fail("a field has an unknown type");
    }
    is_varint_ = (tag & 7) == 0;
    return true;
  }

  std::uint64_t number() const { return number_; }
  /// Of a number that is written as such; else of packed ones, one after the other, by `packed`.
  std::int64_t integer() const {
    if (!is_varint_) fail("a number is missing");
    return static_cast<std::int64_t>(value_);
  }
  std::string_view bytes() const {
    if (is_varint_) fail("bytes are missing");
    return bytes_;
  }
  template <class T>
  T fixed() const {
    if (is_varint_ || bytes_.size() != sizeof(T)) fail("a number has another size");
    T value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    return value;
  }
  /// Calls `each` with the integers of a repeated field, packed or not.
  template <class F>
  void integers(const F& each) const {
    if (is_varint_) return each(integer());
    Fields packed(bytes_);
    while (!packed.rest_.empty()) each(static_cast<std::int64_t>(packed.varint()));
  }
  /// The same of floating-point numbers.
  template <class T, class F>
  void numbers(const F& each) const {
    const std::string_view all = bytes();
    if (all.size() % sizeof(T) != 0) fail("numbers are cut short");
    for (std::size_t at = 0; at < all.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, all.data() + at, sizeof value);
      each(value);
    }
  }

 private:
  [[noreturn]] static void fail(const char* what) { throw DataError(std::string("[onnx] ") + what); }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) fail("the file is cut short");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return value;
    }
    fail("a number has more than 64 bits");
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) fail("the file is cut short");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_, bytes_;
  std::uint64_t number_ = 0, value_ = 0;
  bool is_varint_ = false;
};

}  // namespace sinter::testing::onnx
