// Builds values from the events of nlohmann's parser, so that it can be stopped in time.
#include "src/record/untrusted_json.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <sinter/error.h>

namespace sinter::record {
namespace {

// The parser of MessagePack, and the destructor of a value, recurse.
constexpr std::size_t kMostLevels = 64;

class Builder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(Json::binary_t& value) override { return put(Json::binary(std::move(value))); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const auto [at, is_new] = open_.back()->emplace(name, nullptr);
    member_ = &*at;
    if (!is_new) problem_ = " has the name " + shown(name) + " twice";
    return is_new;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    wrong_ = error.what();
    return false;
  }

  Json take() { return std::move(root_); }
  std::string problem(std::string_view language) const {
    return problem_.empty() ? " is not " + std::string(language) + ": " + wrong_ : problem_;
  }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_object()) return *member_ = std::move(value);
    return open_.back()->emplace_back(std::move(value));
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (open_.size() == kMostLevels) {
      wrong_ = "it is nested deeper than " + std::to_string(kMostLevels) + " levels";
      return false;
    }
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  Json root_;
  std::vector<Json*> open_;  // the last one is being filled; those before it do not change meanwhile
  Json* member_ = nullptr;   // where the value of the last key goes
  std::string problem_, wrong_ = "it ends early";
};

}  // namespace

Json parse_untrusted(std::span<const std::byte> text, Syntax syntax, std::string_view what,
                     std::string_view source) {
  Builder builder;
  const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
  const bool is_json = syntax == Syntax::json;
  const auto format =
      is_json ? nlohmann::detail::input_format_t::json : nlohmann::detail::input_format_t::msgpack;
  bool whole = false;
  std::string reason;
  try {
    whole = Json::sax_parse(begin, begin + text.size(), &builder, format);
  } catch (const Json::exception& error) {
    reason = std::string(" is not ") + (is_json ? "JSON" : "MessagePack") + ": " + error.what();
  }
  if (whole) return builder.take();
  if (reason.empty()) reason = builder.problem(is_json ? "JSON" : "MessagePack");
  fail(source, std::string(what) + reason);
}

std::string shown(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }

const Json& member(const Json& object, const char* key, const std::string& who, std::string_view source) {
  auto found = object.find(key);
  if (found == object.end()) fail(source, who + " has no " + key);
  return *found;
}

void fail(std::string_view source, const std::string& reason) {
  throw DataError("[record] " + std::string(source) + ": " + reason);
}

}  // namespace sinter::record
