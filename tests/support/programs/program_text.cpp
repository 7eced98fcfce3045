// Programs as text.
#include <cstdio>

#include "tests/support/programs/program.h"

namespace sinter::testing {
namespace {

using Kind = StepKind;

std::string name_of(Kind kind) {
  static const char* const names[] = {
      "input",        "full",     "arange",         "uniform",      "normal",
      "unary",        "cast",     "binary",         "where",        "reshape",
      "permute",      "expand",   "slice",          "flip",         "windows",
      "pad",          "place",    "slice_assign",   "slice_fill",   "cat",
      "stack",        "repeat",   "roll",           "reduce",       "mean",
      "argmax",       "argmin",   "gather",         "index_select", "index_add",
      "scatter_add",  "matmul",   "conv2d",         "conv3d",       "conv_transpose2d",
      "max_pool",     "avg_pool", "scan",           "sort",         "topk",
      "searchsorted", "scatter",  "scatter_reduce", "index_copy",   "alias",
      "drop",         "read",     "sync",           "flush"};
  return names[static_cast<std::size_t>(kind)];
}

std::string text_of(Scalar number) {
  if (number.is_bool()) return number.as_int() ? "true" : "false";
  if (!number.is_float()) return std::to_string(number.as_int());
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", number.as_double());
  return text;
}

template <std::size_t N>
std::string text_of(const ConvOptions<N>& o) {
  const auto numbers = [](const std::array<std::int64_t, N>& of) {
    std::string text;
    for (const std::int64_t number : of) text += " " + std::to_string(number);
    return text;
  };
  return "stride" + numbers(o.stride) + ", padding" + numbers(o.padding) + ", dilation" +
         numbers(o.dilation) + ", groups " + std::to_string(o.groups);
}

std::string text_of(const Range& range) {
  std::string text = range.start ? std::to_string(*range.start) : "";
  text += ":";
  if (range.stop) text += std::to_string(*range.stop);
  return text + ":" + std::to_string(range.step);
}

std::string details(const Step& s) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  for (const Argument& a : s.args) add(a.step < 0 ? text_of(a.number) : "v" + std::to_string(a.step));
  switch (s.kind) {
    case Kind::Input:
      add(to_string(s.shape) + ", " + std::string(name_of(s.dtype)) + ", seed " + std::to_string(s.seed) +
          ", range " + std::to_string(s.range));
      break;
    case Kind::Full:
      add(to_string(s.shape) + ", " + text_of(s.fill) + ", " + std::string(name_of(s.dtype)));
      break;
    case Kind::Uniform:
    case Kind::Normal: add(to_string(s.shape) + ", " + text_of(s.low) + ", " + text_of(s.high)); break;
    case Kind::Cast: add(std::string(name_of(s.dtype))); break;
    case Kind::Reshape:
    case Kind::Permute:
    case Kind::Expand:
    case Kind::Flip:
    case Kind::Reduce:
    case Kind::Mean: add(to_string(s.dims)); break;
    case Kind::SliceFill: add(text_of(s.fill)); [[fallthrough]];
    case Kind::SliceAssign:
    case Kind::Slice:
      for (const Range& range : s.ranges) add(text_of(range));
      break;
    case Kind::Repeat: add(to_string(s.dims)); break;
    case Kind::Roll: add("by " + std::to_string(s.step)); [[fallthrough]];
    case Kind::Cat:
    case Kind::Stack: add("axis " + std::to_string(s.axis)); break;
    case Kind::Pad: add(to_string(s.dims) + ", " + to_string(s.more) + ", " + text_of(s.fill)); break;
    case Kind::Place:
      add(to_string(s.shape) + ", " + to_string(s.dims) + ", " + to_string(s.more) + ", " + text_of(s.fill));
      break;
    case Kind::Arange:
    case Kind::Windows:
      add(std::to_string(s.axis) + ", " + std::to_string(s.size) + ", " + std::to_string(s.step));
      break;
    case Kind::ArgMax:
    case Kind::ArgMin:
    case Kind::Gather:
    case Kind::IndexSelect:
    case Kind::IndexCopy:
    case Kind::Scatter: add("axis " + std::to_string(s.axis)); break;
    case Kind::Scan:
    case Kind::Sort:
    case Kind::TopK:
    case Kind::SearchSorted:
    case Kind::ScatterReduce:
      add("axis " + std::to_string(s.axis) + ", size " + std::to_string(s.size));
      if (s.reverse) add("reverse");
      if (s.exclusive) add("exclusive");
      if (s.positions) add("positions");
      break;
    case Kind::MaxPool:
    case Kind::AvgPool:
      add("kernel " + std::to_string(s.kernel[0]) + " " + std::to_string(s.kernel[1]));
      [[fallthrough]];
    case Kind::ConvTranspose2d:
    case Kind::Conv2d: add(text_of(s.options)); break;
    case Kind::Conv3d: add(text_of(s.of_volumes)); break;
    default: break;
  }
  return text;
}

}  // namespace

std::string to_text(const Program& program, const std::vector<ReferenceTensor>& values) {
  std::string text;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& s = program.steps[i];
    text += "  ";
    if (s.makes_value()) text += "v" + std::to_string(i) + " = ";
    const bool by_op =
        s.kind == Kind::Unary || s.kind == Kind::Binary || s.kind == Kind::Reduce || s.kind == Kind::Scan;
    text += (by_op ? std::string(name_of(s.op)) : name_of(s.kind)) + "(" + details(s) + ")";
    if (s.makes_value() && i < values.size()) {
      text += "  // " + to_string(values[i].shape) + " ";
      text += name_of(values[i].dtype);
    }
    text += "\n";
  }
  return text;
}

}  // namespace sinter::testing
