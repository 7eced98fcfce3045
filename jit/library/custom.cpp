// Library ops whose programs come from outside: what is known of them without a device.
#include "jit/library/custom.h"

namespace sinter::library {

const Kind& CustomOp::kind() const { return *custom; }

std::string CustomOp::key() const {
  std::string text = joined({threads});
  for (std::int64_t size : sizes) text += " " + std::to_string(size);
  for (const std::vector<TensorType>* types : {&operands, &results})
    for (const auto& [shape, dtype] : *types)
      text += " " + std::string(name_of(dtype)) + " " + std::to_string(shape.numel());
  return text;
}

std::string CustomOp::describe() const {
  std::string text = custom->name();
  for (const auto& [shape, dtype] : operands) text += " " + to_string(shape);
  return text + ", " + std::to_string(threads) + " threads";
}

void Custom::infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
                   std::span<TensorType> results, const Location& where) const {
  const auto check = [&](DType dtype, const std::string& of) {
    if (dtype == DType::boolean)
      throw DTypeError("[" + name() + "] " + of + " is bool, which custom kernels do not take; cast it",
                       where);
  };
  for (std::size_t k = 0; k < operands.size(); ++k) check(operands[k].dtype, source_.inputs[k]);
  std::size_t at = 1 + source_.sizes.size();
  for (std::size_t r = 0; r < results.size(); ++r) {
    TensorType& result = results[r];
    result.dtype = static_cast<DType>(ints[at++]);
    check(result.dtype, source_.outputs[r]);
    result.shape = Shape{};
    for (std::int64_t rank = ints[at++]; rank > 0; --rank) result.shape.push_back(ints[at++]);
  }
}

LibraryOpRef Custom::make(const Request& request) const {
  auto op = std::make_shared<CustomOp>();
  op->custom = this;
  op->operands = request.operands;
  op->results = request.results;
  for (std::vector<TensorType>* types : {&op->operands, &op->results})
    for (TensorType& type : *types) type.dtype = arithmetic_of(type.dtype);
  op->dtype = op->results[0].dtype;
  op->threads = request.ints[0];
  op->sizes.assign(request.ints.begin() + 1,
                   request.ints.begin() + 1 + static_cast<std::ptrdiff_t>(source_.sizes.size()));
  return op;
}

}  // namespace sinter::library
