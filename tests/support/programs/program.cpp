// Programs on a device and on the oracle.
#include "tests/support/programs/program.h"

#include <cmath>
#include <cstring>
#include <exception>

#include <sinter/sinter.h>

#include "src/base/element_type.h"
#include "src/tensor/elementwise.h"
#include "tests/support/test_data.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using Kind = StepKind;
using A = AnyTensor;

AnyTensor unary(Op op, const A& x) {
  switch (op) {
    case Op::Neg: return x.neg();
    case Op::Abs: return x.abs();
    case Op::Sign: return x.sign();
    case Op::Exp: return x.exp();
    case Op::Log: return x.log();
    case Op::Log1p: return x.log1p();
    case Op::Expm1: return x.expm1();
    case Op::Sqrt: return x.sqrt();
    case Op::Rsqrt: return x.rsqrt();
    case Op::Recip: return x.recip();
    case Op::Sin: return x.sin();
    case Op::Cos: return x.cos();
    case Op::Tan: return x.tan();
    case Op::Asin: return x.asin();
    case Op::Acos: return x.acos();
    case Op::Atan: return x.atan();
    case Op::Sinh: return x.sinh();
    case Op::Cosh: return x.cosh();
    case Op::Asinh: return x.asinh();
    case Op::Acosh: return x.acosh();
    case Op::Atanh: return x.atanh();
    case Op::Tanh: return x.tanh();
    case Op::Sigmoid: return x.sigmoid();
    case Op::Erf: return x.erf();
    case Op::Ndtr: return x.ndtr();
    case Op::Floor: return x.floor();
    case Op::Ceil: return x.ceil();
    case Op::Round: return x.round();
    case Op::Trunc: return x.trunc();
    case Op::IsNan: return x.is_nan();
    case Op::Not: return x.logical_not();
    default: return tensor::unary(op, x, Location::current());  // without a method of its own
  }
}

AnyTensor binary(Op op, A::Operand a, A::Operand b) {
  switch (op) {
    case Op::Add: return A::add(a, b);
    case Op::Sub: return A::sub(a, b);
    case Op::Mul: return A::mul(a, b);
    case Op::Div: return A::div(a, b);
    case Op::Remainder: return A::remainder(a, b);
    case Op::Pow: return A::pow(a, b);
    case Op::Atan2: return A::atan2(a, b);
    case Op::ShiftLeft: return A::shift_left(a, b);
    case Op::ShiftRight: return A::shift_right(a, b);
    case Op::Maximum: return A::maximum(a, b);
    case Op::Minimum: return A::minimum(a, b);
    case Op::Equal: return A::equal(a, b);
    case Op::NotEqual: return A::not_equal(a, b);
    case Op::Less: return A::less(a, b);
    case Op::LessEqual: return A::less_equal(a, b);
    case Op::And: return A::logical_and(a, b);
    case Op::Or: return A::logical_or(a, b);
    case Op::Xor: return A::logical_xor(a, b);
    default: return tensor::binary(op, a, b, Location::current());
  }
}

AnyTensor reduce(Op op, const A& x, const Axes& axes) {
  const bool boolean = x.dtype() == DType::boolean;
  switch (op) {
    case Op::Sum: return x.sum(axes);
    case Op::Prod: return x.prod(axes);
    case Op::Max: return boolean ? x.any(axes) : x.max(axes);
    case Op::Min: return boolean ? x.all(axes) : x.min(axes);
    default: throw std::logic_error("program: " + std::string(name_of(op)) + " is not a reduction");
  }
}

AnyTensor scanned(const Step& s, const A& x) {
  const ScanOptions options{.reverse = s.reverse, .exclusive = s.exclusive};
  const auto part = [&](AnyIndexed both) { return s.positions ? both.indices : both.values; };
  switch (s.op) {
    case Op::CumSum: return x.cumsum(s.axis, options);
    case Op::CumProd: return x.cumprod(s.axis, options);
    case Op::LogCumSumExp: return x.logcumsumexp(s.axis, options);
    case Op::CumMax: return part(x.cummax(s.axis, options));
    case Op::CumMin: return part(x.cummin(s.axis, options));
    default: throw std::logic_error("program: " + std::string(name_of(s.op)) + " is not a scan");
  }
}

