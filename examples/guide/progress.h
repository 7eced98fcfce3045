// A line that tells how far the work is: rewritten in place on a terminal, now and then a new one elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace guide {

class Progress {
 public:
  /// `title` stands at the start of the line, `total` is the number of steps.
  Progress(std::string title, std::size_t total);

  /// Whether `show` would write anything now: what is shown has to be read from the device, so it is not
  /// asked for more often than a person can read.
  bool is_due(std::size_t step) const;
  void show(std::size_t step, const std::string& text);
  /// Replaces the line by a last one.
  void finish(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  std::size_t total_;
  bool is_terminal_;
  Clock::time_point shown_;
};

}  // namespace guide
