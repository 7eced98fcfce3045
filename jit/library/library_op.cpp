// What kinds have in common.
#include "jit/library/library_op.h"

namespace sinter::library {

bool Kind::reads_in_place(const Signature& signature, std::size_t k, const Layout& layout) const {
  return trace::is_contiguous(signature.operands[k].shape, {layout.strides, 0});
}

void ProductOp::set_dtypes(const Request& request) {
  dtype = arithmetic_of(request.results[0].dtype);
  const std::array<DType, 3> given{request.operands[0].dtype, request.operands[1].dtype,
                                   request.results[0].dtype};
  for (std::size_t i = 0; i < given.size(); ++i)
    stored[i] = given[i] == dtype ? std::nullopt : std::optional(given[i]);
}

std::string ProductOp::stored_text() const {
  if (!is_stored_otherwise()) return "";
  std::string text;
  for (std::size_t i = 0; i < stored.size(); ++i)
    text += (i == 2 ? " -> " : " ") + std::string(name_of(stored_dtype(i)));
  return text;
}

std::string joined(std::initializer_list<std::int64_t> numbers, std::string_view between) {
  std::string text;
  for (std::int64_t number : numbers) {
    if (!text.empty()) text += between;
    text += std::to_string(number);
  }
  return text;
}

bool is_channels_last(const Shape& shape, const Layout& layout) {
  if (shape.rank() != 4) return false;
  const Dims& s = layout.strides;
  return !trace::is_contiguous(shape, {s, 0}) &&
         trace::is_contiguous({shape[0], shape[2], shape[3], shape[1]}, {{s[0], s[2], s[3], s[1]}, 0});
}

DType float_dtype_of(std::string_view name, std::span<const TensorType> operands, const Location& where) {
  const std::string prefix = "[" + std::string(name) + "] ";
  const DType a = operands[0].dtype, b = operands[1].dtype;
  if (!is_float(a))
    throw DTypeError(prefix + "takes floats, not " + std::string(name_of(a)) + "; cast first", where);
  if (a != b)
    throw DTypeError(prefix + "dtypes differ: " + std::string(name_of(a)) + " and " +
                         std::string(name_of(b)) + "; cast one of them",
                     where);
  return a;
}

}  // namespace sinter::library
