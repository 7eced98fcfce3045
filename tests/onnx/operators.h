// ONNX's operators as functions of tensors, by name.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

#include "tests/onnx/model.h"

namespace sinter::testing::onnx {

/// What a table has no function for: not a failure, but a case that is not run.
struct Unmapped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A node and its operands.
class Call {
 public:
  Call(const Node& node, std::vector<AnyTensor> operands, Device device)
      : node_(node), operands_(std::move(operands)), device_(std::move(device)) {}

  // ---- operands; what is left out is an empty handle
  bool has(std::size_t i) const { return i < operands_.size() && operands_[i].defined(); }
  const AnyTensor& in(std::size_t i) const {
    if (!has(i)) throw Unmapped("an operand is missing");
    return operands_[i];
  }
  const std::vector<AnyTensor>& all() const { return operands_; }
  /// Integers of an operand, which says sizes or axes.
  std::vector<std::int64_t> list(std::size_t i) const;
  std::int64_t integer_of(std::size_t i) const { return list(i).at(0); }
  double number_of(std::size_t i) const { return in(i).to_data().item().as_double(); }

  // ---- attributes
  bool is_given(const char* name) const { return node_.attributes.contains(name); }
  std::int64_t integer(const char* name, std::int64_t otherwise) const {
    return is_given(name) ? node_.attributes.at(name).integer : otherwise;
  }
  bool flag(const char* name, bool otherwise = false) const { return integer(name, otherwise) != 0; }
  double number(const char* name, double otherwise) const {
    return is_given(name) ? node_.attributes.at(name).number : otherwise;
  }
  std::string text(const char* name, const char* otherwise) const {
    return is_given(name) ? node_.attributes.at(name).text : otherwise;
  }
  std::vector<std::int64_t> integers(const char* name) const {
    return is_given(name) ? node_.attributes.at(name).integers : std::vector<std::int64_t>();
  }
  const Attribute& attribute(const char* name) const { return node_.attributes.at(name); }

  std::size_t results() const { return node_.outputs.size(); }
  bool is_asked(std::size_t result) const { return result < results() && !node_.outputs[result].empty(); }
  const Device& device() const { return device_; }

 private:
  const Node& node_;
  std::vector<AnyTensor> operands_;
  Device device_;
};

using Results = std::vector<AnyTensor>;
using Operator = std::function<Results(const Call&)>;
using Operators = std::map<std::string, Operator>;

void add_elementwise(Operators& table);
void add_shapes(Operators& table);
void add_reductions(Operators& table);
void add_windows(Operators& table);

/// All that are mapped.
const Operators& operators();
/// Those that are not, with the reason.
const std::map<std::string, std::string>& unmapped_operators();

/// Cases with this in their names are not run, with the reason.
const std::vector<std::pair<std::string, std::string>>& unmapped_cases();

inline Dims dims_of(const std::vector<std::int64_t>& list) {
  return Dims(std::span<const std::int64_t>(list));
}
inline AnyTensor tensor_of(const TensorFile& file, const Device& device) {
  if (!file.entry) throw Unmapped("strings and complex numbers are no dtypes");
  // Uploaded by the host, as some devices have no f64.
  return AnyTensor::from_bytes({file.entry->bytes.data(), file.entry->bytes.size()}, file.entry->shape,
                               file.entry->dtype, device);
}
inline std::size_t axis_from_start(std::int64_t axis, std::size_t rank) {
  return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
}

}  // namespace sinter::testing::onnx