ScatterReduction reduction_of(Op op) {
  return op == Op::Sum    ? ScatterReduction::Sum
         : op == Op::Prod ? ScatterReduction::Prod
         : op == Op::Max  ? ScatterReduction::Max
                          : ScatterReduction::Min;
}

ConvTransposeOptions<2> transposed(const Conv2dOptions& o) {
  return {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
}

/// As far from the least or the greatest integer as `number` is from 0.
double far_number(DType dtype, double number) {
  const int bits = 8 * static_cast<int>(size_of(dtype));
  const double least = is_unsigned(dtype) ? 0 : -std::ldexp(1.0, bits - 1);
  const double beyond = std::ldexp(1.0, is_unsigned(dtype) ? bits : bits - 1);
  return number >= 0 ? beyond - 1 - number : least - 1 - number;
}

}  // namespace

std::vector<std::byte> input_bytes(const Step& s) {
  TestData data(s.seed);
  std::vector<std::byte> bytes;
  const auto write = [&](auto x) {
    const auto* from = reinterpret_cast<const std::byte*>(&x);
    bytes.insert(bytes.end(), from, from + sizeof x);
  };
  const bool coarse = data.chance(0.5);  // halves, so that equal numbers occur
  const std::int64_t low = s.range > 0 || is_unsigned(s.dtype) ? 0 : -9, high = s.range > 0 ? s.range - 1 : 9;
  // Near the ends of the dtype, where sums wrap around. The oracle's library ops add in doubles, which do not
  // tell such numbers of 64 bits apart.
  const bool wraps = is_int(s.dtype) && size_of(s.dtype) < 8 && s.range == 0 && data.chance(0.2);
  for (std::int64_t i = 0; i < s.shape.numel(); ++i) {
    double number = coarse ? static_cast<double>(data.integer(-4, 4)) / 2 : data.real(-2, 2);
    if (s.dtype == DType::boolean)
      number = data.chance(0.5);
    else if (!is_float(s.dtype))
      number = static_cast<double>(data.integer(low, high));
    if (wraps) number = far_number(s.dtype, number);
    if (!s.numbers.empty()) number = s.numbers[static_cast<std::size_t>(i) % s.numbers.size()];
    base::with_element_type(s.dtype, [&]<class T>(std::type_identity<T>) {
      if constexpr (is_stored_float(dtype_of<T>))
        write(T(static_cast<float>(number)));
      else
        write(static_cast<T>(number));
    });
  }
  return bytes;
}

