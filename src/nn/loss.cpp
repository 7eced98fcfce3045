// Losses, composed of plain operations, which fuse with their operands.
#include <limits>
#include <string>

#include <sinter/activation.h>
#include <sinter/nn/loss.h>

namespace sinter::nn {

Tensor<0> cross_entropy(const Tensor<2>& logits, const Tensor<1, Int>& targets, Location where) {
  const Shape& shape = logits.shape();
  std::int64_t batch = shape[0], classes = shape[1];
  if (targets.shape()[0] != batch || batch == 0 || classes == 0)
    throw ShapeError("[cross_entropy] logits " + to_string(shape) + " and targets " +
                         to_string(targets.shape()) +
                         " are not (n, classes) and (n) with n and classes 1 or more",
                     where);
  AnyTensor target = targets.any().cast(DType::i64, where).reshape({batch, 1}, where);
  AnyTensor index =
      AnyTensor::arange(0, classes, 1, logits.device().inner(), where).reshape({1, classes}, where);
  // Selecting by comparison instead of a gather is elementwise, so it fuses with the softmax forward and
  // backward.
  AnyTensor log_probability = log_softmax(logits.any(), 1, where);
  AnyTensor chosen =
      AnyTensor::where(AnyTensor::equal(index, target, where), log_probability, 0.0, where).sum(1, where);
  AnyTensor is_class = AnyTensor::logical_and(AnyTensor::greater_equal(target, 0, where),
                                              AnyTensor::less(target, classes, where), where);
  AnyTensor rows = AnyTensor::where(is_class, chosen, std::numeric_limits<double>::quiet_NaN(), where);
  AnyTensor sum = rows.sum({0, 1}, where).reshape({}, where);
  return Tensor<0>(AnyTensor::mul(sum, -1.0 / static_cast<double>(batch), where));
}

AnyTensor detail::mse(const AnyTensor& prediction, const AnyTensor& target, Location where) {
  if (prediction.shape() != target.shape() || prediction.numel() == 0)
    throw ShapeError("[mse] prediction " + to_string(prediction.shape()) + " and target " +
                         to_string(target.shape()) + " are not of one shape with at least one element",
                     where);
  AnyTensor squares = AnyTensor::sub(prediction, target, where).square(where);
  return squares.mean(squares.all_axes(), where).reshape({}, where);
}

}  // namespace sinter::nn
