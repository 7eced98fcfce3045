// A progress line.
#include "progress.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <unistd.h>

namespace guide {
namespace {

constexpr std::size_t kEverySteps = 20;
constexpr std::chrono::milliseconds kEvery{100};
constexpr std::size_t kPlainLines = 5;  // per `total` steps, where lines cannot be rewritten

std::string bar(std::size_t step, std::size_t total) {
  constexpr std::size_t kWidth = 16;
  std::size_t filled = total == 0 ? kWidth : step * kWidth / total;
  std::string text;
  for (std::size_t i = 0; i < kWidth; ++i) text += i < filled ? "█" : "░";
  return text;
}

}  // namespace

Progress::Progress(std::string title, std::size_t total)
    : title_(std::move(title)), total_(total), is_terminal_(isatty(STDOUT_FILENO)), shown_(Clock::now()) {}

bool Progress::is_due(std::size_t step) const {
  if (!is_terminal_) {
    std::size_t every = std::max<std::size_t>(total_ / kPlainLines, 1);
    return step % every == 0 && step < total_;
  }
  return step % kEverySteps == 0 && Clock::now() - shown_ >= kEvery;
}

void Progress::show(std::size_t step, const std::string& text) {
  shown_ = Clock::now();
  if (is_terminal_)
    std::printf("\r%s %s %zu/%zu  %s\033[K", title_.c_str(), bar(step, total_).c_str(), step, total_,
                text.c_str());
  else
    std::printf("%s %zu/%zu  %s\n", title_.c_str(), step, total_, text.c_str());
  std::fflush(stdout);
}

void Progress::finish(const std::string& text) {
  std::printf("%s%s  %s%s\n", is_terminal_ ? "\r" : "", title_.c_str(), text.c_str(),
              is_terminal_ ? "\033[K" : "");
  std::fflush(stdout);
}

}  // namespace guide
