// The part of an optimizer's step that does not depend on the optimizer.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <sinter/optim/step.h>

#include "src/autodiff/gradients.h"
#include "src/runtime/device_core.h"
#include "src/trace/recorder.h"
#include "src/trace/value.h"

namespace sinter::optim {

namespace {

/// Handles taken out of their places: the values stay, by a pin, but nobody owns them. They are put back
/// where the step does not come to its end.
class Lent {
 public:
  ~Lent() {
    for (Loan& loan : loans_) {
      if (!kept_) *loan.slot = AnyTensor(trace::revive(loan.value), std::move(loan.node), loan.autodiff);
      trace::unpin(loan.value);
    }
  }
  void take(AnyTensor& slot) {
    if (!slot.defined()) return;
    loans_.push_back({&slot, slot.value().get(), slot.node(), slot.on_autodiff()});
    trace::pin(slot.value().get());
    slot = AnyTensor();
  }
  /// The values have been replaced.
  void keep() { kept_ = true; }

 private:
  struct Loan {
    AnyTensor* slot;
    trace::Value* value;
    AnyTensor::NodeRef node;
    bool autodiff;
  };
  std::vector<Loan> loans_;
  bool kept_ = false;
};

struct Assignment {
  AnyTensor* slot;
  AnyTensor next;
};
struct Count {
  std::int64_t* slot;
  std::int64_t next;
};

}  // namespace

struct Step::State {
  State(std::vector<Slot> slots, Gradients& gradients, bool keep_others);
  void run(const Location& where);

  std::vector<Slot> slots;
  Gradients& gradients;
  bool keep_others;
  std::vector<Parameter> parameters;
  std::vector<std::optional<std::size_t>> updated_by;  // for each slot: its index in parameters
  std::vector<AnyTensor*> used_gradients;
  std::vector<Assignment> assignments;
  std::vector<Count> counts;
};

Step::State::State(std::vector<Slot> from, Gradients& gradients, bool keep_others)
    : slots(std::move(from)), gradients(gradients), keep_others(keep_others) {
  updated_by.resize(slots.size());
  // Two paths may lead to one parameter (tied weights): it has one gradient, is updated once and stays tied.
  std::map<const void*, std::optional<std::size_t>> known;
  std::set<std::string_view> paths;  // by which optimizers remember
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const AnyTensor& value = *slots[i].tensor;
    if (!value.defined() || !value.requires_grad()) continue;
    auto [at, is_new] = known.try_emplace(value.node().get());
    if (is_new) {
      if (AnyTensor* gradient = autodiff::find_gradient(gradients, value)) {
        if (!paths.insert(slots[i].path).second)
          throw Error("[step] two parameters have the path " + slots[i].path +
                      ": keys of maps may have dots in them, but not so that paths are the same");
        at->second = parameters.size();
        parameters.push_back({slots[i].path, value.inner(), gradient->inner()});
        used_gradients.push_back(gradient);
      }
    }
    updated_by[i] = at->second;
  }
}

void Step::State::run(const Location& where) {
  // One module that two paths reach has each of its tensors once in `slots`, and once more.
  std::vector<AnyTensor> leaves;
  std::vector<trace::Value*> wanted;
  std::vector<runtime::DeviceCore*> devices;
  for (Parameter& parameter : parameters) {
    AnyTensor leaf(parameter.value.value(), nullptr, true);
    leaves.push_back(leaf.require_grad(where));
  }
  const auto want = [&](const AnyTensor& tensor) {
    trace::Value* value = tensor.value().get();
    wanted.push_back(value);
    if (std::find(devices.begin(), devices.end(), value->device) == devices.end())
      devices.push_back(value->device);
  };
  for (const AnyTensor& leaf : leaves) want(leaf);
  for (const Assignment& assignment : assignments) want(assignment.next);
  parameters.clear();

  Lent lent;
  // Of several devices one may fail when others have written: then nothing is written over.
  if (devices.size() == 1) {
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (updated_by[i]) lent.take(*slots[i].tensor);
    for (AnyTensor* gradient : used_gradients) lent.take(*gradient);
    for (const Assignment& assignment : assignments) lent.take(*assignment.slot);
  }
  for (runtime::DeviceCore* device : devices) device->recorder().compute(wanted);

  lent.keep();
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (updated_by[i]) *slots[i].tensor = leaves[*updated_by[i]];
  for (Assignment& assignment : assignments) *assignment.slot = std::move(assignment.next);
  for (const Count& count : counts) *count.slot = count.next;
  if (keep_others) {
    for (AnyTensor* gradient : used_gradients) *gradient = AnyTensor();
    std::erase_if(gradients.entries(),
                  [](const Gradients::Entry& entry) { return !entry.gradient.defined(); });
  } else {
    gradients = Gradients();
  }
}

Step::Step(std::vector<Slot> slots, Gradients& gradients, bool keep_others)
    : state_(new State(std::move(slots), gradients, keep_others)) {}
Step::~Step() { delete state_; }

std::vector<Parameter>& Step::parameters() { return state_->parameters; }
void Step::assign(AnyTensor& slot, AnyTensor next) {
  state_->assignments.push_back({&slot, std::move(next)});
}
void Step::assign(std::int64_t& slot, std::int64_t next) { state_->counts.push_back({&slot, next}); }
void Step::run(Location where) { state_->run(where); }

}  // namespace sinter::optim
