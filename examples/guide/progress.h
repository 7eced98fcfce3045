// A progress line: rewritten in place on a terminal, printed now and then elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace guide {

class Progress {
 public:
  /// The line begins with `title`; `total` is the number of steps.
  Progress(std::string title, std::size_t total);

  /// True iff `show` would print now. Displayed values have to be read from the device, so they are read no
  /// more often than a person can follow.
  bool is_due(std::size_t step) const;
  void show(std::size_t step, const std::string& text);
  /// Replaces the line by a final one.
  void finish(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  std::string title_;
  std::size_t total_;
  bool is_terminal_;
  Clock::time_point shown_;
};

}  // namespace guide
