// Replays of plans on one GPU: records a plan's launches with their last arguments, and makes a CUDA graph of
// them where that is worth it.
//
//   first run    launches start at once; nothing is recorded, since many plans never run again
//   second run   launches are recorded as nodes; three or more become a graph at `submit`
//   later runs   only changed arguments are written to the nodes, then the graph is launched
//
// What a vendor's library puts on the stream is captured, as a graph that is a node of the plan's, and
// captured anew when an address has moved.
//
// A plan without a graph starts its nodes one by one: a plan of one or two launches, a driver without graphs,
// or an error of a graph function. An error while building a graph is a warning, never a failure.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/libraries/lt_products.h"
#include "src/runtime/cuda/parameters.h"

namespace sinter::runtime::cuda {

/// A kernel function and its launch configuration.
struct Start {
  Function function = nullptr;
  unsigned blocks = 0, x = 1, y = 1;
  const char* what = "";      // for errors
  unsigned shared_bytes = 0;  // beside what the function declares
  bool fills = false;         // one block for each multiprocessor, which has room for no more
  bool has_maps = false;      // parameters have tensor maps, made for the addresses of a launch
};

/// A kernel launch in a plan, or a library's, with the arguments of its last run.
struct Node {
  const Executable* executable = nullptr;  // null: all arguments are packed at each launch
  std::size_t launch = 0;                  // index of the plan's launch that it belongs to
  Start start;
  Parameters parameters;
  std::optional<LtCall> call;  // there is one: in place of `start` and `parameters`
  GraphNode handle = nullptr;  // set where the plan has a graph
  /// The graph's node does not have these parameters. It stands with them, so that a run which ends between
  /// the writing of parameters and the update of the graph leaves it to the next run.
  bool stale = false;

  /// Overwrites a patch.
  void write(const Patch& patch, std::uint64_t bits) { stale |= parameters.set(patch, bits); }
};

class Replays;

/// The recorded nodes of a plan, and its graph.
class PlanNodes final : public PlanState {
 public:
  explicit PlanNodes(Replays& replays) : replays_(replays) {}
  ~PlanNodes() override;
  PlanNodes(const PlanNodes&) = delete;
  PlanNodes& operator=(const PlanNodes&) = delete;

 private:
  friend class Replays;
  enum class Stage : std::uint8_t { New, Seen, Recorded };
  void forget_nodes() { nodes_.clear(); }

  Replays& replays_;
  Stage stage_ = Stage::New;
  std::vector<Node> nodes_;  // complete iff Recorded
  Graph graph_ = nullptr;    // lives as long as exec_, which refers to its nodes
  GraphExec exec_ = nullptr;
  std::list<PlanNodes*>::iterator place_;  // position in Replays::live_, where it has a graph
  std::size_t starts_ = 0;                 // kernels started in the first run
  const plan::LaunchOrder* order_ = nullptr;
  std::uint64_t runs_without_graph_ = 0;  // since its graph was evicted
  std::uint64_t wait_ = 1;                // runs before the next graph is built
  bool without_graph_ = false;            // a graph function failed
};

class Replays {
 public:
  /// `most_graphs`: at most this many graphs at a time, least recently used evicted; 0: none.
  /// `multiprocessors`: of a device with programmatic dependent launch, by which a kernel is there when the
  /// one before ends (their text waits by sn_follow); 0: of one without. Its blocks go where there is room by
  /// then. On the stream kernels are launched so that have many blocks, or fill the device with fewer; in
  /// graphs that are one chain, those of one block for each multiprocessor at most: others would be
  /// distributed unevenly.
  Replays(const DriverApi& api, Context context, Stream stream, std::size_t most_graphs,
          unsigned multiprocessors);
  ~Replays();
  Replays(const Replays&) = delete;
  Replays& operator=(const Replays&) = delete;

  /// Opens a run: the launches up to `submit` or `abandon` are the plan's, in order. Null: of no plan, so
  /// that each starts at once and nothing is kept. The context must be current.
  /// `order`: of the plan's launches, which a graph of it keeps to, and only to that; null: one after the
  /// other. It lives as long as the plan, or until `begin` is told another one.
  void begin(std::unique_ptr<PlanState>* state, const plan::LaunchOrder* order);

  /// Call at each launch. Returns the recorded node if only its patches may have changed: write them and call
  /// `replay`. Null: pack all arguments and call `start` for each kernel that the launch starts.
  Node* next_launch(const Executable& executable);
  /// Starts a node whose patches were written, now or with the graph.
  void replay(Node& node);

  /// Starts a kernel, now or with the graph. `executable`: null unless the patches of `parameters` cover
  /// everything that may change.
  void start(const Start& start, Parameters& parameters, const Executable* executable = nullptr);

  /// Likewise a library's launch.
  void start(const LtCall& call);
  /// Call at a launch that no graph can hold. A plan has it in its first run already, so that no launch of
  /// the plan is ever deferred.
  void launch_outside();

  /// Ends the run. Throws DeviceError where the driver fails to launch.
  void submit();
  /// Ends the run after an error: deferred launches are dropped.
  void abandon() noexcept;

  const DriverApi& api() const { return api_; }
  /// Without graphs launches follow each other on a stream.
  std::size_t most_strands() const { return most_graphs_ == 0 ? 1 : most_strands_; }
  std::uint64_t starts() const { return starts_; }
  std::uint64_t graphs_built() const { return graphs_built_; }
  std::uint64_t graph_launches() const { return graph_launches_; }

 private:
  friend class PlanNodes;
  void start_now(const Start& start, Parameters& parameters);
  void start_now(const LtCall& call);
  void start_now(Node& node);
  Result capture(const LtCall& call, Graph& graph);
  Result add(Graph graph, Node& node, std::span<const Node* const> before);
  bool begins_early(const Node& node, const Node& before) const;
  Result add_nodes(PlanNodes& plan, const char*& what);
  Result update(GraphExec exec, Node& node);
  void start_over();
  void build();
  void fall_back(Result result, const char* what);
  void start_deferred();
  void drop_graph(PlanNodes& plan) noexcept;
  void end() noexcept;

  const DriverApi& api_;
  const Context context_;
  const Stream stream_;
  const std::size_t most_graphs_, most_strands_;
  const unsigned multiprocessors_;
  Stream capturing_ = nullptr;  // made at the first capture
  std::list<PlanNodes*> live_;  // plans with a graph, most recently used first

  // State of the current run.
  PlanNodes* plan_ = nullptr;
  bool recording_ = false;  // this run records nodes
  bool deferred_ = false;
  std::size_t launch_ = 0;  // launches so far
  std::size_t next_ = 0;    // index of the next node
  std::size_t seen_starts_ = 0;

  // Counted by one thread at a time, read by any.
  std::atomic<std::uint64_t> starts_{0}, graphs_built_{0}, graph_launches_{0};
};

}  // namespace sinter::runtime::cuda
