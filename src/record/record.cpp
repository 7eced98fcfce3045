// Records: what they hold, and the files that they become.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <sinter/error.h>
#include <sinter/record/module.h>
#include <sinter/record/record.h>

#include "src/record/by_name.h"
#include "src/record/cast.h"
#include "src/record/encodings.h"
#include "src/record/file.h"
#include "src/record/shards.h"
#include "src/record/texts.h"

namespace sinter::record {
namespace {

[[noreturn]] void fail_missing(const char* what, std::string_view name) {
  throw DataError("[record] there is no " + std::string(what) + " \"" + std::string(name) + "\"");
}

/// Files have the checksum under this key; a text would be lost.
void require_free_key(std::string_view key) {
  if (key == kChecksumKey) throw DataError("[record] the key " + std::string(key) + " of a text is reserved");
}

template <class Map>
auto& find_in(Map& map, const char* what, std::string_view name) {
  auto* const found = map.find(name);
  if (!found) fail_missing(what, name);
  return *found;
}

template <class Map>
void rename_in(Map& map, const char* what, std::string_view from, std::string to) {
  auto value = find_in(map, what, from);
  if (to == from) return;
  if (!map.add(to, std::move(value)))
    throw DataError("[record] there is a " + std::string(what) + " \"" + to + "\" already");
  map.erase(std::string(from));
}

/// [PART.]unpacked.PATH: the key of the text that says what shape the codes of a tensor [PART.]PATH stand
/// for.
std::string key_of_unpacked(std::string_view name, std::size_t part) {
  return std::string(name.substr(0, part)).append(kUnpacked).append(name.substr(part));
}

/// How much of the tensor's name is the part of its text; nothing where it has none.
std::optional<std::size_t> part_of_unpacked(const ByName<std::string>& texts, std::string_view name) {
  for (std::size_t part = 0; part <= name.size(); ++part)
    if ((part == 0 || name[part - 1] == '.') && texts.find(key_of_unpacked(name, part))) return part;
  return std::nullopt;
}

}  // namespace

template class ByName<Record::Entry>;
template class ByName<std::string>;

Bytes::Bytes(std::vector<std::byte> bytes) {
  auto own = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::span<const std::byte> all = *own;
  *this = view(all, std::move(own));
}

Bytes::Bytes(const std::byte* data, std::size_t size) : Bytes(std::vector<std::byte>(data, data + size)) {}

void Record::set_text(std::string key, std::string value) {
  require_free_key(key);
  if (std::string* old = texts_.find(key))
    *old = std::move(value);
  else
    texts_.add(std::move(key), std::move(value));
}

void Record::add(std::string name, const AnyTensor& tensor) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype()));
  tensor.read_bytes(bytes);
  add(std::move(name), Entry{tensor.dtype(), tensor.shape(), std::move(bytes)});
}

void Record::add(std::string name, Entry entry) {
  if (name == kMetadataName) throw DataError("[record] the name __metadata__ is reserved");
  const std::string who = "tensor \"" + name + "\"";
  const auto is_negative = [](std::int64_t size) { return size < 0; };
  if (std::any_of(entry.shape.begin(), entry.shape.end(), is_negative))
    throw DataError("[record] " + who + " has a negative size: " + to_string(entry.shape));
  const std::optional<std::int64_t> numel = sinter::detail::numel_of(entry.shape);
  std::size_t expected = size_of(entry.dtype);
  if (!numel || __builtin_mul_overflow(expected, static_cast<std::size_t>(*numel), &expected))
    throw DataError("[record] " + who + " has sizes " + to_string(entry.shape) + ", more than fit in memory");
  if (entry.bytes.size() != expected)
    throw DataError("[record] " + who + " of " + std::string(name_of(entry.dtype)) + " " +
                    to_string(entry.shape) + " takes " + std::to_string(expected) + " bytes, not " +
                    std::to_string(entry.bytes.size()));
  if (const std::optional<int> value = find_bad_bool(entry))
    throw DataError("[record] " + who + " has a bool of value " + std::to_string(*value));
  if (!entries_.add(name, std::move(entry)))
    throw DataError("[record] there is a tensor \"" + name + "\" already");
}

const Record::Entry* Record::find(std::string_view name) const { return entries_.find(name); }

const std::string* Record::find_text(std::string_view key) const { return texts_.find(key); }

