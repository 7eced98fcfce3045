// Saving and loading: the parameters and buffers of a module, or any named tensors, as one file in the
// safetensors format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/module.h>

namespace sinter::record {

/// Named tensors in host memory, and metadata texts.
///
/// As bytes: the length of the header (64 bits, little-endian), the header (JSON: for each name dtype, shape
/// and byte range), the elements one after the other, little-endian
/// (https://huggingface.co/docs/safetensors). Reads files of other programs if their dtypes are F32, F64,
/// I32, I64, U8, BOOL, BF16 or F16. Files written by Sinter carry a checksum in the metadata (XXH3-128 over
/// the whole file), so that reading detects any flipped bit.
class SINTER_API Record {
 public:
  struct Entry {
    DType dtype;
    Shape shape;
    std::vector<std::byte> bytes;
  };

  /// Reads the tensor (flushes and waits). Throws DataError when the name exists already or is reserved
  /// ("__metadata__").
  void add(std::string name, const AnyTensor& tensor);
  void add(std::string name, Entry entry);
  void set_text(std::string key, std::string value) { texts_[std::move(key)] = std::move(value); }

  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  /// Null when there is none.
  const Entry* find(std::string_view name) const;
  const std::string* find_text(std::string_view key) const;
  /// Uploads the entry to `device`. Throws DataError when there is none.
  AnyTensor tensor(std::string_view name, const Device& device) const;

  std::vector<std::byte> to_bytes() const;
  /// Error messages call the bytes `source`. Throws DataError for anything but a whole, undamaged record.
  static Record from_bytes(std::span<const std::byte> bytes, std::string_view source = "bytes");

  /// Writes to a temporary file beside `file` and renames it: a reader sees either the old or the new
  /// content, complete. Throws DataError with the file and the reason.
  void write(const std::filesystem::path& file) const;
  static Record read(const std::filesystem::path& file);

 private:
  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::string, std::string, std::less<>> texts_;
};

namespace detail {

struct Named {
  std::string path;
  AnyTensor tensor;
  bool is_buffer = false;
};

template <class M>
std::vector<Named> state_of(const M& module) {
  std::vector<Named> named;
  visit_state(module, [&](std::string_view path, const auto& state) {
    named.push_back({std::string(path), state.dynamic(), IsBuffer<std::remove_cvref_t<decltype(state)>>});
  });
  return named;
}

SINTER_API Record make_record(const std::vector<Named>& state);
/// The new tensors in the order of `state`, each on the device of the tensor it replaces, and a leaf iff that
/// is one. Throws DataError that lists every tensor that is missing, unexpected or of another shape or dtype.
SINTER_API std::vector<AnyTensor> match(const Record& record, const std::vector<Named>& state,
                                        std::string_view source);

template <class M>
M apply(M module, const Record& record, std::string_view source) {
  std::vector<AnyTensor> tensors = match(record, state_of(module), source);
  std::size_t at = 0;
  visit_state(module, [&](std::string_view, auto& parameter) {
    parameter = std::remove_cvref_t<decltype(parameter)>(std::move(tensors[at++]));
  });
  return module;
}

}  // namespace detail

/// The parameters and buffers of a module under their paths ("hidden.weight"). A parameter that is reached on
/// several paths (tied weights) is saved once, under the first; the others stand in texts, "tied.PATH".
template <class M>
Record to_record(const M& module) {
  return detail::make_record(detail::state_of(module));
}

/// Replaces every parameter and buffer of the module by the record's tensor of the same path. Names, shapes
/// and dtypes must match on both sides; DataError lists all that do not. Of a tied parameter the record may
/// have any of its paths, or all.
template <class M>
M from_record(M module, const Record& record) {
  return detail::apply(std::move(module), record, "record");
}

template <class M>
void save(const M& module, const std::filesystem::path& file) {
  to_record(module).write(file);
}

/// model = record::load(std::move(model), "model.safetensors");
template <class M>
M load(M module, const std::filesystem::path& file) {
  return detail::apply(std::move(module), Record::read(file), "\"" + file.string() + "\"");
}

template <class M>
std::vector<std::byte> to_bytes(const M& module) {
  return to_record(module).to_bytes();
}

template <class M>
M from_bytes(M module, std::span<const std::byte> bytes) {
  return detail::apply(std::move(module), Record::from_bytes(bytes), "bytes");
}

}  // namespace sinter::record
