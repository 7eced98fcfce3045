// Shapes and sizes of scans.
#include "jit/library/scan.h"

#include <algorithm>
#include <array>

namespace sinter::library {

std::optional<AlongAxis> along_axis(const Shape& shape, const Layout& layout, std::size_t axis) {
  AlongAxis sizes;
  for (std::size_t d = 0; d < axis; ++d) sizes.outer *= shape[d];
  for (std::size_t d = axis + 1; d < shape.rank(); ++d) sizes.inner *= shape[d];
  sizes.length = shape[axis];
  Layout joined;
  if (!trace::reshape_layout(shape, {layout.strides, 0}, Shape{sizes.outer, sizes.length, sizes.inner},
                             joined))
    return std::nullopt;
  const auto stride = [&](std::size_t d, std::int64_t size) { return size > 1 ? joined.strides[d] : 0; };
  sizes.outer_stride = stride(0, sizes.outer);
  sizes.stride = stride(1, sizes.length);
  sizes.inner_stride = stride(2, sizes.inner);
  if (std::min({sizes.outer_stride, sizes.stride, sizes.inner_stride}) < 0) return std::nullopt;
  return sizes;
}

namespace {

class Scan final : public Kind {
 public:
  Scan(ScanKind scan, const char* name, Op op) : Kind(name, 1, op), scan_(scan) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
             std::span<TensorType> results, const Location& where) const override {
    const auto& [shape, dtype] = operands[0];
    const bool takes = is_float(dtype) || (scan_ != ScanKind::LogSumExp && is_int(dtype));
    if (!takes) throw DTypeError("[" + name() + "] is not defined for " + std::string(name_of(dtype)), where);
    const auto axis = static_cast<std::size_t>(ints[0]);
    if (axis >= shape.rank())
      throw ShapeError("[" + name() + "] shape " + to_string(shape) + " has no axis " + std::to_string(axis),
                       where);
    if (shape[axis] > kMostScanned)
      throw ShapeError("[" + name() + "] axis " + std::to_string(axis) + " of shape " + to_string(shape) +
                           " is longer than the " + std::to_string(kMostScanned) + " that can be scanned",
                       where);
    results[0] = {shape, gives_positions(scan_) ? DType::i32 : dtype};
  }

  bool reads_in_place(const Signature& signature, std::size_t k, const Layout& layout) const override {
    return along_axis(signature.operands[k].shape, layout, static_cast<std::size_t>(signature.ints[0]))
        .has_value();
  }

  LibraryOpRef make(const Request& request) const override {
    auto op = std::make_shared<ScanOp>();
    op->dtype = request.results[0].dtype;
    op->x_dtype = arithmetic_of(request.operands[0].dtype);
    op->scan = scan_;
    op->reverse = request.ints[1] != 0;
    op->exclusive = request.ints[2] != 0;
    const AlongAxis x =
        *along_axis(request.operands[0].shape, request.layouts[0], static_cast<std::size_t>(request.ints[0]));
    op->outer = x.outer, op->length = x.length, op->inner = x.inner;
    op->x_outer = x.outer_stride, op->x_step = x.stride, op->x_inner = x.inner_stride;
    return op;
  }

 private:
  ScanKind scan_;
};

}  // namespace

const Kind& scan(ScanKind scan) {
  // Never destroyed: threads may plan.
  static const auto& kinds =
      *new std::array<Scan, kScanKinds>{{{ScanKind::Sum, "cumsum", Op::CumSum},
                                         {ScanKind::Prod, "cumprod", Op::CumProd},
                                         {ScanKind::MaxPosition, "cummax", Op::CumMax},
                                         {ScanKind::MinPosition, "cummin", Op::CumMin},
                                         {ScanKind::LogSumExp, "logcumsumexp", Op::LogCumSumExp}}};
  return kinds[static_cast<std::size_t>(scan)];
}

const Kind& ScanOp::kind() const { return library::scan(scan); }

std::string ScanOp::key() const {
  return joined({static_cast<int>(scan), static_cast<int>(x_dtype), reverse, exclusive, outer, length, inner,
                 x_outer, x_step, x_inner});
}

std::string ScanOp::describe() const {
  return kind().name() + (reverse ? " reverse " : " ") + joined({outer, length, inner}, "x");
}

}  // namespace sinter::library
