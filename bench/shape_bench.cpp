// shape-bench: times operations of any shape, row by row of a file that peers_shapes.py reads too.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sinter/sinter.h>

#include "shape_operations.h"

namespace {

namespace sn = sinter;

constexpr int kWarm = 5, kCalls = 32, kGroups = 5;  // peers_shapes.py has the same
constexpr std::int64_t kMi = 1 << 20;

const char* const kUsage =
    "usage: shape-bench ROWS [--device NAME] [--only SUBSTRING] [--seconds S] [--warm S] [--json FILE] "
    "[--values FILE]\n"
    "  --seconds  time spent measuring each row, about (0.2)\n"
    "  --warm     time for which each row keeps the device busy before it is measured (0): some drivers slow "
    "a\n"
    "             GPU down that had little to do\n"
    "  --values   measures nothing; writes inputs and results of small rows, for peers_shapes.py --check\n";

struct Options {
  std::string rows, only, device, json, values;
  double seconds = 0.2, warm = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 >= argc) throw sn::Error("[shape-bench] " + flag + " takes a value");
      return argv[++i];
    };
    if (flag == "--device")
      options.device = value();
    else if (flag == "--only")
      options.only = value();
    else if (flag == "--seconds")
      options.seconds = std::stod(value());
    else if (flag == "--warm")
      options.warm = std::stod(value());
    else if (flag == "--json")
      options.json = value();
    else if (flag == "--values")
      options.values = value();
    else if (flag.starts_with("--") || !options.rows.empty())
      throw sn::Error("[shape-bench] unknown option " + flag + "\n" + kUsage);
    else
      options.rows = flag;
  }
  if (options.rows.empty()) throw sn::Error(kUsage);
  return options;
}

struct Row {
  std::string name;  // the line itself
  const bench::ShapeOperation* operation;
  sn::Dims shape;
  sn::DType dtype;
};

sn::DType dtype_named(const std::string& name) {
  for (const sn::DType dtype : {sn::DType::f32, sn::DType::bf16, sn::DType::f16, sn::DType::f8_e4m3,
                                sn::DType::f8_e5m2, sn::DType::i8})
    if (sn::name_of(dtype) == name) return dtype;
  throw sn::Error("[shape-bench] the dtype is \"" + name +
                  "\", expected f32, bf16, f16, f8_e4m3, f8_e5m2 or i8");
}

/// "32768x1024"
sn::Dims shape_of(const std::string& text) {
  sn::Dims shape;
  std::istringstream sizes(text);
  for (std::string size; std::getline(sizes, size, 'x');) {
    if (size.empty() || size.size() > 12 || size.find_first_not_of("0123456789") != std::string::npos)
      throw sn::Error("[shape-bench] the shape is \"" + text + "\", expected sizes with an x between them");
    shape.push_back(std::stoll(size));
  }
  return shape;
}

std::vector<Row> read_rows(const std::string& path, const std::string& only) {
  std::ifstream file(path);
  if (!file) throw sn::Error("[shape-bench] cannot read " + path);
  std::vector<Row> rows;
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string operation, shape, dtype, more;
    if (!(words >> operation)) continue;
    if (!(words >> shape >> dtype) || words >> more)
      throw sn::Error("[shape-bench] \"" + line + "\" in " + path + " is not: operation, shape, dtype");
    Row row{operation + " " + shape + " " + dtype, &bench::shape_operation(operation), shape_of(shape),
            dtype_named(dtype)};
    if (row.shape.rank() != row.operation->sizes)
      throw sn::Error("[shape-bench] \"" + row.name + "\": " + operation + " takes " +
                      std::to_string(row.operation->sizes) + " sizes");
    if (!names.insert(row.name).second)
      throw sn::Error("[shape-bench] \"" + row.name + "\" is twice in " + path);
    if (row.name.find(only) != std::string::npos) rows.push_back(std::move(row));
  }
  return rows;
}

/// How many sets of inputs the calls of a row take in turn. Small tensors are in a GPU's cache in programs
/// too, because they were just written; larger ones come from memory: 256 MiB is several times any cache.
std::int64_t sets_for(std::int64_t bytes) {
  return bytes < 8 * kMi ? 1 : std::min<std::int64_t>(32, (256 * kMi + bytes - 1) / bytes);
}

struct Measured {
  double median, least;  // ms
  std::int64_t bytes;    // least to be moved
  std::int64_t sets;
  double launches;  // in one call
};

