// Records: conversions between named tensors, bytes and files.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>

#include <sinter/error.h>
#include <sinter/record.h>

#include "src/record/file.h"
#include "src/record/safetensors.h"

namespace sinter::record {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

// A longer header is not valid: reading it would take more memory than the tensors.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

std::string quoted(const std::filesystem::path& file) { return "\"" + file.string() + "\""; }

// Kernels would interpret bool bytes other than 0 and 1 differently.
void check_bools(const Record::Entry& entry, const std::string& name, std::string_view source) {
  if (entry.dtype != DType::boolean) return;
  for (std::byte byte : entry.bytes)
    if (byte > std::byte{1})
      fail(source, "tensor \"" + name + "\" has a bool of value " + std::to_string(static_cast<int>(byte)));
}

std::string facts(DType dtype, const Shape& shape) {
  return std::string(name_of(dtype)) + " " + to_string(shape);
}

// "a, b and 7 more"
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kShown) text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

}  // namespace

void Record::add(std::string name, const AnyTensor& tensor) {
  Entry entry{tensor.dtype(), tensor.shape(), {}};
  entry.bytes.resize(static_cast<std::size_t>(tensor.numel()) * size_of(entry.dtype));
  tensor.read_bytes(entry.bytes);
  add(std::move(name), std::move(entry));
}

void Record::add(std::string name, Entry entry) {
  if (name == kMetadataName) throw DataError("[record] the name __metadata__ is reserved");
  std::size_t expected = static_cast<std::size_t>(entry.shape.numel()) * size_of(entry.dtype);
  if (entry.bytes.size() != expected)
    throw DataError("[record] tensor \"" + name + "\" of " + facts(entry.dtype, entry.shape) + " takes " +
                    std::to_string(expected) + " bytes, not " + std::to_string(entry.bytes.size()));
  auto [at, is_new] = entries_.try_emplace(std::move(name), std::move(entry));
  if (!is_new) throw DataError("[record] there is a tensor \"" + at->first + "\" already");
}

const Record::Entry* Record::find(std::string_view name) const {
  auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

const std::string* Record::find_text(std::string_view key) const {
  auto found = texts_.find(key);
  return found == texts_.end() ? nullptr : &found->second;
}

AnyTensor Record::tensor(std::string_view name, const Device& device) const {
  const Entry* entry = find(name);
  if (!entry) throw DataError("[record] there is no tensor \"" + std::string(name) + "\"");
  return AnyTensor::from_bytes(entry->bytes, entry->shape, entry->dtype, device);
}

std::vector<std::byte> Record::to_bytes() const {
  Header header;
  header.texts = texts_;
  header.texts[std::string(kChecksumKey)] = std::string(kChecksumDigits, '0');
  std::uint64_t at = 0;
  // Sorting by element size, largest first, aligns every tensor for programs that map the file.
  std::vector<const std::pair<const std::string, Entry>*> order;
  for (const auto& item : entries_) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->second.dtype) > size_of(b->second.dtype);
  });
  for (const auto* item : order) {
    const Entry& entry = item->second;
    header.tensors.push_back({item->first, entry.dtype, entry.shape, at, at + entry.bytes.size()});
    at += entry.bytes.size();
  }
  std::string text = write_header(header);

  std::vector<std::byte> bytes(kLengthBytes + text.size() + at);
  std::uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, kLengthBytes);
  std::memcpy(bytes.data() + kLengthBytes, text.data(), text.size());
  std::byte* out = bytes.data() + kLengthBytes + text.size();
  for (const auto* item : order) {
    const auto& from = item->second.bytes;
    out = std::copy(from.begin(), from.end(), out);
  }
  std::size_t digits = kLengthBytes + find_checksum(text);
  std::string sum = checksum(bytes, digits);
  std::memcpy(bytes.data() + digits, sum.data(), sum.size());
  return bytes;
}

