// Records the launches of plans and makes graphs of them.
#include "src/runtime/cuda/replays.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "src/base/env.h"

namespace sinter::runtime::cuda {

namespace {

// Fewer launches cost the host no more than launching a graph.
constexpr std::size_t kLeastNodes = 3;
constexpr std::uint64_t kLongestWait = 1 << 20;
constexpr unsigned kManyBlocks = 8;  // for each multiprocessor
constexpr const char* kCaptured = "capturing the launch of a library";

/// Counts without a locked instruction: only one thread at a time writes.
void count(std::atomic<std::uint64_t>& counter, std::uint64_t more = 1) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

KernelNode described(const Start& start, Parameters& parameters) {
  KernelNode node;
  node.function = start.function;
  node.grid[0] = start.blocks;
  node.block[0] = start.x;
  node.block[1] = start.y;
  node.shared_bytes = start.shared_bytes;
  node.parameters = parameters.pointers();
  return node;
}

}  // namespace

PlanNodes::~PlanNodes() {
  if (!exec_) return;
  replays_.api_.context_set_current(replays_.context_);
  replays_.drop_graph(*this);
}

Replays::Replays(const DriverApi& api, Context context, Stream stream, std::size_t most_graphs,
                 unsigned multiprocessors)
    : api_(api),
      context_(context),
      stream_(stream),
      most_graphs_(api.has_graphs() ? most_graphs : 0),
      most_strands_(static_cast<std::size_t>(base::environment().cuda_strands)),
      multiprocessors_(multiprocessors) {}

Replays::~Replays() {
  if (capturing_) api_.stream_destroy(capturing_);
}

void Replays::begin(std::unique_ptr<PlanState>* state, const plan::LaunchOrder* order) {
  if (!state) return;
  if (!*state) *state = std::make_unique<PlanNodes>(*this);
  PlanNodes& plan = *static_cast<PlanNodes*>(state->get());
  if (order != plan.order_) {
    drop_graph(plan);
    plan.order_ = order;
  }
  plan_ = &plan;
  launch_ = next_ = seen_starts_ = 0;
  recording_ = plan.stage_ == PlanNodes::Stage::Seen;
  deferred_ = plan.exec_ != nullptr;
  if (deferred_ || most_graphs_ == 0 || plan.without_graph_) return;
  if (plan.stage_ == PlanNodes::Stage::New || plan.starts_ < kLeastNodes) return;
  deferred_ = ++plan.runs_without_graph_ >= plan.wait_;
}

Node* Replays::next_launch(const Executable& executable) {
  if (!plan_) return nullptr;
  const std::size_t launch = launch_++;
  if (plan_->stage_ != PlanNodes::Stage::Recorded || next_ >= plan_->nodes_.size()) return nullptr;
  Node& node = plan_->nodes_[next_];
  return node.launch == launch && node.executable == &executable ? &node : nullptr;
}

void Replays::replay(Node& node) {
  ++next_;
  if (!deferred_) return start_now(node);
  if (!plan_->exec_ || !node.stale) return;
  const Result result = update(plan_->exec_, node);
  if (result != kSuccess) return fall_back(result, node.call ? kCaptured : "cuGraphExecKernelNodeSetParams");
  node.stale = false;
}

void Replays::start(const Start& start, Parameters& parameters, const Executable* executable) {
  if (!plan_ || plan_->stage_ == PlanNodes::Stage::New) {
    ++seen_starts_;
    return start_now(start, parameters);
  }
  if (recording_) {
    Node& node = plan_->nodes_.emplace_back();
    node.executable = executable;
    node.launch = launch_ - 1;
    node.start = start;
    node.parameters = parameters;
    return replay(node);
  }
  if (next_ < plan_->nodes_.size()) {
    Node& node = plan_->nodes_[next_];
    if (!node.call && node.launch == launch_ - 1 && node.start.function == start.function &&
        node.parameters.same_layout(parameters)) {
      const bool moved = node.start.blocks != start.blocks || node.start.x != start.x ||
                         node.start.y != start.y || node.start.shared_bytes != start.shared_bytes;
      node.start = start;
      node.stale |= node.parameters.assign(parameters) || moved;
      return replay(node);
    }
  }
  start_over();
  ++seen_starts_;
  start_now(start, parameters);
}

void Replays::start(const LtCall& call) {
  if (!plan_ || plan_->stage_ == PlanNodes::Stage::New) {
    ++seen_starts_;
    return start_now(call);
  }
  if (recording_) {
    Node& node = plan_->nodes_.emplace_back();
    node.launch = launch_ - 1;
    node.call = call;
    return replay(node);
  }
  if (next_ < plan_->nodes_.size()) {
    Node& node = plan_->nodes_[next_];
    // The same algorithm puts the same kernels on the stream, so that the graph's node can take their
    // arguments.
    if (node.call && node.launch == launch_ - 1 && node.call->product == call.product &&
        node.call->way == call.way) {
      node.stale |= *node.call != call;
      node.call = call;
      return replay(node);
    }
  }
  start_over();
  ++seen_starts_;
  start_now(call);
}

void Replays::launch_outside() {
  if (plan_) {
    ++launch_;
    plan_->without_graph_ = true;
  }
  count(starts_);
}

void Replays::submit() {
  if (!plan_) return;
  if (plan_->stage_ != PlanNodes::Stage::New && next_ != plan_->nodes_.size()) start_over();
  switch (plan_->stage_) {
    case PlanNodes::Stage::New:
      plan_->starts_ = seen_starts_;
      plan_->stage_ = PlanNodes::Stage::Seen;
      break;
    case PlanNodes::Stage::Seen:
      plan_->stage_ = PlanNodes::Stage::Recorded;
      recording_ = false;  // the nodes are complete, and stay whatever fails from here on
      break;
    case PlanNodes::Stage::Recorded: break;
  }
  if (deferred_ && !plan_->exec_) build();
  if (deferred_) {
    live_.splice(live_.begin(), live_, plan_->place_);
    const Result result = api_.graph_launch(plan_->exec_, stream_);
    if (result == kOutOfMemory) {
      fall_back(result, "cuGraphLaunch");
    } else {
      check(result, "the launch of a plan's graph");
      count(starts_, plan_->nodes_.size());
      count(graph_launches_);
    }
  }
  end();
}

void Replays::abandon() noexcept {
  if (plan_ && recording_) plan_->forget_nodes();
  end();
}

void Replays::end() noexcept {
  plan_ = nullptr;
  recording_ = deferred_ = false;
}

void Replays::start_now(const Start& start, Parameters& parameters) {
  const bool is_large = start.blocks >= kManyBlocks * multiprocessors_ || start.fills;
  if (multiprocessors_ > 0 && api_.launch_with && is_large) {
    LaunchAttribute attribute;
    const LaunchConfig config{
        {start.blocks, 1, 1}, {start.x, start.y, 1}, start.shared_bytes, stream_, &attribute, 1};
    check(api_.launch_with(&config, start.function, parameters.pointers(), nullptr), start.what);
  } else {
    check(api_.launch(start.function, start.blocks, 1, 1, start.x, start.y, 1, start.shared_bytes, stream_,
                      parameters.pointers(), nullptr),
          start.what);
  }
  count(starts_);
}

void Replays::start_now(const LtCall& call) {
  call.start(stream_);
  count(starts_);
}

void Replays::start_now(Node& node) {
  if (node.call) return start_now(*node.call);
  start_now(node.start, node.parameters);
}

void Replays::start_deferred() {
  deferred_ = false;
  for (std::size_t i = 0; i < next_; ++i) start_now(plan_->nodes_[i]);
}

/// What the call puts on a stream, as a graph of the caller's.
Result Replays::capture(const LtCall& call, Graph& graph) {
  if (!api_.has_captures()) return kNotSupported;
  if (!capturing_)
    if (const Result result = api_.stream_create(&capturing_, kStreamNonBlocking); result != kSuccess) {
      capturing_ = nullptr;
      return result;
    }
  // The library may load its kernels meanwhile, and other threads may do what they like.
  if (const Result result = api_.stream_begin_capture(capturing_, kCaptureRelaxed); result != kSuccess)
    return result;
  bool failed = false;
  try {
    call.start(capturing_);
  } catch (const std::exception&) {
    // Started without a graph it says what is wrong.
    failed = true;
  }
  const Result result = api_.stream_end_capture(capturing_, &graph);
  if (result != kSuccess) graph = nullptr;
  if (!failed || result != kSuccess) return result;
  api_.graph_destroy(std::exchange(graph, nullptr));
  return kNotSupported;
}

/// True iff the driver may place the node's blocks while the other one runs, which both texts allow. Not
/// beside other strands, in whose way they would be; and not where either has shared memory of a size of its
/// own: a multiprocessor is emptied before it divides its memory otherwise.
bool Replays::begins_early(const Node& node, const Node& before) const {
  return api_.graph_add_edges && !plan_->order_ && !node.call && !before.call &&
         node.start.shared_bytes == 0 && before.start.shared_bytes == 0 &&
         node.start.blocks <= multiprocessors_;
}

Result Replays::add(Graph graph, Node& node, std::span<const Node* const> before) {
  std::vector<GraphNode> ended, early;
  for (const Node* other : before) (begins_early(node, *other) ? early : ended).push_back(other->handle);
  if (!node.call) {
    const KernelNode description = described(node.start, node.parameters);
    const Result result =
        api_.graph_add_kernel(&node.handle, graph, ended.data(), ended.size(), &description);
    if (result != kSuccess || early.empty()) return result;
    const std::vector<GraphNode> to(early.size(), node.handle);
    const std::vector<GraphEdge> edges(early.size());
    return api_.graph_add_edges(graph, early.data(), to.data(), edges.data(), edges.size());
  }
  Graph part = nullptr;
  if (const Result result = capture(*node.call, part); result != kSuccess) return result;
  const Result result = api_.graph_add_graph(&node.handle, graph, ended.data(), ended.size(), part);
  api_.graph_destroy(part);  // the node has a copy
  return result;
}

Result Replays::update(GraphExec exec, Node& node) {
  if (!node.call) {
    const KernelNode description = described(node.start, node.parameters);
    return api_.graph_exec_set_kernel(exec, node.handle, &description);
  }
  Graph part = nullptr;
  if (const Result result = capture(*node.call, part); result != kSuccess) return result;
  const Result result = api_.graph_exec_set_graph(exec, node.handle, part);
  api_.graph_destroy(part);
  return result;
}

/// The launches differ from the last run: treats the plan as new.
void Replays::start_over() {
  drop_graph(*plan_);
  if (deferred_) start_deferred();
  seen_starts_ = next_;
  plan_->forget_nodes();
  plan_->stage_ = PlanNodes::Stage::New;
  recording_ = false;
}

/// The nodes of a launch are a chain. Without an order all are: a launch reads what earlier ones wrote, and
/// they share the arena and the workspace.
Result Replays::add_nodes(PlanNodes& plan, const char*& what) {
  std::vector<std::vector<const Node*>> ends(launch_);  // of each launch: who stands for its end
  std::size_t next = 0;
  for (std::size_t launch = 0; launch < launch_; ++launch) {
    std::vector<const Node*>& end = ends[launch];
    if (plan.order_) {
      // Of several launches without nodes of their own all may stand for the same.
      for (const std::uint32_t before : plan.order_->after_of(launch))
        for (const Node* node : ends[before])
          if (std::find(end.begin(), end.end(), node) == end.end()) end.push_back(node);
    } else if (launch > 0) {
      end = ends[launch - 1];
    }
    for (; next < plan.nodes_.size() && plan.nodes_[next].launch == launch; ++next) {
      Node& node = plan.nodes_[next];
      what = node.call ? kCaptured : "cuGraphAddKernelNode";
      if (const Result result = add(plan.graph_, node, end); result != kSuccess) return result;
      node.stale = false;
      end.assign(1, &node);
    }
  }
  return kSuccess;
}

void Replays::build() {
  PlanNodes& plan = *plan_;
  while (live_.size() >= most_graphs_) {
    // Graphs that evict each other must not cost more than they save: after each eviction, a plan waits
    // longer for its next graph.
    PlanNodes& oldest = *live_.back();
    drop_graph(oldest);
    oldest.runs_without_graph_ = 0;
    oldest.wait_ = std::min(2 * oldest.wait_, kLongestWait);
  }
  plan.place_ = live_.insert(live_.begin(), &plan);
  Result result = api_.graph_create(&plan.graph_, 0);
  if (result != kSuccess) return fall_back(result, "cuGraphCreate");
  const char* what = nullptr;
  result = add_nodes(plan, what);
  if (result != kSuccess) return fall_back(result, what);
  result = api_.graph_instantiate(&plan.exec_, plan.graph_, 0);
  if (result != kSuccess) {
    plan.exec_ = nullptr;
    return fall_back(result, "cuGraphInstantiate");
  }
  count(graphs_built_);
}

void Replays::fall_back(Result result, const char* what) {
  const char* name = "unknown error";
  api_.error_name(result, &name);
  base::warn_once(
      std::string("[cuda] a plan runs without a CUDA graph, so its launches cost the host more: ") + what +
      " failed: " + name);
  drop_graph(*plan_);
  plan_->without_graph_ = true;
  start_deferred();
}

void Replays::drop_graph(PlanNodes& plan) noexcept {
  // A graph in flight runs to its end; the driver frees it afterwards.
  if (plan.exec_) api_.graph_exec_destroy(std::exchange(plan.exec_, nullptr));
  if (plan.graph_) api_.graph_destroy(std::exchange(plan.graph_, nullptr));
  live_.remove(&plan);
}

}  // namespace sinter::runtime::cuda
