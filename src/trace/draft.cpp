// The end of a draft, and where its values in memory are seen to begin.
#include "src/trace/draft.h"

#include <algorithm>
#include <limits>

namespace sinter::trace {
namespace {

// What the starts in a fingerprint are.
constexpr std::uint64_t kStand = 0xe1000000u, kMove = 0xe2000000u;

/// The position of the value's lowest element in its buffer, in bytes.
std::int64_t first_byte(const TraceValue& value, const Layout& layout) {
  std::int64_t low = layout.offset;
  for (std::size_t d = 0; d < value.shape.rank(); ++d)
    if (value.shape[d] > 1) low += std::min<std::int64_t>(0, layout.strides[d] * (value.shape[d] - 1));
  return low * static_cast<std::int64_t>(size_of(value.dtype));
}

}  // namespace

void Draft::undo_bases() {
  trace().moves.clear();
  if (flushed_.bases.empty()) return;
  flushed_.bases.clear();
  for (const auto [op, first_start] : slices_) {
    const OpRecord& record = trace().ops[op];
    std::copy_n(trace().starts.begin() + first_start, start_count(record),
                trace().ints.begin() + record.first_int);
  }
  for (const ValueId id : in_memory_) {
    TraceValue& value = trace().values[id];
    value.shape = flushed_.values[id]->shape;
    trace().layout_of(value) = flushed_.values[id]->stored().layout;
    value.fills_buffer = fills_buffer(*flushed_.values[id]);
  }
}

/// For each value whether something else than a slice reads it.
std::vector<bool> Draft::read_as_whole() const {
  std::vector<bool> is_whole(trace().values.size());
  for (const OpRecord& record : trace().ops) {
    const bool is_slice = record.op == Op::Slice && trace().values[record.output].shape.numel() > 0;
    for (const OperandId operand : trace().operands_of(record))
      if (!is_slice && !operand.is_scalar()) is_whole[operand.index()] = true;
  }
  return is_whole;
}

/// A value that is read by slices alone becomes the smallest box that has all of them: a batch taken from
/// data in memory is the same trace wherever it starts. Not so a dying value: a result may get its memory,
/// and only as a whole, since one in a part of it would keep all of it.
void Draft::crop_sliced() {
  const std::vector<bool> is_whole = read_as_whole();
  struct Box {
    Dims low, high;
  };
  absl::flat_hash_map<ValueId, Box> boxes;
  for (const auto [op, first_start] : slices_) {
    const OpRecord& record = trace().ops[op];
    const ValueId id = record.operands[0].index();
    if (is_whole[id] || trace().values[id].dying) continue;
    const Shape& shape = trace().values[record.output].shape;
    const std::span<const std::int64_t> ints = trace().ints_of(record);
    const auto [box, is_new] =
        boxes.try_emplace(id, Box{Dims::filled(shape.rank(), std::numeric_limits<std::int64_t>::max()),
                                  Dims::filled(shape.rank(), 0)});
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      const std::int64_t start = ints[d], end = start + ints[shape.rank() + d] * (shape[d] - 1);
      box->second.low[d] = std::min({box->second.low[d], start, end});
      box->second.high[d] = std::max({box->second.high[d], start, end});
    }
  }
  for (const auto& [id, box] : boxes) {
    TraceValue& value = trace().values[id];
    Layout& layout = trace().layout_of(value);
    for (std::size_t d = 0; d < value.shape.rank(); ++d) {
      layout.offset += box.low[d] * layout.strides[d];
      value.shape[d] = box.high[d] - box.low[d] + 1;
    }
    // A recipe that reads the box would keep all of the data.
    if (value.shape != flushed_.values[id]->shape) value.fills_buffer = false;
  }
  for (const auto [op, first_start] : slices_) {
    const OpRecord& record = trace().ops[op];
    const auto box = boxes.find(record.operands[0].index());
    if (box == boxes.end()) continue;
    for (std::size_t d = 0; d < record.int_count / 2u; ++d)
      trace().ints[record.first_int + d] -= box->second.low[d];
  }
}

