// Schedules as text.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include <sinter/optim/schedule.h>

#include "src/optim/state.h"

namespace sinter::optim {
namespace {

constexpr const char* kName = "plot";
constexpr std::int64_t kParts = 8;  // of a character
constexpr std::array<const char*, kParts + 1> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

void require_positive(const char* what, std::int64_t value) {
  if (value < 1)
    throw Error("[plot] the " + std::string(what) + " is " + std::to_string(value) + ", expected 1 or more");
}

std::string text_of(double rate) {
  std::ostringstream text;
  text << rate;
  return text.str();
}

/// Of `columns` steps from the first to the last.
std::vector<double> rates_of(const Schedule& schedule, std::int64_t steps, std::int64_t columns) {
  std::vector<double> rates;
  for (std::int64_t column = 0; column < columns; ++column) {
    const double part = columns == 1 ? 0 : static_cast<double>(column) / static_cast<double>(columns - 1);
    const auto step = static_cast<std::int64_t>(std::llround(part * static_cast<double>(steps - 1)));
    const double rate = schedule(step);
    require_within(kName, ("the rate of step " + std::to_string(step)).c_str(), rate, 0, HUGE_VAL);
    rates.push_back(rate);
  }
  return rates;
}

}  // namespace

std::string schedule::plot(const Schedule& schedule, std::int64_t steps, std::int64_t width,
                           std::int64_t height) {
  require_positive("number of steps", steps);
  require_positive("width", width);
  require_positive("height", height);
  const std::vector<double> rates = rates_of(schedule, steps, std::min(steps, width));
  const double greatest = *std::max_element(rates.begin(), rates.end());
  const std::string top = text_of(greatest), bottom = "0";
  const std::string last = std::to_string(steps - 1);
  const std::size_t margin = std::max(top.size(), bottom.size());

  std::string text;
  for (std::int64_t line = height - 1; line >= 0; --line) {
    const std::string label = line == height - 1 ? top : line == 0 ? bottom : "";
    text += std::string(margin - label.size(), ' ') + label + " |";
    std::string row;
    std::size_t used = 0;  // without the blanks at the end
    for (const double rate : rates) {
      const double parts = greatest == 0 ? 0 : rate / greatest * static_cast<double>(height * kParts);
      const std::int64_t here = std::clamp<std::int64_t>(std::llround(parts) - line * kParts, 0, kParts);
      row += kBlocks[static_cast<std::size_t>(here)];
      if (here != 0) used = row.size();
    }
    text += row.substr(0, used) + '\n';
  }
  // The steps of the first and of the last column.
  const std::size_t between = rates.size() > last.size() + 1 ? rates.size() - last.size() - 1 : 1;
  text += std::string(margin + 2, ' ') + '0';
  if (steps > 1) text += std::string(between, ' ') + last;
  return text + '\n';
}

}  // namespace sinter::optim
