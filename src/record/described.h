// Records as trees of names and values, which MessagePack and JSON have in common.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include "src/record/safetensors.h"

namespace sinter::record {

inline constexpr const char* kFormatKey = "format";
inline constexpr const char* kFormatName = "sinter.record";

inline Json texts_of(const Record& record) {
  Json texts = Json::object();
  for (const auto& [key, text] : record.texts()) texts[key] = text;
  return texts;
}

inline Json sizes_of(const Shape& shape) {
  Json sizes = Json::array();
  for (std::int64_t size : shape) sizes.push_back(size);
  return sizes;
}

/// Checks all but the elements, which `elements(Json& data, const TensorInfo&)` makes; the end of the info is
/// the number of bytes that they take.
template <std::invocable<Json&, const TensorInfo&> F>
Record read_described(Json& root, std::string_view source, F&& elements) {
  if (!root.is_object()) fail(source, "the file is not a record: it is no map of names to values");
  const Json& format = member(root, kFormatKey, "the file", source);
  if (format != kFormatName) fail(source, "the format is " + shown(format) + ", expected " + kFormatName);
  for (const auto& [key, value] : root.items())
    if (key != kFormatKey && key != "checksum" && key != "texts" && key != "tensors")
      fail(source, "the file has the unknown entry " + shown(key));
  Record record;
  for (auto& [key, text] : read_texts(member(root, "texts", "the file", source), "the entry texts", source))
    if (key != kChecksumKey)  // of a safetensors file that another program converted
      record.set_text(key, std::move(text));
  member(root, "tensors", "the file", source);
  Json& tensors = root["tensors"];
  if (!tensors.is_object()) fail(source, "the entry tensors is not an object");
  for (const auto& [name, tensor] : tensors.items()) {
    const std::string who = "tensor \"" + name + "\"";
    if (!tensor.is_object()) fail(source, who + " is not described by an object");
    TensorInfo info;
    info.name = name;
    info.dtype = read_dtype(tensor, who, source);
    info.shape = read_shape(tensor, info.dtype, who, source, info.end);
    member(tensor, "data", who, source);
    Record::Entry entry{info.dtype, info.shape, elements(tensor["data"], info)};
    check_bools(entry, name, source);
    record.add(name, std::move(entry));
  }
  return record;
}

}  // namespace sinter::record