AnyTensor execute(const Step& s, const std::vector<A>& handles, const Device& device) {
  const auto operand = [&](std::size_t k) {
    return s.args[k].step < 0 ? A::Operand(s.args[k].number)
                              : A::Operand(handles[static_cast<std::size_t>(s.args[k].step)]);
  };
  const auto tensor = [&](std::size_t k) -> const A& {
    return handles[static_cast<std::size_t>(s.args[k].step)];
  };
  const auto tensors = [&] {
    std::vector<A> all;
    for (std::size_t k = 0; k < s.args.size(); ++k) all.push_back(tensor(k));
    return all;
  };
  switch (s.kind) {
    case Kind::Input: return A::from_bytes(input_bytes(s), s.shape, s.dtype, device);
    case Kind::Full: return A::full(s.shape, s.fill, s.dtype, device);
    case Kind::Arange: return A::arange(s.axis, s.size, s.step, device);
    case Kind::Uniform: return A::uniform(s.shape, s.low, s.high, device);
    case Kind::Normal: return A::normal(s.shape, s.low, s.high, device);
    case Kind::Unary: return unary(s.op, tensor(0));
    case Kind::Cast: return tensor(0).cast(s.dtype);
    case Kind::Binary: return binary(s.op, operand(0), operand(1));
    case Kind::Where: return A::where(tensor(0), operand(1), operand(2));
    case Kind::Reshape: return tensor(0).reshape(s.dims);
    case Kind::Permute: return tensor(0).permute(Axes(s.dims));
    case Kind::Expand: return tensor(0).expand(s.dims);
    case Kind::Slice: return tensor(0).slice(s.ranges);
    case Kind::Flip: return tensor(0).flip(Axes(s.dims));
    case Kind::Windows: return tensor(0).windows(s.axis, s.size, s.step);
    case Kind::Pad: return tensor(0).pad(s.dims, s.more, s.fill);
    case Kind::Place: return tensor(0).place(s.shape, s.dims, s.more, s.fill);
    case Kind::SliceAssign: return tensor(0).slice_assign(s.ranges, tensor(1));
    case Kind::SliceFill: return tensor(0).slice_fill(s.ranges, s.fill);
    case Kind::Cat: return A::cat(tensors(), s.axis);
    case Kind::Stack: return A::stack(tensors(), s.axis);
    case Kind::Repeat: return tensor(0).repeat(s.dims);
    case Kind::Roll: return tensor(0).roll(s.step, s.axis);
    case Kind::Reduce: return reduce(s.op, tensor(0), Axes(s.dims));
    case Kind::Mean: return tensor(0).mean(Axes(s.dims));
    case Kind::ArgMax: return tensor(0).argmax(s.axis);
    case Kind::ArgMin: return tensor(0).argmin(s.axis);
    case Kind::Gather: return tensor(0).gather(s.axis, tensor(1));
    case Kind::IndexSelect: return tensor(0).index_select(s.axis, tensor(1));
    case Kind::IndexAdd: return tensor(0).index_add(s.axis, tensor(1), tensor(2));
    case Kind::ScatterAdd: return tensor(0).scatter_add(s.axis, tensor(1), tensor(2));
    case Kind::MatMul: return tensor(0).matmul(tensor(1));
    case Kind::Conv2d: return tensor(0).conv2d(tensor(1), s.options);
    case Kind::Conv3d: return tensor(0).conv3d(tensor(1), s.of_volumes);
    case Kind::ConvTranspose2d: return tensor(0).conv_transpose2d(tensor(1), transposed(s.options));
    case Kind::MaxPool:
      return nn::MaxPool2d{.kernel = s.kernel, .stride = s.options.stride, .padding = s.options.padding}
          .forward(Tensor<4>(tensor(0)))
          .dynamic();
    case Kind::AvgPool:
      return nn::AvgPool2d{.kernel = s.kernel, .stride = s.options.stride, .padding = s.options.padding}
          .forward(Tensor<4>(tensor(0)))
          .dynamic();
    case Kind::Scan: return scanned(s, tensor(0));
    case Kind::Sort:
      return s.positions ? tensor(0).argsort(s.axis, s.reverse) : tensor(0).sort(s.axis, s.reverse).values;
    case Kind::TopK: {
      const AnyIndexed top = tensor(0).topk(s.size, s.axis, !s.reverse);
      return s.positions ? top.indices : top.values;
    }
    case Kind::SearchSorted: return tensor(0).searchsorted(tensor(1), s.reverse);
    case Kind::Scatter: return tensor(0).scatter(s.axis, tensor(1), tensor(2));
    case Kind::ScatterReduce:
      return tensor(0).scatter_reduce(s.axis, tensor(1), tensor(2), reduction_of(s.op), !s.exclusive);
    case Kind::IndexCopy: return tensor(0).index_copy(s.axis, tensor(1), tensor(2));
    case Kind::Alias: return tensor(0);
    default: throw std::logic_error("program: a step without a value");
  }
}

