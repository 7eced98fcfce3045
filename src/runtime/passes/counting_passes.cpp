// Which passes counts have.
#include <algorithm>
#include <string>

#include "src/runtime/passes/passes.h"

namespace sinter::runtime {
namespace {

using Of = PassBuffer::Of;

constexpr int kLanes = 256, kItems = 8;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// A lane for so many neighbours, LANES apart.
std::int64_t lanes_for(std::int64_t elements, std::int64_t each) {
  return divide_up(elements, kLanes * each) * kLanes;
}

std::string define_items() { return "#define ITEMS " + std::to_string(kItems) + "\n"; }

/// A result of zeros, which workgroups then add to or raise.
PassList cleared(std::int64_t rows) {
  PassList list;
  list.dtype = DType::i32;
  list.passes.push_back(fill_zeros({"", DType::i32, Of::Result, 0, 0, rows, true}));
  return list;
}

}  // namespace

PassList passes_of(const library::CountIndicesOp& op) {
  // Counts that a workgroup's memory has room for on every device, and of one row where they are few.
  constexpr std::int64_t kShared = 4096, kMostCopies = 8;
  // Workgroups that fill a GPU. One that counts in its memory has more indices than rows to clear and to add.
  constexpr std::int64_t kGroups = 1024, kLeastOfRow = 4;
  const bool is_shared = op.rows <= kShared;
  PassList list = cleared(op.rows);
  if (op.count == 0) return list;

  const std::int64_t at_a_time = kLanes * kItems;
  const std::int64_t least = std::max(divide_up(op.count, kGroups), is_shared ? kLeastOfRow * op.rows : 1);
  const std::int64_t chunk = divide_up(least, at_a_time) * at_a_time;
  std::int64_t copies = kMostCopies;
  while (copies > 1 && copies * op.rows > kShared) copies /= 2;
  Pass count;
  count.name = "count_indices";
  count.body = "count_indices.inc";
  count.defines = define_items() + "#define SHARED " + std::to_string(is_shared) + "\n#define COPIES " +
                  std::to_string(copies) + "\n";
  count.buffers = {{"index", DType::i32, Of::Operand, 0, 0, op.count, false},
                   {"counts", DType::i32, Of::Result, 0, 0, op.rows, true, true}};
  count.lanes = kLanes;
  count.rows = divide_up(op.count, chunk) * kLanes;
  if (is_shared) count.shared_words = static_cast<int>(copies * std::max<std::int64_t>(op.rows, 1));
  count.ints = {{"count", op.count}, {"rows", op.rows}, {"chunk", chunk}};
  count.most_rounds = chunk / kLanes + 2 * kShared / kLanes;
  list.passes.push_back(std::move(count));
  return list;
}

PassList passes_of(const library::LastPositionsOp& op) {
  PassList list = cleared(op.rows);
  Pass pass;
  pass.name = "last_positions";
  pass.body = "last_positions.inc";
  pass.buffers = {{"index", DType::i32, Of::Operand, 0, 0, op.count, false},
                  {"last", DType::i32, Of::Result, 0, 0, op.rows, true, true}};
  pass.defines = define_items();
  pass.rows = lanes_for(op.count, kItems);
  pass.ints = {{"count", op.count}};
  list.passes.push_back(std::move(pass));
  return list;
}

PassList passes_of(const library::CountStepsOp& op) {
  PassList list;
  list.dtype = DType::i32;
  Pass pass;
  pass.name = "count_steps";
  pass.body = "count_steps.inc";
  pass.buffers = {{"running", DType::i32, Of::Operand, 0, 0, op.length, false},
                  {"places", DType::i32, Of::Result, 0, 0, op.steps, true}};
  pass.defines = define_items();
  pass.rows = lanes_for(op.length, kItems);
  pass.ints = {{"length", op.length}};
  list.passes.push_back(std::move(pass));
  return list;
}

}  // namespace sinter::runtime
