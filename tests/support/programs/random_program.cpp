// The generator runs the oracle along, so that it knows shapes and undoes steps whose numbers grow too large.
#include "tests/support/programs/random_program.h"

#include "tests/support/programs/drawn_ops.h"
#include "tests/support/programs/random_order.h"

namespace sinter::testing {
namespace {

using Kind = StepKind;

bool is_number(DType dtype) { return dtype != DType::boolean; }

class Generator : public RandomOrder {
 public:
  using RandomOrder::RandomOrder;

  Program run() {
    for (int i = data_.chance(0.3) ? 1 : 3; i > 0; --i) input();
    for (int tries = 0;
         tries < 20 * options_.steps && static_cast<int>(program_.steps.size()) < options_.steps; ++tries) {
      value_step();
      if (data_.chance(0.18)) drop(pick_any());
      if (data_.chance(0.04)) act(Kind::Read);
      if (data_.chance(0.04)) act(Kind::Sync);
      if (data_.chance(0.05)) {
        if (data_.chance(0.5)) drop_most();
        program_step(Kind::Flush);
      }
    }
    if (data_.chance(0.6)) drop_most();
    return std::move(program_);
  }

 private:
  /// Drops most handles: the planner may fuse their values away or overwrite them.
  void drop_most() {
    for (auto left = static_cast<std::size_t>(data_.integer(1, 3)); live_.size() > left;)
      drop(data_.pick(live_));
  }

  void value_step() {
    const std::int64_t choice = data_.integer(0, 109);
    if (choice < 4)
      input();
    else if (choice < 8)
      source();
    else if (choice < 22)
      unary_step();
    else if (choice < 42)
      binary_step();
    else if (choice < 47)
      where_step();
    else if (choice < 51)
      cast_step();
    else if (choice < 69)
      view_step();
    else if (choice < 72)
      pad_step();
    else if (choice < 75)
      assemble();
    else if (choice < 81)
      reduce_step();
    else if (choice < 83)
      arg_step();
    else if (choice < 87)
      by_index();
    else if (choice < 90)
      matmul_step();
    else if (choice < 91)
      conv_step();
    else if (choice < 93)
      alias();
    else if (choice < 95)
      update_loop();
    else if (choice < 97)
      twist();
    else if (choice < 98)
      optimizer();
    else if (choice < 100)
      pattern();
    else if (choice < 105)
      order_step();
    else if (choice < 107)
      write_by_index();
    else if (choice < 108)
      transposed_convolution();
    else
      pool();
  }

  void source() {
    Step step;
    step.shape = random_shape();
    switch (data_.integer(0, 3)) {
      case 0:
        step.kind = Kind::Full;
        step.dtype = random_dtype();
        step.fill = random_number(step.dtype);
        break;
      case 1:
        step.kind = Kind::Arange;
        step.axis = data_.integer(-5, 5);
        step.size = data_.integer(-9, 20);
        step.step = data_.chance(0.7) ? data_.integer(1, 3) : data_.integer(-3, -1);
        break;
      case 2:
        if (options_.smooth) return;
        step.kind = Kind::Uniform;
        if (data_.chance(0.5)) step.low = -1.5, step.high = 2;
        break;
      default:
        if (options_.smooth) return;
        step.kind = Kind::Normal;
        if (data_.chance(0.5)) step.low = 0.5, step.high = 0.25;
    }
    add(std::move(step));
  }

  void unary_step() {
    const int x = pick([](const ReferenceTensor&) { return true; });
    if (x < 0) return;
    const Op op = data_.pick(drawn_ops(OpClass::Elementwise, 1, value(x).dtype));
    const int made = unary(op, data_.chance(0.7) ? within(domain_of(op), x) : x);
    if (made >= 0 && data_.chance(0.3)) drop(x);
  }

