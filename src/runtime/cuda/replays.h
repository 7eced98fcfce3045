// Plans that run again and again on one GPU: the launches of a plan are kept with the arguments they had
// last, and become a CUDA graph where that is worth it.
//
//   first run    launches start at once; nothing is kept, since many plans are never seen again
//   second run   launches are kept as nodes; three or more become a graph when the plan is submitted
//   later runs   only what differs from the run before is written to the nodes, then the graph is launched
//
// A plan without a graph starts its nodes one by one. That is also what happens to plans of one or two
// launches, where the driver has no graphs, and after an error of the driver's graph functions: graphs make
// things faster, never fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/parameters.h"

namespace sinter::runtime::cuda {

/// How a kernel is started, but for its arguments.
struct Start {
  Function function = nullptr;
  unsigned blocks = 0, x = 1, y = 1;
  const char* what = "";  // for errors
};

/// One start of a kernel in a plan, as it was last.
struct Node {
  const Executable* executable = nullptr;  // what was launched; null: all arguments are packed at each launch
  std::size_t launch = 0;                  // which launch of the plan this is, or belongs to
  Start start;
  Parameters parameters;
  std::size_t workspace_bytes = 0;
  bool may_fault = false;
  GraphNode handle = nullptr;  // where the plan has a graph
};

class Replays;

/// What is kept for a plan.
class PlanNodes final : public PlanState {
 public:
  explicit PlanNodes(Replays& replays) : replays_(replays) {}
  ~PlanNodes() override;
  PlanNodes(const PlanNodes&) = delete;
  PlanNodes& operator=(const PlanNodes&) = delete;

 private:
  friend class Replays;
  enum class Stage : std::uint8_t { New, Seen, Kept };
  void forget_nodes() { nodes_.clear(); }

  Replays& replays_;
  Stage stage_ = Stage::New;
  std::vector<Node> nodes_;  // complete iff Kept
  std::size_t most_workspace_ = 0;
  Graph graph_ = nullptr;  // as long as exec_: nodes are named by it
  GraphExec exec_ = nullptr;
  std::list<PlanNodes*>::iterator place_;  // among the live graphs, where graph_ is one
  std::size_t starts_ = 0;                 // of kernels, in the first run
  std::uint64_t runs_without_graph_ = 0;   // since the last one was evicted
  std::uint64_t wait_ = 1;                 // so many of them before the next one is built
  bool without_graph_ = false;             // the driver refused one
};

class Replays {
 public:
  /// `most_graphs`: of so many plans at a time, those used last; 0: none. `follow`: kernels wait by
  /// themselves for those before them (sn_follow in their text), so that those of this many blocks and more
  /// may be handed to the GPU while the one before ends; 0: none. Smaller ones are dealt unevenly to cores
  /// that way, and in a graph it is slower than the plain order.
  Replays(const DriverApi& api, Context context, Stream stream, std::size_t most_graphs, unsigned follow);
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;

  /// From here to `submit` or `abandon`, launches are those of one plan, in its order. The context must be
  /// current.
  void begin(std::unique_ptr<PlanState>& state);
  bool in_plan() const { return plan_ != nullptr; }

  /// True iff launches are held back until `submit`: memory they use must stay until then.
  bool deferred() const { return deferred_; }

  /// The most workspace that a launch of this plan needed so far.
  std::size_t most_workspace() const { return plan_ ? plan_->most_workspace_ : 0; }
  void note_workspace(std::size_t bytes);

  /// Call at each launch: the node that it was last time, if it is to be brought up to date by its patches.
  /// Null: pack all arguments and call `start`, for each kernel that the launch starts.
  Node* next_launch(const Executable& executable);
  /// After the patches of that node were written; `changed`: one of them was another value.
  void start_again(Node& node, bool changed);

  /// Starts a kernel, now or with its plan. `executable`: null unless `parameters` say all that may differ.
  void start(const Start& start, Parameters& parameters, const Executable* executable = nullptr,
             std::size_t workspace_bytes = 0, bool may_fault = false);

  /// The end of the plan's launches. Throws DeviceError where the driver refuses to launch.
  void submit();
  /// The end after an error: launches held back are dropped.
  void abandon() noexcept;

  std::uint64_t starts() const { return starts_; }
  std::uint64_t graphs_built() const { return graphs_built_; }
  std::uint64_t graph_launches() const { return graph_launches_; }

 private:
  friend class PlanNodes;
  void start_now(const Start& start, Parameters& parameters);
  void start_over();
  void build();
  void give_up(Result result, const char* what);
  void start_held_back();
  void drop_graph(PlanNodes& plan) noexcept;
  void end() noexcept;

  const DriverApi& api_;
  const Context context_;
  const Stream stream_;
  const std::size_t most_graphs_;
  const unsigned follow_;
  std::list<PlanNodes*> live_;  // plans with a graph, the one used last in front

  // Of the plan that is being run.
  PlanNodes* plan_ = nullptr;
  bool keeps_ = false;  // nodes are being made
  bool deferred_ = false;
  std::size_t launch_ = 0;  // launches so far
  std::size_t next_ = 0;    // node that comes next
  std::size_t seen_starts_ = 0;

  std::uint64_t starts_ = 0, graphs_built_ = 0, graph_launches_ = 0;
};

}  // namespace sinter::runtime::cuda
