// Shapes, layouts and sizes of convolutions.
#include "jit/library/conv2d.h"

#include "src/base/size_arithmetic.h"

namespace sinter::library {
namespace {

using Direction = Conv2dOp::Direction;

// With fewer channels than this, vectors along the channels are mostly empty.
constexpr std::int64_t kFewChannels = 4;

constexpr std::size_t kGroups = 6, kResultSizes = 7;  // places in the attributes

/// The shape of y. Throws ShapeError where x, weight and attributes do not fit together.
Shape shape_of_y(const Shape& x, const Shape& weight, std::span<const std::int64_t> ints,
                 const Location& where) {
  if (x.rank() != 4 || weight.rank() != 4)
    throw ShapeError(
        "[conv2d] input and weight have four axes, not " + to_string(x) + " and " + to_string(weight), where);
  const std::int64_t groups = ints[kGroups];
  if (groups < 1 || weight[0] % groups != 0)
    throw ShapeError("[conv2d] the " + std::to_string(weight[0]) + " output channels of weight " +
                         to_string(weight) + " do not divide into " + std::to_string(groups) + " groups",
                     where);
  const base::SizeArithmetic sizes("conv2d", where);
  if (x[1] != sizes.product(weight[1], groups))
    throw ShapeError("[conv2d] input " + to_string(x) + " has " + std::to_string(x[1]) +
                         " channels, weight " + to_string(weight) + " with " + std::to_string(groups) +
                         " group(s) takes " + std::to_string(weight[1] * groups),
                     where);
  Shape shape{x[0], weight[0], 0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t stride = ints[i], padding = ints[2 + i], dilation = ints[4 + i];
    if (stride < 1 || dilation < 1 || padding < 0)
      throw ShapeError("[conv2d] stride and dilation are one or more, padding zero or more; not " +
                           std::to_string(stride) + ", " + std::to_string(dilation) + " and " +
                           std::to_string(padding),
                       where);
    const std::int64_t reach = sizes.sum(sizes.product(dilation, weight[2 + i] - 1), 1);
    const std::int64_t padded = sizes.sum(x[2 + i], sizes.product(2, padding));
    if (weight[2 + i] < 1 || reach > padded)
      throw ShapeError("[conv2d] weight " + to_string(weight) + " reaches over " + std::to_string(reach) +
                           " elements, input " + to_string(x) + " has " + std::to_string(padded) +
                           " with padding",
                       where);
    shape[2 + i] = (padded - reach) / stride + 1;
  }
  return shape;
}

class Conv2d final : public Kind {
 public:
  Conv2d(std::string name, Op op, Direction direction)
      : Kind(std::move(name), 1, op), direction_(direction) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    results[0].dtype = float_dtype_of(name(), operands, where);
    Shape& shape = results[0].shape;
    const Shape &first = operands[0].shape, &second = operands[1].shape;
    if (direction_ == Direction::Forward) {
      shape = shape_of_y(first, second, ints, where);
      return;
    }
    const bool of_input = direction_ == Direction::BackwardInput;
    const Shape& y = of_input ? first : second;
    if (first.rank() != 4 || second.rank() != 4 || ints[kGroups] < 1)
      throw ShapeError("[" + name() + "] operands have four axes and there are one or more groups; not " +
                           to_string(first) + ", " + to_string(second) + " and " +
                           std::to_string(ints[kGroups]),
                       where);
    shape =
        of_input ? Shape{y[0], second[1] * ints[kGroups], 0, 0} : Shape{y[1], first[1] / ints[kGroups], 0, 0};
    shape[2] = ints[kResultSizes];
    shape[3] = ints[kResultSizes + 1];
    if (shape_of_y(of_input ? shape : first, of_input ? second : shape, ints, where) != y)
      throw ShapeError("[" + name() + "] no convolution that gives " + to_string(y) + " has the operands " +
                           to_string(of_input ? shape : first) + " and " +
                           to_string(of_input ? second : shape),
                       where);
  }