  /// `x`, or what a program would make of it for an op that takes only some numbers.
  int within(Domain domain, int x) {
    switch (domain) {
      case Domain::Unit: return unary(Op::Sin, x);
      case Domain::Positive:
      case Domain::AboveOne: {
        const int size = unary(Op::Abs, x);
        return size < 0 ? -1 : binary(Op::Add, {size}, {-1, domain == Domain::Positive ? 0.125 : 1.125});
      }
      default: return x;
    }
  }

  /// A handle that broadcasts with `x`, or a new input that does; -1 if there is none.
  int partner(int x) {
    std::vector<int> fitting;
    for (int id : live_) {
      if (value(id).dtype != value(x).dtype) continue;
      const Shape &a = shape(id), &b = shape(x);
      bool fits = true;
      for (std::size_t i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
        const std::int64_t m = a[a.rank() - i], n = b[b.rank() - i];
        fits = fits && (m == n || m == 1 || n == 1);
      }
      if (fits) fitting.push_back(id);
    }
    if (!fitting.empty() && data_.chance(0.8)) return data_.pick(fitting);
    Shape of;
    const std::size_t skipped =
        static_cast<std::size_t>(data_.integer(0, static_cast<std::int64_t>(shape(x).rank())));
    for (std::size_t d = skipped; d < shape(x).rank(); ++d) of.push_back(data_.chance(0.3) ? 1 : shape(x)[d]);
    return input(of, value(x).dtype);
  }

  void binary_step() {
    const int x = pick([](const ReferenceTensor&) { return true; });
    if (x < 0) return;
    const DType dtype = value(x).dtype;
    // Real programs add and multiply most.
    static const std::vector<Op> usual = {Op::Add, Op::Mul, Op::Sub};
    const bool is_usual = dtype != DType::boolean && data_.chance(0.3);
    const Op op = data_.pick(is_usual ? usual : drawn_ops(OpClass::Elementwise, 2, dtype));
    const Domain domain = domain_of(op);
    if (domain == Domain::RightHalf) {
      const int made = binary(op, {x}, {-1, data_.real(0.1, 2)});
      if (made >= 0 && data_.chance(0.4)) drop(x);
      return;
    }
    Argument a{x}, b;
    if (data_.chance(0.25)) {
      b.number = domain == Domain::Exponent ? Scalar(data_.integer(-1, 3)) : random_number(dtype);
    } else {
      b.step = partner(x);
      if (b.step < 0) return;
    }
    if (data_.chance(0.3)) std::swap(a, b);
    const int made = binary(op, a, b);
    if (made >= 0 && data_.chance(0.4)) drop(x);  // x = x op y
  }

  void where_step() {
    const int condition = pick([](const ReferenceTensor& t) { return t.dtype == DType::boolean; });
    const int x = pick([](const ReferenceTensor&) { return true; });
    if (condition < 0 || x < 0) return;
    Step step{Kind::Where};
    Argument a{x}, b;
    if (data_.chance(0.5))
      b.number = random_number(value(x).dtype);
    else if ((b.step = partner(x)) < 0)
      return;
    if (data_.chance(0.5)) std::swap(a, b);
    step.args = {{condition}, a, b};
    // The condition must broadcast with both.
    for (std::size_t k = 1; k < 3; ++k) {
      if (step.args[k].step < 0) continue;
      const Shape &m = shape(condition), &n = shape(step.args[k].step);
      for (std::size_t i = 1; i <= std::min(m.rank(), n.rank()); ++i)
        if (m[m.rank() - i] != n[n.rank() - i] && m[m.rank() - i] != 1 && n[n.rank() - i] != 1) return;
    }
    add(std::move(step));
  }

  void cast_step() {
    Step step{Kind::Cast};
    step.args = {{pick_any()}};
    step.dtype = random_dtype();
    if (step.args[0].step >= 0) add(std::move(step));
  }

