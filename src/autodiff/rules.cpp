// The table of gradient rules, complete by construction: one entry for each op of the op table.
#include <stdexcept>
#include <string>

#include "src/autodiff/rule.h"

namespace sinter::autodiff {

namespace {

// An op without a rule would silently stop gradients, so the first use of the table checks that every op has
// one.
std::array<Rule, kOpCount> make_table() {
  std::array<Rule, kOpCount> table{};
  std::array<bool, kOpCount> known{};
  for (const auto rules : {kElementwiseRules, kStructuralRules, kScanRules})
    for (const Rule& rule : rules) {
      const auto i = static_cast<std::size_t>(rule.op);
      if (known[i]) throw std::logic_error("two gradient rules for " + std::string(name_of(rule.op)));
      known[i] = true;
      table[i] = rule;
    }
  for (const OpInfo& op : kOps)
    if (!known[static_cast<std::size_t>(op.op)])
      throw std::logic_error("no gradient rule for " + std::string(op.name) + ": add one to src/autodiff");
  return table;
}

}  // namespace

const Rule& rule_of(Op op) {
  static const std::array<Rule, kOpCount> table = make_table();
  return table[static_cast<std::size_t>(op)];
}

}  // namespace sinter::autodiff
