// What the calling thread does with histories: keeps them or not, notes what they lead back to, looks at
// values.
#pragma once

#include <vector>

#include <absl/container/flat_hash_set.h>

#include <sinter/any_tensor.h>

#include "src/autodiff/node.h"

namespace sinter::autodiff {

/// The nodes that operations lead back to, each once; only those that were there before.
class MetNodes {
 public:
  void add(Node* node) {
    if (node->id <= border_ && seen_.insert(node).second) nodes_.push_back(AnyTensor::NodeRef::share(node));
  }
  const std::vector<AnyTensor::NodeRef>& nodes() const { return nodes_; }

 private:
  const std::uint64_t border_ = newest_id();
  absl::flat_hash_set<Node*> seen_;
  std::vector<AnyTensor::NodeRef> nodes_;
};

struct Recording {
  bool keeps_history = true;
  MetNodes* met = nullptr;  // notes what a history leads back to, kept or not
  bool finds_anomalies = false;
};

/// Of the calling thread.
Recording& recording();
bool finds_anomalies();

/// While it lives, the thread does otherwise.
class RecordingScope {
 public:
  explicit RecordingScope(bool keeps_history, MetNodes* met = nullptr) : before_(recording()) {
    recording().keeps_history = keeps_history;
    recording().met = met;
  }
  ~RecordingScope() { recording() = before_; }
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  Recording before_;
};

/// Throws AutodiffError where a value that an operation gave is NaN.
void check_result(const Node& node, const AnyTensor& result);
inline constexpr std::size_t kSumOfGradients = 3;
/// Throws AutodiffError where the gradient of operand `i`, or the sum of those of the result, has an element
/// that is not finite.
void check_gradient(const Node& node, std::size_t i, const AnyTensor& gradient);

}  // namespace sinter::autodiff
