// Which passes counts have.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime {
namespace {

using Of = PassBuffer::Of;

constexpr int kLanes = 256, kItems = 8;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string define_items() { return "#define ITEMS " + std::to_string(kItems) + "\n"; }

PassBuffer operand_of(const library::CountingOp& op, const char* name) {
  return {name, DType::i32, Of::Operand, 0, 0, op.length, false};
}
PassBuffer result_of(const library::CountingOp& op, const char* name, bool shared) {
  return {name, DType::i32, Of::Result, 0, 0, op.results, true, shared};
}

/// Workgroups that count, each a stretch of the indices, and add to all counts.
Pass counts_of(const library::CountingOp& op) {
  // Counts that a workgroup's memory has room for on every device, and of one row where they are few.
  constexpr std::int64_t kShared = 4096, kMostCopies = 8;
  // Workgroups that fill a GPU. One that counts in its memory has more indices than rows to clear and to add.
  constexpr std::int64_t kGroups = 1024, kLeastOfRow = 4;
  const bool is_shared = op.results <= kShared;
  const std::int64_t at_a_time = kLanes * kItems;
  const std::int64_t least =
      std::max(divide_up(op.length, kGroups), is_shared ? kLeastOfRow * op.results : 1);
  const std::int64_t chunk = divide_up(least, at_a_time) * at_a_time;
  std::int64_t copies = kMostCopies;
  while (copies > 1 && copies * op.results > kShared) copies /= 2;
  Pass pass;
  pass.name = "count_indices";
  pass.body = "count_indices.inc";
  pass.defines = define_items() + "#define SHARED " + std::to_string(is_shared) + "\n#define COPIES " +
                 std::to_string(copies) + "\n";
  pass.buffers = {operand_of(op, "index"), result_of(op, "counts", true)};
  pass.lanes = kLanes;
  pass.rows = divide_up(op.length, chunk) * kLanes;
  if (is_shared) pass.shared_words = static_cast<int>(copies * std::max<std::int64_t>(op.results, 1));
  pass.ints = {{"count", op.length}, {"rows", op.results}, {"chunk", chunk}};
  pass.most_rounds = chunk / kLanes + 2 * kShared / kLanes;
  return pass;
}

/// A lane for kItems numbers, each of which it looks at once.
Pass looks_at(const library::CountingOp& op, const char* name, std::vector<PassBuffer> buffers) {
  Pass pass;
  pass.name = name;
  pass.body = std::string(name) + ".inc";
  pass.defines = define_items();
  pass.buffers = std::move(buffers);
  pass.lanes = kLanes;
  pass.rows = divide_up(op.length, kLanes * kItems) * kLanes;
  pass.ints = {{"count", op.length}};
  return pass;
}

}  // namespace

PassList passes_of(const library::CountingOp& op) {
  using library::Counting;
  PassList list;
  list.dtype = DType::i32;
  // Zeros, which workgroups then add to or raise. All steps are written.
  if (op.counting != Counting::Steps) list.passes.push_back(fill_zeros(result_of(op, "", false)));
  if (op.length == 0) return list;
  switch (op.counting) {
    case Counting::Indices: list.passes.push_back(counts_of(op)); break;
    case Counting::LastPositions:
      list.passes.push_back(
          looks_at(op, "last_positions", {operand_of(op, "index"), result_of(op, "last", true)}));
      break;
    case Counting::Steps:
      list.passes.push_back(
          looks_at(op, "count_steps", {operand_of(op, "running"), result_of(op, "places", false)}));
  }
  return list;
}

}  // namespace sinter::runtime
