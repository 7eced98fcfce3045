// Finds kinds by opcode or by number.
#include "jit/library/kinds.h"

#include <array>
#include <mutex>

#include "jit/library/conv2d.h"
#include "jit/library/counting.h"
#include "jit/library/indexed_join.h"
#include "jit/library/indexed_sum.h"
#include "jit/library/matmul.h"
#include "jit/library/scan.h"
#include "jit/library/segments.h"
#include "jit/library/sort.h"
#include "src/base/fork.h"

namespace sinter::library {
namespace {

/// The kinds with opcodes of their own: one entry for each library op of the op table.
const Kind* const* builtin_kinds() {
  static const std::array<const Kind*, kOpCount> table = [] {
    std::array<const Kind*, kOpCount> kinds{};
    for (const Kind* kind : {&matmul(),
                             &conv2d(Conv2dOp::Direction::Forward),
                             &conv2d(Conv2dOp::Direction::BackwardInput),
                             &conv2d(Conv2dOp::Direction::BackwardWeight),
                             &conv3d(Conv2dOp::Direction::Forward),
                             &conv3d(Conv2dOp::Direction::BackwardInput),
                             &conv3d(Conv2dOp::Direction::BackwardWeight),
                             &sort_indices(),
                             &segment_sum(),
                             &indexed_sum(),
                             &indexed_join(),
                             &counting(Counting::Indices),
                             &counting(Counting::LastPositions),
                             &counting(Counting::Steps),
                             &scan(ScanKind::Sum),
                             &scan(ScanKind::Prod),
                             &scan(ScanKind::MaxPosition),
                             &scan(ScanKind::MinPosition),
                             &scan(ScanKind::LogSumExp),
                             &sort(),
                             &sort_with_values(),
                             &search_sorted()})
      kinds[static_cast<std::size_t>(kind->op())] = kind;
    for (const OpInfo& op : kOps)
      if (op.op_class == OpClass::Library && op.op != Op::Extension &&
          !kinds[static_cast<std::size_t>(op.op)])
        throw std::logic_error("no kind for " + std::string(op.name) + ": add one to jit/library/kinds.cpp");
    return kinds;
  }();
  return table.data();
}

/// Never destroyed: values and threads may outlive static objects.
struct Registered {
  base::ForkMutex mutex;
  std::vector<const Kind*> kinds;
};
Registered& registered() {
  static auto* instance = new Registered;
  return *instance;
}

}  // namespace

void add_kind(Kind& kind) {
  std::lock_guard lock(registered().mutex);
  bool taken = kind.op_ != Op::Extension;
  for (const OpInfo& op : kOps) taken |= op.name == kind.name();
  for (const Kind* known : registered().kinds) taken |= known->name() == kind.name();
  if (taken) throw Error("[library] there is an operation of the name " + kind.name() + " already");
  kind.number_ = static_cast<std::int64_t>(registered().kinds.size());
  registered().kinds.push_back(&kind);
}

const Kind& kind_of(Op op, std::span<const std::int64_t> ints) {
  if (op == Op::Extension) {
    std::lock_guard lock(registered().mutex);
    return *registered().kinds.at(static_cast<std::size_t>(ints[0]));
  }
  if (const Kind* kind = builtin_kinds()[static_cast<std::size_t>(op)]) return *kind;
  throw std::logic_error("library: " + std::string(info(op).name) + " is no library op");
}

std::span<const std::int64_t> attributes_of(Op op, std::span<const std::int64_t> ints) {
  return ints.subspan(op == Op::Extension ? 1 : 0);
}

std::string_view name_of(const trace::Trace& trace, const trace::OpRecord& record) {
  if (record.op == Op::Extension) return kind_of(record.op, trace.ints_of(record)).name();
  return info(record.op).name;
}

}  // namespace sinter::library
