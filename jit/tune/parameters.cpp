// Parameters of tilings by name.
#include "jit/tune/parameters.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <sinter/error.h>

namespace sinter::tune {
namespace {

/// Who computes the kernels that have a parameter; it is 0 elsewhere.
enum class Of : std::uint8_t { Tiles, Groups, Subgroups, Matrices, FewRows, Library };

struct Parameter {
  std::string_view name;
  std::int64_t (*get)(const ir::Tiling&);
  void (*set)(ir::Tiling&, std::int64_t) = nullptr;  // where less than the candidate's will do, too
  std::int64_t least = 0;                            // with `set`: of the candidate's, too
  Of of = Of::Tiles;
  std::int64_t most = 0;  // with `set`: what will do, even where the candidate has less
};
constexpr Parameter kParameters[] = {
    {"rows", [](const ir::Tiling& t) -> std::int64_t { return t.rows; }},
    {"columns", [](const ir::Tiling& t) -> std::int64_t { return t.columns; }},
    {"slots", [](const ir::Tiling& t) -> std::int64_t { return t.slots; },
     [](ir::Tiling& t, std::int64_t slots) { t.slots = static_cast<std::uint8_t>(slots); }, 2},
    {"workgroups", [](const ir::Tiling& t) -> std::int64_t { return t.workgroups; }},
    {"turns", [](const ir::Tiling& t) -> std::int64_t { return t.turns; }, nullptr, 0, Of::Groups},
    {"loaders", [](const ir::Tiling& t) -> std::int64_t { return t.has_groups() ? t.loaders : 0; }, nullptr,
     0, Of::Groups},
    {"cluster", [](const ir::Tiling& t) -> std::int64_t { return t.has_groups() ? t.cluster : 0; },
     [](ir::Tiling& t, std::int64_t cluster) { t.cluster = static_cast<std::uint8_t>(cluster); }, 2,
     Of::Groups, 8},
    {"subgroup_rows", [](const ir::Tiling& t) -> std::int64_t { return t.subgroup_rows; }, nullptr, 0,
     Of::Subgroups},
    {"sharers", [](const ir::Tiling& t) -> std::int64_t { return t.sharers; }, nullptr, 0, Of::FewRows},
    {"near", [](const ir::Tiling& t) -> std::int64_t { return t.near_rows ? 1 : 0; },
     [](ir::Tiling& t, std::int64_t near) { t.near_rows = near != 0; }, 0, Of::FewRows, 1},
    {"subgroup_columns", [](const ir::Tiling& t) -> std::int64_t { return t.matrices.columns; }, nullptr, 0,
     Of::Matrices},
    {"m", [](const ir::Tiling& t) -> std::int64_t { return t.matrices.m; }, nullptr, 0, Of::Matrices},
    {"n", [](const ir::Tiling& t) -> std::int64_t { return t.matrices.n; }, nullptr, 0, Of::Matrices},
    {"k", [](const ir::Tiling& t) -> std::int64_t { return t.matrices.k; }, nullptr, 0, Of::Matrices},
    {"library", [](const ir::Tiling& t) -> std::int64_t { return t.library; }, nullptr, 0, Of::Library},
    {"version", [](const ir::Tiling& t) -> std::int64_t { return t.library_version; }, nullptr, 0,
     Of::Library},
};

bool has(const ir::Tiling& tiling, const Parameter& parameter) {
  if (tiling.library > 0) return parameter.of == Of::Library;
  if (parameter.of == Of::Matrices) return tiling.matrices.any();
  const Of of = tiling.has_groups() ? Of::Groups : tiling.sharers > 0 ? Of::FewRows : Of::Subgroups;
  return parameter.of == Of::Tiles || parameter.of == of;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

struct Wanted {
  const Parameter* parameter;
  std::int64_t value;
};

class Pin {
 public:
  Pin(std::span<const ir::Tiling> candidates, const std::string& text)
      : candidates_(candidates),
        name_("SINTER_TUNE_" + std::string(family_of(candidates.front())) + "=" + text) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      read(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
  }

  ir::Tiling choose() const {
    for (const ir::Tiling& candidate : candidates_)
      if (const auto tiling = fitted(candidate)) return *tiling;
    std::string all;
    for (const ir::Tiling& candidate : candidates_) all += "\n  " + describe(candidate);
    throw Error("[tune] " + name_ +
                " fits no variant of this kernel on this device. There are, with as many " +
                "slots or fewer:" + all);
  }

 private:
  void read(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = trimmed(text.substr(0, equals));
    const std::string_view digits =
        equals == std::string_view::npos ? std::string_view() : trimmed(text.substr(equals + 1));
    Wanted wanted{nullptr, 0};
    std::string names;
    for (const Parameter& parameter : kParameters) {
      names += (names.empty() ? "" : ", ") + std::string(parameter.name);
      if (parameter.name == name) wanted.parameter = &parameter;
    }
    if (wanted.parameter == nullptr)
      throw Error("[tune] " + name_ + ": there is no parameter \"" + std::string(name) + "\"; there are " +
                  names);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), wanted.value);
    if (error != std::errc() || end != digits.data() + digits.size())
      throw Error("[tune] " + name_ + ": " + std::string(name) + " is \"" + std::string(digits) +
                  "\"; it takes a whole number");
    wanted_.push_back(wanted);
  }

