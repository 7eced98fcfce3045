// Where traces end that nobody asks for: at the same place of each round of a loop.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/base/env.h"
#include "src/runtime/device_core.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/null/null_backend.h"
#include "src/trace/carried.h"
#include "src/trace/ends.h"
#include "src/trace/recorder.h"
#include "src/trace/repetition.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using trace::Symbol;

constexpr std::size_t kUsual = 4096, kLongest = 65536;

/// Takes traces, computes nothing, and notes which of them are new.
class Sink final : public trace::TraceSink {
 public:
  std::unique_ptr<PerRecorder> attach(base::QuickMutex&) override { return std::make_unique<PerRecorder>(); }
  void run(trace::Flushed& flushed, PerRecorder&) override {
    const std::size_t length = flushed.trace.ops.size();
    if (known.insert({flushed.fingerprint.high, flushed.fingerprint.low}).second) last_new = ops;
    lengths.push_back(length);
    ops += length;
    std::size_t held = 0;
    for (trace::ValueId id = 0; id < flushed.values.size(); ++id) {
      if (!flushed.trace.values[id].held) continue;
      ++held;
      flushed.values[id]->store().buffer = backend->allocate(16);
      flushed.values[id]->store().layout = {contiguous_strides(flushed.values[id]->shape), 0};
    }
    most_held = std::max(most_held, held);
    last_held = held;
  }

  std::unique_ptr<runtime::Backend> backend = runtime::make_null_backend({});
  std::set<std::pair<std::uint64_t, std::uint64_t>> known;
  std::vector<std::size_t> lengths;
  std::size_t ops = 0, last_new = 0;  // where the last new trace began
  std::size_t most_held = 0, last_held = 0;
};

/// A program of a few variables that are read and written by ops that `at` chooses.
struct Recording {
  explicit Recording(std::size_t usual = kUsual, std::size_t longest = kLongest)
      : recorder(sink, Device::null().core(), usual, longest) {
    for (trace::ValueRef& x : variables) x = blank();
  }
  ~Recording() {
    for (trace::ValueRef& x : variables) x = nullptr;
    recorder.flush();
  }
  trace::ValueRef blank() {
    return trace::make_materialised(Device::null().core(), {4}, DType::f32, sink.backend->allocate(16));
  }
  /// One op; `at` says which and of what.
  void op(std::uint32_t at) {
    static constexpr Op kChoice[] = {Op::Neg, Op::Abs, Op::Exp, Op::Sin, Op::Cos, Op::Tanh};
    const Op code = kChoice[at % std::size(kChoice)];
    trace::ValueRef& to = variables[at / 8 % variables.size()];
    const trace::Operand operand{variables[at / 64 % variables.size()].get(), 0};
    to = recorder.append(code, {&operand, 1}, {}, {}, Shape{4}, DType::f32, Location::current());
  }

  Sink sink;
  trace::Recorder recorder;
  std::array<trace::ValueRef, 5> variables;
};

/// A piece of program: `count` ops, always the same for a seed.
std::vector<std::uint32_t> piece(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> ops(count);
  for (std::uint32_t& op : ops) op = static_cast<std::uint32_t>(random());
  return ops;
}

void run(Recording& recording, const std::vector<std::uint32_t>& ops, std::size_t times = 1) {
  for (std::size_t i = 0; i < times; ++i)
    for (std::uint32_t op : ops) recording.op(op);
}

}  // namespace

TEST_CASE("rounds are found in streams") {
  const trace::RoundSizes sizes{64, 32, 2000};
  const auto found = [&](const std::vector<Symbol>& stream) { return trace::find_round(stream, sizes); };
  const auto repeat = [](const std::vector<Symbol>& round, std::size_t count) {
    std::vector<Symbol> stream(count);
    for (std::size_t i = 0; i < count; ++i) stream[i] = round[i % round.size()];
    return stream;
  };
  CHECK(found({}) == 0);
  CHECK(found({1}) == 0);
  for (std::size_t round : {1, 2, 3, 20, 31, 32, 33, 63, 64, 65, 100, 1999, 2000}) {
    CAPTURE(round);
    const std::vector<Symbol> symbols = piece(round, static_cast<std::uint32_t>(round));
    const std::size_t enough = std::max<std::size_t>(round + std::min<std::size_t>(round, 64), 64);
    CHECK(found(repeat(symbols, enough - 1)) == 0);
    CHECK(found(repeat(symbols, enough)) == round);
    CHECK(found(repeat(symbols, 5 * round + 300)) == round);
  }
  CHECK(found(repeat(piece(2001, 1), 9000)) == 0);
  CHECK(found(piece(5000, 2)) == 0);

  // 30 times 5 symbols, then 25 others; and the same with 40 symbols, which is long enough for a round.
  for (std::size_t inner : {5, 40}) {
    CAPTURE(inner);
    std::vector<Symbol> outer = repeat(piece(inner, 3), 30 * inner);
    const std::vector<Symbol> rest = piece(25, 4);
    outer.insert(outer.end(), rest.begin(), rest.end());
    CHECK(found(repeat(outer, 2 * outer.size())) == outer.size());
    CHECK(found(repeat(outer, 2 * outer.size() + 29 * inner)) == (inner == 5 ? outer.size() : inner));
  }

  const std::vector<Symbol> stream = {1, 2, 3, 1, 2, 3, 1};
  CHECK(trace::matched(stream, 3, 100) == 4);
  CHECK(trace::matched(stream, 3, 2) == 2);
  CHECK(trace::matched(stream, 2, 100) == 0);
  CHECK(trace::matched(stream, 7, 100) == 0);
}