  void view_step() {
    const int x = pick_any();
    if (x < 0) return;
    const Shape& from = shape(x);
    Step step;
    step.args = {{x}};
    switch (data_.integer(0, 6)) {
      case 0:
        step.kind = Kind::Reshape;
        step.dims = another_shape(from);
        break;
      case 1:
        step.kind = Kind::Permute;
        step.dims = random_axes(from.rank(), true);
        break;
      case 2:
        step.kind = Kind::Expand;
        step.dims = from;
        for (std::int64_t& size : step.dims)
          if (size == 1 && data_.chance(0.6)) size = data_.integer(1, 5);
        while (step.dims.rank() < 5 && data_.chance(0.4)) step.dims.insert(0, data_.integer(1, 4));
        break;
      case 3:
      case 4:
        step.kind = Kind::Slice;
        for (std::size_t d = 0; d < from.rank(); ++d) step.ranges.push_back(random_range(from[d]));
        break;
      case 5:
        step.kind = Kind::Flip;
        step.dims = random_axes(from.rank(), false);
        break;
      default:
        if (from.rank() == 0 || from.rank() > 4) return;
        step.kind = Kind::Windows;
        step.axis = random_axis(from);
        if (from[step.axis] == 0) return;
        step.size = data_.integer(1, std::min<std::int64_t>(4, from[step.axis]));
        step.step = data_.integer(1, 3);
    }
    const int made = add(std::move(step));
    if (made >= 0 && data_.chance(0.3)) drop(x);
  }

  Dims another_shape(const Shape& from) {
    std::int64_t left = from.numel();
    if (left == 0 || data_.chance(0.2)) {
      Dims dims = from;  // a size of 1 somewhere
      if (dims.rank() < 6)
        dims.insert(static_cast<std::size_t>(data_.integer(0, static_cast<std::int64_t>(dims.rank()))), 1);
      return dims;
    }
    Dims dims;
    while (left > 1 && dims.rank() < 5) {
      std::vector<std::int64_t> factors;
      for (std::int64_t f = 2; f <= std::min<std::int64_t>(left, 40); ++f)
        if (left % f == 0) factors.push_back(f);
      if (factors.empty() || data_.chance(0.2)) break;
      dims.push_back(data_.pick(factors));
      left /= dims.back();
    }
    if (left > 1 || data_.chance(0.3)) dims.push_back(data_.chance(0.5) ? left : -1);
    return dims;
  }

  void pad_step() {
    const int x = pick([](const ReferenceTensor&) { return true; });
    if (x < 0) return;
    const Shape& from = shape(x);
    Step step{data_.chance(0.6) ? Kind::Pad : Kind::Place};
    step.args = {{x}};
    step.fill = random_number(value(x).dtype);
    for (std::size_t d = 0; d < from.rank(); ++d) {
      if (step.kind == Kind::Pad) {
        step.dims.push_back(data_.integer(0, 2));
        step.more.push_back(data_.integer(0, 2));
      } else {
        const std::int64_t stride = data_.integer(1, 3), start = data_.integer(0, 2);
        const std::int64_t reach = from[d] > 0 ? (from[d] - 1) * stride : 0;
        const bool back = data_.chance(0.3);
        step.dims.push_back(back ? start + reach : start);
        step.more.push_back(back ? -stride : stride);
        step.shape.push_back(start + reach + 1 + data_.integer(0, 2));
      }
    }
    add(std::move(step));
  }

  void reduce_step() {
    const int x = pick([](const ReferenceTensor&) { return true; });
    if (x < 0) return;
    const Dims axes = random_axes(shape(x).rank(), false);
    const DType dtype = value(x).dtype;
    if (is_float(dtype) && data_.chance(0.3)) {
      mean(x, axes);
      return;
    }
    const Op op = data_.pick(drawn_ops(OpClass::Reduce, 1, dtype));
    for (std::int64_t axis : axes)
      if (domain_of(op) == Domain::NotEmpty && dtype != DType::boolean &&
          shape(x)[axis < 0 ? axis + static_cast<std::int64_t>(shape(x).rank()) : axis] == 0)
        return;
    reduce(op, x, axes);
  }

  void arg_step() {
    const int x = pick([](const ReferenceTensor& t) { return is_number(t.dtype) && t.shape.rank() > 0; });
    if (x < 0) return;
    Step step{data_.chance(0.5) ? Kind::ArgMax : Kind::ArgMin};
    step.args = {{x}};
    step.axis = random_axis(shape(x));
    if (shape(x)[step.axis] > 0) add(std::move(step));
  }

