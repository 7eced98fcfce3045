// Saving and loading modules: parameters and buffers under their paths.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/detail/shared.h>
#include <sinter/module.h>
#include <sinter/path.h>
#include <sinter/record/record.h>
#include <sinter/shape.h>

namespace sinter {
struct QuantizedTensor;
}

namespace sinter::record {

/// What becomes of a name where a part of it fits a regular expression (ECMAScript's, as std::regex has
/// them);
/// "$1" in the replacement stands for the first group.
struct Replacement {
  std::string pattern, replacement;
};

/// Turns the names of a record into the paths of a module. A name that becomes empty is ignored.
class SINTER_API Renaming {
 public:
  /// Names stay as they are.
  Renaming() = default;
  /// One after the other, each wherever it fits. Throws DataError for a pattern that is none.
  Renaming(std::initializer_list<Replacement> replacements);
  explicit Renaming(std::vector<Replacement> replacements);
  /// A function from std::string_view to std::string.
  template <class F>
  requires(!std::is_same_v<F, Renaming> && std::is_invocable_r_v<std::string, const F&, std::string_view>)
      Renaming(F function)
      : names_(sinter::detail::Shared<const Names>::of(Function<F>(std::move(function)))) {}

  std::string operator()(std::string_view name) const {
    return names_ ? names_->renamed(name) : std::string(name);
  }

 private:
  struct Names {
    virtual ~Names() = default;
    virtual std::string renamed(std::string_view name) const = 0;
  };
  template <class F>
  struct Function final : Names {
    explicit Function(F f) : function(std::move(f)) {}
    std::string renamed(std::string_view name) const override { return function(name); }
    F function;
  };
  struct Replacements;

  sinter::detail::Shared<const Names> names_;
};

struct SaveOptions {
  /// Of the floating-point parameters in the file: DType::bf16 halves it. Buffers stay as they are: running
  /// statistics are sums, which 16 bits would not hold. A finite number that would become infinite is a
  /// DataError.
  std::optional<DType> dtype = std::nullopt;
  /// Beside the tensors. Python's transformers asks for {"format", "pt"}.
  std::vector<std::pair<std::string, std::string>> texts = {};
  std::optional<Format> format = std::nullopt;
  std::uint64_t max_shard_bytes = 0;
};

struct LoadOptions {
  /// Only what the record has under this path, which is taken from the names: "model" of a checkpoint.
  std::string prefix = {};
  Renaming rename = {};
  /// Only the paths of the module that fit one of these patterns (see path_matches); empty: all. The others
  /// stay as they are.
  std::vector<std::string> only = {};
  /// Converts tensors whose dtype is another of the same kind (see Record::cast); else that is an error.
  bool cast = false;
  /// Whether it is an error when the record lacks a path of the module, or has a name that is none.
  bool strict = true;
  ReadOptions read = {};
};

/// What a load did.
struct LoadReport {
  std::vector<std::string> used;        // paths of the module that have new values
  std::vector<std::string> cast;        // of these, those whose dtype in the record was another
  std::vector<std::string> missing;     // paths of the module that the record lacks: as they were
  std::vector<std::string> unexpected;  // names of the record that are no paths of the module

