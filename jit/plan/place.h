// Pass: gives every stored node its memory: new, donated by an input that dies, or a piece of the plan's
// arena.
#pragma once

#include <vector>

#include "jit/ir/traits.h"
#include "jit/plan/group/group.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// What is stored begins at a multiple of so many bytes.
inline constexpr std::size_t kAlignment = 256;

/// A launch before its buffers are bound.
struct Step {
  const LibraryCall* library = nullptr;                                    // of the grouping; null: a kernel
  bool is_join() const { return library != nullptr && library->is_join; }  // nothing is launched
  std::vector<GroupId> members;    // a kernel's groups; several share the launch
  NodeId node = kNoNode;           // the last node that it computes
  std::vector<BufferUse> buffers;  // in the order of the launch's arguments, member after member
};

struct Memory {
  std::vector<Binding> of_node;  // for stored nodes
  std::vector<std::size_t> output_bytes;
  std::vector<std::size_t> arena_bytes;      // of each segment
  std::vector<std::int64_t> in_place_bytes;  // for each step
  std::vector<NodeId> written_over;  // for each result of a kernel the operand that it replaces, or kNoNode
};

struct ArenaLimits {
  explicit ArenaLimits(const ir::DeviceTraits& traits)
      : segment_bytes(traits.most_buffer_bytes), spare_bytes(traits.overlap_bytes) {}
  std::size_t segment_bytes;  // no segment gets larger, unless a single temporary is; 0: one holds all
  std::size_t spare_bytes;    // DeviceTraits::overlap_bytes; 0: steps run one after the other
};

/// What placing asks about steps, and no size changes: which value is needed how long, and which result may
/// be written over which operand where their sizes are equal.
class PlaceRules {
 public:
  PlaceRules(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps);

  /// `graph`: the same, perhaps with other sizes, of which equal ones are equal still. Takes no more than
  /// `limits.spare_bytes` beyond what steps need that run one after the other.
  Memory place(const Graph& graph, const ArenaLimits& limits) const;

  std::size_t held_bytes() const;

 private:
  friend class PlaceReader;
  Memory placed(const Graph& graph, const ArenaLimits& limits) const;
  // Nodes that have memory, or that memory is taken from, have numbers of their own.
  using Number = std::uint32_t;
  struct Result {
    Number value;
    bool is_seen;                  // by somebody, afterwards
    std::uint32_t end_candidates;  // of the list; they begin where those of the result before end
  };
  struct Candidate {
    Number value;
    std::uint32_t input;  // the trace's buffer, or kNoInput
    std::uint32_t depth;  // of the deepest other step that uses it
  };
  struct PlacedStep {
    std::uint32_t results, last_uses;  // where its own end in the lists
    std::uint32_t depth;               // depths_of
  };
  struct LastUse {
    Number value;
    std::uint32_t depth;  // of the deepest step that uses it
  };
  struct Join {
    Number whole;
    std::uint32_t end_parts;  // of the list; they begin where those of the join before end
  };
  static constexpr std::uint32_t kNoInput = 0xffffffff;

  std::vector<PlacedStep> steps_;
  std::vector<Result> results_;
  std::vector<Candidate> candidates_;
  std::vector<NodeId> node_of_;          // of each number
  std::vector<std::uint32_t> like_;      // of each number a place in the next list
  std::vector<NodeId> representatives_;  // a node of each shape and dtype
  std::vector<LastUse> last_uses_;       // temporaries that a step is the last to touch, each once
  std::vector<Join> joins_;              // those of parts before those that they are parts of
  std::vector<Number> parts_;
  std::vector<Number> outermost_;  // of each number the join that it lies in; itself where it lies in none
  std::uint32_t inputs_ = 0;       // buffers of the trace
};

}  // namespace sinter::plan
