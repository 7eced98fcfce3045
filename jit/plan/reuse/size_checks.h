// What decisions of the planner asked about sizes, so that they can be asked again for other sizes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <sinter/shape.h>

#include "jit/ir/traits.h"

namespace sinter::plan {

struct Graph;
class Questions;

/// Comparisons that grouping and the passes made, each different one once. The planner notes them where it
/// compares sizes (`Graph::checks`), and `hold` tells whether they come out the same for other sizes.
class SizeChecks {
 public:
  /// The number of elements of a shape, so many times.
  struct Term {
    Shape shape;
    double times;
  };
  enum class Is : std::uint8_t { More, AtLeast, Equal };

  explicit SizeChecks(const ir::DeviceTraits& traits);
  ~SizeChecks();

  /// The sum of terms and `constant`, compared with 0, gave `outcome`.
  void compare(Is is, std::vector<Term> terms, double constant, bool outcome);
  /// A reduction over such elements to such results was looked at: whether groups should share the work.
  void sharing(const Shape& elements, const Shape& results);
  /// A reduction of `in` over the dims `bits` was cut at `dim` (split_reductions) into `pieces`; 1: it was
  /// not.
  void cut(const Shape& in, std::int64_t bits, std::size_t dim, std::int64_t pieces);
  /// A size that a decision wrote, the same as long as comparisons come out the same.
  void write(std::int64_t size) { written_.push_back(size); }
  /// What a question about a node of a graph was answered. It may look at the node, at its operands, and at
  /// what these are views or casts of.
  using Question = std::uint64_t (*)(const Graph& graph, std::uint32_t node, const ir::DeviceTraits& traits);
  void ask(const Graph& graph, std::uint32_t node, Question question);
  /// Something was decided by sizes in a way that cannot be checked.
  void give_up() { gave_up_ = true; }
  bool gave_up() const { return gave_up_; }

  /// A size of the program that was planned becomes one of another program.
  using Sizes = std::function<std::int64_t(std::int64_t)>;
  /// True iff all comparisons come out the same. Questions are held to their answers by `questions`.
  bool hold(const Sizes& sizes) const;

  /// A reduction that was cut.
  struct Cut {
    Shape in;
    std::int64_t bits;
    std::size_t dim;
    std::int64_t pieces;
  };
  const std::vector<Cut>& cuts() const { return cuts_; }
  const std::vector<std::int64_t>& written() const { return written_; }
  Questions& questions() { return *questions_; }

 private:
  // Shapes that are asked about are kept once, and named by their places.
  struct PlacedTerm {
    std::uint32_t shape;
    double times;
  };
  struct Comparison {
    Is is;
    bool outcome;
    double constant;
    std::vector<PlacedTerm> terms;
  };
  struct Reduction {
    std::uint32_t elements, results;
    std::uint16_t answers;
  };
  using Words = std::vector<std::uint64_t>;

  std::uint32_t place_of(const Shape& shape);
  bool is_new(Words words) { return known_.insert(std::move(words)).second; }
  std::uint16_t answers_of(double elements, double results) const;

  const ir::DeviceTraits& traits_;
  absl::flat_hash_map<std::array<std::int64_t, kMaxRank + 1>, std::uint32_t> places_;
  std::vector<Shape> shapes_;
  absl::flat_hash_set<Words> known_;
  std::vector<Comparison> comparisons_;
  std::vector<Reduction> reductions_;
  std::vector<Cut> cuts_;
  std::vector<std::int64_t> written_;
  std::unique_ptr<Questions> questions_;
  bool gave_up_ = false;
};

}  // namespace sinter::plan
