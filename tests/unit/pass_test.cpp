// Passes over the graph: what the driver does for them, and a pass written here, outside of the planner, from
// its rule to its value on the oracle. docs/adding-a-pass.md explains it.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"
#include "src/runtime/explain/observe.h"
#include "tests/support/reference/oracle_backend.h"

using namespace sinter;
using plan::Graph, plan::Node, plan::NodeId, plan::NodeKind, plan::Pass, plan::Plan, plan::PlanOptions,
    plan::Rewriter, plan::ScalarRef;

namespace {

/// Pass: x + x becomes 2 x, and n x + x becomes (n + 1) x.
void add_up(Graph& graph, const ir::DeviceTraits&) {
  plan::rewrite(graph, [](Rewriter& to, NodeId, Node node) {
    if (!node.is(OpClass::Elementwise) || node.op != Op::Add) return to.add(std::move(node));
    const NodeId a = node.operands[0], b = node.operands[1];
    if (a == b) return to.elementwise(Op::Mul, node.dtype, {a, to.constant(2, node.dtype)});
    const Node product = to.node(a);
    if (product.is(OpClass::Elementwise) && product.op == Op::Mul && product.operands[0] == b)
      if (const Scalar* n = to.after().constant_of(product.operands[1]))
        return to.elementwise(Op::Mul, node.dtype, {b, to.constant(n->as_int() + 1, node.dtype)});
    return to.add(std::move(node));
  });
}

/// The planner's passes and one row more.
std::vector<Pass> with_add_up() {
  std::vector<Pass> list(plan::passes().begin(), plan::passes().end());
  list.push_back({"add_up", add_up, [](auto&, auto& options) { return options.fusion; }});
  return list;
}

constexpr std::int64_t kElements = 4;

/// The trace of a program of x, which is a vector of kElements.
template <class F>
trace::Trace trace_of(F program) {
  struct LastTrace : runtime::TraceObserver {
    void runs(const runtime::TraceRun& run) override { trace = run.trace; }
    trace::Trace trace;
  } last;
  const Device device = Device::null();
  const auto x = Tensor<1>::from_data(std::vector<float>(kElements), {kElements}, device);
  device.sync();
  runtime::add_observer(last);
  const auto held = program(x);
  device.sync();
  runtime::remove_observer(last);
  return last.trace;
}

runtime::ScalarValue number_of(const plan::ScalarArgument& argument, const Plan& plan,
                               const trace::Trace& trace) {
  runtime::ScalarValue value;
  value.dtype = argument.dtype;
  value.real = plan.scalar(argument.number, trace).as_double();
  return value;
}

/// What a plan of one kernel of x makes of these elements, on the oracle.
std::vector<float> run(const Plan& plan, const trace::Trace& trace, const std::vector<float>& x) {
  REQUIRE(plan.launches.size() == 1);
  REQUIRE(plan.output_bytes.size() == 1);
  const auto backend = testing::make_oracle_backend();
  const runtime::BufferRef input = backend->allocate(x.size() * sizeof(float)),
                           output = backend->allocate(plan.output_bytes[0]);
  backend->upload({input.get(), 0}, std::as_bytes(std::span(x)));
  const ir::Kernel* kernel = &*plan.kernels[0];
  const runtime::ExecutableRef executable = backend->compile({&kernel, 1})[0];

  const plan::Launch& launch = plan.launches[0];
  std::vector<runtime::BufferView> views;
  for (const plan::Binding& binding : launch.buffers)
    views.push_back({binding.space == plan::Binding::Space::Input ? input.get() : output.get(), 0});
  std::vector<runtime::ScalarValue> scalars;
  for (const plan::ScalarArgument& argument : launch.scalars)
    scalars.push_back(number_of(argument, plan, trace));
  backend->begin(nullptr, {});
  backend->launch(*executable, {views, launch.ints, scalars});
  backend->submit();
  std::vector<float> result(x.size());
  backend->download({output.get(), 0}, std::as_writable_bytes(std::span(result)));
  return result;
}

const ir::DeviceTraits traits;  // of no device in particular

/// A graph of one external node x, of four elements.
Graph graph_of_x() {
  Graph graph;
  Node x;
  x.kind = NodeKind::External;
  x.shape = {kElements};
  graph.add(std::move(x));
  return graph;
}

NodeId add_binary(Graph& graph, Op op, NodeId a, NodeId b) {
  Node node;
  node.op = op;
  node.shape = graph.nodes[a].shape;
  node.operands = {a, b};
  return graph.add(std::move(node));
}

}  // namespace

TEST_CASE("a pass is a function and a row: its kernels compute the same") {
  const std::vector<float> x{1, -2, 0.5, 8};
  const trace::Trace trace = trace_of([](const Tensor<1>& x) { return x + x + x; });
  const Plan before = plan::make_plan(trace, traits, {}),
             after = plan::make_plan(trace, traits, {}, with_add_up());
  CHECK(run(before, trace, x) == std::vector<float>{3, -6, 1.5, 24});
  CHECK(run(after, trace, x) == std::vector<float>{3, -6, 1.5, 24});
  CHECK(before.constants.empty());
  CHECK(ir::to_string(before.kernels[0]) != ir::to_string(after.kernels[0]));
  // The list says when a pass runs.
  const Plan unfused = plan::make_plan(trace, traits, {.fusion = false}, with_add_up());
  CHECK(unfused.constants.empty());
  CHECK(unfused.launches.size() == 2);
}

