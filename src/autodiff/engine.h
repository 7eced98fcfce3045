// Differentiates a history: from the gradients of some results to those of what they were computed from.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "src/autodiff/node.h"
#include "src/autodiff/term.h"

namespace sinter::autodiff {

using NodeRef = AnyTensor::NodeRef;

struct Request {
  std::string_view op = "backward";               // in messages
  std::vector<std::pair<NodeRef, Term>> results;  // and their gradients; a null node is left out
  /// Whose gradients are wanted; absent: those of all leaves.
  std::optional<std::vector<NodeRef>> wanted;
  bool differentiable = false;  // the gradients get a history
  bool keeps_history = false;   // what is differentiated can be differentiated again
  /// Nodes up to this one are variables: no gradient goes on to what they were computed from, and one that is
  /// not wanted is an error. 0: there is no such border.
  std::uint64_t border = 0;
};

struct Reached {
  NodeRef node;
  AnyTensor gradient;
};

/// The gradients of what is wanted and was reached, in the order of creation. Throws AutodiffError where a
/// part of the history that is needed was used up; then nothing was changed.
std::vector<Reached> differentiate(const Request& request, const Location& where);

/// The gradient of `result` that a walk begins with: `seed`, checked, or 1 where that is empty.
Term seed_of(std::string_view op, const AnyTensor& result, const AnyTensor& seed, bool differentiable,
             const Location& where);

/// The gradients of inputs of any kind, in their order, with seeds for the results; zeros for an input that
/// no result depends on. Results without history are constants.
std::vector<AnyTensor> gradients_of(std::span<const AnyTensor> results, std::vector<Term> seeds,
                                    std::span<const AnyTensor> inputs, bool differentiable,
                                    bool keeps_history, const Location& where);

}  // namespace sinter::autodiff
