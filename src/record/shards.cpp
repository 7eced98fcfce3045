// {"metadata": {"total_size": BYTES}, "weight_map": {NAME: FILE}}, and the files beside it.
#include "src/record/shards.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "src/record/encodings.h"
#include "src/record/file.h"

namespace sinter::record {
namespace {

constexpr std::string_view kIndexEnd = ".index.json", kRecordEnd = ".safetensors";
constexpr std::size_t kTagDigits = 8, kNumberDigits = 5;

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string folder_of(const std::string& file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? "" : file.substr(0, slash + 1);
}

std::map<std::string, std::string> read_index(const Path& index) {
  const std::string source = in_quotes(index.string());
  const Json root = parse_untrusted(read_file(index, true), Syntax::json, "the index", source);
  if (!root.is_object()) fail(source, "the index is not an object");
  const Json& map = member(root, "weight_map", "the index", source);
  if (!map.is_object()) fail(source, "the weight_map of the index is not an object");
  std::map<std::string, std::string> files;
  for (const auto& [name, file] : map.items()) {
    if (!file.is_string()) fail(source, "the file of tensor " + in_quotes(name) + " is not a string");
    const std::string text = file.get<std::string>();
    // The index is somebody's: it names files of its own folder, and no others.
    if (text.empty() || text == "." || text == ".." || text.find('/') != std::string::npos ||
        text.find('\0') != std::string::npos)
      fail(source, "the file of tensor " + in_quotes(name) + " is " + shown(file) +
                       ", expected a name in the folder of the index");
    files.emplace(name, text);
  }
  return files;
}

std::string padded(std::size_t number) {
  std::string digits = std::to_string(number);
  return std::string(kNumberDigits - std::min(kNumberDigits, digits.size()), '0') + digits;
}

/// STEM-TAG-00001-of-00003.safetensors
std::string shard_name(const std::string& stem, const std::string& tag, std::size_t i, std::size_t count) {
  return stem + "-" + tag + "-" + padded(i + 1) + "-of-" + padded(count) + std::string(kRecordEnd);
}

bool is_own_shard(const std::string& name, const std::string& stem) {
  std::string_view rest = name;
  if (!rest.starts_with(stem + "-") || !rest.ends_with(kRecordEnd)) return false;
  rest = rest.substr(stem.size() + 1, rest.size() - stem.size() - 1 - kRecordEnd.size());
  if (rest.size() != kTagDigits + 1 + kNumberDigits + 4 + kNumberDigits) return false;
  return rest.find_first_not_of("0123456789abcdef") == kTagDigits &&
         rest.substr(kTagDigits + 1 + kNumberDigits, 4) == "-of-";
}

std::string stem_of(const std::string& file) {
  std::string stem = file.substr(folder_of(file).size());
  if (stem.ends_with(kRecordEnd)) stem.resize(stem.size() - kRecordEnd.size());
  return stem;
}

std::vector<Record> split(const Record& record, std::uint64_t max_bytes) {
  std::vector<Record> shards(1);
  std::uint64_t bytes = 0;
  for (const auto& [name, entry] : record.entries()) {
    if (!shards.back().entries().empty() && bytes + entry.bytes.size() > max_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += entry.bytes.size();
    shards.back().add(name, entry);
  }
  // Who reads one of the files learns what all of them say.
  for (Record& shard : shards)
    for (const auto& [key, text] : record.texts()) shard.set_text(key, text);
  return shards;
}

}  // namespace

std::string index_of(const Path& file) { return file.string() + std::string(kIndexEnd); }
bool is_index(const Path& file) { return file.string().ends_with(kIndexEnd); }

Record read_shards(const Path& index, const ReadOptions& options) {
  if (options.format && *options.format != Format())
    throw DataError("[record] " + in_quotes(index.string()) +
                    " is an index of safetensors files, no other format");
  const std::map<std::string, std::string> files = read_index(index);
  const std::string folder = folder_of(index.string());
  std::set<std::string> names;
  for (const auto& [name, file] : files) names.insert(file);
  Record record;
  for (const std::string& name : names) {
    const Path file(folder + name);
    const std::string source = in_quotes(file.string());
    const Record shard = decode_safetensors(read_file(file, options.map), source, options.verify);
    for (const auto& [key, entry] : shard.entries()) {
      if (record.find(key))
        fail(source, "tensor " + in_quotes(key) + " is in another file of the index, too");
      record.add(key, entry);
    }
    for (const auto& [key, text] : shard.texts())
      if (!record.find_text(key)) record.set_text(key, text);
  }
  for (const auto& [name, file] : files)
    if (!record.find(name))
      fail(in_quotes(index.string()), "tensor " + in_quotes(name) + " is not in " + in_quotes(file));
  return record;
}

void write_shards(const Record& record, const Path& name, std::uint64_t max_shard_bytes) {
  require_replaceable(name);
  const Path file(end_of_links(name));
  const std::string folder = folder_of(file.string()), stem = stem_of(file.string());
  const std::string tag = checksum_of(record).substr(0, kTagDigits);
  const std::vector<Record> shards = split(record, max_shard_bytes);
  const std::vector<std::string> old = own_shards(index_of(file));
  Json root;
  std::uint64_t bytes = 0;
  std::set<std::string> names;
  const Path like = exists(index_of(file)) ? Path(index_of(file)) : file;
  std::deque<PendingFile> pending;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name = shard_name(stem, tag, i, shards.size());
    names.insert(folder + name);
    pending.emplace_back(folder + name, like).write(encode_safetensors(shards[i]));
    for (const auto& [key, entry] : shards[i].entries()) {
      root["weight_map"][key] = name;
      bytes += entry.bytes.size();
    }
  }
  root["metadata"]["total_size"] = bytes;
  const std::string text = root.dump(2) + "\n";
  PendingFile index(index_of(file), file);
  index.write(std::vector<Bytes>{Bytes(std::as_bytes(std::span(text)))});
  try {
    for (PendingFile& shard : pending) shard.publish();
    index.publish();
  } catch (...) {
    for (const std::string& name : names)
      if (std::find(old.begin(), old.end(), name) == old.end()) remove_if_there(name);
    throw;
  }
  remove_if_there(file);  // which a reader would take before the index
  for (const std::string& name : old)
    if (!names.count(name)) remove_if_there(name);
}

std::vector<std::string> own_shards(const Path& index) {
  std::vector<std::string> own;
  if (!exists(index)) return own;
  const std::string& name = index.string();
  const std::string folder = folder_of(name);
  const std::string stem = stem_of(name.substr(0, name.size() - kIndexEnd.size()));
  try {
    for (const auto& [key, file] : read_index(index)) {
      if (!is_own_shard(file, stem)) return {};
      own.push_back(folder + file);
    }
  } catch (const DataError&) {
    return {};  // it is replaced whatever was in it
  }
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  return own;
}

}  // namespace sinter::record
