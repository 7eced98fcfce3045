// The table of mixed precision, and the casts that follow from it.
#include "src/tensor/autocast.h"

#include <algorithm>
#include <string>

#include "src/tensor/check.h"

namespace sinter {

namespace tensor {

constinit thread_local std::uint8_t autocast_of_thread = kNoAutocast;

namespace {

// Beside products and convolutions, which run in 16 bits. Their results leave the range of f16, or lose in 16
// bits what the next operation needs. (PyTorch's list, as far as ops are ours.)
constexpr Op kWide[] = {Op::Exp, Op::Expm1, Op::Log,  Op::Log1p, Op::Rsqrt, Op::Recip, Op::Pow,
                        Op::Tan, Op::Asin,  Op::Acos, Op::Sinh,  Op::Cosh,  Op::Sum,   Op::Prod};

}  // namespace

bool runs_wide(Op op) { return std::find(std::begin(kWide), std::end(kWide), op) != std::end(kWide); }

AnyTensor autocast_factor(const AnyTensor& x, const Location& where) {
  if (!autocasts() || !x.defined()) return x;
  const DType dtype = x.dtype();
  const bool is_taken = dtype == DType::f32 || is_stored_float(dtype);
  return is_taken ? x.cast(static_cast<DType>(autocast_of_thread), where) : x;
}

AnyTensor autocast_wide(const AnyTensor& x, const Location& where) {
  return autocasts() && x.defined() && is_stored_float(x.dtype()) ? x.cast(DType::f32, where) : x;
}

DType autocast_wide(DType dtype) { return autocasts() && is_stored_float(dtype) ? DType::f32 : dtype; }

AnyTensor widened(const AnyTensor& x, const Location& where) {
  return is_stored_float(x.dtype()) ? x.cast(DType::f32, where) : x;
}

}  // namespace tensor

Autocast::Autocast(std::optional<DType> dtype) : before_(tensor::autocast_of_thread) {
  if (dtype && !is_half(*dtype))
    throw DTypeError("[autocast] takes bf16 or f16, not " + std::string(name_of(*dtype)));
  tensor::autocast_of_thread = dtype ? static_cast<std::uint8_t>(*dtype) : tensor::kNoAutocast;
}

Autocast::~Autocast() { tensor::autocast_of_thread = before_; }

std::optional<DType> autocast_dtype() {
  if (!tensor::autocasts()) return std::nullopt;
  return static_cast<DType>(tensor::autocast_of_thread);
}

}  // namespace sinter