  std::optional<ir::Tiling> fitted(const ir::Tiling& candidate) const {
    ir::Tiling tiling = candidate;
    for (const auto& [parameter, value] : wanted_) {
      if (candidate.library > 0 && parameter->of != Of::Library) return std::nullopt;
      const std::int64_t own = parameter->get(candidate), most = std::max(own, parameter->most);
      if (value == own) continue;
      if (!parameter->set || !has(candidate, *parameter) || value > most ||
          std::min(own, value) < parameter->least)
        return std::nullopt;
      parameter->set(tiling, value);
    }
    return tiling;
  }

  std::span<const ir::Tiling> candidates_;
  std::string name_;
  std::vector<Wanted> wanted_;
};

}  // namespace

std::string_view family_of(const ir::Tiling& tiling) {
  return tiling.a.computed || tiling.b.computed ? "COMPUTED_FACTORS" : "TENSOR_CORES";
}

std::string describe(const ir::Tiling& tiling) {
  std::string text;
  for (const Parameter& parameter : kParameters) {
    if (!has(tiling, parameter)) continue;
    if (!text.empty()) text += ',';
    text += std::string(parameter.name) + "=" + std::to_string(parameter.get(tiling));
  }
  return text;
}

bool names_library(std::string_view parameters) { return parameters.find("library") != parameters.npos; }

std::string layout_of(const ir::Tiling& tiling) {
  const auto layout = [](const ir::TiledFactor& factor) {
    return std::string(factor.across ? "across" : "along") + (factor.windows ? " windows" : "") +
           (factor.computed ? " computed" : "") + (factor.pieces ? " pieces" : "") +
           (factor.vector > 0 ? " vectors " + std::to_string(factor.vector) : std::string()) +
           (factor.lane_bytes > 0 ? " by " + std::to_string(factor.lane_bytes) : std::string());
  };
  return std::string(family_of(tiling)) + " " + std::string(name_of(tiling.multiplied)) + " a " +
         layout(tiling.a) + " b " + layout(tiling.b) + (tiling.vectors ? " vectors" : "") +
         (tiling.others.empty() ? "" : " sums " + std::to_string(tiling.others.size() + 1)) +
         (tiling.terms.empty() ? "" : " terms " + std::to_string(tiling.terms.size() + 1)) +
         (tiling.short_sums ? " short" : "") + (tiling.exact ? " exact" : "");
}

const ir::Tiling* find_described(std::span<const ir::Tiling> candidates, std::string_view description) {
  for (const ir::Tiling& candidate : candidates)
    if (describe(candidate) == description) return &candidate;
  return nullptr;
}

ir::Tiling pinned(std::span<const ir::Tiling> candidates, const std::string& pin) {
  return Pin(candidates, pin).choose();
}

}  // namespace sinter::tune