/// Whether no trace is new any more behind `ops` of the program.
#define CHECK_SETTLED(recording, ops) CHECK((recording).sink.last_new <= (ops))

TEST_CASE("a loop that never reads finds its traces again after three rounds") {
  std::mt19937 random(20);
  std::vector<std::size_t> periods = {1,    2,    3,    7,    64,   100,   500,   1000, 1023,
                                      1024, 1025, 1501, 2047, 2048, 2049,  3000,  4095, 4096,
                                      4097, 4900, 8191, 8192, 8193, 10000, 16000, 20000};
  for (int i = 0; i < 10; ++i) periods.push_back(1 + random() % 12000);
  for (std::size_t period : periods) {
    CAPTURE(period);
    Recording recording;
    run(recording, piece(period, static_cast<std::uint32_t>(period)),
        std::max<std::size_t>(8, 60000 / period));
    const Sink& sink = recording.sink;
    const std::size_t traces = sink.lengths.size();
    CHECK_SETTLED(recording, std::max(3 * period, 3 * kUsual));
    CHECK(sink.known.size() <= 3 + period / 2500);
    // Rounds of less than a quarter of the usual length share a trace.
    const std::size_t rounds = period < kUsual / 4 ? kUsual / period : 1;
    CHECK(sink.lengths[traces - 1] == rounds * period);
    CHECK(sink.lengths[traces - 2] == rounds * period);
    CHECK(*std::max_element(sink.lengths.begin(), sink.lengths.end()) <= 2 * period + kUsual);
  }
}

TEST_CASE("ten thousand rounds of 1,501 operations are three plans") {
  Recording recording;
  run(recording, piece(1501, 5), 10000);
  CHECK(recording.sink.known.size() <= 3);
  CHECK(recording.sink.lengths.size() > 9990);
}

TEST_CASE("a round longer than the longest trace is cut at the same places each time") {
  Recording recording(256, 2000);
  run(recording, piece(5003, 5), 20);
  CHECK_SETTLED(recording, 3 * 5003);
  CHECK(*std::max_element(recording.sink.lengths.begin(), recording.sink.lengths.end()) <= 2000);
}

TEST_CASE("a program that does not repeat has traces of the usual length") {
  Recording recording;
  run(recording, piece(200000, 5));
  CHECK(recording.sink.lengths == std::vector<std::size_t>(200000 / kUsual, kUsual));
  // Within the limit, too, where all looks as if it were about to come again.
  Recording pairs;
  for (std::uint32_t i = 0; i < 50; ++i) run(pairs, piece(1500, i), 2);
  CHECK(*std::max_element(pairs.sink.lengths.begin(), pairs.sink.lengths.end()) <= 2 * kUsual);
}

TEST_CASE("a step that ends in a read is one trace from the second time") {
  for (std::size_t length : {4097, 4900, 16384, 40000, 65536}) {
    CAPTURE(length);
    Recording recording;
    const auto step = piece(length, 6);
    for (int i = 0; i < 4; ++i) {
      run(recording, step);
      recording.recorder.flush();
    }
    const auto& lengths = recording.sink.lengths;
    CHECK(std::vector<std::size_t>(lengths.end() - 3, lengths.end()) == std::vector<std::size_t>(3, length));
    CHECK(recording.sink.last_new <= length);
  }
  // Twelve blocks, forwards and backwards, and what comes behind them: blocks are no rounds of the step.
  Recording recording;
  const auto forward = piece(130, 1), backward = piece(260, 2), rest = piece(220, 3);
  for (int i = 0; i < 4; ++i) {
    run(recording, forward, 12);
    run(recording, backward, 12);
    run(recording, rest);
    recording.recorder.flush();
  }
  const auto& lengths = recording.sink.lengths;
  CHECK(std::vector<std::size_t>(lengths.end() - 3, lengths.end()) == std::vector<std::size_t>(3, 4900));
  // Too long for a trace.
  Recording longer;
  const auto long_step = piece(kLongest + 1, 7);
  for (int i = 0; i < 4; ++i) {
    run(longer, long_step);
    longer.recorder.flush();
  }
  CHECK(*std::max_element(longer.sink.lengths.begin(), longer.sink.lengths.end()) <= kLongest);
  CHECK_SETTLED(longer, 2 * long_step.size());
}

