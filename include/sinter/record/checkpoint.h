// All that a training needs to go on, in one file.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/config.h>
#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/random.h>
#include <sinter/record/module.h>
#include <sinter/record/record.h>

namespace sinter::record {
namespace detail {

/// One thing in a checkpoint: `prepare` reads it and may throw, `commit` puts it in its place and does not.
class SINTER_API Part {
 public:
  explicit Part(std::string name) : name_(std::move(name)) {}
  virtual ~Part();
  const std::string& name() const { return name_; }
  virtual void save(Record& record) const = 0;
  virtual void prepare(const Record& record, const std::string& source) = 0;
  virtual void commit() noexcept = 0;
  /// Lets go of what was read.
  virtual void drop() noexcept = 0;

 private:
  std::string name_;
};

template <class M>
class ModulePart final : public Part {
 public:
  ModulePart(std::string name, M& module) : Part(std::move(name)), module_(module) {}
  void save(Record& record) const override {
    record.add_part(name(), to_record(static_cast<const M&>(module_)));
  }
  void prepare(const Record& record, const std::string& source) override {
    state_ = state_of(module_);
    loaded_ = match(record.part(name()), state_, {}, source);
  }
  void commit() noexcept override {
    assign(state_, loaded_);
    drop();
  }
  void drop() noexcept override {
    state_.clear();
    loaded_ = {};
  }

 private:
  M& module_;
  std::vector<Named> state_;
  Loaded loaded_;
};

template <class S>
class StatePart final : public Part {
  static_assert(std::is_copy_constructible_v<S> && std::is_nothrow_move_assignable_v<S>,
                "what a checkpoint loads is a copy, which then takes the place of the old one");

 public:
  StatePart(std::string name, S& state, const Device& device)
      : Part(std::move(name)), state_(state), device_(device) {}
  void save(Record& record) const override { record.add_part(name(), state_.to_record()); }
  void prepare(const Record& record, const std::string&) override {
    next_.emplace(state_);
    next_->load_record(record.part(name()), device_);
  }
  void commit() noexcept override {
    state_ = std::move(*next_);
    drop();
  }
  void drop() noexcept override { next_.reset(); }

 private:
  S& state_;
  Device device_;
  std::optional<S> next_;
};

/// The text of that name.
SINTER_API const std::string& text_of(const Record& record, const std::string& name);

template <class T>
class ConfigPart final : public Part {
  static_assert(std::is_nothrow_move_assignable_v<T>, "see StatePart");

 public:
  ConfigPart(std::string name, T& config) : Part(std::move(name)), config_(config) {}
  void save(Record& record) const override { record.set_text(name(), config::to_json(config_)); }
  void prepare(const Record& record, const std::string& source) override {
    next_.emplace(config::from_json<T>(text_of(record, name()), source));
  }
  void commit() noexcept override {
    config_ = std::move(*next_);
    drop();
  }
  void drop() noexcept override { next_.reset(); }

 private:
  T& config_;
  std::optional<T> next_;
};

struct Migration {
  virtual ~Migration() = default;
  virtual void run(Record& record) const = 0;
};

template <class F>
struct MigrationBy final : Migration {
  explicit MigrationBy(F f) : function(std::move(f)) {}
  void run(Record& record) const override { function(record); }
  F function;
};

}  // namespace detail

/// The state of a program, as a list of its parts: written to one file, and read from it, all of it or
/// nothing.
///
///   sn::record::Checkpoint checkpoint(2);
///   checkpoint.module("model", model);
///   checkpoint.state("adam", adam, device);
///   checkpoint.config("config", config);
///   checkpoint.config("step", step);
///   checkpoint.random("random", device);
///   checkpoint.migrate(1, [](sn::record::Record& old) { old.rename_all({{"\\bfc\\.", "head."}}); });
///   checkpoint.load("run.safetensors");
///   ...
///   checkpoint.save("run.safetensors");
///
/// Refers to the parts, which have to stay where they are. In the file, NAME.PATH are the tensors of a part
/// and the text NAME is a configuration: record::load(model, file, {.prefix = "model"}) reads the model
/// alone.
class SINTER_API Checkpoint {
 public:
  /// `version` counts what the parts have been in the course of the program's life.
  explicit Checkpoint(std::int64_t version = 1);
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;

  // All throw DataError for a name that is taken, empty, or has a dot.
  /// Parameters and buffers of a module.
  template <class M>
  void module(std::string name, M& module) {
    add(new detail::ModulePart<M>(std::move(name), module));
  }
  /// An optimizer, an average of weights, or another class with to_record() and load_record(record, device).
  template <class S>
  requires requires(S& state, const Record& record, const Device& device) {
    { std::as_const(state).to_record() } -> std::same_as<Record>;
    state.load_record(record, device);
  }
  void state(std::string name, S& state, const Device& device) {
    add(new detail::StatePart<S>(std::move(name), state, device));
  }
  /// What config.h writes as JSON: structs of settings, a step count, a text, a schedule with a state.
  template <class T>
  void config(std::string name, T& config) {
    add(new detail::ConfigPart<T>(std::move(name), config));
  }
  /// The random numbers of the thread that saves, and of that which loads.
  void random(std::string name, const Device& device);
  /// Those of a generator.
  void random(std::string name, Generator& generator);

  /// What makes a record of version `from` one of the next version: a function of Record&. Throws DataError
  /// where there is one already, or `from` is not below the version.
  template <std::invocable<Record&> F>
  void migrate(std::int64_t from, F function) {
    add_migration(from, new detail::MigrationBy<F>(std::move(function)));
  }

  Record to_record() const;
  /// Brings the record to this version, reads all parts, and then changes them. Whatever it throws, nothing
  /// has changed: DataError where a part is missing, does not fit or is not one of these, where the record is
  /// of a later version, or a migration is missing or fails.
  void load_record(Record record, std::string_view source = "record");

  void save(const Path& file, const WriteOptions& options = {}) const { to_record().write(file, options); }
  void load(const Path& file, const ReadOptions& options = {}) {
    load_record(Record::read(file, options), detail::quoted(file));
  }

 private:
  // These own what they are given, also where they throw.
  void add(detail::Part* part);
  void add_migration(std::int64_t from, detail::Migration* migration);
  void migrate_record(Record& record, const std::string& source) const;
  void check_names(const Record& record, const std::string& source) const;

  struct Parts;

  std::int64_t version_;
  Parts* parts_;
};

}  // namespace sinter::record
