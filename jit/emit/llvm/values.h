// Kernel expressions as LLVM values: arithmetic, index maps, loads and stores. The loops around them are
// in emit.cpp.
//
// A value is a vector over the lanes, neighbouring points along one loop, where it depends on that loop, and
// a scalar where it does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jit/emit/llvm/emit.h"
#include "jit/emit/llvm/writer.h"
#include "jit/ir/kernel.h"

namespace sinter::emit {

struct LlvmOperand {
  std::string text;
  bool vector = false;
};

class LlvmValues {
 public:
  /// `along`: the loop whose points are lanes; `join`: they go on over the loop before it as well.
  LlvmValues(const ir::Kernel& kernel, const LlvmTarget& target, LlvmWriter& writer, std::size_t along,
             bool join);

  // --- scopes: what is made known in one is forgotten at its end
  struct Scope {
    std::vector<LlvmOperand> values;
    std::vector<std::string> bases, offsets;
    std::vector<LlvmOperand> positions;
    std::string mask, mask_count, whole;
    std::uint64_t bound;
  };
  Scope enter() const { return {values_, bases_, offsets_, positions_, mask_, mask_count_, whole_, bound_}; }
  void leave(Scope scope);

  /// From here on, loop `k` stands at `coordinate`.
  void bind(std::size_t k, const std::string& coordinate);
  /// The same for the loops of the lanes; `point` is that of the first lane.
  void bind_lanes(const std::string& point);
  /// Only the first `count` lanes exist. `whole`: a truth value that is true where these are all; loads and
  /// stores then go without a mask. Without it they always have one.
  void set_count(const std::string& count, const std::string& whole = "");
  /// `next` in the lanes that exist, `before` in the others.
  std::string where_there(const std::string& type, const std::string& next, const std::string& before);
  /// From here on, text is written for speed, else to be short.
  void set_hot(bool hot) { in_hot_loop_ = hot; }
  /// Loads of the hot loop ask for what later rounds will load.
  void fetch_ahead() { fetches_ahead_ = true; }
  /// From here on, values that depend on finished reductions may be made.
  void allow_reduced() { bound_ |= kReduced; }

  // --- expressions
  bool is_vector(ir::ExprId id) const { return (dims_[id] & lane_dims()) != 0; }
  std::uint64_t dims(ir::ExprId id) const { return dims_[id]; }
  /// True iff all loops that the expression depends on are bound.
  bool can_make(ir::ExprId id) const { return (dims_[id] & ~bound_) == 0; }
  /// Makes the value, whose operands are there.
  void make(ir::ExprId id);
  bool has(ir::ExprId id) const { return !values_[id].text.empty(); }
  const LlvmOperand& get(ir::ExprId id) const { return values_[id]; }
  void set(ir::ExprId id, LlvmOperand value) { values_[id] = std::move(value); }
  void store(const ir::Store& store);
  /// Asks for the lanes that a load will read when `loop` has gone so many steps further.
  void prefetch_next(const ir::Expr& load, std::size_t loop, const std::string& steps);

  // --- parts
  LlvmOperand apply(Op op, DType result, DType operands, std::vector<LlvmOperand> args);
  /// The op by which a reduction takes in a value, on vectors or scalars of `type`.
  std::string combine(Op reduction, DType dtype, const std::string& type, const std::string& a,
                      const std::string& b);
  /// The greater or lesser of two, b where they have no order: `combine` without its care for a NaN in a.
  std::string ordered(Op reduction, DType dtype, const std::string& type, const std::string& a,
                      const std::string& b);
  /// `a` where it is NaN, else `b`.
  std::string with_nan(const std::string& type, const std::string& a, const std::string& b);
  std::string vector(DType dtype, const LlvmOperand& value);
  /// An int argument as i64.
  std::string integer(ir::IntRef ref);
  /// The same where it is divided by: at least 1.
  std::string divisor(ir::IntRef ref);
  /// Loads or stores lanes or a scalar at consecutive elements, of those that exist. Lanes are zeros where
  /// `wanted_one` (for all of them) or `wanted` (for each), if given, is false.
  LlvmOperand load_row(DType dtype, const std::string& pointer, bool vector,
                       const std::string& wanted_one = "", const std::string& wanted = "");
  void store_row(DType dtype, const std::string& pointer, const LlvmOperand& value);

  /// Whether some results may be written past the caches: the function then ends with a fence.
  bool streams() const { return streams_; }

  static constexpr std::uint64_t kReduced = std::uint64_t{1} << 63;

