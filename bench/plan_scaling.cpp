// How the time to plan a program grows with its length: the first flush of programs that no plan is known
// for, on the null device, which runs nothing. Prints the time for each operation at several lengths, and the
// slope: 1 is linear, 2 is the square. Then what a training step of a transformer costs at sequence lengths
// that were never seen before.
// usage: plan-scaling [PROGRAM...] [--most OPS]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

#include <sinter/sinter.h>

namespace {

using namespace sinter;
using Clock = std::chrono::steady_clock;

/// Values that stay held: nothing is dead work.
using Kept = std::vector<AnyTensor>;

/// Records `steps` steps on the device; the sizes are small, as nothing runs.
struct Program {
  const char* name;
  const char* what;
  int ops_of_step;
  std::function<Kept(const Device&, int steps)> record;
};

Tensor<2> blank(const Device& device, std::int64_t rows, std::int64_t columns) {
  return Tensor<2>::from_data(std::vector<float>(static_cast<std::size_t>(rows * columns)), {rows, columns},
                              device);
}

Kept chain(const Device& device, int steps) {
  const Tensor<2> x = blank(device, 64, 32);
  Tensor<2> y = x;
  for (int i = 0; i < steps; ++i) y = y * 1.5 + x;
  return {y.dynamic()};
}

/// Steps of normalisation along rows, each of the result of the one before.
Kept rows(const Device& device, int steps) {
  Tensor<2> y = blank(device, 64, 32);
  for (int i = 0; i < steps; ++i) y = y - y.sum(1);
  return {y.dynamic()};
}

/// The same along rows and columns in turn.
Kept rows_and_columns(const Device& device, int steps) {
  Tensor<2> y = blank(device, 64, 32);
  for (int i = 0; i < steps; ++i) y = y - y.sum(i % 2);
  return {y.dynamic()};
}

/// Reductions along rows and columns in turn, all of them of one value.
Kept shared(const Device& device, int steps) {
  const Tensor<2> x = blank(device, 64, 32).exp();
  Kept kept;
  for (int i = 0; i < steps; ++i) kept.push_back((x * static_cast<double>(i + 2)).sum(i % 2).dynamic());
  return kept;
}

/// Views of views, one op at the end.
Kept views(const Device& device, int steps) {
  Tensor<2> x = blank(device, 32, 32);
  for (int i = 0; i < steps; ++i) x = i % 3 == 2 ? x.flip({0}) : x.transpose(0, 1);
  return {(x + 1.0).dynamic()};
}

/// Pieces of one value, each of which is used, and held.
Kept slices(const Device& device, int steps) {
  const Tensor<2> x = blank(device, 64, 32).exp();
  Kept kept;
  for (int i = 0; i < steps; ++i) kept.push_back((x.narrow(0, i % 60, 4) * 2.0).dynamic());
  return kept;
}

Kept rnn(const Device& device, int steps) {
  const Tensor<2> w = blank(device, 32, 32), u = blank(device, 32, 32), b = blank(device, 1, 32);
  Tensor<2> h = blank(device, 8, 32);
  const Tensor<2> x = blank(device, 8, 32);
  Kept kept;
  for (int i = 0; i < steps; ++i) {
    h = ((x * static_cast<double>(i + 1)).matmul(w) + h.matmul(u) + b).tanh();
    kept.push_back(h.dynamic());
  }
  return kept;
}

/// Blocks of attention and a perceptron, with the gradients of all weights.
Kept attention(const Device& plain, int steps) {
  constexpr std::int64_t kTokens = 16, kWidth = 32;
  const Device device = plain.autodiff();
  std::vector<Tensor<2>> weights;
  const auto weight = [&](std::int64_t rows, std::int64_t columns) {
    return weights.emplace_back(blank(device, rows, columns).require_grad());
  };
  const auto normed = [](const Tensor<2>& x) {
    const Tensor<2> centred = x - x.mean(1);
    return centred * (centred.square().mean(1) + 1e-5).rsqrt();
  };
  Tensor<2> x = blank(device, kTokens, kWidth);
  for (int i = 0; i < steps; ++i) {
    const Tensor<2> n = normed(x) * weight(1, kWidth) + weight(1, kWidth);
    const Tensor<2> q = n.matmul(weight(kWidth, kWidth)), k = n.matmul(weight(kWidth, kWidth)),
                    v = n.matmul(weight(kWidth, kWidth));
    x = x + softmax(q.matmul(k.transpose(0, 1)) * 0.2, 1).matmul(v).matmul(weight(kWidth, kWidth));
    const Tensor<2> m = normed(x) * weight(1, kWidth) + weight(1, kWidth);
    x = x + gelu(m.matmul(weight(kWidth, 4 * kWidth))).matmul(weight(4 * kWidth, kWidth));
  }
  const Gradients gradients = x.sum().backward();
  Kept kept;
  for (const Tensor<2>& w : weights) kept.push_back(gradients.get(w)->dynamic());
  return kept;
}

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"chain", "elementwise", 2, chain},
      {"rows", "reductions along rows", 2, rows},
      {"rows_and_columns", "reductions along rows and columns in turn", 2, rows_and_columns},
      {"shared", "reductions of one value along rows and columns in turn", 2, shared},
      {"views", "views of views", 1, views},
      {"slices", "slices of one value", 2, slices},
      {"rnn", "a recurrent network", 6, rnn},
      {"attention", "blocks of attention with gradients", 200, attention},
  };
  return all;
}

