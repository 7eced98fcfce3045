// Averages of a model's parameters over its steps, which often generalise better than the last ones.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/module.h>
#include <sinter/record/record.h>
#include <sinter/tensor.h>

namespace sinter::optim {

/// The averages of a model's floating-point parameters, f32 where those have 16 bits, under their paths.
class SINTER_API WeightAverage {
 public:
  /// Takes the model as it is after a step. Hands what is recorded to the device. Throws ShapeError where a
  /// parameter has another shape than before; then nothing has changed.
  template <class M>
  void update(const M& model, Location where = Location::current()) {
    take(parameters_of(model), where);
  }

  /// The model with the averages for parameters, in its dtypes and on its device; leaves stay leaves, and
  /// tied parameters tied. Buffers, and parameters that are no floating-point numbers, are the model's.
  /// Throws Error before the first update, or for a path that was not there.
  template <class M>
  M model(M model, Location where = Location::current()) const {
    sinter::detail::unshare(model);
    std::vector<AnyTensor> next = averages(parameters_of(model), where);
    std::size_t at = 0;
    visit_parameters(model, [&](const std::string&, auto& tensor) {
      AnyTensor& average = next[at++];
      if (average.defined()) tensor = std::remove_cvref_t<decltype(tensor)>(std::move(average));
    });
    return model;
  }

  std::int64_t count() const { return count_; }
  record::Record to_record() const;
  /// Throws DataError where the record is none of averages.
  void load_record(const record::Record& record, const Device& device);

 private:
  friend struct EmaConfig;
  friend struct SwaConfig;
  using Parameters = std::vector<std::pair<std::string, AnyTensor>>;
  template <class M>
  static Parameters parameters_of(const M& model) {
    Parameters parameters;
    visit_parameters(model, [&](const std::string& path, const auto& tensor) {
      parameters.emplace_back(path, tensor.dynamic());
    });
    return parameters;
  }
  explicit WeightAverage(double decay) : decay_(decay) {}
  void take(const Parameters& parameters, const Location& where);
  std::vector<AnyTensor> averages(const Parameters& parameters, const Location& where) const;
  AnyTensor average(const std::string& path, const AnyTensor& like, const Location& where) const;

  double decay_;  // 0: the plain mean
  std::int64_t count_ = 0;
  record::ByName<AnyTensor> averages_;
};

/// average = decay average + (1 - decay) parameter, beginning with the parameter: B. Polyak, A. Juditsky,
/// "Acceleration of stochastic approximation by averaging", 1992.
struct SINTER_API EmaConfig {
  double decay = 0.999;
  WeightAverage init() const;
};

/// The mean of all that was given: P. Izmailov et al., "Averaging weights leads to wider optima and better
/// generalization", 2018.
struct SINTER_API SwaConfig {
  WeightAverage init() const;
};

}  // namespace sinter::optim

extern template class sinter::record::ByName<sinter::AnyTensor>;
