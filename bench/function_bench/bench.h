// What the rows of function-bench are made with.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace function_bench {

using namespace sinter;
using Results = std::vector<AnyTensor>;

class Bench {
 public:
  /// `values`: each row is computed once, from numbers that peers_functions.py gives its rows too, and what
  /// came out is printed in the place of times.
  Bench(const Device& device, std::string only, bool values)
      : device_(device), only_(std::move(only)), values_(values) {}

  void row(const char* name, const std::function<Results()>& function);
  bool failed() const { return failed_; }
  /// The numbers below begin anew.
  void begin_subject() { inputs_ = 0; }

  const Device& device() const { return device_; }
  /// From -1 to 1.
  AnyTensor floats(const Shape& shape, DType dtype = DType::f32);
  /// From 0 to below `end`.
  AnyTensor ints(const Shape& shape, double end, DType dtype = DType::i32);
  /// The same as `floats`, to be differentiated by.
  AnyTensor leaf(const Shape& shape);
  /// Makes the parameters of a module numbers from -0.1 to 0.1.
  template <class M>
  M filled(M model) {
    visit_parameters(model, [&](const std::string&, auto& tensor) {
      using T = std::remove_reference_t<decltype(tensor)>;
      tensor = T(AnyTensor::mul(floats(tensor.shape()), 0.1).to_device(tensor.device()).require_grad());
    });
    return model;
  }

 private:
  double seconds(const std::function<Results()>& function, int calls) const;
  void print_values(const char* name, const Results& results) const;

  const Device device_;
  const std::string only_;
  const bool values_;
  std::int64_t inputs_ = 0;
  bool failed_ = false;
};

/// `y` and its gradients with respect to `xs`; `seed` is the gradient of `y`, which one number does without.
Results with_gradients(const AnyTensor& y, const std::vector<AnyTensor>& xs, const AnyTensor& seed = {});

// The subjects: each a function that makes its inputs and times its rows.
using Subject = void (*)(Bench&);
void orders(Bench&);
void counts(Bench&);
void scatters(Bench&);
void scans(Bench&);
void images(Bench&);
void reductions(Bench&);
void copies(Bench&);
void products(Bench&);
void more_scans(Bench&);
void places(Bench&);
void paddings(Bench&);
void searches(Bench&);
void elements(Bench&);
void integers(Bench&);
void draws(Bench&);
void sums(Bench&);
void formulas(Bench&);
void decompositions(Bench&);
void spectra(Bench&);
void image_gradients(Bench&);
void pools(Bench&);
void convolutions(Bench&);
void losses(Bench&);
void norms(Bench&);
void sequences(Bench&);
void steps(Bench&);
void transfers(Bench&);

}  // namespace function_bench
