// A line search for the strong Wolfe conditions, step by step that of PyTorch's torch.optim.LBFGS.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include <sinter/any_tensor.h>

namespace sinter::optim {

/// The loss at one point of a line.
struct LinePoint {
  double loss = 0;
  double slope = 0;         // along the line
  double greatest = 0;      // of the absolute values of the gradient
  double sum = 0;           // of them
  AnyTensor gradient = {};  // as one vector
};

class LineSearch {
 public:
  /// `at` evaluates the loss at a step length; no element of a step of length 1 is greater than `reach`.
  LineSearch(std::function<LinePoint(double)> at, double reach, double tolerance)
      : at_(std::move(at)), reach_(reach), tolerance_(tolerance) {}

  /// Begins at length 0 with what is known there, and tries `first`. The result is at `length`.
  LinePoint run(const LinePoint& start, double first);

  double length = 0;
  std::int64_t evaluations = 0;

 private:
  struct Place {
    double length;
    LinePoint point;
  };
  struct Bracket {
    std::array<Place, 2> ends;
    std::size_t count = 2;  // 1: met the conditions
  };
  Bracket enclose(const LinePoint& start, double first);
  void narrow(const LinePoint& start, Bracket& bracket);
  /// A loss that is no number is as bad as an infinite one: the bracket ends there.
  LinePoint look(double length);
  bool flat(const LinePoint& start, const LinePoint& point) const;
  bool too_high(const LinePoint& start, const Place& place) const;

  std::function<LinePoint(double)> at_;
  double reach_, tolerance_;
};

}  // namespace sinter::optim
