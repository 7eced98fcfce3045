#include "jit/emit/llvm/kernel_writer.h"

#include <algorithm>
#include <utility>

namespace sinter::emit {

using ir::ExprId;
using ir::Level;

LlvmKernelWriter::LlvmKernelWriter(const ir::Kernel& kernel, const LlvmTarget& target, LlvmModule& module,
                                   const LlvmShape& shape, LlvmLoops loops)
    : kernel_(kernel),
      lanes_inner_(kernel.schedule == ir::Schedule::LanesInner),
      loops_(loops),
      along_((lanes_inner_ ? rank() : kernel.outer_rank) - std::size_t{1}),
      shape_(shape),
      w_(module, shape.lanes),
      values_(kernel, target, w_, along_, joins()) {
  if (shape.fetches_ahead) values_.fetch_ahead();
  w_.set_lanes(shape.rest_lanes);
}

std::string LlvmKernelWriter::run(const std::string& name) {
  if (lanes_inner_)
    units();
  else
    rows();
  // Stores past the caches are in no order with what tells other threads that they are done.
  if (values_.streams()) w_.when(w_.value("icmp ne i64 %cached, -1"), [&] { w_.line("fence seq_cst"); });
  w_.line("ret void");
  const std::string byte = w_.pointer_to("i8"), bytes = w_.pointer_to(byte);
  return w_.function("define void @" + name + "(" + bytes + " %buffers, " + w_.pointer_to("i64") +
                     " %ints, " + byte + " %scalars, " + bytes + " %functions, i64 %first, i64 %last, " +
                     byte + " %scratch, i64 %cached, " + w_.pointer_to("i32") + " %fault) #0");
}

std::string LlvmKernelWriter::lane_extent() {
  if (!joins()) return extent(along_);
  if (joined_extent_.empty())
    joined_extent_ =
        w_.in_entry([&] { return w_.value("mul i64 " + extent(along_ - 1) + ", " + extent(along_)); });
  return joined_extent_;
}

/// Points of inner loop k, or of all loops of the lanes from there on.
std::string LlvmKernelWriter::inner_extent(std::size_t k) {
  return lanes_inner_ && k == first_lane_loop() ? lane_extent() : extent(k);
}

/// Binds the outer loops before `last` to the coordinates of point `index`, counted row-major.
void LlvmKernelWriter::bind_outer(std::string index, std::size_t last) {
  std::vector<std::string> at(last);
  for (std::size_t k = last; k-- > 0;) {
    if (k == 0) {
      at[0] = index;
      break;
    }
    const std::string quotient = w_.value("udiv i64 " + index + ", " + extent(k));
    at[k] = w_.value("sub i64 " + index + ", " + w_.value("mul i64 " + quotient + ", " + extent(k)));
    index = quotient;
  }
  for (std::size_t k = 0; k < last; ++k) values_.bind(k, at[k]);
}

void LlvmKernelWriter::make_outer(std::uint16_t phase) {
  for (ExprId id : shape_.outer[phase])
    if (!values_.has(id) && values_.can_make(id)) values_.make(id);
}

/// Lanes inner: one outer point after the other.
void LlvmKernelWriter::units() {
  w_.loop("%first", "%last", "1", {}, [&](const std::string& unit, const Names&) {
    auto scope = values_.enter();
    bind_outer(unit, kernel_.outer_rank);
    phases(unit);
    values_.leave(std::move(scope));
    return Names{};
  });
}

/// Lanes are outer points: rows along the last outer loop, a vector of points at a time.
void LlvmKernelWriter::rows() {
  const std::string row_points = lane_extent();
  const std::string first_row = w_.value("udiv i64 %first, " + row_points);
  const std::string last_point = w_.value("sub i64 %last, 1");
  const std::string last_row = w_.value("udiv i64 " + last_point + ", " + row_points);
  const std::string rows_end = w_.value("add i64 " + last_row + ", 1");
  w_.loop(first_row, rows_end, "1", {}, [&](const std::string& row, const Names&) {
    auto scope = values_.enter();
    const std::string start = w_.value("mul i64 " + row + ", " + row_points);
    const std::string before = w_.value("sub i64 %first, " + start),
                      after = w_.value("sub i64 %last, " + start);
    const std::string begin = larger(before, "0"), end = smaller(after, row_points);
    bind_outer(row, first_lane_loop());
    make_outer(0);
    split_lanes(begin, end, {}, [&](const std::string& point, const Names&) {
      values_.bind_lanes(point);
      phases(splits() ? w_.value("add i64 " + start + ", " + point) : point);
      return Names{};
    });
    values_.leave(std::move(scope));
    return Names{};
  });
}

std::string LlvmKernelWriter::choose(const char* how, const std::string& a, const std::string& b) {
  const std::string first = w_.value("icmp " + std::string(how) + " i64 " + a + ", " + b);
  return w_.value("select i1 " + first + ", i64 " + a + ", i64 " + b);
}

/// Whole vectors of [begin, end), then the rest with a mask, in smaller steps perhaps: what is carried has
/// the lanes of these, and what whole vectors come to is taken in between. A body that is written once asks
/// at each load and store which of both it has.
LlvmKernelWriter::Names LlvmKernelWriter::split_lanes(const std::string& begin, const std::string& end,
                                                      std::vector<LlvmCarried> carried, const Body& body) {
  values_.set_hot(true);
  if (shape_.one_body) return masked_lanes(begin, end, carried, body, "L");
  w_.set_lanes(shape_.lanes);
  const bool narrows = shape_.rest_lanes < shape_.lanes;
  std::vector<LlvmCarried> wide = carried;
  for (std::size_t c = 0; c < carried.size() && narrows; ++c) {
    const Reduction& r = in_phase_[c];
    wide[c] = {w_.type(r.dtype, true), r.nans ? w_.real(r.dtype, true, 0) : identity(r.op, r.dtype, true)};
  }
  const std::string count = w_.value("sub i64 " + end + ", " + begin);
  const std::string whole = w_.value("and i64 " + count + ", -" + lanes_text());
  const std::string middle = w_.value("add i64 " + begin + ", " + whole);
  const Names through =
      w_.loop(begin, middle, lanes_text(), wide, [&](const std::string& i, const Names& names) {
        auto scope = values_.enter();
        Names next = body(i, names);
        values_.leave(std::move(scope));
        return next;
      });
  values_.set_hot(false);
  w_.set_lanes(shape_.rest_lanes);
  for (std::size_t c = 0; c < carried.size(); ++c)
    carried[c].value = narrows ? taken_in(in_phase_[c], carried[c].value, through[c]) : through[c];
  return masked_lanes(middle, end, carried, body, "rest");
}

LlvmKernelWriter::Names LlvmKernelWriter::masked_lanes(const std::string& begin, const std::string& end,
                                                       const std::vector<LlvmCarried>& carried,
                                                       const Body& body, const char* name) {
  auto step = [&](const std::string& i, const Names& names) {
    auto scope = values_.enter();
    const std::string count = smaller(w_.value("sub i64 " + end + ", " + i), lanes_text());
    std::string whole;
    if (shape_.one_body) whole = w_.named("whole", "icmp eq i64 " + count + ", " + lanes_text());
    values_.set_count(count, whole);
    Names next = body(i, names);
    values_.leave(std::move(scope));
    return next;
  };
  return w_.loop(begin, end, lanes_text(), carried, step, name);
}

void LlvmKernelWriter::phases(const std::string& point) {
  values_.allow_reduced();
  if (splits()) return stage(point);
  for (std::uint16_t phase = 0; phase < kernel_.phases; ++phase) {
    make_outer(phase);
    for (const ir::Store& store : kernel_.stores)
      if (store.phase == phase && store.level == Level::Outer) values_.store(store);
    if (!shape_.walks[phase]) continue;
    const Names totals = nest(phase);
    set_results(in_phase_, totals);
  }
}

}  // namespace sinter::emit