  void matmul_step() {
    const int x = pick([](const ReferenceTensor& t) { return is_float(t.dtype) && t.shape.rank() >= 2; });
    if (x < 0) return;
    int y = -1;
    if (data_.chance(0.4)) {  // with its own transpose
      Step step{Kind::Permute};
      step.args = {{x}};
      for (std::size_t d = 0; d < shape(x).rank(); ++d) step.dims.push_back(static_cast<std::int64_t>(d));
      std::swap(step.dims[shape(x).rank() - 1], step.dims[shape(x).rank() - 2]);
      y = add(std::move(step));
    } else {
      Shape of;
      for (std::size_t d = 0; d + 2 < shape(x).rank(); ++d)
        if (of.rank() > 0 || data_.chance(0.5)) of.push_back(data_.chance(0.3) ? 1 : shape(x)[d]);
      of.push_back(shape(x).back());
      of.push_back(data_.pick(sizes_));
      y = input(of, value(x).dtype);
    }
    if (y < 0) return;
    Step step{Kind::MatMul};
    step.args = {{x}, {y}};
    add(std::move(step));
  }

  void conv_step() {
    if (data_.chance(0.3)) return volume_step();
    const std::int64_t groups = data_.integer(1, 2);
    const int x =
        input({data_.integer(1, 2), groups * data_.integer(1, 2), data_.integer(3, 7), data_.integer(3, 7)},
              options_.smooth ? DType::f64 : DType::f32);
    if (x < 0) return;
    const int w =
        input({groups * data_.integer(1, 3), shape(x)[1] / groups, data_.integer(1, 3), data_.integer(1, 3)},
              options_.smooth ? DType::f64 : DType::f32);
    if (w < 0) return;
    Step step{Kind::Conv2d};
    step.options.stride = {data_.integer(1, 2), data_.integer(1, 2)};
    step.options.padding = {data_.integer(0, 2), data_.integer(0, 2)};
    step.options.groups = groups;
    step.args = {{x}, {w}};
    add(std::move(step));
  }

  void volume_step() {
    const DType dtype = options_.smooth ? DType::f64 : DType::f32;
    const auto sizes = [&](Shape shape, std::int64_t least, std::int64_t most) {
      for (int d = 0; d < 3; ++d) shape.push_back(data_.integer(least, most));
      return shape;
    };
    const std::int64_t groups = data_.integer(1, 2), channels = data_.integer(1, 2);
    const int x = input(sizes({data_.integer(1, 2), groups * channels}, 3, 5), dtype);
    if (x < 0) return;
    const int w = input(sizes({groups * data_.integer(1, 2), channels}, 1, 3), dtype);
    if (w < 0) return;
    Step step{Kind::Conv3d};
    for (std::size_t d = 0; d < 3; ++d) {
      step.of_volumes.stride[d] = data_.integer(1, 2);
      step.of_volumes.padding[d] = data_.integer(0, 2);
    }
    step.of_volumes.groups = groups;
    step.args = {{x}, {w}};
    add(std::move(step));
  }

  void alias() {
    Step step{Kind::Alias};
    step.args = {{pick_any()}};
    if (step.args[0].step >= 0) add(std::move(step));
  }

  /// x = x * a + b, several times, dropping the old x each time.
  void update_loop() {
    int x = pick_float();
    const std::int64_t rounds = data_.integer(1, 3);
    for (std::int64_t i = 0; i < rounds && x >= 0; ++i) {
      const int scaled = binary(Op::Mul, {x}, {-1, data_.real(-1, 1)});
      if (scaled < 0) return;
      drop(x);
      x = binary(Op::Add, {scaled}, {-1, data_.real(-1, 1)});
      if (x < 0) return;
      drop(scaled);
      if (data_.chance(0.2)) program_step(Kind::Flush);
    }
  }

