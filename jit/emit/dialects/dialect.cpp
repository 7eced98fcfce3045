// What languages have in common, and what a language may do without.
#include "jit/emit/dialects/dialect.h"

#include <stdexcept>

namespace sinter::emit {

namespace {

[[noreturn]] void lacks(const std::string& what) {
  throw std::logic_error("[emit] a kernel needs " + what + ", which its target's dialect does not have");
}

}  // namespace

std::string Dialect::declare_vector(DType, int, const std::string&, int) const { lacks("vectors"); }
std::string Dialect::element(DType, int, const std::string& vector) const { return vector + "[k]"; }
std::string Dialect::set_element(DType dtype, int width, const std::string& vector,
                                 const std::string& value) const {
  return element(dtype, width, vector) + " = " + value + ";";
}
std::string Dialect::load_vector(const ir::Kernel&, int, std::size_t, const std::string&,
                                 const std::string&) const {
  lacks("vectors");
}
std::string Dialect::store_vector(const ir::Kernel&, int, std::size_t, const std::string&,
                                  const std::string&) const {
  lacks("vectors");
}
std::string Dialect::store_cast_vector(const ir::Kernel&, int, std::size_t, const std::string&,
                                       const std::string&) const {
  lacks("casts of whole vectors");
}
std::string Dialect::workgroup_function_of_several(const std::string&, DType, const std::vector<std::string>&,
                                                   const Target&, int) const {
  lacks("reductions that are joined together");
}
std::string Dialect::workgroup_welford(const std::string&, DType, const Target&, int) const {
  lacks("Welford's method");
}
std::string Dialect::cluster_function(const std::string&, DType, std::size_t, const std::string&, int) const {
  lacks("clusters of workgroups");
}
std::string Dialect::cluster_memory(const std::string&, DType, std::size_t, int) const {
  lacks("clusters of workgroups");
}
std::string Dialect::cluster_call(const std::string&, const std::string&, const std::vector<std::string>&,
                                  const std::string&) const {
  lacks("clusters of workgroups");
}
std::string Dialect::row_function(const std::string&, Op, DType, const std::string&, const Target&) const {
  lacks("rows of lanes");
}
std::string Dialect::put_partial(DType, const std::string&, int, const std::string&) const {
  lacks("partial results");
}
std::string Dialect::get_partial(DType, const std::string&, int) const { lacks("partial results"); }
std::string Dialect::counter(const std::string&) const { lacks("partial results"); }
std::string Dialect::from_words(DType, const std::string&) const { lacks("arguments in words"); }

std::string Dialect::set_fault(const ir::Kernel& kernel, const ir::Expr& load_at) const {
  const std::string own = literal(Type::U32, load_at.fault);
  const std::string before =
      kernel.members > 1 ? member_number + " * " + literal(Type::U32, kernel.faults) + " + " : "";
  return faults + "[" + before + own + "] = " + literal(Type::U32, 1) + ";";
}

std::string Dialect::identity(Op op, DType dtype) const {
  if (op == Op::Sum || op == Op::Prod) return cast(type_of(dtype), op == Op::Sum ? "0" : "1");
  const bool least = op == Op::Max;
  switch (dtype) {
    case DType::boolean: return least ? "false" : "true";
    case DType::i32: return least ? cast(Type::I32, "0x80000000u") : "0x7fffffff";
    default: return extreme(dtype, least);
  }
}

std::vector<std::string> Dialect::end_part(const std::string& unit) const {
  const std::string zero = literal(Type::U32, 0), one = literal(Type::U32, 1),
                    first_lane =
                        when(lane + " == " + zero + (row.empty() ? "" : " && " + row + " == " + zero));
  std::vector<std::string> lines = {
      handover.fence,
      handover.declare_turn,
      handover.barrier,
      guarded(first_lane, handover.turn + " = atomicAdd(" + counter_address(unit) + ", " + one + ");"),
      handover.shared_fence,
      handover.barrier,
      guarded(when(handover.turn + " + " + one + " != parts"), "return;"),
      handover.fence,
      guarded(first_lane, counter(unit) + " = " + literal(Type::U32, 0) + ";")};
  std::erase(lines, "");
  return lines;
}

std::string Dialect::define_argument(const ir::Kernel& kernel, char letter, std::size_t number,
                                     const std::string& words) const {
  const DType dtype = letter == 's' ? kernel.scalars[number] : kernel.wide ? DType::i64 : DType::i32;
  return "  " + constant(dtype, argument_name(letter, number), from_words(dtype, words)) + "\n";
}

std::string Dialect::define_member(const ir::Kernel& kernel, const MemberLayout& layout,
                                   const OfField& buffer, const OfField& words) const {
  std::string text;
  for (const MemberLayout::Field& field : layout.fields)
    text += field.letter == 'b' ? buffer(field)
                                : define_argument(kernel, field.letter, field.number, words(field));
  return text;
}

}  // namespace sinter::emit
