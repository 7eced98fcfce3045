// What a program's own code threw while a launch called it.
#pragma once

#include <exception>
#include <utility>

namespace sinter::runtime {

/// Thrown by Backend::launch for what a function of the program threw: the launch's results have no values,
/// but all it wrote are these, so the run goes on, and whoever reads what came of them is told.
class LaunchFailure : public std::exception {
 public:
  explicit LaunchFailure(std::exception_ptr reason) : reason_(std::move(reason)) {}
  const std::exception_ptr& reason() const { return reason_; }
  const char* what() const noexcept override { return "a function that a launch called threw an exception"; }

 private:
  std::exception_ptr reason_;
};

}  // namespace sinter::runtime