/// A training step of a transformer: forward, backward and Adam for all weights, which stay in memory from
/// step to step.
class Transformer {
 public:
  Transformer(const Device& plain, int blocks) : device_(plain.autodiff()) {
    for (int i = 0; i < blocks; ++i)
      for (const auto& [rows, columns] : {std::pair{1, kWidth},
                                          {1, kWidth},
                                          {kWidth, kWidth},
                                          {1, kWidth},
                                          {kWidth, kWidth},
                                          {1, kWidth},
                                          {kWidth, kWidth},
                                          {1, kWidth},
                                          {kWidth, kWidth},
                                          {1, kWidth},
                                          {1, kWidth},
                                          {1, kWidth},
                                          {kWidth, 4 * kWidth},
                                          {1, 4 * kWidth},
                                          {4 * kWidth, kWidth},
                                          {1, kWidth}})
        states_.push_back(
            {blank(device_, rows, columns), blank(device_, rows, columns), blank(device_, rows, columns)});
  }

  /// Records a step over sequences of so many tokens.
  void record(std::int64_t tokens) {
    std::vector<Tensor<2>> weights;
    for (const State& state : states_) weights.push_back(state.weight.detach().require_grad());
    std::size_t next = 0;
    const auto linear = [&](const Tensor<3>& x) {
      const Tensor<2>&w = weights[next], &b = weights[next + 1];
      next += 2;
      const std::int64_t from = w.shape()[0], to = w.shape()[1];
      return (x.reshape({kBatch * tokens, from}).matmul(w) + b).reshape({kBatch, tokens, to});
    };
    const auto normed = [&](const Tensor<3>& x) {
      const Tensor<3> centred = x - x.mean(2);
      const Tensor<3> y = centred * (centred.square().mean(2) + 1e-5).rsqrt();
      const Tensor<2>&scale = weights[next], &shift = weights[next + 1];
      next += 2;
      return y * scale.reshape({1, 1, kWidth}) + shift.reshape({1, 1, kWidth});
    };
    const auto heads = [&](const Tensor<3>& x) {
      return x.reshape({kBatch, tokens, kHeads, kWidth / kHeads}).permute({0, 2, 1, 3});
    };
    Tensor<3> x = Tensor<3>::from_data(std::vector<float>(static_cast<std::size_t>(kBatch * tokens * kWidth)),
                                       {kBatch, tokens, kWidth}, device_);
    while (next < weights.size()) {
      const Tensor<3> n = normed(x);
      const Tensor<4> q = heads(linear(n)), k = heads(linear(n)), v = heads(linear(n));
      const Tensor<4> attended = softmax(q.matmul(k.transpose(2, 3)) * 0.125, 3).matmul(v);
      x = x + linear(attended.permute({0, 2, 1, 3}).reshape({kBatch, tokens, kWidth}));
      x = x + linear(gelu(linear(normed(x))));
    }
    const Gradients gradients = x.square().mean({0, 1, 2}).reshape({}).backward();
    for (std::size_t i = 0; i < states_.size(); ++i) {
      State& state = states_[i];
      const Tensor<2> g = *gradients.get(weights[i]);
      state.mean = state.mean * 0.9 + g * 0.1;
      state.square = state.square * 0.999 + g * g * 0.001;
      state.weight = state.weight.detach() - state.mean * 1e-3 / (state.square.sqrt() + 1e-8);
    }
  }