ReferenceTensor evaluate(const Step& s, const std::vector<ReferenceTensor>& values, Reference& reference) {
  const auto tensor = [&](std::size_t k) -> const ReferenceTensor& {
    return values[static_cast<std::size_t>(s.args[k].step)];
  };
  // A number takes the dtype of the tensor beside it.
  const auto operand = [&](std::size_t k, std::size_t other) {
    return s.args[k].step < 0 ? reference.scalar(s.args[k].number, tensor(other).dtype) : tensor(k);
  };
  switch (s.kind) {
    case Kind::Input: return reference.from_bytes(input_bytes(s), s.shape, s.dtype);
    case Kind::Full: return reference.full(s.shape, s.fill, s.dtype);
    case Kind::Arange: return reference.arange(s.axis, s.size, s.step);
    case Kind::Uniform: return reference.uniform(s.shape, s.low, s.high);
    case Kind::Normal: return reference.normal(s.shape, s.low, s.high);
    case Kind::Unary: return reference.unary(s.op, tensor(0));
    case Kind::Cast: return reference.cast(tensor(0), s.dtype);
    case Kind::Binary: return reference.binary(s.op, operand(0, 1), operand(1, 0));
    case Kind::Where: return reference.where(tensor(0), operand(1, 2), operand(2, 1));
    case Kind::Reshape: return reference.reshape(tensor(0), s.dims);
    case Kind::Permute: return reference.permute(tensor(0), s.dims);
    case Kind::Expand: return reference.expand(tensor(0), s.dims);
    case Kind::Slice: return reference.slice(tensor(0), s.ranges);
    case Kind::Flip: return reference.flip(tensor(0), s.dims);
    case Kind::Windows: return reference.windows(tensor(0), s.axis, s.size, s.step);
    case Kind::Pad: return reference.pad(tensor(0), s.dims, s.more, s.fill);
    case Kind::Place: return reference.place(tensor(0), s.shape, s.dims, s.more, s.fill);
    case Kind::SliceAssign: return reference.slice_assign(tensor(0), s.ranges, tensor(1));
    case Kind::SliceFill:
      return reference.slice_assign(tensor(0), s.ranges, reference.scalar(s.fill, tensor(0).dtype));
    case Kind::Cat:
    case Kind::Stack: {
      std::vector<ReferenceTensor> pieces;
      for (std::size_t k = 0; k < s.args.size(); ++k) pieces.push_back(tensor(k));
      return s.kind == Kind::Cat ? reference.cat(pieces, s.axis) : reference.stack(pieces, s.axis);
    }
    case Kind::Repeat: return reference.repeat(tensor(0), s.dims);
    case Kind::Roll: return reference.roll(tensor(0), s.step, s.axis);
    case Kind::Reduce: return reference.reduce(s.op, tensor(0), s.dims);
    case Kind::Mean: return reference.mean(tensor(0), s.dims);
    case Kind::ArgMax: return reference.arg_extreme(Op::Max, tensor(0), s.axis);
    case Kind::ArgMin: return reference.arg_extreme(Op::Min, tensor(0), s.axis);
    case Kind::Gather: return reference.gather(tensor(0), s.axis, tensor(1));
    case Kind::IndexSelect: return reference.index_select(tensor(0), s.axis, tensor(1));
    case Kind::IndexAdd: return reference.index_add(tensor(0), s.axis, tensor(1), tensor(2));
    case Kind::ScatterAdd: return reference.scatter_add(tensor(0), s.axis, tensor(1), tensor(2));
    case Kind::MatMul: return reference.matmul(tensor(0), tensor(1));
    case Kind::Conv2d: return reference.convolve(tensor(0), tensor(1), s.options);
    case Kind::Conv3d: return reference.convolve(tensor(0), tensor(1), s.of_volumes);
    case Kind::ConvTranspose2d:
      return reference.conv_transpose2d(tensor(0), tensor(1), transposed(s.options));
    case Kind::MaxPool:
    case Kind::AvgPool:
      return reference.pool2d(s.kind == Kind::MaxPool, tensor(0), s.kernel, s.options.stride,
                              s.options.padding);
    case Kind::Scan:
      if (s.op == Op::CumMax || s.op == Op::CumMin)
        return reference.running_extreme(s.op, tensor(0), s.axis, s.reverse, s.positions);
      return reference.scan(s.op, tensor(0), s.axis, s.reverse, s.exclusive);
    case Kind::Sort: return reference.sort(tensor(0), s.axis, s.reverse, s.positions);
    case Kind::TopK: {
      std::vector<Range> ranges(tensor(0).shape.rank());
      ranges[static_cast<std::size_t>(s.axis)] = Range{0, s.size};
      return reference.slice(reference.sort(tensor(0), s.axis, !s.reverse, s.positions), ranges);
    }
    case Kind::SearchSorted: return reference.search_sorted(tensor(0), tensor(1), s.reverse);
    case Kind::Scatter: return reference.scatter(tensor(0), s.axis, tensor(1), tensor(2));
    case Kind::ScatterReduce:
      return reference.scatter_reduce(s.op, tensor(0), s.axis, tensor(1), tensor(2), !s.exclusive);
    case Kind::IndexCopy: {
      // Whole slices: the same index for all of their elements.
      const ReferenceTensor &index = tensor(1), &source = tensor(2);
      return reference.scatter(
          tensor(0), s.axis,
          build(source.shape, index.dtype,
                [&](const Dims& at) {
                  return index.values[static_cast<std::size_t>(at[static_cast<std::size_t>(s.axis)])];
                }),
          source);
    }
    case Kind::Alias: return tensor(0);
    default: return {};
  }
}