Measured measure(const Row& row, const sn::Device& device, const Options& options) {
  using Clock = std::chrono::steady_clock;
  std::vector<bench::Tensors> sets{row.operation->inputs(row.shape, row.dtype, device)};
  Measured measured{};
  measured.sets = sets_for(bench::bytes_of(sets[0]));
  while (sets.size() < static_cast<std::size_t>(measured.sets))
    sets.push_back(row.operation->inputs(row.shape, row.dtype, device));

  std::size_t next = 0;
  auto call = [&] {
    const bench::Tensors results = row.operation->record(sets[next++ % sets.size()]);
    sn::sync(results);
  };
  auto group = [&] {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) call();
    device.sync();
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count() / kCalls;
  };
  {
    const bench::Tensors results = row.operation->record(sets[0]);
    sn::sync(results);
    measured.bytes =
        (row.operation->bytes_read ? row.operation->bytes_read(sets[0], results) : bench::bytes_of(sets[0])) +
        bench::bytes_of(results);
  }
  for (int i = 0; i < kWarm; ++i) call();
  const auto begin = Clock::now();
  const auto since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  do group();
  while (since(begin) < options.warm);

  const std::uint64_t launches = device.statistics().launches;
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < kGroups || since(start) < options.seconds) times.push_back(group());
  measured.launches = static_cast<double>(device.statistics().launches - launches) /
                      static_cast<double>(times.size() * kCalls);
  if (launches == device.statistics().launches) throw sn::Error("[shape-bench] the row launches nothing");
  std::sort(times.begin(), times.end());
  measured.median = times[times.size() / 2];
  measured.least = times.front();
  return measured;
}

nlohmann::json numbers_of(const bench::Tensors& tensors) {
  nlohmann::json lists = nlohmann::json::array();
  for (const sn::AnyTensor& tensor : tensors) {
    if (tensor.numel() > kMi)
      throw sn::Error("[shape-bench] " + to_string(tensor.shape()) + " has too many values to write them");
    const auto count = static_cast<std::size_t>(tensor.numel());
    if (sn::is_float(tensor.dtype())) {
      std::vector<float> values(count);
      tensor.detach().cast(sn::DType::f32).read_bytes(std::as_writable_bytes(std::span(values)));
      nlohmann::json list = nlohmann::json::array();
      // JSON has no word for what is not finite.
      for (const float value : values) std::isfinite(value) ? list.push_back(value) : list.push_back(nullptr);
      lists.push_back(std::move(list));
    } else {
      std::vector<std::int64_t> values(count);
      tensor.cast(sn::DType::i64).read_bytes(std::as_writable_bytes(std::span(values)));
      lists.push_back(values);
    }
  }
  return lists;
}

void write(const std::string& path, const nlohmann::json& document) {
  std::ofstream file(path);
  file << document.dump(1) << "\n";
  file.close();
  if (!file) throw sn::Error("[shape-bench] cannot write " + path);
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const std::vector<Row> rows = read_rows(options.rows, options.only);
  const sn::Device device = options.device.empty() ? sn::Device::best() : sn::Device::parse(options.device);
  std::printf("%s (%s)\n%-44s %10s %10s %8s %8s %9s\n", device.name().c_str(), device.description().c_str(),
              "row", "median ms", "least ms", "MB", "GB/s", "launches");
  nlohmann::json figures = nlohmann::json::object(), values = nlohmann::json::object();
  int failed = 0;
  for (const Row& row : rows) {
    try {
      if (!options.values.empty()) {
        const bench::Tensors inputs = row.operation->inputs(row.shape, row.dtype, device);
        const bench::Tensors results = row.operation->record(inputs);
        values[row.name] = {{"inputs", numbers_of(inputs)}, {"results", numbers_of(results)}};
        continue;
      }
      const Measured m = measure(row, device, options);
      const auto bytes = static_cast<double>(m.bytes);
      std::printf("%-44s %10.5f %10.5f %8.2f %8.0f %9.2f\n", row.name.c_str(), m.median, m.least, bytes / 1e6,
                  bytes / m.median / 1e6, m.launches);
      figures[row.name] = {{"ms", m.median},
                           {"least_ms", m.least},
                           {"bytes", m.bytes},
                           {"sets", m.sets},
                           {"launches", m.launches}};
    } catch (const std::exception& error) {
      ++failed;
      std::printf("%-44s failed: %s\n", row.name.c_str(), error.what());
      figures[row.name] = {{"error", error.what()}};
    }
    std::fflush(stdout);
  }
  if (!options.values.empty()) write(options.values, values);
  if (!options.json.empty()) write(options.json, {{"device", device.description()}, {"rows", figures}});
  if (failed) std::printf("%d of %zu rows failed\n", failed, rows.size());
  return failed ? 1 : 0;
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
