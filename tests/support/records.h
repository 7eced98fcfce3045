// A record with tensors of every dtype, and comparisons of records.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <sinter/record/record.h>

namespace sinter::testing {

inline record::Record::Entry entry_of(DType dtype, const Shape& shape, std::uint8_t first) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(shape.numel()) * size_of(dtype));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(dtype == DType::boolean ? i % 2 : first + i);
  return {dtype, shape, std::move(bytes)};
}

template <class T>
record::Record::Entry entry_of(const Shape& shape, const std::vector<T>& values) {
  return {dtype_of<T>, shape, std::as_bytes(std::span(values))};
}

template <class T>
std::vector<T> values_of(const record::Record::Entry& entry) {
  std::vector<T> values(entry.bytes.size() / sizeof(T));
  std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
  return values;
}

inline record::Record sample_record() {
  record::Record record;
  record.add("layers.0.weight", entry_of(DType::f32, {2, 3}, 1));
  record.add("layers.0.bias", entry_of(DType::f64, {3}, 50));
  record.add("mask", entry_of(DType::boolean, {5}, 0));
  record.add("bytes", entry_of(DType::u8, {3, 1}, 7));
  record.add("halves", entry_of(DType::bf16, {2, 2}, 3));
  record.add("other halves", entry_of(DType::f16, {3}, 11));
  record.add("bytes of floats", entry_of(DType::f8_e4m3, {3, 1}, 2));
  record.add("others", entry_of(DType::f8_e5m2, {5}, 64));
  record.add("count", entry_of(DType::i64, {}, 9));
  record.add("empty", entry_of(DType::i32, {0, 4}, 0));
  record.set_text("note", "a \"text\" of two\nlines");
  return record;
}

inline bool same_tensors(const record::Record& a, const record::Record& b) {
  if (a.entries().size() != b.entries().size()) return false;
  for (const auto& [name, entry] : a.entries()) {
    const record::Record::Entry* other = b.find(name);
    if (!other || other->dtype != entry.dtype || other->shape != entry.shape || other->bytes != entry.bytes)
      return false;
  }
  return true;
}

inline bool equal(const record::Record& a, const record::Record& b) {
  return std::equal(a.texts().begin(), a.texts().end(), b.texts().begin(), b.texts().end()) &&
         same_tensors(a, b);
}

}  // namespace sinter::testing
