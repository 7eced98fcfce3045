// Whether the calling thread keeps histories, and the search for values that are not finite.
#include "src/autodiff/recording.h"

#include <array>
#include <string>

#include <sinter/autodiff.h>

#include "src/base/env.h"

namespace sinter {
namespace autodiff {

namespace {

thread_local Recording of_thread;  // has no destructor: destructors of the thread may record

std::int64_t count(const AnyTensor& mask, const Location& where) {
  std::int64_t number = 0;
  mask.cast(DType::i64, where)
      .sum(mask.all_axes(), where)
      .read_bytes(std::as_writable_bytes(std::span(&number, 1)), where);
  return number;
}

/// Where an operation was recorded, if that is known.
[[noreturn]] void throw_anomaly(const Node& node, std::string message) {
  message = "[anomaly] " + message;
  if (node.where.line() == 0) throw AutodiffError(message);
  throw AutodiffError(message, node.where);
}

std::string share_of(std::int64_t bad, const AnyTensor& of) {
  return std::to_string(bad) + " of " + std::to_string(of.numel()) + " elements";
}

}  // namespace

Recording& recording() { return of_thread; }
bool finds_anomalies() { return of_thread.finds_anomalies || base::environment().anomaly; }

void check_result(const Node& node, const AnyTensor& result) {
  if (const std::int64_t bad = count(result.is_nan(node.where), node.where))
    throw_anomaly(node, "the result of " + std::string(node.name()) + " is NaN in " + share_of(bad, result));
}

void check_gradient(const Node& node, std::size_t i, const AnyTensor& gradient) {
  if (!gradient.defined()) return;
  const AnyTensor value = gradient.inner();
  const std::int64_t bad = count(value.is_finite(node.where).logical_not(node.where), node.where);
  if (bad == 0) return;
  const std::int64_t nans = count(value.is_nan(node.where), node.where);
  constexpr std::array kOrdinals = {"first", "second", "third"};
  const std::string name(node.name());
  const std::string what = i == kSumOfGradients ? "the sum of the gradients of the result of " + name
                                                : "the gradient of the " +
                                                      (i < kOrdinals.size() ? std::string(kOrdinals[i])
                                                                            : std::to_string(i + 1) + "th") +
                                                      " operand of " + name;
  throw_anomaly(node, what + " is the first that is not finite: NaN in " + share_of(nans, value) +
                          ", infinite in " + std::to_string(bad - nans));
}

}  // namespace autodiff

NoGrad::NoGrad() : before_(autodiff::recording().keeps_history), met_(autodiff::recording().met) {
  autodiff::recording().keeps_history = false;
  autodiff::recording().met = nullptr;
}
NoGrad::~NoGrad() {
  autodiff::recording().keeps_history = before_;
  autodiff::recording().met = static_cast<autodiff::MetNodes*>(met_);
}

DetectAnomaly::DetectAnomaly() : before_(autodiff::recording().finds_anomalies) {
  autodiff::recording().finds_anomalies = true;
}
DetectAnomaly::~DetectAnomaly() { autodiff::recording().finds_anomalies = before_; }

}  // namespace sinter