 private:
  static constexpr std::int64_t kBatch = 32, kWidth = 256, kHeads = 4;
  struct State {
    Tensor<2> weight, mean, square;
  };
  Device device_;
  std::vector<State> states_;
};

double megabytes_in_memory() {
  std::ifstream statm("/proc/self/statm");
  double all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

void measure(const Program& program, int most) {
  std::printf("%s: %s\n%10s %10s %12s %10s %10s %8s\n", program.name, program.what, "ops", "launches",
              "seconds", "us per op", "MB", "slope");
  double last_seconds = 0, last_ops = 0;
  for (int ops = 1000; ops <= most; ops = ops < most && ops * 4 > most ? most : ops * 4) {
    const Device device = Device::null();
    device.sync();
    device.reset_statistics();
    const Kept kept = program.record(device, ops / program.ops_of_step);
    const double before = megabytes_in_memory();
    const auto start = Clock::now();
    device.flush();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::string slope =
        last_ops == 0 ? "" : std::to_string(std::log(seconds / last_seconds) / std::log(ops / last_ops));
    std::printf("%10d %10llu %12.4f %10.2f %10.1f %8.4s\n", ops,
                static_cast<unsigned long long>(device.statistics().launches), seconds, seconds / ops * 1e6,
                megabytes_in_memory() - before, slope.c_str());
    std::fflush(stdout);
    last_seconds = seconds;
    last_ops = ops;
  }
}

/// The flushes of steps at sequence lengths of which none was seen before.
void measure_new_sizes(int blocks) {
  const Device device = Device::null();
  Transformer transformer(device, blocks);
  std::printf("new_sizes: a training step of a transformer of %d blocks\n%10s %10s %12s\n", blocks, "tokens",
              "launches", "ms");
  std::vector<double> later;  // the first is planned from nothing
  for (const std::int64_t tokens : {640, 672, 704, 736, 800, 832, 864, 896, 928, 960}) {
    transformer.record(tokens);
    device.reset_statistics();
    const auto start = Clock::now();
    device.flush();
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    std::printf("%10lld %10llu %12.3f\n", static_cast<long long>(tokens),
                static_cast<unsigned long long>(device.statistics().launches), ms);
    if (tokens != 640) later.push_back(ms);
  }
  std::sort(later.begin(), later.end());
  std::printf("%10s %23.3f\n", "median", later[later.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("SINTER_TRACE_LIMIT", "10000000", 1);  // one plan each
  int most = 64000;
  std::vector<std::string> only;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--most") == 0 && i + 1 < argc)
      most = std::atoi(argv[++i]);
    else
      only.emplace_back(argv[i]);
  }
  try {
    for (const Program& program : programs()) {
      bool wanted = only.empty();
      for (const std::string& name : only) wanted |= name == program.name;
      if (wanted) measure(program, most);
    }
    if (only.empty() || std::find(only.begin(), only.end(), "new_sizes") != only.end()) measure_new_sizes(12);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plan-scaling: %s\n", error.what());
    return 1;
  }
}
