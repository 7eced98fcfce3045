// vjp, jvp, hvp: products of vectors with Jacobians and Hessians.
#include <string>
#include <vector>

#include <sinter/autodiff.h>

#include "src/autodiff/engine.h"
#include "src/autodiff/recording.h"
#include "src/tensor/check.h"

namespace sinter::detail {

namespace {

using autodiff::Term;

/// The variables that f is differentiated by, each with a node of its own: behind it stands the history of x,
/// if it has one. While this lives the thread keeps histories, and it is noted whether something that was
/// there before is in them: then the results have a history for the caller.
class Variables {
 public:
  Variables(std::string_view op, const Tensors& x, const Location& where)
      : keeps_(autodiff::recording().keeps_history),
        outer_(autodiff::recording().met),
        recording_(true, &met_) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      check(op, "input", i, x[i], where);
      on_autodiff_ = on_autodiff_ || x[i].on_autodiff();
      const AnyTensor value(x[i].value(), nullptr, true);
      autodiff::Node* const operands[] = {x[i].node().get()};
      const AnyTensor::NodeRef call = autodiff::track_call(
          "variable", operands, {&value, 1}, [](const auto&, Tensors g, bool) { return g; }, where);
      list_.push_back(call ? autodiff::result_of_call(call, 0, x[i].value()) : value.require_grad(where));
    }
  }
  ~Variables() {
    for (const AnyTensor::NodeRef& node : met_.nodes())
      if (outer_) outer_->add(node.get());
  }

  static void check(std::string_view op, const char* what, std::size_t i, const AnyTensor& tensor,
                    const Location& where) {
    if (const DType dtype = tensor::value_of(op, tensor, where).dtype; !is_float(dtype))
      throw DTypeError("[" + std::string(op) + "] " + what + " " + std::to_string(i) + " is " +
                           std::string(name_of(dtype)) + ", and derivatives exist for floats",
                       where);
  }

  const Tensors& list() const { return list_; }
  /// The vectors as gradients of `of`. They may have a history, too.
  std::vector<Term> seeds(std::string_view op, const Tensors& of, const Tensors& v, const Location& where) {
    if (v.size() != of.size())
      throw ShapeError("[" + std::string(op) + "] " + std::to_string(v.size()) + " vectors are given for " +
                           std::to_string(of.size()) + " tensors",
                       where);
    std::vector<Term> terms;
    for (std::size_t i = 0; i < v.size(); ++i) {
      check(op, "vector", i, v[i], where);
      if (v[i].requires_grad()) met_.add(v[i].node().get());
      terms.push_back(autodiff::seed_of(op, of[i], v[i], true, where));
    }
    return terms;
  }
  /// The results are to have a history.
  bool have_history() const { return keeps_ && !met_.nodes().empty(); }
  Tensors given(Tensors results) const {
    for (AnyTensor& result : results)
      result = AnyTensor(result.value(), have_history() ? result.node() : nullptr,
                         on_autodiff_ || !met_.nodes().empty());
    return results;
  }

 private:
  const bool keeps_;
  autodiff::MetNodes met_;
  autodiff::MetNodes* const outer_;
  autodiff::RecordingScope recording_;
  bool on_autodiff_ = false;
  Tensors list_;
};

}  // namespace

TensorsPair vjp(const TensorFunction& f, const Tensors& x, const Tensors& v, const Location& where) {
  Variables variables("vjp", x, where);
  Tensors y = f(variables.list());
  std::vector<Term> seeds = variables.seeds("vjp", y, v, where);
  const bool history = variables.have_history();
  Tensors product = autodiff::gradients_of(y, std::move(seeds), variables.list(), history, history, where);
  return {variables.given(std::move(y)), variables.given(std::move(product))};
}

// The gradient by x is linear in the seed u of y: its derivative by u, along v, is that of y along v. Only
// its being linear is used, never its value: what u is multiplied with is computed, u itself is not.
TensorsPair jvp(const TensorFunction& f, const Tensors& x, const Tensors& v, const Location& where) {
  Variables variables("jvp", x, where);
  Tensors y = f(variables.list()), u;
  std::vector<Term> of_y, seeds = variables.seeds("jvp", variables.list(), v, where);
  for (std::size_t k = 0; k < y.size(); ++k) {
    Variables::check("jvp", "result", k, y[k], where);
    u.push_back(
        AnyTensor::full(y[k].shape(), 0, y[k].dtype(), y[k].device().autodiff(), where).require_grad(where));
    of_y.emplace_back(u.back(), where);
  }
  const Tensors by_x = autodiff::gradients_of(y, std::move(of_y), variables.list(), true, true, where);
  const bool history = variables.have_history();
  Tensors product = autodiff::gradients_of(by_x, std::move(seeds), u, history, history, where);
  return {variables.given(std::move(y)), variables.given(std::move(product))};
}

Tensors hvp(const TensorFunction& f, const Tensors& x, const Tensors& v, const Location& where) {
  Variables variables("hvp", x, where);
  const Tensors y = f(variables.list());
  if (y.size() != 1)
    throw ShapeError("[hvp] the function gives one number, not " + std::to_string(y.size()) + " tensors",
                     where);
  Variables::check("hvp", "result", 0, y[0], where);
  std::vector<Term> seeds = variables.seeds("hvp", variables.list(), v, where);
  const Tensors by_x = autodiff::gradients_of(y, {autodiff::seed_of("hvp", y[0], AnyTensor(), true, where)},
                                              variables.list(), true, true, where);
  const bool history = variables.have_history();
  return variables.given(
      autodiff::gradients_of(by_x, std::move(seeds), variables.list(), history, history, where));
}

}  // namespace sinter::detail
