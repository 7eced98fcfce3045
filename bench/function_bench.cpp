// function-bench: functions of many kinds, each at one size, so that what is far from PyTorch is seen.
// peers_functions.py does the same with PyTorch. Milliseconds of a call, some of them handed over in a row
// before a wait: planning and launching count. Rows of shape-bench measure the kernels of some of them at
// many sizes.
//
// usage: function-bench [--device NAME] [--subject NAME] [--only SUBSTRING] [--values yes]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "function_bench/bench.h"

namespace function_bench {
namespace {

constexpr double kSeconds = 0.2;
constexpr int kWarm = 3, kFewest = 3, kMost = 50;

constexpr std::pair<const char*, Subject> kSubjects[] = {
    {"orders", orders},         {"counts", counts},
    {"scatters", scatters},     {"scans", scans},
    {"images", images},         {"reductions", reductions},
    {"copies", copies},         {"products", products},
    {"more_scans", more_scans}, {"places", places},
    {"paddings", paddings},     {"searches", searches},
    {"elements", elements},     {"integers", integers},
    {"draws", draws},           {"sums", sums},
    {"formulas", formulas},     {"decompositions", decompositions},
    {"spectra", spectra},       {"image_gradients", image_gradients},
    {"pools", pools},           {"convolutions", convolutions},
    {"losses", losses},         {"norms", norms},
    {"sequences", sequences},   {"steps", steps},
    {"transfers", transfers},
};

/// Numbers from 0 to below 1 that look random and follow from `salt`.
AnyTensor fractions(const Shape& shape, std::int64_t salt, const Device& device) {
  const AnyTensor at = AnyTensor::arange(0, shape.numel(), 1, DType::i64, device);
  const AnyTensor mixed = (at * 7919 + salt * 104729) % 1000003;
  return ((mixed * mixed % 1000003).cast(DType::f64) / 1000003.0).cast(DType::f32).reshape(shape);
}

}  // namespace

void Bench::row(const char* name, const std::function<Results()>& function) {
  if (std::string_view(name).find(only_) == std::string_view::npos) return;
  try {
    if (values_) {
      print_values(name, function());
    } else {
      seconds(function, kWarm);
      const double one = seconds(function, 1);
      const int calls = std::clamp(static_cast<int>(kSeconds / one), kFewest, kMost);
      std::printf("%-28s %9.4f\n", name, seconds(function, calls) / calls * 1e3);
    }
  } catch (const std::exception& error) {
    std::printf("%-28s failed: %s\n", name, error.what());
    failed_ = true;
  }
  std::fflush(stdout);
}

AnyTensor Bench::floats(const Shape& shape, DType dtype) {
  ++inputs_;
  AnyTensor x = values_ ? fractions(shape, inputs_, device_) * 2 - 1
                        : AnyTensor::uniform(shape, -1, 1, DType::f32, device_);
  x = x.cast(dtype);
  x.sync();
  return x;
}

AnyTensor Bench::ints(const Shape& shape, double end, DType dtype) {
  ++inputs_;
  AnyTensor x = values_ ? fractions(shape, inputs_, device_) * end
                        : AnyTensor::uniform(shape, 0, end, DType::f32, device_);
  x = x.cast(dtype);
  x.sync();
  return x;
}

AnyTensor Bench::leaf(const Shape& shape) {
  return floats(shape).to_device(device_.autodiff()).require_grad();
}

double Bench::seconds(const std::function<Results()>& function, int calls) const {
  device_.sync();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) sinter::sync(function());
  device_.sync();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// For all results together: how many numbers there are, their mean, the mean of their magnitudes, and the
/// mean with a weight that follows from the place, which sees wrong orders.
void Bench::print_values(const char* name, const Results& results) const {
  double sum = 0, magnitudes = 0, weighed = 0;
  std::int64_t count = 0;
  for (const AnyTensor& result : results) {
    const TensorData data = result.cast(DType::f64).to_data();
    std::int64_t at = 0;
    for (const double x : data.span<double>()) {
      sum += x, magnitudes += std::fabs(x), weighed += x * static_cast<double>(at % 17 + at % 101);
      ++at;
    }
    count += at;
  }
  const double each = count ? 1.0 / static_cast<double>(count) : 0;
  std::printf("%-28s %lld %.6g %.6g %.6g\n", name, static_cast<long long>(count), sum * each,
              magnitudes * each, weighed * each);
}

Results with_gradients(const AnyTensor& y, const std::vector<AnyTensor>& xs, const AnyTensor& seed) {
  GradientOptions options{.keep_history = false, .differentiable = false};
  if (seed.defined()) options.seed = seed;
  Results results = gradient(y, std::span<const AnyTensor>(xs), options);
  results.push_back(y);
  return results;
}

}  // namespace function_bench

namespace {

sinter::Device device_of(std::string_view name) {
  if (name == "host") return sinter::Device::host();
  return name == "vulkan" ? sinter::Device::vulkan() : sinter::Device::cuda();
}

}  // namespace

int main(int argc, char** argv) {
  std::string device = "cuda", only, chosen;
  bool values = false;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--device") device = argv[i + 1];
    if (option == "--only") only = argv[i + 1];
    if (option == "--subject") chosen = argv[i + 1];
    if (option == "--values") values = true;
  }
  function_bench::Bench bench(device_of(device), only, values);
  for (const auto& [name, subject] : function_bench::kSubjects) {
    if (!chosen.empty() && chosen != name) continue;
    bench.begin_subject();
    subject(bench);
  }
  return bench.failed() ? 1 : 0;
}