TEST_CASE("steps whose length changes are not waited for") {
  Recording recording;
  const auto common = piece(4500, 1);
  for (std::uint32_t i = 0; i < 40; ++i) {
    run(recording, common);
    run(recording, piece(100 + i * 37 % 400, 2));
    recording.recorder.flush();
  }
  CHECK(*std::max_element(recording.sink.lengths.begin(), recording.sink.lengths.end()) <= 5000);
  CHECK(std::count(recording.sink.lengths.begin(), recording.sink.lengths.end(), kUsual) > 30);
}

TEST_CASE("a loop that reads now and then finds its traces again") {
  for (std::size_t period : {100, 1501, 4900})
    for (std::size_t every : {1, 10, 100}) {
      CAPTURE(period);
      CAPTURE(every);
      Recording recording;
      const auto round = piece(period, 8), metrics = piece(12, 9);
      for (int i = 0; i < 6; ++i) {
        run(recording, round, every);
        run(recording, metrics);
        recording.recorder.flush();
      }
      CHECK_SETTLED(recording, 3 * (period * every + 12));
      CHECK(recording.sink.known.size() <= 10);
    }
  // Not always after as many rounds: what is in front of a read differs, no more.
  Recording recording;
  std::mt19937 random(1);
  const auto round = piece(1501, 8);
  for (int i = 0; i < 60; ++i) {
    run(recording, round, 12 + random() % 8);
    recording.recorder.flush();
  }
  CHECK(recording.sink.known.size() <= 8);
}

TEST_CASE("loops within loops find their traces again") {
  // A recurrent net: 100 times 20, then 1,000 others; and one whose inner loop is longer than a trace.
  for (const auto& [inner, times, rest] : {std::array<std::size_t, 3>{20, 100, 1000},
                                           {20, 1000, 1000},
                                           {3, 50, 7},
                                           {1, 400, 30},
                                           {700, 8, 900},
                                           {1501, 10, 40},
                                           {100, 10, 5}}) {
    CAPTURE(inner);
    CAPTURE(times);
    Recording recording;
    const auto one = piece(inner, 10), other = piece(rest, 11);
    const std::size_t all = inner * times + rest;
    for (std::size_t i = 0; i < std::max<std::size_t>(10, 60000 / all); ++i) {
      run(recording, one, times);
      run(recording, other);
    }
    CHECK_SETTLED(recording, std::max(4 * all, 4 * kUsual));
    CHECK(recording.sink.known.size() <= 8);
  }
}

TEST_CASE("a round that changes now and then has few traces") {
  const auto round = piece(1501, 12), rare = piece(30, 13);
  for (const bool is_regular : {true, false}) {
    CAPTURE(is_regular);
    Recording recording;
    std::mt19937 random(2);
    for (int i = 0; i < 300; ++i) {
      run(recording, round);
      if (is_regular ? i % 10 == 9 : random() % 10 == 0) run(recording, rare);
    }
    CHECK(recording.sink.known.size() <= 6);
    CHECK_SETTLED(recording, 60 * 1501);
  }
  // The other way round: mostly there, sometimes not.
  Recording recording;
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    if (random() % 10 != 0) run(recording, rare);
    run(recording, round);
  }
  CHECK(recording.sink.known.size() <= 10);
}

TEST_CASE("phases of a program that alternate find their traces again") {
  for (const std::size_t evaluation : {700, 2000}) {
    CAPTURE(evaluation);
    Recording recording;
    const auto train = piece(1501, 14), evaluate = piece(evaluation, 15);
    std::size_t phase = 0;
    for (int i = 0; i < 8; ++i) {
      run(recording, train, 50);
      run(recording, evaluate, 20);
      if (i == 0) phase = recording.sink.ops;
    }
    CHECK_SETTLED(recording, 4 * phase);
    CHECK(recording.sink.known.size() <= 12);
  }
}

