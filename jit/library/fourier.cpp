// Shapes and sizes of Fourier transforms.
#include "jit/library/fourier.h"

#include <array>
#include <cmath>

#include "jit/library/kinds.h"

namespace sinter::library {

std::int64_t rows_of_line(std::int64_t length) {
  for (auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(length))); rows > 1; --rows)
    if (length % rows == 0) return length / rows <= kShortLine ? rows : 0;
  return 0;
}

bool has_fourier_factors(std::int64_t length) {
  std::int64_t rest = length;
  for (const std::int64_t prime : kFourierPrimes)
    while (rest > 1 && rest % prime == 0) rest /= prime;
  return rest == 1 && length > 1;
}

bool has_fourier_lines(std::int64_t length, std::int64_t inner) {
  if (!has_fourier_factors(length) || length > kLongestLine) return false;
  return length <= kShortLine || (inner == 1 && rows_of_line(length) > 0);
}

namespace {

class FourierKind final : public Kind {
 public:
  FourierKind(Fourier transform, const char* name, std::size_t results)
      : Kind(name, results), transform_(transform) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const auto& [shape, dtype] = operands[0];
    const auto axis = static_cast<std::size_t>(ints[0]);
    const std::int64_t n = ints[2];
    bool fits = operands.size() <= 2 && axis < shape.rank() &&
                (transform_ != Fourier::FromReal || operands.size() == 1) &&
                (transform_ != Fourier::ToReal || operands.size() == 2);
    for (const TensorType& operand : operands) {
      if (operand.dtype != dtype || (dtype != DType::f32 && dtype != DType::f64))
        throw DTypeError("[" + name() + "] takes f32 or f64, not " + std::string(name_of(operand.dtype)),
                         where);
      fits = fits && operand.shape == shape;
    }
    if (!fits || shape[axis] != (transform_ == Fourier::ToReal ? n / 2 + 1 : n) || !has_fourier_factors(n))
      throw ShapeError("[" + name() + "] does not transform axis " + std::to_string(axis) + " of shape " +
                           to_string(shape) + " with length " + std::to_string(n),
                       where);
    Shape result = shape;
    result[axis] = transform_ == Fourier::FromReal ? n / 2 + 1 : n;
    for (TensorType& type : results) type = {result, dtype};
  }

  bool reads_in_place(const Signature& signature, std::size_t k, const Layout& layout) const override {
    const auto along = along_axis(signature.operands[k].shape, layout, axis_of(signature));
    // Of long lines alone, the numbers of a column would lie far apart, and those beside them, too.
    return along && (along->stride <= 1 || along->length <= kShortLine || along->inner > 1);
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<FourierOp>();
    op->dtype = request.operands[0].dtype;
    op->transform = transform_;
    op->scale = static_cast<FourierScale>(request.ints[1]);
    op->length = request.ints[2];
    const auto along = [&](std::size_t k) {
      return *along_axis(request.operands[k].shape, request.layouts[k], axis_of(request));
    };
    op->real = op->imaginary = along(0);
    op->outer = op->real.outer, op->inner = op->real.inner;
    op->has_imaginary = request.operands.size() == 2;
    if (op->has_imaginary) op->imaginary = along(1);
    return op;
  }

 private:
  static std::size_t axis_of(const Signature& signature) {
    return static_cast<std::size_t>(signature.ints[0]);
  }

  Fourier transform_;
};

}  // namespace

const Kind& fourier(Fourier transform) {
  // Never destroyed: kinds live until the process ends.
  static const auto& kinds = *[] {
    auto* made = new std::array<const Kind*, 3>;
    const auto add = [&](Fourier of, const char* name, std::size_t results) {
      auto* kind = new FourierKind(of, name, results);
      add_kind(*kind);
      (*made)[static_cast<std::size_t>(of)] = kind;
    };
    // Names have a point, which those of custom kernels cannot have.
    add(Fourier::Complex, "fourier.complex", 2);
    add(Fourier::FromReal, "fourier.from_real", 2);
    add(Fourier::ToReal, "fourier.to_real", 1);
    return made;
  }();
  return *kinds[static_cast<std::size_t>(transform)];
}

const Kind& FourierOp::kind() const { return fourier(transform); }

std::string FourierOp::key() const {
  return joined({static_cast<int>(scale), length, outer, inner, has_imaginary, real.outer_stride, real.stride,
                 real.inner_stride, imaginary.outer_stride, imaginary.stride, imaginary.inner_stride}) +
         " " + std::string(name_of(dtype));
}

std::string FourierOp::describe() const { return kind().name() + " " + joined({outer, length, inner}, "x"); }

}  // namespace sinter::library
