// Which results came of an index out of range, or of an input that came of one: plans of the null device
// against the dependences of the trace itself.
#include "jit/plan/origins.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/runtime/explain/observe.h"
#include "tests/support/programs/program_builder.h"
#include "tests/support/programs/random_program.h"

using namespace sinter;

namespace {

/// The dependences of a trace. Equal ops count as one: the planner makes one of them.
class Dependences {
 public:
  explicit Dependences(const trace::Trace& trace) : trace_(trace), class_of_(trace.values.size()) {
    std::map<std::string, std::uint32_t> known;
    const auto number = [&](const std::string& text) {
      return known.try_emplace(text, static_cast<std::uint32_t>(known.size())).first->second;
    };
    for (trace::ValueId v = 0; v < trace.values.size(); ++v)
      if (trace.values[v].external) class_of_[v] = number("external " + std::to_string(v));
    for (const trace::OpRecord& op : trace.ops) {
      std::string text(name_of(op.op));
      for (const trace::OperandId operand : trace.operands_of(op))
        text += operand.is_scalar() ? " scalar " + std::to_string(operand.index())
                                    : " " + std::to_string(class_of_[operand.index()]);
      for (std::int64_t n : trace.ints_of(op)) text += " int " + std::to_string(n);
      for (std::uint8_t k = 0; k < op.scalar_count; ++k)
        text += " own " + std::to_string(op.first_scalar + k);
      for (std::uint8_t r = 0; r < op.output_count; ++r) {
        const trace::TraceValue& value = trace.values[op.output + r];
        std::string shape(name_of(value.dtype));
        for (std::int64_t n : value.shape) shape += " " + std::to_string(n);
        class_of_[op.output + r] = number(text + " result " + std::to_string(r) + " " + shape);
      }
    }
  }

  /// The values that come of these, themselves included.
  std::vector<bool> after(const std::vector<trace::ValueId>& starts) const {
    std::vector<bool> bad(trace_.values.size());
    for (trace::ValueId v = 0; v < bad.size(); ++v)
      for (trace::ValueId start : starts) bad[v] = bad[v] || class_of_[v] == class_of_[start];
    for (const trace::OpRecord& op : trace_.ops)
      for (const trace::OperandId operand : trace_.operands_of(op))
        if (!operand.is_scalar() && bad[operand.index()] && computes(op))
          for (std::uint8_t r = 0; r < op.output_count; ++r) bad[op.output + r] = true;
    return bad;
  }

 private:
  /// Nothing comes of anything where it has no elements, nor what is added up of nothing, unless a library op
  /// computes it all the same.
  bool computes(const trace::OpRecord& op) const {
    const auto is_empty = [&](std::uint32_t value) { return trace_.values[value].shape.numel() == 0; };
    if (info(op.op).op_class == OpClass::Library) return true;
    const bool adds_up = op.op == Op::Sum || op.op == Op::Prod;
    return !is_empty(op.output) && !(adds_up && is_empty(trace_.operands_of(op)[0].index()));
  }

  const trace::Trace& trace_;
  std::vector<std::uint32_t> class_of_;
};

/// Checks the plans of all traces that run while it lives, and keeps the last.
class Checker : public runtime::TraceObserver {
 public:
  Checker() { add_observer(*this); }
  ~Checker() override { remove_observer(*this); }

  void runs(const runtime::TraceRun& run) override {
    plan = run.plan;
    trace = run.trace;
    check_words();
    const Dependences dependences(trace);
    std::vector<std::uint32_t> words(plan.faults);
    for (std::uint32_t w = 0; w < plan.faults; ++w) {
      std::fill(words.begin(), words.end(), 0);
      words[w] = 1;
      check(words, {}, dependences.after({trace.ops[plan.origins.record_of(w)].output}));
      faults += words.size();
    }
    std::vector<trace::ValueId> all;
    for (trace::ValueId v = 0; v < trace.values.size(); ++v)
      if (trace.values[v].external) {
        check({}, {v}, dependences.after({v}));
        all.push_back(v);
      }
    check({}, all, dependences.after(all));
    std::fill(words.begin(), words.end(), 0);
    check(words, {}, std::vector<bool>(trace.values.size()));
  }

