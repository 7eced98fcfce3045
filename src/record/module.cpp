// Which tensors of a record a module takes, and which of a module a record gets.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <sinter/error.h>
#include <sinter/record/module.h>

#include "src/record/cast.h"
#include "src/record/texts.h"

namespace sinter::record {
namespace detail {
namespace {

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

void require_defined(const std::vector<Named>& state) {
  for (const Named& named : state)
    if (!named.tensor.defined())
      throw DataError("[record] " + named.path + " of the module is empty: it was never given a value");
}

/// A record under the names that its tensors have in the module.
class Renamed {
 public:
  struct Item {
    std::string name;  // in the record
    const Record::Entry* entry;
  };

  /// A module that is a tensor has the path "", and then a name may be that, too.
  Renamed(const Record& record, bool is_tensor, const LoadOptions& options, std::string_view source) {
    const auto begin = options.prefix.empty() ? std::string() : options.prefix + ".";
    for (const auto& [name, entry] : record.entries()) {
      if (!name.starts_with(begin)) continue;
      const std::string_view rest = std::string_view(name).substr(begin.size());
      std::string path = options.rename(rest);
      if (path.empty() && !(is_tensor && rest.empty())) continue;
      const auto [at, is_new] = items_.try_emplace(std::move(path), Item{name, &entry});
      if (!is_new)
        fail(source, "\"" + at->second.name + "\" and \"" + name + "\" would both be \"" + at->first + "\"");
    }
    for (const auto& [key, text] : record.texts()) {
      if (!key.starts_with(begin)) continue;
      const std::string_view rest = std::string_view(key).substr(begin.size());
      if (rest.starts_with(kTied))
        tied_[options.rename(rest.substr(kTied.size()))] = options.rename(text);
      else if (rest.starts_with(kUnpacked))
        unpacked_[options.rename(rest.substr(kUnpacked.size()))] = text;
    }
  }

  const Item* find(const std::string& path) const {
    const auto found = items_.find(path);
    return found == items_.end() ? nullptr : &found->second;
  }
  /// Under its path, or under that which the record's texts name.
  const Item* find_or_tied(const std::string& path) const {
    const Item* item = find(path);
    const auto other = tied_.find(path);
    return item || other == tied_.end() ? item : find(other->second);
  }
  /// The shape that codes stand for, as the record has it; null where it does not say.
  const std::string* find_unpacked(const std::string& path) const {
    const auto found = unpacked_.find(path);
    return found == unpacked_.end() ? nullptr : &found->second;
  }
  const std::map<std::string, Item>& items() const { return items_; }

