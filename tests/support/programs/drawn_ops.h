// Which rows of the op table random programs draw for a dtype, and what is special about some of them.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <sinter/dtype.h>

#include "src/trace/op.h"
#include "tests/support/programs/program.h"

namespace sinter::testing {

/// What is drawn with an op. Rows that are not named here take any values of any dtype of their rule.
enum class Domain {
  Any,
  Unit,          // numbers from -1 to 1: others give NaN, and most programs are without
  Positive,      // numbers above 0
  AboveOne,      // numbers above 1
  Exponent,      // its second operand, where it is a number, is a small integer
  RightHalf,     // its second operand is a number above 0: for negative ones the sign of a zero decides
  NotEmpty,      // a reduction that has no value over nothing
  PlannersOwn,   // recorded by no program
  StepOfItsOwn,  // drawn by a step that says more than operands: casts, selects
};

constexpr Domain domain_of(Op op) {
  switch (op) {
    case Op::Asin:
    case Op::Acos:
    case Op::Atanh: return Domain::Unit;
    case Op::Log:
    case Op::Log1p:
    case Op::Sqrt:
    case Op::Rsqrt: return Domain::Positive;
    case Op::Acosh: return Domain::AboveOne;
    case Op::Pow: return Domain::Exponent;
    case Op::Atan2: return Domain::RightHalf;
    case Op::Max:
    case Op::Min: return Domain::NotEmpty;
    case Op::SquaredDeviations: return Domain::PlannersOwn;
    case Op::Cast:
    case Op::Where: return Domain::StepOfItsOwn;
    default: return Domain::Any;
  }
}

/// Whether elementwise ops of the rule take operands of the dtype.
constexpr bool takes(DTypeRule rule, DType dtype) {
  switch (rule) {
    case DTypeRule::Same: return dtype != DType::boolean;
    case DTypeRule::Float:
    case DTypeRule::Bool: return is_float(dtype);
    case DTypeRule::Logic: return !is_float(dtype);
    case DTypeRule::Integer: return is_int(dtype);
    case DTypeRule::Compare: return true;
    default: return false;
  }
}

/// Whether random programs draw the op for operands of the dtype.
constexpr bool is_drawn(const OpInfo& row, DType dtype) {
  const Domain domain = domain_of(row.op);
  if (domain == Domain::PlannersOwn || domain == Domain::StepOfItsOwn) return false;
  if (row.op_class == OpClass::Elementwise) return takes(row.rule, dtype);
  // Reductions: of truth values any and all.
  return row.op_class == OpClass::Reduce &&
         (dtype != DType::boolean || row.op == Op::Max || row.op == Op::Min);
}

/// The scans that programs draw for the dtype.
inline std::vector<Op> drawn_scans(DType dtype) {
  std::vector<Op> scans = {Op::CumSum, Op::CumProd, Op::CumMax, Op::CumMin};
  if (is_float(dtype)) scans.push_back(Op::LogCumSumExp);
  return scans;
}

/// The steps that record a library op of the table. A new row needs some, or a reason.
inline std::vector<StepKind> steps_of_library(Op op) {
  switch (op) {
    case Op::MatMul: return {StepKind::MatMul};
    case Op::Conv2d: return {StepKind::Conv2d};
    case Op::Conv2dBackwardInput: return {StepKind::ConvTranspose2d};
    case Op::Conv3d: return {StepKind::Conv3d};
    case Op::Conv2dBackwardWeight:
    case Op::Conv3dBackwardInput:
    case Op::Conv3dBackwardWeight: return {};  // of gradients alone, which gradients_test draws
    case Op::SortIndices: return {StepKind::IndexAdd, StepKind::ScatterAdd};
    case Op::LastPositions: return {StepKind::Scatter, StepKind::IndexCopy};
    case Op::IndexedSum: return {StepKind::IndexAdd};
    case Op::IndexedJoin: return {StepKind::IndexAdd, StepKind::ScatterAdd, StepKind::ScatterReduce};
    case Op::CountIndices:
    case Op::CountSteps:
      return {};  // between reads of values, which end a program; unknown_sizes_test has them
    case Op::SegmentSum: return {StepKind::IndexAdd, StepKind::ScatterAdd, StepKind::ScatterReduce};
    case Op::CumSum:
    case Op::CumProd:
    case Op::CumMax:
    case Op::CumMin:
    case Op::LogCumSumExp: return {StepKind::Scan};
    case Op::Sort:
    case Op::SortWithValues: return {StepKind::Sort, StepKind::TopK};
    case Op::SearchSorted: return {StepKind::SearchSorted};
    case Op::Extension: return {};  // a program's own
    default: throw std::logic_error("random programs have no step for " + std::string(name_of(op)));
  }
}

/// The rows of a class and arity that programs draw for the dtype, in the order of the table.
inline std::vector<Op> drawn_ops(OpClass op_class, std::size_t arity, DType dtype) {
  std::vector<Op> ops;
  for (const OpInfo& row : kOps)
    if (row.op_class == op_class && row.arity == arity && is_drawn(row, dtype)) ops.push_back(row.op);
  return ops;
}

}  // namespace sinter::testing