  /// The held values, in the order of their numbers, that come of the indices of the trace's gather `number`.
  std::vector<bool> reached(std::size_t number) const {
    std::vector<std::uint32_t> words(plan.faults);
    const std::uint32_t record = gathers().at(number);
    for (std::uint32_t w = 0; w < plan.faults; ++w) words[w] = plan.origins.record_of(w) == record;
    return in_order(plan.origins.reached(words, {}));
  }
  /// Ops of the trace.
  std::vector<std::uint32_t> gathers() const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t op = 0; op < trace.ops.size(); ++op)
      if (trace.ops[op].op == Op::Gather) found.push_back(op);
    return found;
  }
  std::size_t words_of(std::size_t number) const {
    std::size_t count = 0;
    for (std::uint32_t w = 0; w < plan.faults; ++w)
      count += plan.origins.record_of(w) == gathers().at(number);
    return count;
  }

  plan::Plan plan;
  trace::Trace trace;
  std::size_t faults = 0;

 private:
  std::vector<bool> in_order(const std::vector<bool>& reached) const {
    std::map<trace::ValueId, bool> by_value;
    for (std::size_t p = 0; p < reached.size(); ++p) by_value[plan.placements[p].value] = reached[p];
    std::vector<bool> all;
    for (const auto& [value, bad] : by_value) all.push_back(bad);
    return all;
  }

  void check(const std::vector<std::uint32_t>& words, const std::vector<trace::ValueId>& inputs,
             const std::vector<bool>& bad) {
    // Of what has no elements nobody reads any: a library op may compute it or not.
    const std::vector<bool> got = plan.origins.reached(words, inputs);
    std::vector<bool> want;
    for (const plan::Placement& placement : plan.placements)
      want.push_back(trace.values[placement.value].shape.numel() == 0 ? got[want.size()]
                                                                      : bad[placement.value]);
    CHECK_MESSAGE(got == want, to_string(plan, trace));
  }

  /// Launches have their words one after the other, and each is a gather's.
  void check_words() {
    std::uint32_t words = 0;
    for (const plan::Launch& launch : plan.launches) {
      const auto* kernel = std::get_if<std::uint32_t>(&launch.what);
      if (kernel == nullptr || plan.kernels[*kernel]->faults == 0) continue;
      CHECK(launch.first_fault == words);
      for (std::uint32_t w = 0; w < plan.kernels[*kernel]->faults * launch.members; ++w, ++words) {
        const std::uint32_t record = plan.origins.record_of(words);
        CHECK(trace.ops[record].op == Op::Gather);
        CHECK(std::count(launch.records.begin(), launch.records.end(), record) == 1);
      }
    }
    CHECK(plan.faults == words);
  }
};

const Device device = Device::null();

using Bools = std::vector<bool>;

struct Inputs {
  Tensor<2> table = Tensor<2>::from_data(std::vector<float>(60), {10, 6}, device);
  Tensor<2> other = Tensor<2>::from_data(std::vector<float>(60), {10, 6}, device);
  Tensor<1, Int> first = Tensor<1, Int>::from_data(std::vector<std::int64_t>(4), {4}, device);
  Tensor<1, Int> second = Tensor<1, Int>::from_data(std::vector<std::int64_t>(4), {4}, device);
};

}  // namespace

TEST_CASE("two gathers in one kernel are told apart") {
  const Inputs in;
  Checker checker;
  const auto a = in.table.index_select(0, in.first), b = in.other.index_select(0, in.second);
  const auto x = a * 2.0, y = b + 1.0, both = a * b;
  device.sync();
  REQUIRE(checker.plan.launches.size() == 1);
  CHECK(checker.plan.faults == 2);
  CHECK(checker.reached(0) == Bools{true, false, true, false, true});
  CHECK(checker.reached(1) == Bools{false, true, false, true, true});
}