TEST_CASE("traces end where little is carried on") {
  // Five variables that all come of the first: between the two lines only that one is alive.
  Recording recording;
  recording.variables = {};
  recording.variables[0] = recording.blank();
  const auto op = [&](Op code, std::size_t to, std::size_t from,
                      const Location& where = Location::current()) {
    const trace::Operand operand{recording.variables[from].get(), 0};
    recording.variables[to] =
        recording.recorder.append(code, {&operand, 1}, {}, {}, Shape{4}, DType::f32, where);
  };
  for (int i = 0; i < 40; ++i) {
    for (std::size_t k = 0; k < 1200; ++k) op(Op::Sin, 1 + k % 4, k < 4 ? 0 : 1 + k % 4);
    for (std::size_t k = 0; k < 301; ++k) op(Op::Cos, 0, k == 0 ? 4 : 0);
    for (std::size_t k = 1; k < 5; ++k) recording.variables[k] = nullptr;
    op(Op::Neg, 0, 0);
  }
  CHECK(recording.sink.lengths.back() == 1502);
  CHECK(recording.sink.last_held == 1);
}

TEST_CASE("a trace ends where its limit says if it is short, or the longest") {
  for (const auto& [usual, longest] :
       {std::pair<std::size_t, std::size_t>{1, 65536}, {63, 65536}, {100, 100}, {100, 7}}) {
    CAPTURE(usual);
    Recording recording(usual, longest);
    run(recording, piece(77, 16), 20);
    CHECK(recording.sink.lengths == std::vector<std::size_t>((77 * 20 - 1) / usual, usual));
  }
}

TEST_CASE("traces of threads end for each by itself") {
  std::vector<std::vector<std::size_t>> lengths(2);
  const auto work = [&](std::size_t i) {
    Recording recording;
    run(recording, piece(1501, 17), 40);
    lengths[i] = recording.sink.lengths;
  };
  std::thread one(work, 0), two(work, 1);
  one.join();
  two.join();
  CHECK(lengths[0] == lengths[1]);
  CHECK(lengths[0].back() == 1501);
}

TEST_CASE("a thread's traces end as if no other had been there before") {
  const Device device = device_over(runtime::make_null_backend({}));
  const auto work = [&] {
    auto x = Tensor<1>::zeros({4}, device), y = x;
    for (std::uint32_t op : piece(4900, 18)) x = op % 2 ? x + y : x * y;  // a step that is new to this thread
    device.flush();
  };
  std::thread(work).join();
  const Statistics before = device.statistics();
  std::thread(work).join();  // with the same recorder
  CHECK(device.statistics().plans_built == before.plans_built);
  CHECK(device.statistics().traces == 2 * before.traces);
}

TEST_CASE("a step that reads is one plan, and a loop that does not finds its own: on a device") {
  base::Environment& environment = base::mutable_environment();
  const base::Environment before = environment;
  environment.trace_limit = 128;
  environment.longest_trace = 1000;
  const Device device = device_over(runtime::make_host_backend());
  // A small net by hand, trained by plain gradient descent: some 50 ops forwards, backwards and for weights.
  const auto x = Tensor<2>::from_data({{1, 2}, {3, -1}, {0, 1}}, device);
  const auto target = Tensor<2>::from_data({{1}, {0}, {2}}, device);
  const auto train = [&](int steps, int flush_every) {
    auto w = Tensor<2>::from_data({{0.5, -0.25}, {0.125, 0.75}}, device);
    auto v = Tensor<2>::from_data({{0.5}, {-0.5}}, device);
    for (int i = 0; i < steps; ++i) {
      const auto h = x.matmul(w).tanh();
      const auto error = h.matmul(v) - target;
      const auto of_v = h.transpose(0, 1).matmul(error);
      const auto of_w = x.transpose(0, 1).matmul(error.matmul(v.transpose(0, 1)) * (1.0 - h * h));
      v = v - of_v * 0.05;
      w = w - of_w * 0.05;
      if (flush_every && i % flush_every == flush_every - 1) device.flush();
    }
    return w;
  };
  const auto expected = train(200, 1).to_vector<float>();
  const Statistics start = device.statistics();
  CHECK(train(200, 0).to_vector<float>() == expected);
  const Statistics end = device.statistics();
  CHECK(end.plans_built - start.plans_built <= 4);
  CHECK(end.plans_found - start.plans_found >= 15);
  CHECK(train(200, 50).to_vector<float>() == expected);
  CHECK(device.statistics().plans_built - end.plans_built <= 8);
  environment = before;
}

}  // namespace sinter::testing
