// The loops around a kernel's expressions: points, phases, reductions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "jit/emit/llvm/cost.h"
#include "jit/emit/llvm/values.h"

namespace sinter::emit {

class LlvmKernelWriter {
 public:
  LlvmKernelWriter(const ir::Kernel& kernel, const LlvmTarget& target, LlvmModule& module,
                   const LlvmShape& shape, LlvmLoops loops);

  /// The text of the function.
  std::string run(const std::string& name);

 private:
  using Names = LlvmWriter::Names;
  /// Writes what is done at `i` with what is carried, and gives what is carried on.
  using Body = std::function<Names(const std::string& i, const Names& carried)>;

  struct Reduction {
    ir::ExprId id, operand;
    Op op;
    DType dtype, total;  // f32 sums go into double
    bool vector;
    bool nans = false;  // keeps a NaN for the greatest or least before it, which passes NaN over
  };

  // ---- loops (kernel_writer.cpp)
  std::size_t rank() const { return std::size_t{kernel_.outer_rank} + kernel_.inner_rank; }
  std::string extent(std::size_t k) { return values_.integer(kernel_.extents[k]); }
  bool joins() const { return loops_ == LlvmLoops::Joined; }
  bool splits() const { return loops_ == LlvmLoops::Split; }
  /// The loops of the lanes, as one.
  std::size_t first_lane_loop() const { return along_ - (joins() ? 1 : 0); }
  std::string lane_extent();
  /// Points of inner loop k, or of all loops of the lanes from there on.
  std::string inner_extent(std::size_t k);
  std::string lanes_text() const { return std::to_string(w_.lanes()); }
  void bind_outer(std::string index, std::size_t last);
  void make_outer(std::uint16_t phase);
  void units();
  void rows();
  std::string smaller(const std::string& a, const std::string& b) { return choose("slt", a, b); }
  std::string larger(const std::string& a, const std::string& b) { return choose("sgt", a, b); }
  std::string choose(const char* how, const std::string& a, const std::string& b);
  Names split_lanes(const std::string& begin, const std::string& end, std::vector<LlvmCarried> carried,
                    const Body& body);
  Names masked_lanes(const std::string& begin, const std::string& end,
                     const std::vector<LlvmCarried>& carried, const Body& body, const char* name);
  /// What is done at the outer points that are bound; `point` is the first of them, counted row-major.
  void phases(const std::string& point);

  // ---- reductions (reductions.cpp)
  std::vector<Reduction> reductions_of(std::uint16_t phase) const;
  std::string identity(Op op, DType dtype, bool vector);
  std::string start_of(const Reduction& r);
  std::string halved(const Reduction& r, DType dtype, std::string vector, int from, int to);
  std::string combined(const Reduction& r, DType dtype, const std::string& type, const std::string& a,
                       const std::string& b);
  std::string taken_in(const Reduction& r, const std::string& carried, const std::string& wide);
  /// All lanes combined.
  std::string fold(const Reduction& r, const std::string& vector);
  /// The inner loops of a phase: what each of its reductions comes to.
  Names nest(std::uint16_t phase);
  /// Makes the results of a phase's reductions known.
  void set_results(const std::vector<Reduction>& reductions, const Names& totals);
  /// Whether a reduction's result differs from lane to lane.
  bool is_vector(const Reduction& r) const { return r.vector && !lanes_inner_; }
  std::string inner_begin(std::size_t k);
  std::string inner_end(std::size_t k);
  std::string rows_ahead();
  Names walk(std::size_t k, const std::vector<LlvmCarried>& carried, const std::string& index);
  Names innermost(std::size_t k, const std::vector<LlvmCarried>& totals, const std::string& index);
  std::uint16_t first_walk() const;
  bool fetches_next_row() const;
  Names stretch(std::size_t k, const std::string& begin, const std::string& end,
                const std::vector<LlvmCarried>& carried, const std::string& index);
  std::string accumulate(const Reduction& r, const std::string& sum);
  void make_inner(const std::string& index);
  std::string kept_pointer(const LlvmShape::Kept& kept, const std::string& index);

  // ---- parts of the inner loops (split.cpp)
  std::string split_field(LlvmSplitField field);
  /// One phase of one slice, or what comes last.
  void stage(const std::string& point);
  /// Where a slice leaves what a reduction of a phase, the `number`-th, comes to.
  std::string partial_pointer(std::uint16_t phase, std::size_t number, DType dtype, const std::string& slice,
                              const std::string& point);
  /// Makes the results of a finished phase known, from what the slices came to.
  void combine_slices(std::uint16_t phase, const std::string& point);

  const ir::Kernel& kernel_;
  const bool lanes_inner_;
  const LlvmLoops loops_;
  const std::size_t along_;
  const LlvmShape& shape_;
  LlvmWriter w_;
  LlvmValues values_;
  std::uint16_t phase_ = 0;
  std::vector<Reduction> in_phase_;
  std::string first_end_, rows_ahead_, inner_count_, joined_extent_;
  std::map<int, std::string> split_fields_;
};

}  // namespace sinter::emit
