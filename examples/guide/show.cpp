// Prints digits and statistics.
#include "show.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <sinter/functions/activation.h>

namespace guide {
namespace {

constexpr std::size_t kShown = 6, kBeside = 3;
constexpr std::size_t kMargin = 2;  // MNIST images have at least this many empty pixels on each side
constexpr std::size_t kGap = 2;

// Draws two rows of pixels per line of text, with half blocks.
std::vector<std::string> draw(const sn::data::LabelledImages& set, std::size_t index) {
  auto pixels = set.get(index).pixels;
  auto height = static_cast<std::size_t>(set.height()), width = static_cast<std::size_t>(set.width());
  auto is_ink = [&](std::size_t y, std::size_t x) { return y < height && pixels[y * width + x] >= 96; };
  std::vector<std::string> lines;
  for (std::size_t y = kMargin; y + kMargin < height; y += 2) {
    std::string line;
    for (std::size_t x = kMargin; x + kMargin < width; ++x) {
      bool upper = is_ink(y, x), lower = is_ink(y + 1, x);
      line += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Fits text to a column of `width` ASCII characters that ends with a space.
std::string fit(std::string text, std::size_t width) {
  text.resize(width - 1, ' ');
  return text + ' ';
}

std::string percent(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
  return text;
}

double per_step(std::uint64_t count, std::size_t steps) {
  return static_cast<double>(count) / static_cast<double>(steps);
}

}  // namespace

void show_predictions(const Cnn& model, const Images& images, const sn::Device& device, std::uint64_t seed) {
  const auto& set = images.sets.test;
  std::vector<std::size_t> chosen = sn::data::make_order(set.size(), true, seed);
  chosen.resize(std::min(kShown, chosen.size()));
  if (chosen.empty()) return;
  auto batch = sn::data::ImageBatcher{device.inner(), images.mean, images.deviation}(set, chosen);
  auto probabilities = sn::softmax(model.forward(batch.images), 1).to_vector<float>();

  std::size_t classes = images.classes.size();
  std::size_t width = static_cast<std::size_t>(set.width()) - 2 * kMargin + kGap;
  for (std::size_t first = 0; first < chosen.size(); first += kBeside) {
    std::size_t end = std::min(first + kBeside, chosen.size());
    std::vector<std::string> lines;
    for (std::size_t i = first; i < end; ++i) {
      std::vector<std::string> block = draw(set, chosen[i]);
      for (std::string& line : block) line += std::string(kGap, ' ');

      const float* row = probabilities.data() + i * classes;
      std::vector<std::size_t> order(classes);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
      std::size_t truth = set.get(chosen[i]).label;
      auto entry = [&](std::size_t place) {
        return images.classes[order[place]] + " " + percent(row[order[place]]);
      };
      block.push_back(
          fit(entry(0) + (order[0] == truth ? "" : " (it is " + images.classes[truth] + ")"), width));
      block.push_back(fit(entry(1) + ", " + entry(2), width));
      lines.resize(block.size());
      for (std::size_t at = 0; at < block.size(); ++at) lines[at] += block[at];
    }
    std::printf("\n");
    for (std::string& line : lines) {
      line.resize(line.find_last_not_of(' ') + 1);
      std::printf("%s\n", line.c_str());
    }
  }
}

void show_statistics(const sn::Device& device, const Trained* trained) {
  auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  constexpr double kMiB = 1024.0 * 1024.0;
  sn::Statistics all = device.statistics();
  std::printf("\nwhat the JIT did on %s\n", device.name().c_str());
  std::printf("  operations recorded   %12llu\n", number(all.ops_recorded));
  std::printf("  kernels launched      %12llu\n", number(all.launches));
  std::printf("  plans built           %12llu   found again %llu\n", number(all.plans_built),
              number(all.plans_found));
  std::printf("  kernels compiled      %12llu   from memory %llu   from disk %llu\n",
              number(all.kernels_compiled), number(all.kernels_from_memory), number(all.kernels_from_disk));
  std::printf("  written in place      %12.1f MiB\n", static_cast<double>(all.bytes_in_place) / kMiB);
  std::printf("  memory at its peak    %12.1f MiB\n", static_cast<double>(all.peak_bytes_in_use) / kMiB);
  if (!trained || trained->measured_steps == 0) return;
  std::size_t steps = trained->measured_steps;
  std::printf("a training step of the last epoch\n");
  std::printf("  operations recorded   %12.1f\n", per_step(trained->statistics.ops_recorded, steps));
  std::printf("  kernels launched      %12.1f\n", per_step(trained->statistics.launches, steps));
  std::printf("  written in place      %12.2f MiB\n",
              per_step(trained->statistics.bytes_in_place, steps) / kMiB);
}

}  // namespace guide
