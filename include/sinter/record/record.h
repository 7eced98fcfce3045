// Named tensors in host memory, as bytes and as files in several formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/path.h>
#include <sinter/record/by_name.h>
#include <sinter/record/bytes.h>

namespace sinter::record {

class Renaming;

/// How a record becomes bytes.
enum class Encoding : std::uint8_t {
  /// The length of the header (64 bits, little-endian), the header (JSON: for each name dtype, shape and byte
  /// range), the elements one after the other, little-endian (https://huggingface.co/docs/safetensors).
  safetensors,
  /// A map (https://msgpack.org): "format" is "sinter.record", "checksum", "texts" a map of strings,
  /// "tensors"
  /// a map of name to {"dtype", "shape", "data"}, as safetensors names dtypes; data is binary, little-endian.
  messagepack,
  /// The same without a checksum; data is a list of the elements, row-major: numbers, true and false, and the
  /// strings "NaN", "Infinity" and "-Infinity". Numbers have as many digits as give the same bits again; a
  /// NaN comes back as the quiet NaN of its dtype.
  json,
};

struct Format {
  Encoding encoding = Encoding::safetensors;
  bool gzip = false;

  /// By the end of the name: .json; .msgpack or .mpk; anything else is safetensors; .gz behind any of them.
  SINTER_API static Format of(const Path& file);
  friend bool operator==(const Format&, const Format&) = default;
};

struct WriteOptions {
  /// Unset: by the file's name.
  std::optional<Format> format = std::nullopt;
  /// Where the elements take more bytes than this, files of at most so many each, and FILE.index.json with
  /// the file of each name, as Hugging Face's libraries read it: the file model.safetensors becomes
  /// model-TAG-00001-of-00003.safetensors and so on. A larger tensor has a file for itself. 0: one file.
  std::uint64_t max_shard_bytes = 0;
};

struct ReadOptions {
  /// Unset: by the file's name.
  std::optional<Format> format = std::nullopt;
  /// Maps the file instead of reading it: entries are parts of the mapping, and an upload copies from there.
  /// A program that changes the file in place, instead of replacing it as `write` does, changes the entries
  /// with it, and one that makes it shorter ends this process when it reads what is no more (SIGBUS).
  bool map = true;
  /// Compares the checksum of files that Sinter wrote, for which all of the file is read.
  bool verify = true;
};

/// Named tensors in host memory, and texts beside them. Copies share the elements.
///
/// Reads files of other programs whose dtypes are floats of 16 to 64 bits, integers or BOOL. Files written
/// by Sinter carry a checksum (XXH3-128 over the whole file) as the text "sinter.checksum", so that reading
/// detects any flipped bit, but for one in that name: a file without the text counts as another program's.
class SINTER_API Record {
 public:
  struct Entry {
    DType dtype;
    Shape shape;
    Bytes bytes;  // row-major, little-endian
  };

  /// Reads the tensor (flushes and waits). Throws DataError when the name exists already or is reserved
  /// ("__metadata__").
  void add(std::string name, const AnyTensor& tensor);
  /// Throws DataError also for what could not be read back: a negative size, another number of bytes than the
  /// shape takes, a bool that is neither 0 nor 1.
  void add(std::string name, Entry entry);
  /// Throws DataError for the reserved key "sinter.checksum".
  void set_text(std::string key, std::string value);

  const ByName<Entry>& entries() const { return entries_; }
  const ByName<std::string>& texts() const { return texts_; }
  /// Null when there is none.
  const Entry* find(std::string_view name) const;
  const std::string* find_text(std::string_view key) const;
  /// Uploads the entry to `device`. Throws DataError when there is none.
  AnyTensor tensor(std::string_view name, const Device& device) const;

  // ---- changes, as migrations need them. Throw DataError where `from` or `name` is none, or `to` is one.
  void rename(std::string_view from, std::string to);
  void rename_text(std::string_view from, std::string to);
  /// All names of tensors, also those in texts about tied parameters. What becomes empty is erased.
  void rename_all(const Renaming& renaming);
  void erase(std::string_view name);
  void erase_text(std::string_view key);
  /// The elements in another dtype: from floats to floats, from integers to integers. Throws DataError where
  /// a value has none: a finite number that would become infinite, an integer out of range.
  void cast(std::string_view name, DType dtype);

  /// The entries and texts whose names begin with "PREFIX.", without that; and back.
  Record part(std::string_view prefix) const;
  void add_part(std::string_view prefix, const Record& part);

  /// Throws DataError where a name or text is not UTF-8.
  std::vector<std::byte> to_bytes(Format format = {}) const;
  /// The entries are parts of `bytes`, unless those are compressed or JSON. Error messages call the bytes
  /// `source`. Throws DataError for anything but a whole, undamaged record.
  static Record from_bytes(const Bytes& bytes, std::string_view source = "bytes", Format format = {});

  /// Writes to temporary files beside `file` and renames them: a reader sees either the old or the new
  /// content, complete, or, of several files that are replaced just then, an error. Symbolic links are
  /// followed: several files and their index stand beside what the link leads to. A file that is replaced
  /// keeps its permissions. Throws DataError with the file and the reason, as where it is there and not a
  /// regular file; nothing has changed then.
  void write(const Path& file, const WriteOptions& options = {}) const;
  /// A file, or several with an index: FILE.index.json by its own name, or by that of FILE where there is no
  /// such file. Throws DataError for anything but a whole, undamaged record.
  static Record read(const Path& file, const ReadOptions& options = {});

 private:
  ByName<Entry> entries_;
  ByName<std::string> texts_;
};

extern template class ByName<Record::Entry>;
extern template class ByName<std::string>;

}  // namespace sinter::record
