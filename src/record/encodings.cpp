// Chooses the encoding by the format, and the format by the file's name.
#include "src/record/encodings.h"

#include <string>

namespace sinter::record {

Format Format::of(const Path& file) {
  std::string_view name = file.string();
  const auto takes = [&](std::string_view end) {
    if (!name.ends_with(end)) return false;
    name.remove_suffix(end.size());
    return true;
  };
  Format format;
  format.gzip = takes(".gz");
  if (takes(".json"))
    format.encoding = Encoding::json;
  else if (takes(".msgpack") || takes(".mpk"))
    format.encoding = Encoding::messagepack;
  return format;
}

Pieces encode(const Record& record, Format format) {
  Pieces pieces = format.encoding == Encoding::json          ? encode_json(record)
                  : format.encoding == Encoding::messagepack ? encode_messagepack(record)
                                                             : encode_safetensors(record);
  return format.gzip ? gzip(pieces) : pieces;
}

Record decode(const Bytes& file, std::string_view source, Format format, bool verify) {
  const Bytes bytes = format.gzip ? gunzip(file, source) : file;
  switch (format.encoding) {
    case Encoding::json: return decode_json(bytes, source);
    case Encoding::messagepack: return decode_messagepack(bytes, source, verify);
    case Encoding::safetensors: break;
  }
  return decode_safetensors(bytes, source, verify);
}

}  // namespace sinter::record