  /// "12 used, 3 of them cast; missing: head.weight, head.bias; unexpected: none"
  SINTER_API std::string to_text() const;
};

namespace detail {

/// A parameter or buffer of a module.
struct Named {
  std::string path;
  AnyTensor tensor;
  bool is_buffer = false;
  void* object = nullptr;  // within a module that may change, with what assigns to it
  void (*assign)(void* object, AnyTensor&& tensor) = nullptr;
  /// Of codes of which several are in a byte: the shape of what they stand for.
  std::optional<Shape> unpacked = std::nullopt;
};

struct QuantizedLeaf {
  template <class T>
  static constexpr bool matches = std::is_same_v<T, QuantizedTensor>;
};
/// Codes are the first thing that a quantized tensor has.
SINTER_API void set_unpacked(std::vector<Named>& named, const std::string& path, const Shape& shape);

template <class M>
std::vector<Named> state_of(M& module) {
  std::vector<Named> named;
  visit_state(module, [&](std::string_view path, auto& state) {
    using State = std::remove_cvref_t<decltype(state)>;
    named.push_back({std::string(path), state.dynamic(), IsBuffer<State>});
    constexpr bool is_const = std::is_const_v<std::remove_reference_t<decltype(state)>>;
    static_assert(!is_const || std::is_const_v<M>,
                  "a module with const tensors in it can be saved, but not loaded");
    if constexpr (!is_const) {
      named.back().object = &state;
      named.back().assign = [](void* object, AnyTensor&& tensor) {
        *static_cast<State*>(object) = State(std::move(tensor));
      };
    }
  });
  visit_leaves<QuantizedLeaf>(module, [&](const std::string& path, const auto& quantized) {
    set_unpacked(named, path, quantized.shape);
  });
  return named;
}

SINTER_API Record make_record(const std::vector<Named>& state, std::optional<DType> dtype);

/// What a load will assign.
struct Loaded {
  std::vector<AnyTensor> tensors;  // in the order of the state; empty: stays as it is
  LoadReport report;
};
/// Each new tensor is on the device of the tensor it replaces, and a leaf iff that is one. Throws DataError
/// that lists every tensor that does not fit.
SINTER_API Loaded match(const Record& record, const std::vector<Named>& state, const LoadOptions& options,
                        std::string_view source);
/// Assigns; nothing here fails.
SINTER_API void assign(const std::vector<Named>& state, Loaded& loaded);

SINTER_API std::string quoted(const Path& file);
/// With the texts of the options.
SINTER_API void write(Record record, const Path& file, const SaveOptions& options);

}  // namespace detail

/// The parameters and buffers of a module under their paths ("hidden.weight"). A parameter that is reached on
/// several paths (tied weights) is saved once, under the first; the others stand in texts, "tied.PATH". The
/// shape that codes of nn::quantize stand for is a text, too, "unpacked.PATH": bytes of two codes do not
/// tell. `dtype` as in SaveOptions.
template <class M>
Record to_record(const M& module, std::optional<DType> dtype = std::nullopt) {
  return detail::make_record(detail::state_of(module), dtype);
}

/// Replaces the parameters and buffers of the module by the record's tensors of the same paths, or throws
/// DataError that lists every tensor that does not fit, and changes nothing. Shapes must match. Of a tied
/// parameter the record may have any of its paths, or all. A record that has none of the paths is an error
/// also where `strict` is not set.
template <class M>
LoadReport load_record(M& module, const Record& record, const LoadOptions& options = {},
                       std::string_view source = "record") {
  const auto state = detail::state_of(module);
  detail::Loaded loaded = detail::match(record, state, options, source);
  detail::assign(state, loaded);
  return std::move(loaded.report);
}

/// The module with all of its parameters and buffers from the record, which has no others.
template <class M>
M from_record(M module, const Record& record) {
  sinter::detail::unshare(module);
  load_record(module, record);
  return module;
}

template <class M>
void save(const M& module, const Path& file, const SaveOptions& options = {}) {
  detail::write(to_record(module, options.dtype), file, options);
}

/// model = record::load(std::move(model), "model.safetensors");
template <class M>
M load(M module, const Path& file) {
  sinter::detail::unshare(module);
  load_record(module, Record::read(file), {}, detail::quoted(file));
  return module;
}

/// auto report = record::load(model, "model.safetensors", {.rename = {{"^bert\\.", ""}}, .strict = false});
template <class M>
LoadReport load(M& module, const Path& file, const LoadOptions& options) {
  return load_record(module, Record::read(file, options.read), options, detail::quoted(file));
}

template <class M>
std::vector<std::byte> to_bytes(const M& module) {
  return to_record(module).to_bytes();
}

template <class M>
M from_bytes(M module, const Bytes& bytes) {
  sinter::detail::unshare(module);
  load_record(module, Record::from_bytes(bytes), {}, "bytes");
  return module;
}

}  // namespace sinter::record
