// Shapes, layouts and sizes of convolutions.
#include "jit/library/conv2d.h"

#include <stdexcept>

#include "src/base/size_arithmetic.h"

namespace sinter::library {
namespace {

using Direction = Conv2dOp::Direction;

// With fewer channels than this, vectors along the channels are mostly empty.
constexpr std::int64_t kFewChannels = 4;

/// A convolution over so many dims: what messages call it, and where its attributes are.
struct Family {
  const char* name;
  const char* axes;  // of its tensors
  std::size_t dims;
  std::size_t groups() const { return 3 * dims; }
  std::size_t result_sizes() const { return groups() + 1; }
  std::size_t rank() const { return 2 + dims; }
};
constexpr Family kOverTwo{"conv2d", "four", 2}, kOverThree{"conv3d", "five", 3};

/// The shape of y. Throws ShapeError where x, weight and attributes do not fit together.
Shape shape_of_y(const Family& family, const Shape& x, const Shape& weight,
                 std::span<const std::int64_t> ints, const Location& where) {
  const std::string begin = "[" + std::string(family.name) + "] ";
  if (x.rank() != family.rank() || weight.rank() != family.rank())
    throw ShapeError(begin + "input and weight have " + family.axes + " axes, not " + to_string(x) + " and " +
                         to_string(weight),
                     where);
  const std::int64_t groups = ints[family.groups()];
  if (groups < 1 || weight[0] % groups != 0)
    throw ShapeError(begin + "the " + std::to_string(weight[0]) + " output channels of weight " +
                         to_string(weight) + " do not divide into " + std::to_string(groups) + " groups",
                     where);
  const base::SizeArithmetic sizes(family.name, where);
  if (x[1] != sizes.product(weight[1], groups))
    throw ShapeError(begin + "input " + to_string(x) + " has " + std::to_string(x[1]) + " channels, weight " +
                         to_string(weight) + " with " + std::to_string(groups) + " group(s) takes " +
                         std::to_string(weight[1] * groups),
                     where);
  Shape shape{x[0], weight[0]};
  for (std::size_t i = 0; i < family.dims; ++i) {
    const std::int64_t stride = ints[i], padding = ints[family.dims + i],
                       dilation = ints[2 * family.dims + i];
    if (stride < 1 || dilation < 1 || padding < 0)
      throw ShapeError(begin + "stride and dilation are one or more, padding zero or more; not " +
                           std::to_string(stride) + ", " + std::to_string(dilation) + " and " +
                           std::to_string(padding),
                       where);
    const std::int64_t reach = sizes.sum(sizes.product(dilation, weight[2 + i] - 1), 1);
    const std::int64_t padded = sizes.sum(x[2 + i], sizes.product(2, padding));
    if (weight[2 + i] < 1 || reach > padded)
      throw ShapeError(begin + "weight " + to_string(weight) + " reaches over " + std::to_string(reach) +
                           " elements, input " + to_string(x) + " has " + std::to_string(padded) +
                           " with padding",
                       where);
    shape.push_back((padded - reach) / stride + 1);
  }
  return shape;
}

/// What convolutions over any number of dims share: shapes.
class Convolution : public Kind {
 public:
  Convolution(const Family& family, std::string name, Op op, Direction direction)
      : Kind(std::move(name), 1, op), family_(family), direction_(direction) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    results[0].dtype = float_dtype_of(name(), operands, where);
    Shape& shape = results[0].shape;
    const Shape &first = operands[0].shape, &second = operands[1].shape;
    if (direction_ == Direction::Forward) {
      shape = shape_of_y(family_, first, second, ints, where);
      return;
    }
    const bool of_input = direction_ == Direction::BackwardInput;
    const Shape& y = of_input ? first : second;
    const std::int64_t groups = ints[family_.groups()];
    if (first.rank() != family_.rank() || second.rank() != family_.rank() || groups < 1)
      throw ShapeError("[" + name() + "] operands have " + family_.axes +
                           " axes and there are one or more groups; not " + to_string(first) + ", " +
                           to_string(second) + " and " + std::to_string(groups),
                       where);
    shape = of_input ? Shape{y[0], second[1] * groups} : Shape{y[1], first[1] / groups};
    for (std::size_t i = 0; i < family_.dims; ++i) shape.push_back(ints[family_.result_sizes() + i]);
    if (shape_of_y(family_, of_input ? shape : first, of_input ? second : shape, ints, where) != y)
      throw ShapeError("[" + name() + "] no convolution that gives " + to_string(y) + " has the operands " +
                           to_string(of_input ? shape : first) + " and " +
                           to_string(of_input ? second : shape),
                       where);
  }

 protected:
  const Family& family_;
  const Direction direction_;
};

/// The planner writes these as contractions or as sums of planes (jit/plan/rewrite/convolutions/planes.cpp).
class Conv3d final : public Convolution {
 public:
  Conv3d(std::string name, Op op, Direction direction)
      : Convolution(kOverThree, std::move(name), op, direction) {}

  LibraryOpRef make(const Request&) const override {
    throw std::logic_error("library: no device has a program for " + name());
  }
};

class Conv2d final : public Convolution {
 public:
  Conv2d(std::string name, Op op, Direction direction)
      : Convolution(kOverTwo, std::move(name), op, direction) {}

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
    op->groups = request.ints[kOverTwo.groups()];
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
    if (arithmetic_of(signature.results[0].dtype) != DType::f32 || signature.ints[kOverTwo.groups()] != 1)
      return ImageOrder::ChannelsFirst;
    const Shape& weight = weight_of(signature);
    if (weight[is_x ? 1 : 0] < kFewChannels) return ImageOrder::ChannelsFirst;
    return weight[is_x ? 0 : 1] < kFewChannels ? ImageOrder::Indifferent : ImageOrder::Either;
  }
};

/// One for each direction, never destroyed: threads may plan after the end of static objects.
template <class T>
std::array<const Kind*, 3> directions(const std::string& name, Op forward, Op backward_input,
                                      Op backward_weight) {
  return {new T(name, forward, Direction::Forward),
          new T(name + "_backward_input", backward_input, Direction::BackwardInput),
          new T(name + "_backward_weight", backward_weight, Direction::BackwardWeight)};
}

}  // namespace

const Kind& conv2d(Direction direction) {
  static const std::array<const Kind*, 3> kinds =
      directions<Conv2d>("conv2d", Op::Conv2d, Op::Conv2dBackwardInput, Op::Conv2dBackwardWeight);
  return *kinds[static_cast<std::size_t>(direction)];
}

const Kind& conv3d(Direction direction) {
  static const std::array<const Kind*, 3> kinds =
      directions<Conv3d>("conv3d", Op::Conv3d, Op::Conv3dBackwardInput, Op::Conv3dBackwardWeight);
  return *kinds[static_cast<std::size_t>(direction)];
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
