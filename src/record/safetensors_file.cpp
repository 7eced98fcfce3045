// A whole safetensors file: its header, its elements and its checksum.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <xxhash.h>

#include "src/record/safetensors.h"

namespace sinter::record {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

// A longer header is not valid: reading it would take more memory than the tensors.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

class Hash {
 public:
  Hash() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  void add(std::span<const std::byte> bytes) {
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  std::string digits() const {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    std::string text;
    for (unsigned char byte : canonical.digest) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

/// The offset of the checksum's digits in the header's text; npos unless it occurs exactly once.
std::size_t find_checksum(std::string_view header) {
  const std::string before = "\"" + std::string(kChecksumKey) + "\":\"";
  std::size_t at = header.find(before);
  if (at == std::string_view::npos || header.find(before, at + 1) != std::string_view::npos)
    return std::string_view::npos;
  at += before.size();
  return header.size() - at >= kNoChecksum.size() ? at : std::string_view::npos;
}

/// What a file may be that is no safetensors file, by its first bytes.
std::string_view other_format_of(const Bytes& file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()),
                              std::min<std::size_t>(file.size(), 4));
  if (text.starts_with("PK\x03\x04")) return "; it begins as a zip archive, as those of torch.save";
  if (text.starts_with("\x1f\x8b")) return "; it begins as gzip, and its name does not end in .gz";
  if (text.starts_with("\x80\x02") || text.starts_with("\x80\x04")) return "; it begins as a Python pickle";
  if (text == "GGUF") return "; it begins as a GGUF file";
  if (text.starts_with("{")) return "; it begins as JSON, and its name does not end in .json";
  return "";
}

struct Layout {
  std::string start;  // length and header, with zeros for the checksum
  Pieces elements;
  std::string checksum;
};

Layout layout_of(const Record& record) {
  Header header;
  for (const auto& [key, text] : record.texts()) header.texts.emplace(key, text);
  header.texts[std::string(kChecksumKey)] = std::string(kNoChecksum);
  // Sorting by element size, largest first, aligns every tensor for programs that map the file.
  std::vector<const std::pair<const std::string, Record::Entry>*> order;
  for (const auto& item : record.entries()) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return size_of(a->second.dtype) > size_of(b->second.dtype);
  });
  Layout layout;
  std::uint64_t at = 0;
  for (const auto* item : order) {
    const Record::Entry& entry = item->second;
    header.tensors.push_back({item->first, entry.dtype, entry.shape, at, at + entry.bytes.size()});
    at += entry.bytes.size();
    layout.elements.push_back(entry.bytes);
  }
  const std::string text = write_header(header);
  const std::uint64_t length = text.size();
  layout.start.resize(kLengthBytes);
  std::memcpy(layout.start.data(), &length, kLengthBytes);
  layout.start += text;
  Hash hash;
  hash.add(layout.start);
  for (const Bytes& piece : layout.elements) hash.add(piece);
  layout.checksum = hash.digits();
  return layout;
}

}  // namespace

std::optional<int> find_bad_bool(const Record::Entry& entry) {
  if (entry.dtype != DType::boolean) return std::nullopt;
  const auto bad = std::find_if(entry.bytes.begin(), entry.bytes.end(),
                                [](std::byte byte) { return byte > std::byte{1}; });
  return bad == entry.bytes.end() ? std::nullopt : std::optional(static_cast<int>(*bad));
}

void check_bools(const Record::Entry& entry, const std::string& name, std::string_view source) {
  if (const std::optional<int> value = find_bad_bool(entry))
    fail(source, "tensor \"" + name + "\" has a bool of value " + std::to_string(*value));
}

Pieces encode_safetensors(const Record& record) {
  Layout layout = layout_of(record);
  const std::size_t digits =
      kLengthBytes + find_checksum(std::string_view(layout.start).substr(kLengthBytes));
  layout.start.replace(digits, kNoChecksum.size(), layout.checksum);
  layout.elements.insert(layout.elements.begin(), bytes_of(layout.start));
  return std::move(layout.elements);
}

std::string checksum_of(const Record& record) { return layout_of(record).checksum; }

Record decode_safetensors(const Bytes& file, std::string_view source, bool verify) {
  if (file.size() < kLengthBytes)
    fail(source, "a record has at least 8 bytes, this one has " + std::to_string(file.size()));
  std::uint64_t length;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > file.size() - kLengthBytes || length > kMaxHeaderBytes)
    fail(source, "the header is said to have " + std::to_string(length) + " bytes, there are " +
                     std::to_string(file.size() - kLengthBytes) + " (at most " +
                     std::to_string(kMaxHeaderBytes) + " are read)" + std::string(other_format_of(file)));
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  const Bytes data = file.part(kLengthBytes + length, file.size() - kLengthBytes - length);
  Header header = read_header(text, data.size(), source);

  if (auto sum = header.texts.find(kChecksumKey); sum != header.texts.end()) {
    if (verify) {
      const std::size_t digits = find_checksum(text);
      const std::size_t before = kLengthBytes + digits, after = before + kNoChecksum.size();
      Hash hash;
      if (digits != std::string_view::npos) {
        hash.add(std::span(file).first(before));
        hash.add(kNoChecksum);
        hash.add(std::span(file).subspan(after));
      }
      if (digits == std::string_view::npos || hash.digits() != sum->second)
        fail(source, "the checksum does not match: the content was changed after it was written");
    }
    header.texts.erase(sum);
  }

  Record record;
  for (auto& [key, value] : header.texts) record.set_text(key, std::move(value));
  for (TensorInfo& info : header.tensors) {
    Record::Entry entry{info.dtype, info.shape, data.part(info.begin, info.end - info.begin)};
    check_bools(entry, info.name, source);
    record.add(std::move(info.name), std::move(entry));
  }
  return record;
}

}  // namespace sinter::record
