// Operations: the enumeration and its table, both made from ops.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sinter {

enum class Op : std::uint8_t {
#define SINTER_ELEMENTWISE(op, name, arity, rule, text, host, llvm) op,
#define SINTER_STRUCTURAL(op, name, arity, op_class) op,
#include "src/trace/ops.def"
#undef SINTER_ELEMENTWISE
#undef SINTER_STRUCTURAL
};

/// How the planner treats an op.
enum class OpClass : std::uint8_t {
  Elementwise,
  Source,
  View,
  Pad,
  Reduce,
  Contract,
  Dot,
  Combine,
  Partial,
  Gather,
  Join,
  Library,
  Result
};

/// Which dtypes an elementwise op takes and gives; ops.def explains them.
enum class DTypeRule : std::uint8_t { None, Same, Float, Compare, Logic, Integer, Bool, Select, Cast };

struct OpInfo {
  Op op;
  std::string_view name;
  std::uint8_t arity;
  OpClass op_class;
  DTypeRule rule;
  std::string_view text;  // elementwise only
};

inline constexpr std::array kOps = {
#define SINTER_ELEMENTWISE(op, name, arity, rule, text, host, llvm) \
  OpInfo{Op::op, name, arity, OpClass::Elementwise, DTypeRule::rule, text},
#define SINTER_STRUCTURAL(op, name, arity, op_class) \
  OpInfo{Op::op, name, arity, OpClass::op_class, DTypeRule::None, ""},
#include "src/trace/ops.def"
#undef SINTER_ELEMENTWISE
#undef SINTER_STRUCTURAL
};

inline constexpr std::size_t kOpCount = kOps.size();

constexpr const OpInfo& info(Op op) { return kOps[static_cast<std::size_t>(op)]; }
constexpr std::string_view name_of(Op op) { return info(op).name; }

}  // namespace sinter
