// Lays out shared memory.
#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/text.h"
#include "jit/ir/scores/column_values.h"

namespace sinter::emit {

using ir::ExprId;

namespace {

constexpr int kAlignment = 1024, kBarriers = 256;  // bytes

}  // namespace

SharedRows::SharedRows(const ir::Kernel& kernel) : kernel_(kernel) {
  const std::vector<std::uint32_t> loops = ir::dependence(kernel);
  values_ = ir::column_values(kernel, loops);
  for (const ExprId id : rows_of(kernel)) {
    orders_columns_ |= is_across(id);
    is_column_[id] = (loops[id] >> kernel.outer_rank & 1) != 0;
    int& bytes = is_column_[id] ? bytes_of_columns_ : bytes_of_rows_;
    offsets_[id] = bytes;
    bytes += chunks(id) * chunk_bytes(id);
  }
  int values = bytes_of_columns_;
  for (const ExprId id : values_) {
    offsets_[id] = values;
    values += kernel.attention.columns * 4;
  }
}

int SharedRows::chunks(ExprId row) const {
  const ir::Expr& e = kernel_.exprs[row];
  const int elements = elements_of_line(e.dtype);
  return ((is_across(row) ? kernel_.attention.columns : e.length) + elements - 1) / elements;
}

int SharedRows::chunk_bytes(ExprId row) const {
  if (is_across(row)) return kernel_.exprs[row].length * kLineBytes;
  return (is_column(row) ? kernel_.attention.columns : kernel_.attention.rows) * kLineBytes;
}

int SharedRows::step_bytes(ExprId row, int step) const {
  const int bytes = step * kStepBytes;
  return bytes / kLineBytes * chunk_bytes(row) + bytes % kLineBytes;
}

int SharedRows::bytes_of_slot() const {
  const int values = static_cast<int>(values_.size()) * kernel_.attention.columns * 4;
  return bytes_of_columns_ + (values + kAlignment - 1) / kAlignment * kAlignment;
}

std::size_t SharedRows::bytes() const {
  const ir::Attention& attention = kernel_.attention;
  const int data = attention.row_slots * bytes_of_rows_ + attention.slots * bytes_of_slot();
  return static_cast<std::size_t>(
      attention.by == ir::Attention::By::Subgroups ? data : kAlignment + data + kBarriers);
}

}  // namespace sinter::emit
