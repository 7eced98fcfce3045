// checkpoint(): a function that runs again in the backward pass instead of keeping its inner values.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include <sinter/autocast.h>
#include <sinter/autodiff.h>

#include "src/autodiff/engine.h"
#include "src/autodiff/recording.h"
#include "src/runtime/device_core.h"
#include "src/runtime/random_tape.h"
#include "src/trace/allowances.h"
#include "src/trace/recorder.h"

namespace sinter::detail {

namespace {

using autodiff::Node;
using NodeRef = AnyTensor::NodeRef;

struct Checkpoint {
  TensorFunction f;
  Tensors inputs;
  runtime::RandomTape random;
  std::vector<trace::TensorType> results;
  std::vector<bool> is_of_call;
  std::vector<runtime::DeviceCore*> devices;         // of the results
  std::optional<DType> autocast = autocast_dtype();  // the scopes in which the function ran first
  trace::Allowances allowed;

  Tensors run_again() const {
    const runtime::RandomTape::Replaying replaying(random);
    const Autocast mixed(autocast);
    const trace::AllowanceScope scope(allowed);
    Tensors again = f(inputs);
    bool is_same = again.size() == results.size();
    for (std::size_t k = 0; is_same && k < results.size(); ++k)
      is_same =
          again[k].defined() && again[k].shape() == results[k].shape && again[k].dtype() == results[k].dtype;
    if (!is_same)
      throw AutodiffError(
          "[checkpoint] when the function ran again its results had other shapes or dtypes than "
          "the first time; it has to do the same each time");
    return again;
  }

  Tensors backward(const NodeRef& call, Tensors gradients, bool differentiable) const {
    // What runs again stands at the begin of a trace. Within one trace the planner joins what computes the
    // same, the first run and this one, and gives alike kernels of several checkpoints one launch: then all
    // that the checkpoints are there to drop would be in memory together.
    for (runtime::DeviceCore* device : devices) device->recorder().flush();
    autodiff::Request request;
    request.op = "checkpoint";
    request.differentiable = request.keeps_history = differentiable;
    request.border = autodiff::newest_id();
    const autodiff::RecordingScope keeping(true, autodiff::recording().met);
    const Tensors again = run_again();
    for (std::size_t k = 0; k < again.size(); ++k)
      if (is_of_call[k] && gradients[k].defined())
        request.results.emplace_back(again[k].node(), autodiff::Term(std::move(gradients[k]), call->where));
    request.wanted.emplace();
    absl::flat_hash_map<const Node*, std::size_t> places;
    for (Node* operand : call->inputs()) {
      places.emplace(operand, places.size());
      request.wanted->push_back(NodeRef::share(operand));
    }
    Tensors parts(places.size());
    for (autodiff::Reached& reached : autodiff::differentiate(request, call->where))
      parts[places.at(reached.node.get())] = std::move(reached.gradient);
    return parts;
  }
};

}  // namespace

Tensors checkpoint(TensorFunction f, Tensors inputs) {
  if (!autodiff::recording().keeps_history) return f(inputs);
  auto kept = std::make_shared<Checkpoint>();
  autodiff::MetNodes met;
  Tensors results;
  {
    const autodiff::RecordingScope none(false, &met);
    const runtime::RandomTape::Noting noting(kept->random);
    results = f(inputs);
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    if (!results[k].defined())
      throw Error("[checkpoint] result " + std::to_string(k) + " is an empty tensor");
  kept->f = std::move(f);
  kept->inputs = std::move(inputs);
  for (const AnyTensor& result : results) {
    kept->results.push_back({result.shape(), result.dtype()});
    kept->is_of_call.push_back(!result.requires_grad());  // else the function handed an input through
    runtime::DeviceCore* device = result.value()->device;
    if (std::find(kept->devices.begin(), kept->devices.end(), device) == kept->devices.end())
      kept->devices.push_back(device);
  }
  std::vector<Node*> operands;
  for (const NodeRef& node : met.nodes()) operands.push_back(node.get());
  auto backward = [kept](const NodeRef& call, Tensors gradients, bool differentiable) {
    return kept->backward(call, std::move(gradients), differentiable);
  };
  const NodeRef node = autodiff::track_call("checkpoint", operands, results, std::move(backward), Location());
  for (std::size_t k = 0; node && k < results.size(); ++k)
    if (kept->is_of_call[k]) results[k] = autodiff::result_of_call(node, k, results[k].value());
  return results;
}

}  // namespace sinter::detail