TEST_CASE("members of a launch have words of their own") {
  const Inputs in;
  const auto more = Tensor<2>::from_data(std::vector<float>(30), {5, 6}, device);
  const auto third = Tensor<1, Int>::from_data(std::vector<std::int64_t>(7), {7}, device);
  Checker checker;
  const auto x = in.table.index_select(0, in.first), y = more.index_select(0, third);
  device.sync();
  REQUIRE(checker.plan.launches.size() == 1);
  CHECK(checker.plan.launches[0].members == 2);
  CHECK(checker.plan.faults == 2);
  CHECK(checker.reached(0) == Bools{true, false});
  CHECK(checker.reached(1) == Bools{false, true});
}

TEST_CASE("equal gathers are one, and tell all who read either") {
  const Inputs in;
  Checker checker;
  const auto x = in.table.index_select(0, in.first) * 2.0, y = in.table.index_select(0, in.first) - 1.0,
             z = in.other * 2.0;
  device.sync();
  REQUIRE(checker.gathers().size() == 2);
  CHECK(checker.words_of(0) == checker.plan.faults);
  CHECK(checker.words_of(1) == 0);
  CHECK(checker.reached(0) == Bools{true, true, false});
}

TEST_CASE("a gather that several kernels compute has a word in each") {
  const Inputs in;
  Checker checker;
  const auto a = in.table.index_select(0, in.first);
  const auto rows = (a * 2.0).sum(1), columns = (a + 3.0).max(0), none = in.other.sum(1);
  device.sync();
  CHECK(checker.plan.faults >= 1);
  CHECK(checker.reached(0) == Bools{true, true, true, false});
}

TEST_CASE("faults pass through views, products, further gathers and updates in place") {
  const Inputs in;
  Tensor<2> weight = Tensor<2>::from_data(std::vector<float>(24), {4, 6}, device);
  weight.sync();
  Checker checker;
  const auto a = in.table.index_select(0, in.first);
  const Tensor<2> view = a.transpose(0, 1), product = in.other.matmul(view), piece = a.narrow(0, 1, 2),
                  again = in.other.index_select(0, a.argmax(1).reshape({4})),
                  apart = in.other.transpose(0, 1);
  weight = weight - a * 0.1;
  device.sync();
  CHECK(checker.plan.in_place_bytes > 0);
  // a, view, product, piece, again, apart, weight in the order they were recorded
  CHECK(checker.reached(0) == Bools{true, true, true, true, true, false, true});
  CHECK(checker.reached(1) == Bools{false, false, false, false, true, false, false});
}

TEST_CASE("a result that is an input's memory is bad with the input") {
  const Inputs in;
  Checker checker;
  const auto view = in.table.transpose(0, 1), other = in.other * 2.0;
  device.sync();
}

TEST_CASE("words of another plan are refused") {
  const plan::Origins none;
  CHECK(none.reached({}, {}).empty());
  CHECK_THROWS_AS(none.reached(std::vector<std::uint32_t>{1}, {}), std::logic_error);
}

TEST_CASE("random programs: the planner's answer is the trace's") {
  Checker checker;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const testing::Program program = testing::random_program(seed, {.steps = 40});
    std::vector<AnyTensor> handles;
    for (const testing::Step& step : program.steps) {
      handles.emplace_back();
      if (step.makes_value()) handles.back() = testing::execute(step, handles, device);
      if (step.kind == testing::StepKind::Drop)
        handles[static_cast<std::size_t>(step.args[0].step)] = AnyTensor();
      if (step.kind == testing::StepKind::Flush) device.flush();
    }
    device.sync();
  }
  CHECK(checker.faults > 100);
}
