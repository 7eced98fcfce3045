// Records as MessagePack: what other languages read without knowing Sinter or safetensors.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "src/record/described.h"
#include "src/record/encodings.h"

namespace sinter::record {

Pieces encode_messagepack(const Record& record) {
  // Elements are not put into the tree, which would copy them: each is a piece of its own, behind the bytes
  // that say how long it is.
  Pieces pieces;
  std::vector<std::uint8_t> open;
  const auto put = [&](const Json& value) {
    const std::vector<std::uint8_t> bytes = Json::to_msgpack(value);
    open.insert(open.end(), bytes.begin(), bytes.end());
  };
  const auto put_count = [&](std::uint8_t code, std::uint64_t count, const char* what) {
    if (count > UINT32_MAX)
      throw DataError("[record] " + std::string(what) + " takes " + std::to_string(count) +
                      " bytes, and MessagePack counts to 2^32 - 1: write it as safetensors");
    open.push_back(code);
    for (int shift = 24; shift >= 0; shift -= 8) open.push_back(static_cast<std::uint8_t>(count >> shift));
  };
  const auto close = [&] {
    pieces.emplace_back(std::as_bytes(std::span(open)));
    open.clear();
  };
  constexpr std::uint8_t kMap32 = 0xdf, kBinary32 = 0xc6, kMapOf3 = 0x83, kMapOf4 = 0x84;
  open.push_back(kMapOf4);
  put(kFormatKey);
  put(kFormatName);
  put("checksum");
  put(checksum_of(record));
  put("texts");
  put(texts_of(record));
  put("tensors");
  put_count(kMap32, record.entries().size(), "the list of tensors");
  for (const auto& [name, entry] : record.entries()) {
    put(name);
    open.push_back(kMapOf3);
    put("dtype");
    put(safetensors_name(entry.dtype));
    put("shape");
    put(sizes_of(entry.shape));
    put("data");
    put_count(kBinary32, entry.bytes.size(), ("tensor \"" + name + "\"").c_str());
    close();
    pieces.push_back(entry.bytes);
  }
  if (!open.empty()) close();
  return pieces;
}

Record decode_messagepack(const Bytes& file, std::string_view source, bool verify) {
  Json root = parse_untrusted(file, Syntax::messagepack, "the file", source);
  Record record = read_described(root, source, [&](Json& data, const TensorInfo& info) -> Bytes {
    const std::string who = "tensor \"" + info.name + "\"";
    if (!data.is_binary()) fail(source, "the data of " + who + " is not binary");
    const auto own = std::make_shared<const Json::binary_t>(std::move(data.get_binary()));
    const Bytes bytes = Bytes::view(std::as_bytes(std::span(*own)), own);
    if (bytes.size() != info.end)
      fail(source, who + " of shape " + to_string(info.shape) + " takes " + std::to_string(info.end) +
                       " bytes, its data has " + std::to_string(bytes.size()));
    return bytes;
  });
  const Json& sum = member(root, "checksum", "the file", source);
  if (!sum.is_string()) fail(source, "the checksum is not a string");
  if (verify && sum.get_ref<const std::string&>() != checksum_of(record))
    fail(source, "the checksum does not match: the content was changed after it was written");
  return record;
}

}  // namespace sinter::record