 private:
  // Elementwise (ops.cpp).
  LlvmOperand cast(DType to, DType from, const LlvmOperand& value);
  // From and to f32 (halves.cpp).
  LlvmOperand from_stored(DType stored, const LlvmOperand& bits);
  LlvmOperand to_stored(DType stored, const LlvmOperand& number);
  friend struct LlvmForms;  // the op table names these
  std::string negated(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string magnitude(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string sign(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string reciprocal(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string quotient_by_one(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string is_nan(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string complement(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string extreme(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string shift(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  std::string integer_division(Op op, DType dtype, bool vector, const std::string& a, const std::string& b);
  LlvmOperand call_block_function(Op op, DType result, DType operands, bool vector,
                                  const std::vector<std::string>& args);

  // Maps and memory (maps.cpp, memory.cpp).
  const char* index_type() const { return kernel_.wide ? "i64" : "i32"; }
  bool is_affine(std::size_t map) const { return kernel_.maps[map].steps.size() == 1; }
  std::uint64_t lane_dims() const { return std::uint64_t{join_ ? 3u : 1u} << (along_ - (join_ ? 1 : 0)); }
  ir::IntRef lane_stride(std::size_t map) const { return kernel_.maps[map].steps.front().strides[along_]; }
  /// What a map does from lane to lane; for a map of several steps whether it does anything.
  enum class Walk : std::uint8_t { Stays, Row, Jumps };
  Walk walk_of(std::size_t map) const {
    if ((map_dims_[map] & lane_dims()) == 0) return Walk::Stays;
    return !join_ && lane_stride(map).is_one() ? Walk::Row : Walk::Jumps;
  }
  /// Whether the map's first step does anything from lane to lane.
  bool steps_along_lanes(std::size_t map) const;
  /// How far each lane is from the map's base, in the index type.
  std::string lane_offsets(std::size_t map);
  /// The map's number: i64 where it is a scalar, of the index type where it is a vector.
  LlvmOperand position(std::size_t map);
  std::string inverse(ir::IntRef ref);
  struct Parts {
    LlvmOperand quotient, remainder;
  };
  Parts divide(const LlvmOperand& number, ir::IntRef by);
  LlvmOperand add(const LlvmOperand& a, const LlvmOperand& b);
  LlvmOperand multiply(const LlvmOperand& a, ir::IntRef by);
  LlvmOperand as_index(const LlvmOperand& value);
  std::string both_masks(const std::string& a, const std::string& b);
  /// True in the lanes that exist; computed where it is asked for.
  std::string mask_of_count();
  LlvmOperand load(const ir::Expr& e);
  /// Asks for the lines of as many elements as there are lanes, from so many bytes behind `pointer` on.
  void prefetch(DType dtype, const std::string& pointer, int ahead);
  LlvmOperand load_at(const ir::Expr& e);
  /// Of the lanes that exist, those where `wanted`, if given, is true.
  LlvmOperand gather(DType dtype, const std::string& pointer, const std::string& positions,
                     const std::string& wanted);
  LlvmOperand load_one(DType dtype, const std::string& pointer, const std::string& wanted);
  void scatter(DType dtype, const std::string& pointer, const std::string& positions,
               const std::string& value);
  /// Stores the lanes of a result, past the caches where the caller of the function asks for it.
  void store_result(std::size_t buffer, const std::string& pointer, const std::string& lanes);
  /// 1 or 0: the buffer's bit of `cached`.
  std::string cached(std::size_t buffer);
  LlvmOperand in_bounds(const ir::Expr& e);
  LlvmOperand random(const ir::Expr& e);
  std::string to_memory(DType dtype, bool vector, const std::string& value);
  LlvmOperand from_memory(DType dtype, bool vector, const std::string& value);
  std::string zeros();
  std::string buffer(std::size_t index);
  std::string scalar(std::size_t index);
  LlvmOperand any_of(const std::string& mask);
  std::string all_of(const std::string& mask);
  LlvmOperand as_wide(const LlvmOperand& number);
  /// buffer[at], where `wanted_one` (a scalar) or `wanted` (lanes) is true, if given.
  LlvmOperand load_where(const ir::Expr& e, const LlvmOperand& at, const std::string& wanted_one,
                         const std::string& wanted);

  const ir::Kernel& kernel_;
  const LlvmTarget& target_;
  LlvmWriter& w_;
  const std::size_t along_;
  const bool join_;
  std::vector<std::uint64_t> dims_;
  std::vector<LlvmOperand> values_;
  std::vector<std::string> bases_;       // by map: offset and the loops bound so far
  std::vector<std::uint32_t> map_dims_;  // by map: the loops that it depends on
  std::vector<std::string> offsets_;     // by map, where loops are joined: of the lanes
  std::vector<LlvmOperand> positions_;   // by map, of those with several steps
  std::string mask_, mask_count_;        // empty: all lanes
  std::string whole_;                    // true where the mask is; empty: not known
  std::uint64_t bound_ = 0;              // bit k: loop k
  std::vector<std::string> buffers_, cached_, scalars_;
  std::map<std::uint16_t, std::string> ints_, divisors_;
  std::map<std::pair<std::uint16_t, int>, std::string> inverses_, lane_offsets_;  // and by lanes
  std::string blocks_[4];
  bool streams_ = false, in_hot_loop_ = false, fetches_ahead_ = false;
};

}  // namespace sinter::emit