/// Layouts of external values count from a byte near the first one that is used of each buffer; those of
/// dying values from the buffer's own begin. What is left of the position is structure, and goes into
/// `words`: alignments, and how values of one buffer lie to each other.
void Draft::choose_bases(std::vector<std::uint64_t>& words) {
  flushed_.bases.assign(trace().buffer_count, std::numeric_limits<std::int64_t>::max());
  for (const ValueId id : in_memory_) {
    const TraceValue& value = trace().values[id];
    std::int64_t& base = flushed_.bases[value.buffer];
    const Layout& layout = trace().layout_of(value);
    base = value.dying || layout.offset == 0 ? 0 : std::min(base, first_byte(value, layout));
  }
  for (std::int64_t& base : flushed_.bases)
    base = std::max<std::int64_t>(base, 0) / kBaseAlignment * kBaseAlignment;
  for (const ValueId id : in_memory_) {
    const TraceValue& value = trace().values[id];
    std::int64_t& offset = trace().layout_of(value).offset;
    offset -= flushed_.bases[value.buffer] / static_cast<std::int64_t>(size_of(value.dtype));
    words.push_back(static_cast<std::uint64_t>(offset));
  }
}

/// The trace gets a plan that is given the starts that `moves` names. Values in memory are as large as they
/// are: which box of them has all slices, only the run knows.
void Draft::let_move(const std::vector<bool>& moves, std::vector<std::uint64_t>& words) {
  trace().moves = moves;
  words.push_back(kMove);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    words.push_back(moves[i]);
    if (!moves[i]) words.push_back(static_cast<std::uint64_t>(trace().starts[i]));
  }
  // A recipe that reads slices of a value would keep all of it.
  const std::vector<bool> is_whole = read_as_whole();
  for (const auto [op, first_start] : slices_) {
    const OpRecord& record = trace().ops[op];
    TraceValue& value = trace().values[record.operands[0].index()];
    if (!is_whole[record.operands[0].index()] && trace().values[record.output].shape != value.shape)
      value.fills_buffer = false;
  }
}

/// Chooses bases, and which starts move; the fingerprint. `words`: what was decided otherwise.
void Draft::finish(std::vector<std::uint64_t>& words, MovingStarts& known) {
  undo_bases();
  if (started_.empty()) {
    choose_bases(words);
    flushed_.fingerprint = fingerprint_.finish(words);
    return;
  }
  const std::vector<std::int64_t>& starts = trace().starts;
  std::vector<std::uint64_t> moving = words;
  choose_bases(moving);
  const Fingerprint structure = fingerprint_.finish(moving);
  const std::vector<bool>* moves = known.find(structure, starts);
  if (!moves) {
    undo_bases();
    if (!slices_.empty()) crop_sliced();
    choose_bases(words);
    words.push_back(kStand);
    for (const auto [op, first_start] : slices_)
      for (const std::int64_t size : trace().values[trace().ops[op].operands[0].index()].shape)
        words.push_back(static_cast<std::uint64_t>(size));
    for (const std::uint32_t op : started_)
      for (const std::int64_t start : trace().ints_of(trace().ops[op]).first(start_count(trace().ops[op])))
        words.push_back(static_cast<std::uint64_t>(start));
    flushed_.fingerprint = fingerprint_.finish(words);
    moves = known.compare(structure, flushed_.fingerprint, starts);
    if (!moves) return;
    undo_bases();
    std::vector<std::uint64_t> again;
    choose_bases(again);
  }
  let_move(*moves, moving);
  flushed_.fingerprint = fingerprint_.finish(moving);
}

void Draft::clear_tables() {
  flushed_.trace.ops.clear();
  flushed_.trace.values.clear();
  flushed_.trace.layouts.clear();
  flushed_.trace.operands.clear();
  flushed_.trace.ints.clear();
  flushed_.trace.scalars.clear();
  flushed_.trace.buffer_count = 0;
  flushed_.trace.asks_for_ends = true;
  flushed_.buffers.clear();
  flushed_.bases.clear();
  in_memory_.clear();
  slices_.clear();
  started_.clear();
  flushed_.trace.starts.clear();
  flushed_.trace.moves.clear();
  of_recipes_ = 0;
  flushed_.started = flushed_.has_failed_inputs = false;
  flushed_.unstored = nullptr;
  usual_externals_ = externals_.size();
  externals_.clear();
  buffers_.clear();
  fingerprint_.reset();
}

}  // namespace sinter::trace