Record Record::from_bytes(std::span<const std::byte> bytes, std::string_view source) {
  if (bytes.size() < kLengthBytes)
    fail(source, "a record has at least 8 bytes, this one has " + std::to_string(bytes.size()));
  std::uint64_t length;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes || length > kMaxHeaderBytes)
    fail(source, "the header is said to have " + std::to_string(length) + " bytes, there are " +
                     std::to_string(bytes.size() - kLengthBytes) + " (at most " +
                     std::to_string(kMaxHeaderBytes) + " are read)");
  std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  auto data = bytes.subspan(kLengthBytes + length);
  Header header = read_header(text, data.size(), source);

  if (auto sum = header.texts.find(kChecksumKey); sum != header.texts.end()) {
    std::size_t digits = find_checksum(text);
    if (digits == std::string_view::npos || checksum(bytes, kLengthBytes + digits) != sum->second)
      fail(source, "the checksum does not match: the content was changed after it was written");
    header.texts.erase(sum);
  }

  Record record;
  record.texts_ = std::move(header.texts);
  for (TensorInfo& info : header.tensors) {
    auto part = data.subspan(info.begin, info.end - info.begin);
    Entry entry{info.dtype, info.shape, {part.begin(), part.end()}};
    check_bools(entry, info.name, source);
    record.add(std::move(info.name), std::move(entry));
  }
  return record;
}

void Record::write(const std::filesystem::path& file) const { write_file(file, to_bytes()); }

Record Record::read(const std::filesystem::path& file) { return from_bytes(read_file(file), quoted(file)); }

namespace detail {

namespace {

constexpr const char* kTied = "tied.";

/// For each tensor the first that is the same parameter: the same value with the same history. Buffers are
/// changed each by itself.
std::vector<std::size_t> first_places(const std::vector<Named>& state) {
  std::map<std::pair<const void*, const void*>, std::size_t> known;
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const AnyTensor& tensor = state[i].tensor;
    first.push_back(i);
    if (state[i].is_buffer || !tensor.defined()) continue;
    first[i] = known.try_emplace({tensor.value().get(), tensor.node().get()}, i).first->second;
  }
  return first;
}

}  // namespace

Record make_record(const std::vector<Named>& state) {
  Record record;
  // Flushes once for all tensors; the reads below only copy.
  if (!state.empty()) state.front().tensor.device().flush();
  const std::vector<std::size_t> first = first_places(state);
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (first[i] == i)
      record.add(state[i].path, state[i].tensor);
    else
      record.set_text(kTied + state[i].path, state[first[i]].path);
  }
  return record;
}

std::vector<AnyTensor> match(const Record& record, const std::vector<Named>& state, std::string_view source) {
  const std::vector<std::size_t> first = first_places(state);
  // Where the record has each tensor: under its path, under that which the record's texts name, or, of a tied
  // parameter, under another of its paths.
  std::vector<const Record::Entry*> entries;
  for (const Named& named : state) {
    const Record::Entry* entry = record.find(named.path);
    if (!entry)
      if (const std::string* other = record.find_text(kTied + named.path)) entry = record.find(*other);
    entries.push_back(entry);
  }
  for (std::size_t i = 0; i < state.size(); ++i)
    if (!entries[first[i]]) entries[first[i]] = entries[i];
  for (std::size_t i = 0; i < state.size(); ++i)
    if (!entries[i]) entries[i] = entries[first[i]];

  std::vector<std::string> missing, unexpected, different;
  std::set<std::string_view> wanted;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto& [path, tensor, is_buffer] = state[i];
    wanted.insert(path);
    std::string expected = facts(tensor.dtype(), tensor.shape());
    if (!entries[i])
      missing.push_back(path + " " + expected);
    else if (entries[i]->dtype != tensor.dtype() || entries[i]->shape != tensor.shape())
      different.push_back(path + " is " + facts(entries[i]->dtype, entries[i]->shape) +
                          " but the module has " + expected);
  }
  for (const auto& [name, entry] : record.entries())
    if (!wanted.count(name)) unexpected.push_back(name);

  std::string reason;
  auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) reason += (reason.empty() ? "" : "; ") + std::string(what) + listed(names);
  };
  add("missing: ", missing);
  add("unexpected: ", unexpected);
  add("different: ", different);
  if (!reason.empty()) fail(source, "the record does not fit the module; " + reason);

  std::vector<AnyTensor> tensors;
  for (std::size_t i = 0; i < state.size(); ++i) {
    // A tied parameter stays one tensor, unless the record has different values for it.
    if (first[i] != i && (entries[i] == entries[first[i]] || entries[i]->bytes == entries[first[i]]->bytes)) {
      tensors.push_back(tensors[first[i]]);
      continue;
    }
    const AnyTensor& old = state[i].tensor;
    AnyTensor tensor =
        AnyTensor::from_bytes(entries[i]->bytes, entries[i]->shape, entries[i]->dtype, old.device());
    tensors.push_back(old.requires_grad() ? tensor.require_grad() : std::move(tensor));
  }
  return tensors;
}

}  // namespace detail
}  // namespace sinter::record
