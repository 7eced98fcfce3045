// What shapes and errors say.
#include <string>

#include <sinter/error.h>
#include <sinter/shape.h>
#include <sinter/sizes.h>

namespace sinter {

Error::Error(const std::string& message, const Location& where)
    : std::runtime_error(message + " (" + where.file_name() + ":" + std::to_string(where.line()) + ")") {}

std::string to_string(const Dims& dims) {
  std::string text = "(";
  for (std::size_t i = 0; i < dims.rank(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + ")";
}

namespace detail {

void throw_rank(std::size_t rank) {
  throw ShapeError("[shape] a tensor has at most " + std::to_string(kMaxRank) + " dimensions, not " +
                   std::to_string(rank));
}

std::size_t place_of(const Dims& dims, std::size_t subscript) {
  const auto i = static_cast<std::int64_t>(subscript), rank = static_cast<std::int64_t>(dims.rank());
  if (i >= -rank && i < 0) return static_cast<std::size_t>(i + rank);
  throw ShapeError("[shape] subscript " + std::to_string(i) + " is outside of " + to_string(dims));
}

void throw_numel(const Dims& sizes) {
  throw ShapeError("[numel] shape " + to_string(sizes) + " has 2^63 elements or more");
}

void throw_other_rank(const Shape& shape, std::size_t rank, const Location& where) {
  throw ShapeError("[shape] " + to_string(shape) + " is given where a shape of rank " + std::to_string(rank) +
                       " is wanted",
                   where);
}

}  // namespace detail
}  // namespace sinter