  ImageOrder operand_order(const Signature& signature, std::size_t k) const override {
    if (direction_ == Direction::BackwardWeight) return order_of_image(signature, k == 0);
    return k == 1 ? ImageOrder::ChannelsFirst : order_of_image(signature, direction_ == Direction::Forward);
  }
  ImageOrder result_order(const Signature& signature, std::size_t) const override {
    if (direction_ == Direction::BackwardWeight) return ImageOrder::ChannelsFirst;
    return order_of_image(signature, direction_ == Direction::BackwardInput);
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<Conv2dOp>();
    op->direction = direction_;
    op->set_dtypes(request);
    const Shape &first = request.operands[0].shape, &second = request.operands[1].shape,
                &result = request.results[0].shape;
    const Shape& x = direction_ == Direction::BackwardInput ? result : first;
    const Shape& y = direction_ == Direction::Forward         ? result
                     : direction_ == Direction::BackwardInput ? first
                                                              : second;
    const Shape& weight = weight_of(request);
    op->n = x[0], op->c_in = x[1], op->h = x[2], op->w = x[3];
    op->c_out = y[1], op->oh = y[2], op->ow = y[3];
    op->kh = weight[2], op->kw = weight[3];
    for (std::size_t i = 0; i < 2; ++i) {
      op->stride[i] = request.ints[i];
      op->padding[i] = request.ints[2 + i];
      op->dilation[i] = request.ints[4 + i];
    }
    op->groups = request.ints[kGroups];
    op->precision = request.precision;
    const bool first_last = is_channels_last(first, request.layouts[0]);
    switch (direction_) {
      case Direction::Forward: op->x_last = first_last, op->y_last = request.channels_last[0]; break;
      case Direction::BackwardInput: op->y_last = first_last, op->x_last = request.channels_last[0]; break;
      case Direction::BackwardWeight:
        op->x_last = first_last;
        op->y_last = is_channels_last(second, request.layouts[1]);
        break;
    }
    return op;
  }

 private:
  const Shape& weight_of(const Signature& signature) const {
    return direction_ == Direction::BackwardWeight ? signature.results[0].shape : signature.operands[1].shape;
  }

  /// Of x or y. A picture of three colours lies as it came; what is made of it may lie in either order, and
  /// is transposed in parts, in the cache, by who works on few channels.
  ImageOrder order_of_image(const Signature& signature, bool is_x) const {
    if (arithmetic_of(signature.results[0].dtype) != DType::f32 || signature.ints[kGroups] != 1)
      return ImageOrder::ChannelsFirst;
    const Shape& weight = weight_of(signature);
    if (weight[is_x ? 1 : 0] < kFewChannels) return ImageOrder::ChannelsFirst;
    return weight[is_x ? 0 : 1] < kFewChannels ? ImageOrder::Indifferent : ImageOrder::Either;
  }

  Direction direction_;
};

}  // namespace

const Kind& conv2d(Direction direction) {
  // Never destroyed: threads may plan after the end of static objects.
  static const Conv2d& forward = *new Conv2d("conv2d", Op::Conv2d, Direction::Forward);
  static const Conv2d& input =
      *new Conv2d("conv2d_backward_input", Op::Conv2dBackwardInput, Direction::BackwardInput);
  static const Conv2d& weight =
      *new Conv2d("conv2d_backward_weight", Op::Conv2dBackwardWeight, Direction::BackwardWeight);
  switch (direction) {
    case Direction::Forward: return forward;
    case Direction::BackwardInput: return input;
    case Direction::BackwardWeight: break;
  }
  return weight;
}

const Kind& Conv2dOp::kind() const { return conv2d(direction); }

std::string Conv2dOp::key() const {
  return joined({static_cast<int>(dtype),
                 n,
                 c_in,
                 h,
                 w,
                 c_out,
                 kh,
                 kw,
                 oh,
                 ow,
                 stride[0],
                 stride[1],
                 padding[0],
                 padding[1],
                 dilation[0],
                 dilation[1],
                 groups,
                 x_last,
                 y_last,
                 static_cast<int>(precision)}) +
         stored_text();
}

std::string Conv2dOp::describe() const {
  const char* names[] = {"conv2d ", "conv2d backward input ", "conv2d backward weight "};
  return names[static_cast<std::size_t>(direction)] + joined({n, c_in, h, w}, "x") + " * " +
         joined({c_out, c_in / groups, kh, kw}, "x") +
         (x_last && y_last ? " channels last"
          : x_last         ? " x channels last"
          : y_last         ? " y channels last"
                           : "") +
         stored_text();
}

std::int64_t Conv2dOp::elements_read(std::size_t operand) const {
  const std::int64_t x = n * c_in * h * w, y = n * c_out * oh * ow;
  if (operand == 0) return direction == Direction::BackwardInput ? y : x;
  return direction == Direction::BackwardWeight ? y : c_out * (c_in / groups) * kh * kw;
}

std::int64_t Conv2dOp::elements_written(std::size_t) const {
  switch (direction) {
    case Direction::Forward: return n * c_out * oh * ow;
    case Direction::BackwardInput: return n * c_in * h * w;
    case Direction::BackwardWeight: break;
  }
  return c_out * (c_in / groups) * kh * kw;
}

}  // namespace sinter::library
