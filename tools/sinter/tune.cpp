// Prints and removes choices, and has them made for products of given sizes.
#include "tune.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>

#include <sinter/any_tensor.h>
#include <sinter/device.h>
#include <sinter/tuning.h>

namespace tools {
namespace {

struct Product {
  std::int64_t rows = 0, columns = 0, depth = 0, batches = 1;
};

std::optional<Product> parse(const std::string& text) {
  std::array<std::int64_t, 4> sizes{0, 0, 0, 1};
  std::size_t count = 0;
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    if (count == sizes.size()) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, sizes[count]);
    if (error != std::errc() || sizes[count] < 1) return std::nullopt;
    ++count;
    if (next == end) break;
    if (*next != 'x') return std::nullopt;
    at = next + 1;
  }
  if (count < 3) return std::nullopt;
  return Product{sizes[0], sizes[1], sizes[2], sizes[3]};
}

/// The same product once more, where it is known which variant is taken.
void compute(const Product& product, sinter::DType dtype, const sinter::Device& device) {
  const auto operand = [&](std::int64_t rows, std::int64_t columns) {
    sinter::Shape shape({rows, columns});
    if (product.batches > 1) shape = sinter::Shape({product.batches, rows, columns});
    return sinter::AnyTensor::full(shape, 0.5, dtype, device);
  };
  const sinter::AnyTensor a = operand(product.rows, product.depth),
                          b = operand(product.depth, product.columns);
  a.sync();
  b.sync();
  const sinter::AnyTensor c = a.matmul(b);
  c.sync();
  device.sync();
}

void print(const sinter::TimedKernel& kernel) {
  std::printf("%s, %s: %llu rounds, %.0f ms\n", kernel.kernel.c_str(), kernel.sizes.c_str(),
              static_cast<unsigned long long>(kernel.rounds), kernel.milliseconds);
  bool is_first = true;
  for (const sinter::TimedKernel::Variant& variant : kernel.variants) {
    const bool is_chosen = variant.parameters == kernel.chosen;
    std::string time = "not timed";
    if (variant.microseconds > 0) {
      char text[40];
      std::snprintf(text, sizeof text, "%.2f us", variant.microseconds);
      time = text;
    }
    std::printf("  %c %12s  %s%s%s%s\n", is_chosen ? '*' : ' ', time.c_str(), variant.parameters.c_str(),
                is_first ? "  (the cost model's)" : "",
                variant.dropped.empty() ? "" : "  dropped: ", variant.dropped.c_str());
    is_first = false;
  }
  if (!kernel.undecided.empty()) std::printf("  not decided: %s\n", kernel.undecided.c_str());
}

void print(const sinter::TunedKernel& kernel) {
  std::printf("%s, %s\n  %s\n  %.2f us; by the cost model's choice %.2f us\n  on %s\n", kernel.kernel.c_str(),
              kernel.sizes.c_str(), kernel.parameters.c_str(), kernel.microseconds, kernel.model_microseconds,
              kernel.device.c_str());
}

}  // namespace

int list_tuned() {
  for (const sinter::TunedKernel& kernel : sinter::tuned_kernels())
    std::printf("%-24s %-52s %10.2f us  %5.2fx  %s\n", kernel.sizes.c_str(), kernel.parameters.c_str(),
                kernel.microseconds,
                kernel.microseconds > 0 ? kernel.model_microseconds / kernel.microseconds : 1.0,
                kernel.device.substr(0, kernel.device.find(',')).c_str());
  return 0;
}

int show_tuned(const std::string& part) {
  const std::string file = sinter::tuning_file();
  std::printf("%s\n", file.empty() ? "nothing is kept on disk" : file.c_str());
  std::size_t shown = 0;
  for (const sinter::TunedKernel& kernel : sinter::tuned_kernels()) {
    const std::string all =
        kernel.kernel + " " + kernel.sizes + " " + kernel.parameters + " " + kernel.device;
    if (all.find(part) == std::string::npos) continue;
    print(kernel);
    ++shown;
  }
  if (shown > 0 || part.empty()) return 0;
  std::fprintf(stderr, "sinter tune: no choice has \"%s\" in it\n", part.c_str());
  return 1;
}

int run_tuning(const TuneOptions& options) {
  std::vector<Product> products;
  for (const std::string& text : options.sizes) {
    const auto product = parse(text);
    if (!product) {
      std::fprintf(stderr,
                   "sinter tune: \"%s\" names no product; it takes ROWSxCOLUMNSxDEPTH or "
                   "ROWSxCOLUMNSxDEPTHxBATCHES, such as 4096x4096x4096\n",
                   text.c_str());
      return 2;
    }
    products.push_back(*product);
  }
  const sinter::Device device =
      options.device.empty() ? sinter::Device::best() : sinter::Device::parse(options.device);
  const sinter::DType dtype = options.dtype == "f16"   ? sinter::DType::f16
                              : options.dtype == "f32" ? sinter::DType::f32
                                                       : sinter::DType::bf16;
  std::printf("%s: %s\n", device.name().c_str(), device.description().c_str());
  int code = 0;
  for (std::size_t i = 0; i < products.size(); ++i) {
    sinter::TuneAnew anew;
    compute(products[i], dtype, device);
    const std::vector<sinter::TimedKernel> timed = anew.take_timed();
    for (const sinter::TimedKernel& kernel : timed) {
      print(kernel);
      if (!kernel.undecided.empty()) code = 1;
    }
    if (timed.empty())
      std::printf("%s of %s: there is nothing to choose on this device, or it is pinned\n",
                  options.sizes[i].c_str(), options.dtype.c_str());
  }
  const std::string file = sinter::tuning_file();
  std::printf("choices are in %s\n", file.empty() ? "this process alone: SINTER_CACHE=0" : file.c_str());
  return code;
}

int clear_tuned() {
  const std::size_t count = sinter::forget_tuned_kernels();
  std::printf("%zu choices removed\n", count);
  return 0;
}

}  // namespace tools
