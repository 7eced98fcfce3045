// How the time to plan a program grows with its length: the first flush of programs that no plan is known
// for, on the null device, which runs nothing. Prints the time for each operation at several lengths, and the
// slope: 1 is linear, 2 is the square.
// usage: plan-scaling [PROGRAM...] [--most OPS]
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
  return {y.any()};
}

/// Steps of normalisation along rows, each of the result of the one before.
Kept rows(const Device& device, int steps) {
  Tensor<2> y = blank(device, 64, 32);
  for (int i = 0; i < steps; ++i) y = y - y.sum(1);
  return {y.any()};
}

/// The same along rows and columns in turn.
Kept rows_and_columns(const Device& device, int steps) {
  Tensor<2> y = blank(device, 64, 32);
  for (int i = 0; i < steps; ++i) y = y - y.sum(i % 2);
  return {y.any()};
}

/// Reductions along rows and columns in turn, all of them of one value.
Kept shared(const Device& device, int steps) {
  const Tensor<2> x = blank(device, 64, 32).exp();
  Kept kept;
  for (int i = 0; i < steps; ++i) kept.push_back((x * static_cast<double>(i + 2)).sum(i % 2).any());
  return kept;
}

Kept rnn(const Device& device, int steps) {
  const Tensor<2> w = blank(device, 32, 32), u = blank(device, 32, 32), b = blank(device, 1, 32);
  Tensor<2> h = blank(device, 8, 32);
  const Tensor<2> x = blank(device, 8, 32);
  Kept kept;
  for (int i = 0; i < steps; ++i) {
    h = ((x * static_cast<double>(i + 1)).matmul(w) + h.matmul(u) + b).tanh();
    kept.push_back(h.any());
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
  for (const Tensor<2>& w : weights) kept.push_back(gradients.get(w)->any());
  return kept;
}

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {
      {"chain", "elementwise", 2, chain},
      {"rows", "reductions along rows", 2, rows},
      {"rows_and_columns", "reductions along rows and columns in turn", 2, rows_and_columns},
      {"shared", "reductions of one value along rows and columns in turn", 2, shared},
      {"rnn", "a recurrent network", 6, rnn},
      {"attention", "blocks of attention with gradients", 200, attention},
  };
  return all;
}

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
  } catch (const std::exception& error) {
    std::fprintf(stderr, "plan-scaling: %s\n", error.what());
    return 1;
  }
}
