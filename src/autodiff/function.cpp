// Functions that compute their gradients themselves.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <sinter/autodiff.h>

#include "src/autodiff/node.h"
#include "src/autodiff/recording.h"
#include "src/trace/value.h"

namespace sinter::detail {

namespace {

using autodiff::Node;
using NodeRef = AnyTensor::NodeRef;

constexpr std::size_t kNoResult = static_cast<std::size_t>(-1);

/// What the backward part gets to read: with the history that it had or, of a result of the call, gets anew,
/// where gradients are to have one.
Saved at_hand(const Saved& kept, const std::vector<std::size_t>& results, const NodeRef& call,
              bool differentiable) {
  Saved saved;
  for (std::size_t i = 0; i < kept.kept().size(); ++i) {
    const AnyTensor& tensor = kept[i];
    if (!differentiable || !tensor.defined())
      saved.kept().push_back(tensor.inner());
    else if (results[i] != kNoResult)
      saved.kept().push_back(autodiff::result_of_call(call, results[i], tensor.value()));
    else
      saved.kept().push_back(AnyTensor(tensor.value(), tensor.node(), true));
  }
  return saved;
}

}  // namespace

Tensors call(FunctionParts parts, const Tensors& inputs) {
  auto kept = std::make_shared<Saved>();
  Tensors results;
  {
    const autodiff::RecordingScope none(false);
    results = parts.forward(*kept);
  }
  bool autodiff = false;
  std::vector<Node*> operands;
  for (const AnyTensor& input : inputs) {
    operands.push_back(input.node().get());
    autodiff = autodiff || input.on_autodiff();
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    if (!results[k].defined())
      throw Error("[" + parts.name + "] result " + std::to_string(k) + " is an empty tensor", parts.where);
  std::vector<std::size_t> results_of_kept;
  for (const AnyTensor& tensor : kept->kept()) {
    const auto same = std::find_if(results.begin(), results.end(), [&](const AnyTensor& result) {
      return tensor.defined() && !tensor.requires_grad() && result.value().get() == tensor.value().get();
    });
    results_of_kept.push_back(same == results.end() ? kNoResult
                                                    : static_cast<std::size_t>(same - results.begin()));
  }
  auto backward = [backward = std::move(parts.backward), kept, results_of_kept](
                      const NodeRef& call, Tensors gradients, bool differentiable) {
    return backward(at_hand(*kept, results_of_kept, call, differentiable), std::move(gradients));
  };
  const NodeRef node =
      autodiff::track_call(std::move(parts.name), operands, results, std::move(backward), parts.where);
  for (std::size_t k = 0; k < results.size(); ++k)
    results[k] = node ? autodiff::result_of_call(node, k, results[k].value())
                      : AnyTensor(results[k].value(), nullptr, autodiff);
  return results;
}

}  // namespace sinter::detail