TEST_CASE("a constant is an argument: another number is the same kernel") {
  const auto plan_of = [](auto program) {
    return plan::make_plan(trace_of(program), traits, {}, with_add_up());
  };
  const Plan twice = plan_of([](const Tensor<1>& x) { return x + x; });
  const Plan five_times = plan_of([](const Tensor<1>& x) { return x + x + x + x + x; });
  REQUIRE(twice.kernels.size() == 1);
  REQUIRE(five_times.kernels.size() == 1);
  CHECK(ir::to_string(twice.kernels[0]) == ir::to_string(five_times.kernels[0]));
  const auto only_scalar = [](const Plan& plan) {
    REQUIRE(plan.launches[0].scalars.size() == 1);
    CHECK(plan.launches[0].scalars[0].number.table == ScalarRef::Table::Plan);
    return plan.scalar(plan.launches[0].scalars[0].number, {}).as_double();
  };
  CHECK(only_scalar(twice) == 2);
  CHECK(only_scalar(five_times) == 5);
}

TEST_CASE("constants stand beside the program's scalars, which change from run to run") {
  trace::Trace trace = trace_of([](const Tensor<1>& x) { return (x + x) * 0.5 + 1.0; });
  const Plan plan = plan::make_plan(trace, traits, {}, with_add_up());
  CHECK(plan.launches[0].scalars.size() == 3);
  CHECK(run(plan, trace, {1, 2, 3, 4}) == std::vector<float>{2, 3, 4, 5});
  for (Scalar& scalar : trace.scalars) scalar = 10.0;
  CHECK(run(plan, trace, {1, 2, 3, 4}) == std::vector<float>{30, 50, 70, 90});
}

TEST_CASE("equal constants are one, and so is what is computed with them") {
  const trace::Trace trace = trace_of([](const Tensor<1>& x) {
    const Tensor<1> y = x.exp();
    return (x + x) * (y + y);
  });
  const Plan plan = plan::make_plan(trace, traits, {}, with_add_up());
  CHECK(plan.constants.size() == 1);
  CHECK(plan.launches[0].scalars.size() == 1);

  Graph graph = graph_of_x();
  graph.constants = {2, 2, 3, 2.0};
  for (std::uint32_t i = 0; i < graph.constants.size(); ++i) {
    Node constant;
    constant.kind = NodeKind::Scalar;
    constant.scalars = {{ScalarRef::Table::Plan, i}};
    graph.results.push_back({i, add_binary(graph, Op::Mul, 0, graph.add(std::move(constant)))});
  }
  plan::simplify(graph, traits);
  CHECK(graph.results[0].node == graph.results[1].node);
  CHECK(graph.results[0].node != graph.results[2].node);
  CHECK(graph.results[0].node != graph.results[3].node);  // whole numbers and others stay apart
}

TEST_CASE("rewriting leaves out what no result needs and asks the rule for the rest, operands first") {
  Graph graph = graph_of_x();
  const NodeId sum = add_binary(graph, Op::Add, 0, 0);
  add_binary(graph, Op::Mul, sum, sum);  // nobody needs it
  const NodeId product = add_binary(graph, Op::Mul, sum, 0);
  graph.channels_last = true;
  graph.nodes[product].record = 7;
  graph.results = {{3, product}, {5, sum}};
  std::vector<NodeId> asked;
  plan::rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    asked.push_back(id);
    // The product becomes a difference that belongs to the same op of the program; one of a kind is enough.
    if (id != product) return to.add(std::move(node));
    CHECK(node.operands[0] == to.now(sum));
    to.elementwise(Op::Sub, DType::f32, node.operands);
    return to.elementwise(Op::Sub, DType::f32, node.operands);
  });
  CHECK(asked == std::vector<NodeId>{0, sum, product});
  REQUIRE(graph.nodes.size() == 3);
  CHECK(graph.nodes[2].op == Op::Sub);
  CHECK(graph.nodes[2].record == 7);
  CHECK(graph.nodes[2].shape == Shape{kElements});
  CHECK(graph.results[0].value == 3);
  CHECK(graph.results[0].node == 2);
  CHECK(graph.results[1].node == 1);
  CHECK(graph.channels_last);
  // What a rule makes unneeded goes too.
  graph.results.pop_back();
  plan::rewrite(graph, [](Rewriter& to, NodeId, Node node) {
    return node.op == Op::Sub ? node.operands[1] : to.add(std::move(node));
  });
  CHECK(graph.results[0].node == 0);
  CHECK(graph.nodes.size() == 1);
}

TEST_CASE("a rule that mixes shapes is told so") {
  Graph graph = graph_of_x();
  graph.results = {{0, add_binary(graph, Op::Add, 0, 0)}};
  CHECK_THROWS_WITH_AS(
      plan::rewrite(graph,
                    [](Rewriter& to, NodeId, Node node) {
                      if (node.kind == NodeKind::External) return to.add(std::move(node));
                      const NodeId wide = to.view(Op::Reshape, node.operands[0], {1, kElements});
                      return to.elementwise(Op::Add, DType::f32, {node.operands[0], wide});
                    }),
      "rewrite: operands of add have different shapes", std::logic_error);
}