 private:
  std::map<std::string, Item> items_;
  std::map<std::string, std::string> tied_, unpacked_;
};

bool is_wanted(const std::string& path, const std::vector<std::string>& only) {
  const auto fits = [&](const std::string& pattern) { return path_matches(pattern, path); };
  return only.empty() || std::any_of(only.begin(), only.end(), fits);
}

void check_patterns(const std::vector<Named>& state, const std::vector<std::string>& only,
                    std::string_view source) {
  for (const std::string& pattern : only) {
    const auto fits = [&](const Named& named) { return path_matches(pattern, named.path); };
    if (std::none_of(state.begin(), state.end(), fits))
      fail(source, "no path of the module fits the pattern \"" + pattern + "\"");
  }
}

}  // namespace

void set_unpacked(std::vector<Named>& named, const std::string& path, const Shape& shape) {
  const std::string begin = path.empty() ? path : path + ".";
  const auto codes =
      std::find_if(named.begin(), named.end(), [&](const Named& one) { return one.path.starts_with(begin); });
  if (codes != named.end()) codes->unpacked = shape;
}

Record make_record(const std::vector<Named>& state, std::optional<DType> dtype) {
  if (dtype && !is_float(*dtype))
    throw DataError("[record] parameters cannot be saved as " + std::string(name_of(*dtype)) +
                    ", which is no floating-point dtype");
  require_defined(state);
  Record record;
  // Flushes once for all tensors; the reads below only copy.
  if (!state.empty()) state.front().tensor.device().flush();
  const std::vector<std::size_t> first = first_places(state);
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto& [path, tensor, is_buffer, object, assign, unpacked] = state[i];
    if (first[i] != i) {
      record.set_text(std::string(kTied) + path, state[first[i]].path);
      continue;
    }
    record.add(path, tensor);
    if (unpacked) record.set_text(std::string(kUnpacked) + path, to_string(*unpacked));
    if (dtype && !is_buffer && is_float(tensor.dtype())) record.cast(path, *dtype);
  }
  return record;
}

Loaded match(const Record& record, const std::vector<Named>& state, const LoadOptions& options,
             std::string_view source) {
  require_defined(state);
  check_patterns(state, options.only, source);
  const bool is_tensor = state.size() == 1 && state.front().path.empty();
  const Renamed renamed(record, is_tensor, options, source);
  const std::vector<std::size_t> first = first_places(state);
  // Where the record has each tensor; of a tied parameter it may have another of its paths.
  std::vector<const Renamed::Item*> items;
  for (const Named& named : state) items.push_back(renamed.find_or_tied(named.path));
  for (std::size_t i = 0; i < state.size(); ++i)
    if (!items[first[i]]) items[first[i]] = items[i];
  for (std::size_t i = 0; i < state.size(); ++i)
    if (!items[i]) items[i] = items[first[i]];

  Loaded loaded;
  LoadReport& report = loaded.report;
  std::vector<std::string> missing, different;
  std::set<std::string_view> known;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const auto& [path, tensor, is_buffer, object, assign, unpacked] = state[i];
    known.insert(path);
    if (!is_wanted(path, options.only)) {
      items[i] = nullptr;
      continue;
    }
    const std::string expected = facts(tensor.dtype(), tensor.shape());
    const std::string shown_path = path.empty() ? "\"\"" : path;
    if (!items[i]) {
      report.missing.push_back(path);
      missing.push_back(shown_path + " " + expected);
      continue;
    }
    const auto& [name, entry] = *items[i];
    const bool other_dtype = entry->dtype != tensor.dtype();
    if (entry->shape != tensor.shape() ||
        (other_dtype && !(options.cast && can_cast(entry->dtype, tensor.dtype())))) {
      const std::string where = name == path ? shown_path : shown_path + " (\"" + name + "\")";
      different.push_back(where + " is " + facts(entry->dtype, entry->shape) + " but the module has " +
                          expected);
      continue;
    }
    const std::string* const old_unpacked = unpacked ? renamed.find_unpacked(path) : nullptr;
    if (old_unpacked && *old_unpacked != to_string(*unpacked)) {
      different.push_back(shown_path + " stands for " + *old_unpacked + " but that of the module for " +
                          to_string(*unpacked));
      continue;
    }
    report.used.push_back(path);
    if (other_dtype) report.cast.push_back(path);
  }
  for (const auto& [path, item] : renamed.items())
    if (!known.count(path)) report.unexpected.push_back(item.name);

  std::string reason;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) reason += (reason.empty() ? "" : "; ") + std::string(what) + listed(names);
  };
  const bool nothing = report.used.empty() && different.empty() && !missing.empty();
  if (options.strict || nothing) add("missing: ", missing);
  if (options.strict || nothing) add("unexpected: ", report.unexpected);
  add("different: ", different);
  if (!reason.empty())
    fail(source,
         (nothing ? "the record has nothing of the module; " : "the record does not fit the module; ") +
             reason);

  // Reached by several paths: of one value in the record, one tensor again.
  const auto is_same = [&](std::size_t i, std::size_t j) {
    return items[i] == items[j] || (items[i]->entry->dtype == items[j]->entry->dtype &&
                                    items[i]->entry->bytes == items[j]->entry->bytes);
  };
  for (std::size_t i = 0; i < state.size(); ++i) {
    loaded.tensors.emplace_back();
    if (!items[i]) continue;
    if (first[i] != i && items[first[i]] && is_same(i, first[i])) {
      loaded.tensors[i] = loaded.tensors[first[i]];
      continue;
    }
    const AnyTensor& old = state[i].tensor;
    const Record::Entry entry = cast(*items[i]->entry, old.dtype(), items[i]->name, source);
    AnyTensor tensor = AnyTensor::from_bytes(std::span(entry.bytes), entry.shape, entry.dtype, old.device());
    loaded.tensors[i] = old.requires_grad() ? tensor.require_grad() : std::move(tensor);
  }
  return loaded;
}

void assign(const std::vector<Named>& state, Loaded& loaded) {
  for (std::size_t i = 0; i < state.size(); ++i)
    if (loaded.tensors[i].defined()) state[i].assign(state[i].object, AnyTensor(loaded.tensors[i]));
}

void write(Record record, const Path& file, const SaveOptions& options) {
  for (const auto& [key, text] : options.texts) record.set_text(key, text);
  record.write(file, {.format = options.format, .max_shard_bytes = options.max_shard_bytes});
}

}  // namespace detail

std::string LoadReport::to_text() const {
  const auto all = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
  };
  return std::to_string(used.size()) + " used, " + std::to_string(cast.size()) +
         " of them cast; missing: " + all(missing) + "; unexpected: " + all(unexpected);
}

}  // namespace sinter::record
