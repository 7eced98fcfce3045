// The header of a safetensors file. Files are untrusted: every number is checked before it is used.
#include "src/record/safetensors.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>
#include <xxhash.h>

#include <sinter/error.h>

namespace sinter::record {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<DType, std::string_view>, 13> kDTypeNames{{{DType::f32, "F32"},
                                                                          {DType::f64, "F64"},
                                                                          {DType::bf16, "BF16"},
                                                                          {DType::f16, "F16"},
                                                                          {DType::i32, "I32"},
                                                                          {DType::i64, "I64"},
                                                                          {DType::i8, "I8"},
                                                                          {DType::i16, "I16"},
                                                                          {DType::u8, "U8"},
                                                                          {DType::u16, "U16"},
                                                                          {DType::u32, "U32"},
                                                                          {DType::u64, "U64"},
                                                                          {DType::boolean, "BOOL"}}};

std::string_view safetensors_name(DType dtype) {
  for (auto [known, name] : kDTypeNames)
    if (known == dtype) return name;
  return "?";
}

std::string known_dtypes() {
  std::string text;
  for (auto [dtype, name] : kDTypeNames) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// Parses JSON and rejects duplicate keys, which parsers resolve differently.
Json parse(std::string_view text, std::string_view source) {
  std::vector<std::set<std::string>> keys;
  auto check = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      fail(source, "the header has the name \"" + parsed.get<std::string>() + "\" twice");
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const Json::exception& error) {
    fail(source, std::string("the header is not JSON: ") + error.what());
  }
}

// The member `key` of an object; throws where it is missing.
const Json& member(const Json& object, const char* key, const std::string& tensor, std::string_view source) {
  auto found = object.find(key);
  if (found == object.end()) fail(source, "tensor \"" + tensor + "\" has no " + key);
  return *found;
}

// JSON has one number type: -1, 1.5 and 1e30 must all be rejected.
std::uint64_t to_count(const Json& number, const std::string& what, std::string_view source) {
  if (!number.is_number_unsigned())
    fail(source,
         what + " is " + number.dump(-1, ' ', true, Json::error_handler_t::replace) + ", expected a count");
  return number.get<std::uint64_t>();
}

TensorInfo read_tensor(const std::string& name, const Json& value, std::string_view source) {
  TensorInfo info;
  info.name = name;
  if (!value.is_object()) fail(source, "tensor \"" + name + "\" is not described by an object");

  const Json& dtype = member(value, "dtype", name, source);
  if (!dtype.is_string()) fail(source, "the dtype of tensor \"" + name + "\" is not a string");
  auto known = std::find_if(kDTypeNames.begin(), kDTypeNames.end(), [&](const auto& entry) {
    return entry.second == dtype.get_ref<const std::string&>();
  });
  if (known == kDTypeNames.end())
    fail(source, "tensor \"" + name + "\" has dtype " + dtype.get<std::string>() + "; the known dtypes are " +
                     known_dtypes());
  info.dtype = known->first;

  const Json& shape = member(value, "shape", name, source);
  if (!shape.is_array() || shape.size() > kMaxRank)
    fail(source, "the shape of tensor \"" + name + "\" is not a list of at most " + std::to_string(kMaxRank) +
                     " sizes");
  std::uint64_t bytes = size_of(info.dtype);
  bool too_large = false;
  for (const Json& size : shape) {
    std::uint64_t count = to_count(size, "a size of tensor \"" + name + "\"", source);
    too_large |=
        count > static_cast<std::uint64_t>(INT64_MAX) || __builtin_mul_overflow(bytes, count, &bytes);
    info.shape.push_back(static_cast<std::int64_t>(count));
  }
  if (too_large)
    fail(source, "tensor \"" + name + "\" has sizes " + to_string(info.shape) + ", more than fit in memory");

  const Json& offsets = member(value, "data_offsets", name, source);
  if (!offsets.is_array() || offsets.size() != 2)
    fail(source, "the data_offsets of tensor \"" + name + "\" are not a pair");
  info.begin = to_count(offsets[0], "an offset of tensor \"" + name + "\"", source);
  info.end = to_count(offsets[1], "an offset of tensor \"" + name + "\"", source);
  if (info.end < info.begin || info.end - info.begin != bytes)
    fail(source, "tensor \"" + name + "\" of shape " + to_string(info.shape) + " takes " +
                     std::to_string(bytes) + " bytes, but its offsets are " + std::to_string(info.begin) +
                     " to " + std::to_string(info.end));
  return info;
}

}  // namespace

void fail(std::string_view source, const std::string& reason) {
  throw DataError("[record] " + std::string(source) + ": " + reason);
}

std::string write_header(const Header& header) {
  Json root = Json::object();
  if (!header.texts.empty()) {
    Json& texts = root[std::string(kMetadataName)] = Json::object();
    for (const auto& [key, value] : header.texts) texts[key] = value;
  }
  for (const TensorInfo& info : header.tensors) {
    Json shape = Json::array();
    for (std::int64_t size : info.shape) shape.push_back(size);
    root[info.name] = {{"dtype", safetensors_name(info.dtype)},
                       {"shape", std::move(shape)},
                       {"data_offsets", {info.begin, info.end}}};
  }
  std::string text;
  try {
    text = root.dump();
  } catch (const Json::exception& error) {
    throw DataError(std::string("[record] a name or text is not UTF-8: ") + error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

Header read_header(std::string_view text, std::uint64_t data_bytes, std::string_view source) {
  if (text.empty() || text.front() != '{') fail(source, "the header does not start with {");
  Json root = parse(text, source);
  Header header;
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadataName) {
      if (!value.is_object()) fail(source, "the entry __metadata__ is not an object");
      for (const auto& [key, member] : value.items()) {
        if (!member.is_string()) fail(source, "the text \"" + key + "\" is not a string");
        header.texts.emplace(key, member.get<std::string>());
      }
    } else {
      header.tensors.push_back(read_tensor(name, value, source));
    }
  }

  // An empty tensor has equal begin and end offsets, shared with its neighbours.
  std::sort(header.tensors.begin(), header.tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const TensorInfo& info : header.tensors) {
    if (info.begin != at)
      fail(source, "tensor \"" + info.name + "\" begins at byte " + std::to_string(info.begin) +
                       " of the elements, expected " + std::to_string(at));
    at = info.end;
  }
  if (at != data_bytes)
    fail(source, "the tensors take " + std::to_string(at) + " bytes, the file has " +
                     std::to_string(data_bytes) + " bytes of elements");
  return header;
}

std::string checksum(std::span<const std::byte> file, std::size_t digits) {
  static constexpr std::string_view kZeros = "00000000000000000000000000000000";
  static_assert(kZeros.size() == kChecksumDigits);
  XXH3_state_t* state = XXH3_createState();
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset(state);
  auto rest = file.subspan(digits + kChecksumDigits);
  XXH3_128bits_update(state, file.data(), digits);
  XXH3_128bits_update(state, kZeros.data(), kZeros.size());
  XXH3_128bits_update(state, rest.data(), rest.size());
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
  XXH3_freeState(state);
  std::string text;
  for (unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::size_t find_checksum(std::string_view header) {
  std::string before = "\"" + std::string(kChecksumKey) + "\":\"";
  std::size_t at = header.find(before);
  if (at == std::string_view::npos || header.find(before, at + 1) != std::string_view::npos)
    return std::string_view::npos;
  at += before.size();
  return header.size() - at >= kChecksumDigits ? at : std::string_view::npos;
}

}  // namespace sinter::record