AnyTensor Record::tensor(std::string_view name, const Device& device) const {
  const Entry& entry = find_in(entries_, "tensor", name);
  return AnyTensor::from_bytes(std::span(entry.bytes), entry.shape, entry.dtype, device);
}

void Record::rename(std::string_view from, std::string to) {
  if (to == kMetadataName) throw DataError("[record] the name __metadata__ is reserved");
  // Before the entry goes, whose own name `from` may be.
  std::string text, renamed;
  if (const auto part = part_of_unpacked(texts_, from)) {
    const bool stays = to.starts_with(from.substr(0, *part));
    text = key_of_unpacked(from, *part);
    renamed = key_of_unpacked(to, stays ? *part : 0);
  }
  rename_in(entries_, "tensor", from, std::move(to));
  if (text == renamed) return;
  texts_.erase(renamed);  // of a tensor that is gone
  rename_in(texts_, "text", text, std::move(renamed));
}

void Record::rename_text(std::string_view from, std::string to) {
  require_free_key(to);
  rename_in(texts_, "text", from, std::move(to));
}

void Record::erase(std::string_view name) {
  const std::optional<std::size_t> part = part_of_unpacked(texts_, name);
  const std::string text = part ? key_of_unpacked(name, *part) : "";
  if (!entries_.erase(name)) fail_missing("tensor", name);
  if (part) texts_.erase(text);
}
void Record::erase_text(std::string_view key) {
  if (!texts_.erase(key)) fail_missing("text", key);
}

void Record::cast(std::string_view name, DType dtype) {
  Entry& entry = find_in(entries_, "tensor", name);
  entry = record::cast(entry, dtype, name, "cast");
}

Record Record::part(std::string_view prefix) const {
  const std::string begin = std::string(prefix) + ".";
  Record part;
  for (auto at = entries_.from(begin); at != entries_.end() && at->first.starts_with(begin); ++at)
    part.add(at->first.substr(begin.size()), at->second);
  for (auto at = texts_.from(begin); at != texts_.end() && at->first.starts_with(begin); ++at)
    part.set_text(at->first.substr(begin.size()), at->second);
  return part;
}

void Record::add_part(std::string_view prefix, const Record& part) {
  const std::string begin = std::string(prefix) + ".";
  for (const auto& [name, entry] : part.entries_) add(begin + name, entry);
  for (const auto& [key, text] : part.texts_) set_text(begin + key, text);
}

std::vector<std::byte> Record::to_bytes(Format format) const {
  const Pieces pieces = encode(*this, format);
  std::size_t size = 0;
  for (const Bytes& piece : pieces) size += piece.size();
  std::vector<std::byte> bytes;
  bytes.reserve(size);
  for (const Bytes& piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

Record Record::from_bytes(const Bytes& bytes, std::string_view source, Format format) {
  return decode(bytes, source, format, true);
}

void Record::write(const Path& file, const WriteOptions& options) const {
  const Format format = options.format.value_or(Format::of(file));
  if (is_index(file))
    throw DataError("[record] " + detail::quoted(file) +
                    " is the name of an index, which is written beside a file that has max_shard_bytes");
  std::uint64_t bytes = 0;
  for (const auto& [name, entry] : entries_) bytes += entry.bytes.size();
  if (options.max_shard_bytes != 0 && bytes > options.max_shard_bytes) {
    if (format != Format())
      throw DataError("[record] " + detail::quoted(file) +
                      " has max_shard_bytes, which only safetensors files take");
    return write_shards(*this, file, options.max_shard_bytes);
  }
  const Path index(index_of(end_of_links(file)));
  const std::vector<std::string> old = own_shards(index);
  PendingFile pending(file, index);
  pending.write(encode(*this, format));
  pending.publish();
  if (!old.empty()) remove_if_there(index);
  for (const std::string& name : old) remove_if_there(name);
}

Record Record::read(const Path& file, const ReadOptions& options) {
  if (is_index(file)) return read_shards(file, options);
  if (!exists(file))  // as a link is whose file was replaced by several
    for (const Path& index : {Path(index_of(end_of_links(file))), Path(index_of(file))})
      if (exists(index)) return read_shards(index, options);
  const Format format = options.format.value_or(Format::of(file));
  return decode(read_file(file, options.map), detail::quoted(file), format, options.verify);
}

namespace detail {

std::string quoted(const Path& file) { return "\"" + file.string() + "\""; }

}  // namespace detail
}  // namespace sinter::record
