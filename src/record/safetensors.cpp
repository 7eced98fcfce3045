// The header of a safetensors file. Files are untrusted: every number is checked before it is used.
#include "src/record/safetensors.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <sinter/error.h>

namespace sinter::record {
namespace {

constexpr std::pair<DType, std::string_view> kDTypeNames[] = {
    {DType::f32, "F32"},      {DType::f64, "F64"},         {DType::bf16, "BF16"},      {DType::f16, "F16"},
    {DType::i8, "I8"},        {DType::i16, "I16"},         {DType::i32, "I32"},        {DType::i64, "I64"},
    {DType::u8, "U8"},        {DType::u16, "U16"},         {DType::u32, "U32"},        {DType::u64, "U64"},
    {DType::boolean, "BOOL"}, {DType::f8_e4m3, "F8_E4M3"}, {DType::f8_e5m2, "F8_E5M2"}};
static_assert(std::size(kDTypeNames) == kDTypeCount, "every dtype has a name in files");

std::string known_dtypes() {
  std::string text;
  for (auto [dtype, name] : kDTypeNames) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// JSON has one number type: -1, 1.5 and 1e30 must all be rejected.
std::uint64_t to_count(const Json& number, const std::string& what, std::string_view source) {
  if (!number.is_number_unsigned()) fail(source, what + " is " + shown(number) + ", expected a count");
  return number.get<std::uint64_t>();
}

TensorInfo read_tensor(const std::string& name, const Json& value, std::string_view source) {
  const std::string who = "tensor \"" + name + "\"";
  if (!value.is_object()) fail(source, who + " is not described by an object");
  std::uint64_t bytes = 0;
  TensorInfo info;
  info.name = name;
  info.dtype = read_dtype(value, who, source);
  info.shape = read_shape(value, info.dtype, who, source, bytes);
  const Json& offsets = member(value, "data_offsets", who, source);
  if (!offsets.is_array() || offsets.size() != 2)
    fail(source, "the data_offsets of " + who + " are not a pair");
  info.begin = to_count(offsets[0], "an offset of " + who, source);
  info.end = to_count(offsets[1], "an offset of " + who, source);
  if (info.end < info.begin || info.end - info.begin != bytes)
    fail(source, who + " of shape " + to_string(info.shape) + " takes " + std::to_string(bytes) +
                     " bytes, but its offsets are " + std::to_string(info.begin) + " to " +
                     std::to_string(info.end));
  return info;
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  for (auto [known, name] : kDTypeNames)
    if (known == dtype) return name;
  return "?";
}

DType read_dtype(const Json& tensor, const std::string& who, std::string_view source) {
  const Json& dtype = member(tensor, "dtype", who, source);
  if (!dtype.is_string()) fail(source, "the dtype of " + who + " is not a string");
  for (auto [known, name] : kDTypeNames)
    if (name == dtype.get_ref<const std::string&>()) return known;
  fail(source, who + " has dtype " + dtype.get<std::string>() + "; the known dtypes are " + known_dtypes());
}

Shape read_shape(const Json& tensor, DType dtype, const std::string& who, std::string_view source,
                 std::uint64_t& bytes) {
  const Json& sizes = member(tensor, "shape", who, source);
  if (!sizes.is_array() || sizes.size() > kMaxRank)
    fail(source, "the shape of " + who + " is not a list of at most " + std::to_string(kMaxRank) + " sizes");
  Shape shape;
  bytes = size_of(dtype);
  bool too_large = false;
  for (const Json& size : sizes) {
    const std::uint64_t count = to_count(size, "a size of " + who, source);
    too_large |=
        count > static_cast<std::uint64_t>(INT64_MAX) || __builtin_mul_overflow(bytes, count, &bytes);
    shape.push_back(static_cast<std::int64_t>(count));
  }
  // An empty tensor's other sizes must fit, too: strides are products of them.
  too_large |= !sinter::detail::numel_of(shape).has_value();
  if (too_large) fail(source, who + " has sizes " + to_string(shape) + ", more than fit in memory");
  return shape;
}

std::map<std::string, std::string, std::less<>> read_texts(const Json& texts, const std::string& who,
                                                           std::string_view source) {
  if (!texts.is_object()) fail(source, who + " is not an object");
  std::map<std::string, std::string, std::less<>> read;
  for (const auto& [key, text] : texts.items()) {
    if (!text.is_string()) fail(source, "the text \"" + key + "\" is not a string");
    read.emplace(key, text.get<std::string>());
  }
  return read;
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
  const Json root = parse_untrusted(text, "the header", source);
  Header header;
  for (const auto& [name, value] : root.items()) {
    if (name == kMetadataName)
      header.texts = read_texts(value, "the entry __metadata__", source);
    else
      header.tensors.push_back(read_tensor(name, value, source));
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

}  // namespace sinter::record
