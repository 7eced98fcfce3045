// Checkpoints: versions, and loads that change all parts or none.
#include <algorithm>
#include <charconv>

#include <sinter/error.h>
#include <sinter/random.h>
#include <sinter/record/checkpoint.h>

#include "src/record/untrusted_json.h"

namespace sinter::record {
namespace detail {
namespace {

class RandomPart final : public Part {
 public:
  RandomPart(std::string name, const Device& device) : Part(std::move(name)), device_(device) {}
  void save(Record& record) const override {
    record.set_text(name(), config::to_json(random_state(device_), -1));
  }
  void prepare(const Record& record, const std::string& source) override {
    next_ = config::from_json<RandomState>(text_of(record, name()), source);
    random_state(device_);  // makes what setting it needs
  }
  void commit() noexcept override { set_random_state(device_, next_); }
  void drop() noexcept override {}

 private:
  Device device_;
  RandomState next_;
};

class GeneratorPart final : public Part {
 public:
  GeneratorPart(std::string name, Generator& generator) : Part(std::move(name)), generator_(generator) {}
  void save(Record& record) const override {
    record.set_text(name(), config::to_json(generator_.state(), -1));
  }
  void prepare(const Record& record, const std::string& source) override {
    next_ = config::from_json<RandomState>(text_of(record, name()), source);
  }
  void commit() noexcept override { generator_.set_state(next_); }
  void drop() noexcept override {}

 private:
  Generator& generator_;
  RandomState next_;
};

}  // namespace

Part::~Part() = default;

const std::string& text_of(const Record& record, const std::string& name) {
  const std::string* text = record.find_text(name);
  if (!text) throw DataError("[record] there is no text \"" + name + "\"");
  return *text;
}

}  // namespace detail

namespace {

constexpr const char* kVersionKey = "checkpoint";

/// What went wrong, with the place where it did.
[[noreturn]] void fail_at(const std::string& where, const std::exception& error) {
  std::string_view reason = error.what();
  if (reason.starts_with('[')) reason.remove_prefix(std::min(reason.size(), reason.find(']') + 2));
  fail(where, reason.starts_with(where) ? std::string(reason.substr(where.size() + 2)) : std::string(reason));
}

std::int64_t version_of(const Record& record, const std::string& source) {
  const std::string* text = record.find_text(kVersionKey);
  if (!text) fail(source, "this is no checkpoint: it has no version");
  std::int64_t version = 0;
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, version);
  if (error != std::errc() || at != end) fail(source, "the version is \"" + *text + "\", expected a number");
  return version;
}

}  // namespace

struct Checkpoint::Parts {
  std::vector<std::unique_ptr<detail::Part>> parts;
  std::vector<std::pair<std::int64_t, std::unique_ptr<detail::Migration>>> migrations;
};

Checkpoint::Checkpoint(std::int64_t version) : version_(version), parts_(new Parts) {}
Checkpoint::~Checkpoint() { delete parts_; }
Checkpoint::Checkpoint(Checkpoint&& other) noexcept
    : version_(other.version_), parts_(std::exchange(other.parts_, nullptr)) {}
Checkpoint& Checkpoint::operator=(Checkpoint&& other) noexcept {
  version_ = other.version_;
  std::swap(parts_, other.parts_);
  return *this;
}

void Checkpoint::add(detail::Part* added) {
  std::unique_ptr<detail::Part> part(added);
  const std::string& name = part->name();
  if (name.empty() || name.find('.') != std::string::npos || name == kVersionKey)
    throw DataError("[record] a part of a checkpoint cannot be called \"" + name + "\"");
  for (const auto& other : parts_->parts)
    if (other->name() == name) throw DataError("[record] the checkpoint has a part \"" + name + "\" already");
  parts_->parts.push_back(std::move(part));
}

void Checkpoint::random(std::string name, const Device& device) {
  add(new detail::RandomPart(std::move(name), device));
}

void Checkpoint::random(std::string name, Generator& generator) {
  add(new detail::GeneratorPart(std::move(name), generator));
}

void Checkpoint::add_migration(std::int64_t from, detail::Migration* added) {
  std::unique_ptr<detail::Migration> migration(added);
  if (from >= version_)
    throw DataError("[record] a migration from version " + std::to_string(from) +
                    " leads beyond the checkpoint's version " + std::to_string(version_));
  for (const auto& [other, known] : parts_->migrations)
    if (other == from)
      throw DataError("[record] there is a migration from version " + std::to_string(from) + " already");
  parts_->migrations.emplace_back(from, std::move(migration));
}

Record Checkpoint::to_record() const {
  Record record;
  record.set_text(kVersionKey, std::to_string(version_));
  for (const auto& part : parts_->parts) part->save(record);
  return record;
}

void Checkpoint::migrate_record(Record& record, const std::string& source) const {
  std::int64_t version = version_of(record, source);
  if (version > version_)
    fail(source, "this is version " + std::to_string(version) + ", and what reads it is version " +
                     std::to_string(version_));
  for (; version < version_; ++version) {
    const auto& migrations = parts_->migrations;
    const auto found = std::find_if(migrations.begin(), migrations.end(),
                                    [&](const auto& migration) { return migration.first == version; });
    if (found == migrations.end())
      fail(source, "this is version " + std::to_string(version_of(record, source)) +
                       ", and there is no migration from version " + std::to_string(version));
    try {
      found->second->run(record);
    } catch (const DataError& error) {
      fail_at(source + ", migrated from version " + std::to_string(version), error);
    }
  }
}

void Checkpoint::check_names(const Record& record, const std::string& source) const {
  const auto is_known = [&](std::string_view name) {
    const std::string_view part = name.substr(0, name.find('.'));
    return std::any_of(parts_->parts.begin(), parts_->parts.end(),
                       [&](const auto& p) { return p->name() == part; });
  };
  for (const auto& [name, entry] : record.entries())
    if (!is_known(name)) fail(source, "tensor \"" + name + "\" is of no part of the checkpoint");
  for (const auto& [key, text] : record.texts())
    if (key != kVersionKey && !is_known(key))
      fail(source, "text \"" + key + "\" is of no part of the checkpoint");
}

void Checkpoint::load_record(Record record, std::string_view source) {
  const std::string file(source);
  migrate_record(record, file);
  check_names(record, file);
  try {
    for (const auto& part : parts_->parts) {
      const std::string where = file + ", part \"" + part->name() + "\"";
      try {
        part->prepare(record, where);
      } catch (const DataError& error) {
        fail_at(where, error);
      }
    }
  } catch (...) {
    for (const auto& part : parts_->parts) part->drop();
    throw;
  }
  for (const auto& part : parts_->parts) part->commit();
}

}  // namespace sinter::record
