// Fills the numbers of a program into a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/plan/graph.h"
#include "jit/plan/reuse/numbers.h"

namespace sinter::plan {

/// A graph whose nodes have sizes that are numbers of its trace, and integers as the trace has them.
class SizedGraph {
 public:
  /// Takes notes of the graph as it is, whose nodes stay where they are. `numbers`: the trace's. `fits` says
  /// whether it is such a graph.
  SizedGraph(Graph& graph, const Numbers& numbers);
  bool fits() const { return fits_; }

  /// Fills in what `numbers` are now, and the integers of the graph's trace, which is another one of the same
  /// structure. False where sizes are not known, or other starts move. Takes as long as there are sizes that
  /// differ from those of the last time.
  bool fill(const Numbers& numbers);

 private:
  struct TakesInts {  // a node that has the integers of its op of the trace
    NodeId node;
    std::uint32_t first_start;      // number of the op's
    std::vector<NodeStart> moving;  // as they were
  };

  struct Size {  // one of the graph's numbers, and the shapes that have it
    Numbers::Id number;
    std::int64_t now;
    std::vector<std::int64_t*> places;
  };

  Graph& graph_;
  std::vector<Size> sizes_;
  std::vector<TakesInts> takes_ints_;
  bool fits_ = true;
};

}  // namespace sinter::plan
