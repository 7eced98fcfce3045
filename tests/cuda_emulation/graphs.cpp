// Graphs of kernels, and of captured graphs within them, for the emulated driver. Arguments are copied at the
// call, like the real driver does. Nodes without an order between them run in the order that a program is
// least likely to expect: last added first.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "streams.h"

namespace sinter_emulation {
namespace {

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNodeParameters {
  const Function* function;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;
  void* context;
};

struct Kernel {
  std::vector<std::function<int()>> calls;  // of a graph within a graph: in place of the rest
  const Function* function = nullptr;
  unsigned grid[3] = {}, block[3] = {};
  std::vector<Parameter> values;

  void set(const KernelNodeParameters& from) {
    function = from.function;
    std::copy_n(from.grid, 3, grid);
    std::copy_n(from.block, 3, block);
    values.clear();
    for (std::size_t i = 0; i < function->parameter_bytes.size(); ++i)
      values.push_back(copy_of(from.parameters[i], function->parameter_bytes[i]));
  }

  int run() {
    for (const auto& call : calls)
      if (const int result = call()) return result;
    if (!function) return kSuccess;
    std::vector<void*> arguments;
    for (auto& value : values) arguments.push_back(value.data());
    return run_grid(*function, grid, block, arguments.data());
  }
};

struct Node {
  Kernel kernel;
  std::vector<const Node*> after;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Executable {
  std::vector<const Node*> order;
  std::map<const Node*, Kernel> kernels;
};

std::set<const Graph*> graphs;
std::set<const Executable*> executables;

bool valid(const KernelNodeParameters* p) {
  return p && p->function && p->parameters && !p->extra && p->shared_bytes <= p->function->most_shared &&
         p->grid[0] > 0 && p->grid[1] == 1 && p->grid[2] == 1 &&
         p->block[0] * p->block[1] * p->block[2] > 0 && p->block[0] * p->block[1] * p->block[2] <= 1024;
}

bool fails(int& count) { return count > 0 && count-- > 0; }

int create(Graph** graph, unsigned flags) {
  if (flags != 0) return kInvalidValue;
  if (start_fails()) return control().start_error;
  graphs.insert(*graph = new Graph);
  return kSuccess;
}

int destroy(Graph* graph) {
  if (graphs.erase(graph) == 0) return kInvalidValue;
  delete graph;
  return kSuccess;
}

int end_capture_of(void* stream, Graph** graph) {
  std::vector<std::function<int()>> work;
  const int result = end_capture(stream, work);
  if (result != kSuccess) return *graph = nullptr, result;
  graphs.insert(*graph = new Graph);
  for (auto& each : work) {
    auto node = std::make_unique<Node>();
    node->kernel.calls.push_back(std::move(each));
    (*graph)->nodes.push_back(std::move(node));
  }
  return kSuccess;
}
int begin_capture_of(void* stream, int mode) {
  if (mode != 2) return kInvalidValue;
  if (start_fails()) return control().start_error;
  return begin_capture(stream);
}

/// What a captured graph does, in its order.
std::vector<std::function<int()>> calls_of(const Graph& graph) {
  std::vector<std::function<int()>> calls;
  for (const auto& node : graph.nodes)
    calls.insert(calls.end(), node->kernel.calls.begin(), node->kernel.calls.end());
  return calls;
}

/// Adds a node behind others of the graph; null where they are not its own.
std::unique_ptr<Node> node_behind(const Graph& graph, Node* const* after, std::size_t count) {
  auto added = std::make_unique<Node>();
  for (std::size_t i = 0; i < count; ++i) {
    const auto is_this = [&](const auto& other) { return other.get() == after[i]; };
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_this)) return nullptr;
    added->after.push_back(after[i]);
  }
  return added;
}

int add_graph(Node** node, Graph* graph, Node* const* after, std::size_t count, Graph* part) {
  if (graphs.count(graph) == 0 || graphs.count(part) == 0) return kInvalidValue;
  if (start_fails()) return control().start_error;
  auto added = node_behind(*graph, after, count);
  if (!added) return kInvalidValue;
  added->kernel.calls = calls_of(*part);
  *node = added.get();
  graph->nodes.push_back(std::move(added));
  return kSuccess;
}

int add_kernel(Node** node, Graph* graph, Node* const* after, std::size_t count,
               const KernelNodeParameters* parameters) {
  if (graphs.count(graph) == 0 || !valid(parameters)) return kInvalidValue;
  if (start_fails()) return control().start_error;
  auto added = node_behind(*graph, after, count);
  if (!added) return kInvalidValue;
  added->kernel.set(*parameters);
  *node = added.get();
  graph->nodes.push_back(std::move(added));
  return kSuccess;
}

/// Edges of programmatic dependent launch, which the device here takes for plain ones: that leads to a kernel
/// that waits.
struct Edge {
  unsigned char from_port, to_port, type, rest[5];
};
int add_edges(Graph* graph, Node* const* from, Node* const* to, const Edge* edges, std::size_t count) {
  if (graphs.count(graph) == 0) return kInvalidValue;
  if (start_fails()) return control().start_error;
  const auto own = [&](const Node* node) {
    return std::find_if(graph->nodes.begin(), graph->nodes.end(),
                        [&](const auto& n) { return n.get() == node; });
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto before = own(from[i]), after = own(to[i]);
    const bool are_kernels = before < after && after != graph->nodes.end() && (*before)->kernel.function &&
                             (*after)->kernel.function;
    if (!are_kernels || edges[i].from_port != 1 || edges[i].to_port != 0 || edges[i].type != 1)
      return kInvalidValue;
    (*after)->after.push_back(from[i]);
    ++control().early_edges;
  }
  return kSuccess;
}

int instantiate(Executable** executable, Graph* graph, unsigned long long flags) {
  if (graphs.count(graph) == 0 || flags != 0) return kInvalidValue;
  if (fails(control().fail_graph_instantiate)) return kOutOfMemory;
  if (start_fails()) return control().start_error;
  auto made = std::make_unique<Executable>();
  std::set<const Node*> done;
  while (done.size() < graph->nodes.size()) {
    const auto ready = std::find_if(graph->nodes.rbegin(), graph->nodes.rend(), [&](const auto& node) {
      return done.count(node.get()) == 0 && std::all_of(node->after.begin(), node->after.end(),
                                                        [&](const Node* n) { return done.count(n) > 0; });
    });
    done.insert(ready->get());
    made->order.push_back(ready->get());
    made->kernels[ready->get()] = (*ready)->kernel;
  }
  executables.insert(*executable = made.release());
  ++control().graphs_instantiated;
  ++control().graphs_alive;
  return kSuccess;
}

/// The node's kernel; null where it is not the executable's, or does not belong to its graph any more.
Kernel* kernel_of(Executable* executable, const Node* node) {
  if (executables.count(executable) == 0) return nullptr;
  const auto has_node = [&](const Graph* graph) {
    return std::any_of(graph->nodes.begin(), graph->nodes.end(),
                       [&](const auto& n) { return n.get() == node; });
  };
  const auto found = executable->kernels.find(node);
  if (found == executable->kernels.end() || std::none_of(graphs.begin(), graphs.end(), has_node))
    return nullptr;
  return &found->second;
}

int set_graph(Executable* executable, const Node* node, Graph* part) {
  Kernel* kernel = kernel_of(executable, node);
  if (!kernel || graphs.count(part) == 0) return kInvalidValue;
  if (fails(control().fail_graph_update)) return kOutOfMemory;
  if (start_fails()) return control().start_error;
  std::vector<std::function<int()>> calls = calls_of(*part);
  if (kernel->function || kernel->calls.size() != calls.size()) return kGraphUpdateFailed;
  ++control().graph_updates;
  kernel->calls = std::move(calls);
  return kSuccess;
}

int set_kernel(Executable* executable, const Node* node, const KernelNodeParameters* parameters) {
  Kernel* kernel = kernel_of(executable, node);
  if (!kernel || !kernel->calls.empty() || !valid(parameters)) return kInvalidValue;
  if (fails(control().fail_graph_update)) return kOutOfMemory;
  if (start_fails()) return control().start_error;
  ++control().graph_updates;
  if (!control().idle) kernel->set(*parameters);
  return kSuccess;
}

int destroy_executable(Executable* executable) {
  if (executables.erase(executable) == 0) return kInvalidValue;
  delete executable;
  --control().graphs_alive;
  return kSuccess;
}

int launch(Executable* executable, void* stream) {
  if (executables.count(executable) == 0) return kInvalidValue;
  if (fails(control().fail_graph_launch)) return kLaunchFailed;
  if (start_fails()) return control().start_error;
  ++control().graph_launches;
  if (control().idle) return kSuccess;
  // A copy: nodes may be updated before the launch has run.
  std::vector<Kernel> kernels;
  for (const Node* node : executable->order) kernels.push_back(executable->kernels.at(node));
  return enqueue_kernels(stream, [kernels]() mutable {
    for (Kernel& kernel : kernels)
      if (const int result = kernel.run()) return result;
    return kSuccess;
  });
}

}  // namespace

const std::map<std::string, void*>& graph_functions() {
  static const std::map<std::string, void*> functions = {
      {"cuGraphCreate", entry<&create>()},
      {"cuGraphDestroy", entry<&destroy>()},
      {"cuStreamBeginCapture", entry<&begin_capture_of>()},
      {"cuStreamEndCapture", entry<&end_capture_of>()},
      {"cuGraphAddChildGraphNode", entry<&add_graph>()},
      {"cuGraphExecChildGraphNodeSetParams", entry<&set_graph>()},
      {"cuGraphAddKernelNode", entry<&add_kernel>()},
      {"cuGraphAddDependencies", entry<&add_edges>()},
      {"cuGraphInstantiateWithFlags", entry<&instantiate>()},
      {"cuGraphExecKernelNodeSetParams", entry<&set_kernel>()},
      {"cuGraphExecDestroy", entry<&destroy_executable>()},
      {"cuGraphLaunch", entry<&launch>()},
  };
  return functions;
}

}  // namespace sinter_emulation
