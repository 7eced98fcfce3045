// sinter-bench: times named pieces of work on one device and prints medians.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sinter/sinter.h>

#include "first_step.h"
#include "workload.h"

namespace {

struct Options {
  std::vector<std::string> only;
  std::string device, json;
  double seconds = 2;
  bool cpu = false;
  bool list = false;
  std::string first_step;  // runs one step of this row and exits; started by the rows that time it
};

const char* const kUsage =
    "usage: sinter-bench [--list] [--only NAME,...] [--device NAME] [--seconds S] [--cpu] [--json FILE]\n"
    "  --seconds  time spent measuring each row, about (2)\n"
    "  --cpu      the process's time on processors, of all threads: for machines that others use, too\n";

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw sinter::Error("[sinter-bench] " + flag + " takes a value");
      return argv[++i];
    };
    if (flag == "--list")
      options.list = true;
    else if (flag == "--first-step")
      options.first_step = value();
    else if (flag == "--device")
      options.device = value();
    else if (flag == "--json")
      options.json = value();
    else if (flag == "--cpu")
      options.cpu = true;
    else if (flag == "--seconds")
      options.seconds = std::stod(value());
    else if (flag == "--only") {
      std::string names = value();
      for (std::size_t start = 0; start <= names.size();) {
        const std::size_t comma = std::min(names.find(',', start), names.size());
        options.only.push_back(names.substr(start, comma - start));
        start = comma + 1;
      }
    } else {
      throw sinter::Error("[sinter-bench] unknown option " + flag + "\n" + kUsage);
    }
  }
  for (const std::string& name : options.only) {
    const auto& all = bench::workloads();
    if (std::none_of(all.begin(), all.end(), [&](const bench::Workload& w) { return w.name == name; }))
      throw sinter::Error("[sinter-bench] there is no row \"" + name + "\"; --list shows them");
  }
  return options;
}

struct Times {
  double first, median, low, high;
};

Times measure(const bench::Workload& workload, const sinter::Device& device, double seconds, bool cpu) {
  using Clock = std::chrono::steady_clock;
  const double scale = (workload.unit == "us"   ? 1e6
                        : workload.unit == "ms" ? 1e3
                                                : 1) /
                       workload.per_repetition;
  const std::function<void()> run = workload.make ? workload.make(device) : nullptr;
  const std::function<double()> part = workload.make_timed ? workload.make_timed(device) : nullptr;
  device.sync();
  auto timed = [&](int repetitions) {
    if (part) {
      double sum = 0;
      for (int i = 0; i < repetitions; ++i) sum += part();
      return sum / repetitions * scale;
    }
    const auto start = Clock::now();
    const std::clock_t cpu_start = std::clock();
    for (int i = 0; i < repetitions; ++i) run();
    device.sync();
    const double took = cpu ? static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC
                            : std::chrono::duration<double>(Clock::now() - start).count();
    return took / repetitions * scale;
  };
  Times times{timed(1), 0, 0, 0};
  // The host has done what it was handed when it is handed the next: long work need not be repeated.
  const double one = timed(1) / scale;  // in seconds
  const int repetitions = device.name() == "host" && one > seconds / 100 ? 1 : workload.repetitions;
  for (int i = 0; i < 3; ++i) timed(repetitions);
  std::vector<double> samples;
  const auto start = Clock::now();
  while (samples.size() < 5 || std::chrono::duration<double>(Clock::now() - start).count() < seconds)
    samples.push_back(timed(repetitions));
  std::sort(samples.begin(), samples.end());
  times.median = samples[samples.size() / 2];
  times.low = samples.front();
  times.high = samples.back();
  return times;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.list) {
    for (const bench::Workload& workload : bench::workloads())
      std::printf("%-32s %s\n", workload.name.c_str(), workload.what.c_str());
    return 0;
  }
  const sinter::Device device =
      options.device.empty() ? sinter::Device::best() : sinter::Device::parse(options.device);
  if (!options.first_step.empty()) {
    bench::run_first_step(device, options.first_step);
    return 0;
  }
  using Needs = bench::Workload::Needs;
  const char* threads = std::getenv("SINTER_HOST_THREADS");
  const bool one_thread = device.name() == "host" && threads != nullptr && std::strcmp(threads, "1") == 0;
  std::printf("%s (%s), medians\n%-32s %10s %10s %10s %12s\n", device.name().c_str(),
              device.description().c_str(), "row", "median", "min", "max", "first");
  nlohmann::json rows = nlohmann::json::object();
  for (const bench::Workload& workload : bench::workloads()) {
    if (!options.only.empty() &&
        std::find(options.only.begin(), options.only.end(), workload.name) == options.only.end())
      continue;
    const bool no_gpu = device.name() == "host" || device.name() == "null";
    if ((workload.needs == Needs::OneThreadOfHost && !one_thread) ||
        (workload.needs == Needs::Gpu && no_gpu)) {
      if (options.only.empty()) continue;
      throw sinter::Error("[sinter-bench] " + workload.name +
                          (workload.needs == Needs::Gpu ? " is too large for " + device.name()
                                                        : " compares with a loop in one thread: it needs "
                                                          "--device host and SINTER_HOST_THREADS=1"));
    }
    const Times times = measure(workload, device, options.seconds, options.cpu);
    std::printf("%-32s %10.4f %10.4f %10.4f %12.3f %s\n", workload.name.c_str(), times.median, times.low,
                times.high, times.first, workload.unit.c_str());
    std::fflush(stdout);
    rows[workload.name] = times.median;
  }
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << rows.dump(1) << "\n";
    if (!file) throw sinter::Error("[sinter-bench] cannot write " + options.json);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