std::vector<ReferenceTensor> evaluate(const Program& program, Reference reference) {
  std::vector<ReferenceTensor> values;
  reference.seed(0);
  for (const Step& step : program.steps) values.push_back(evaluate(step, values, reference));
  return values;
}

std::string run(const Program& program, const std::vector<ReferenceTensor>& values, const Device& device,
                std::vector<std::byte>& bits) {
  const auto compare = [&](std::size_t step, const A& handle) {
    std::string wrong = difference(handle, values[step]);
    std::vector<std::byte> bytes(static_cast<std::size_t>(handle.numel()) * size_of(handle.dtype()));
    handle.read_bytes(bytes);
    bits.insert(bits.end(), bytes.begin(), bytes.end());
    return wrong.empty() ? wrong : "v" + std::to_string(step) + ": " + wrong;
  };
  device.seed(0);
  std::vector<A> handles(program.steps.size());
  std::size_t at = 0;
  try {
    for (; at < program.steps.size(); ++at) {
      const Step& s = program.steps[at];
      const std::size_t subject =
          s.args.empty() || s.args[0].step < 0 ? 0 : static_cast<std::size_t>(s.args[0].step);
      switch (s.kind) {
        case Kind::Drop: handles[subject] = {}; break;
        case Kind::Flush: device.flush(); break;
        case Kind::Sync: handles[subject].sync(); break;
        case Kind::Read:
          if (std::string wrong = compare(subject, handles[subject]); !wrong.empty())
            return "read of " + wrong;
          break;
        default: handles[at] = execute(s, handles, device);
      }
    }
    device.flush();
    for (std::size_t i = 0; i < handles.size(); ++i)
      if (handles[i].defined())
        if (std::string wrong = compare(i, handles[i]); !wrong.empty()) return "at the end, " + wrong;
  } catch (const std::exception& error) {
    return "step " + std::to_string(at) + " threw: " + error.what();
  }
  return "";
}

std::string check(const Program& program, const Device& device) {
  const std::vector<ReferenceTensor> values = evaluate(program, Reference(precision_of(device)));
  device.sync();
  const std::size_t bytes_before = device.statistics().bytes_in_use;
  const std::uint64_t dropped = device.statistics().plans_dropped;
  std::vector<std::byte> first, second;
  if (std::string wrong = run(program, values, device, first); !wrong.empty()) return wrong;
  const std::uint64_t plans = device.statistics().plans_built;
  if (std::string wrong = run(program, values, device, second); !wrong.empty()) return "second run: " + wrong;
  // One that had to go meanwhile, for what plans may hold in all, is made anew.
  const bool has_dropped = device.statistics().plans_dropped > dropped;
  if (const std::uint64_t more = device.statistics().plans_built - plans; more > 0 && !has_dropped)
    return "the second run built " + std::to_string(more) + " plans that the first should have left";
  if (first != second) return "the second run gave other bits";
  device.sync();
  if (const std::size_t bytes = device.statistics().bytes_in_use; bytes != bytes_before)
    return std::to_string(bytes) + " bytes are in use without a handle, before it were " +
           std::to_string(bytes_before);
  return "";
}

}  // namespace sinter::testing