  /// The same small update of several values of different shapes, sometimes of a sum: the planner may batch
  /// them.
  void optimizer() {
    const DType dtype = options_.smooth ? DType::f64 : DType::f32;
    const std::int64_t count = data_.integer(2, 6);
    const bool sums = data_.chance(0.3), lets_go = data_.chance(0.7), shares = data_.chance(0.3);
    const int shared = shares ? input(Shape{1, 1}, dtype) : -1;
    for (std::int64_t i = 0; i < count; ++i) {
      const Shape of{data_.pick(sizes_), data_.pick(sizes_)};
      const int x = input(of, dtype), g = x < 0 ? -1 : input(of, dtype);
      if (g < 0) return;
      const int scaled = binary(Op::Mul, {x}, {-1, 0.5});
      if (scaled < 0) return;
      if (lets_go) drop(x);
      int step = sums ? reduce(Op::Sum, g, Dims{0}) : g;
      if (step < 0) return;
      const int updated = binary(Op::Sub, {scaled}, {step});
      drop(scaled);
      if (step != g) drop(step);
      if (updated >= 0 && shared >= 0) binary(Op::Add, {updated}, {shared});
      if (lets_go) drop(g);
    }
  }

  /// A transposed or flipped copy combined with the original: a kernel reads the same data at two positions.
  void twist() {
    const int x = pick([](const ReferenceTensor& t) { return is_number(t.dtype) && t.shape.rank() > 0; });
    if (x < 0) return;
    int y = x;
    const Dims axis{random_axis(shape(x))};
    if (data_.chance(0.6) && shape(x)[static_cast<std::size_t>(axis[0])] > 0)
      y = reduce(!is_int(value(x).dtype) && data_.chance(0.5) ? Op::Sum : Op::Max, x, axis);  // sums are i64
    if (y < 0) return;
    Step step{data_.chance(0.5) ? Kind::Permute : Kind::Flip};
    step.args = {{y}};
    step.dims = random_axes(shape(y).rank(), step.kind == Kind::Permute);
    const int transposed = add(std::move(step));
    if (transposed < 0) return;
    const Shape &a = shape(transposed), &b = shape(x);
    for (std::size_t d = 0; d < a.rank(); ++d)
      if (a[d] != b[d] && a[d] != 1 && b[d] != 1) return;
    binary(data_.chance(0.5) ? Op::Add : Op::Sub, {x}, {transposed});
    drop(transposed);
    if (y != x) drop(y);
  }

  void pattern() {
    const int x = pick([](const ReferenceTensor& t) {
      return is_float(t.dtype) && t.shape.rank() > 0 && t.values.size() > 0;
    });
    if (x < 0) return;
    const Dims axis{random_axis(shape(x))};
    if (data_.chance(0.5)) {  // softmax
      const int largest = reduce(Op::Max, x, axis);
      const int shifted = largest < 0 ? -1 : binary(Op::Sub, {x}, {largest});
      const int e = unary(Op::Exp, shifted);
      const int sum = e < 0 ? -1 : reduce(Op::Sum, e, axis);
      if (sum >= 0) binary(Op::Div, {e}, {sum});
      for (int id : {largest, shifted, e, sum})
        if (id >= 0 && data_.chance(0.8)) drop(id);
    } else {  // layer norm
      const int average = mean(x, axis);
      const int centred = average < 0 ? -1 : binary(Op::Sub, {x}, {average});
      const int squared = centred < 0 ? -1 : binary(Op::Mul, {centred}, {centred});
      const int variance = squared < 0 ? -1 : mean(squared, axis);
      const int shifted = variance < 0 ? -1 : binary(Op::Add, {variance}, {-1, 0.125});
      const int scale = unary(Op::Rsqrt, shifted);
      if (scale >= 0) binary(Op::Mul, {centred}, {scale});
      for (int id : {average, centred, squared, variance, shifted, scale})
        if (id >= 0 && data_.chance(0.8)) drop(id);
    }
  }
};

}  // namespace

Program random_program(std::uint64_t seed, const RandomProgramOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace sinter::testing
