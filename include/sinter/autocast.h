// Mixed precision: which operations run in 16 bits while parameters stay in f32.
#pragma once

#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/dtype.h>

namespace sinter {

/// While it lives, operations that this thread records choose their dtype by themselves:
///
/// - matrix products and convolutions take their operands as `dtype` and give it; sums inside are f32;
/// - exponentials, logarithms, powers, quotients of one, long sums and products and what is made of them
///   (softmax, norms, variances, losses) take operands of 16 and 8 bits as f32 and give f32; nn::BatchNorm
///   alone gives what it was given;
/// - other operations of several tensors take the widest of their dtypes; those of one keep theirs.
///
/// f64 and integers are left alone. Gradients have the dtype of what they are gradients of: parameters of f32
/// get gradients of f32. backward() is not affected: it runs in the dtypes of the operations that it
/// differentiates. docs/mixed-precision.md has the table.
///
///   {
///     const sn::Autocast mixed;  // bf16
///     loss = sn::nn::cross_entropy(model.forward(x), y);
///   }
///   auto gradients = loss.backward();
class SINTER_API Autocast {
 public:
  /// bf16 or f16; nothing: operations keep their dtypes again. Throws DTypeError for another.
  explicit Autocast(std::optional<DType> dtype = DType::bf16);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  std::uint8_t before_;
};

/// The dtype of this thread's innermost scope.
SINTER_API std::optional<DType> autocast_dtype();

}  // namespace sinter
