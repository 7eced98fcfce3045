// Shapes and keys of decompositions.
#include "jit/library/decomposition.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "jit/library/kinds.h"

namespace sinter::library {

namespace {

constexpr std::size_t kRoutines = 10;

struct Row {
  const char* name;
  std::size_t results;
};
/// Names have a point, which those of custom kernels cannot have.
constexpr std::array<Row, kRoutines> kRows = {{{"linalg.cholesky", 2},
                                               {"linalg.solve", 2},
                                               {"linalg.lu", 3},
                                               {"linalg.qr", 3},
                                               {"linalg.eigh", 3},
                                               {"linalg.svd", 4},
                                               {"linalg.reflections", 3},
                                               {"linalg.jacobi_svd", 4},
                                               {"linalg.solve_lower", 2},
                                               {"linalg.solve_upper", 2}}};

bool takes_sides(Decomposition routine) { return routine == Decomposition::Solve || is_triangular(routine); }

/// How triangular matrices lie.
struct Lines {
  bool by_columns = false;
  std::int64_t leading = 1, batch = 0;
};

/// Nothing where rows or columns have gaps between their elements, or matrices are not one step apart.
std::optional<Lines> lines_of(const Shape& shape, const Layout& layout) {
  const std::size_t rank = shape.rank();
  Shape batch;
  Layout of_batch, joined;
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    batch.push_back(shape[d]);
    of_batch.strides.push_back(layout.strides[d]);
  }
  if (!reshape_layout(batch, of_batch, Shape{batch.numel()}, joined)) return std::nullopt;
  const std::int64_t n = shape.back(), row = layout.strides[rank - 2], column = layout.strides[rank - 1];
  Lines lines{false, 1, batch.numel() > 1 ? joined.strides[0] : 0};
  if (n > 1) {
    lines.by_columns = row == 1 && column >= n;
    if (!lines.by_columns && (column != 1 || row < n)) return std::nullopt;
    lines.leading = lines.by_columns ? column : row;
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return lines.batch >= 0 && lines.leading <= kMost ? std::optional(lines) : std::nullopt;
}

/// Of the first operand: what stands before its last two axes.
Shape batch_of(const Shape& shape) { return Shape(Dims(std::span(shape.begin(), shape.rank() - 2))); }

Shape with(Shape batch, std::initializer_list<std::int64_t> sizes) {
  for (std::int64_t size : sizes) batch.push_back(size);
  return batch;
}

class DecompositionKind final : public Kind {
 public:
  explicit DecompositionKind(Decomposition routine)
      : Kind(kRows[static_cast<std::size_t>(routine)].name, kRows[static_cast<std::size_t>(routine)].results),
        routine(routine) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t>,
             std::span<TensorType> results, const Location& where) const override {
    const auto& [shape, dtype] = operands[0];
    check(operands, where);
    const Shape batch = batch_of(shape);
    const std::int64_t rows = shape[shape.rank() - 2], columns = shape.back();
    switch (routine) {
      case Decomposition::Cholesky: results[0] = {shape, dtype}; break;
      case Decomposition::Solve:
      case Decomposition::SolveLower:
      case Decomposition::SolveUpper: results[0] = {operands[1].shape, dtype}; break;
      case Decomposition::Lu:
        results[0] = {shape, dtype};
        results[1] = {with(batch, {rows}), DType::i32};
        break;
      case Decomposition::Qr:
        results[0] = {shape, dtype};
        results[1] = {with(batch, {std::min(rows, columns), columns}), dtype};
        break;
      case Decomposition::SymmetricEigen:
        results[0] = {shape, dtype};
        results[1] = {with(batch, {rows}), dtype};
        break;
      case Decomposition::Reflections:
        results[0] = {shape, dtype};
        results[1] = {with(batch, {std::min(rows, columns)}), dtype};
        break;
      case Decomposition::Svd:
      case Decomposition::JacobiSvd:
        results[0] = {shape, dtype};
        results[1] = {with(batch, {rows}), dtype};
        results[2] = {with(batch, {rows, rows}), dtype};
        break;
    }
    results.back() = {batch, DType::i32};
  }

  bool reads_in_place(const Signature& signature, std::size_t k, const Layout& layout) const override {
    if (k == 0 && is_triangular(routine)) return lines_of(signature.operands[0].shape, layout).has_value();
    return Kind::reads_in_place(signature, k, layout);
  }

  LibraryOpRef make(const Request& request) const override {
    const auto& [shape, dtype] = request.operands[0];
    auto op = std::make_shared<DecompositionOp>();
    op->dtype = dtype;
    op->routine = routine;
    op->batch = batch_of(shape).numel();
    op->m = shape.back();  // of a square matrix, or of A^T
    op->n = shape[shape.rank() - 2];
    op->k = std::min(op->m, op->n);
    if (routine == Decomposition::Solve) op->k = request.operands[1].shape[shape.rank() - 2];
    if (!is_triangular(routine)) return op;
    op->k = request.operands[1].shape.back();
    const Lines lines = *lines_of(shape, request.layouts[0]);
    op->by_columns = lines.by_columns, op->leading = lines.leading, op->a_batch = lines.batch;
    return op;
  }

  const Decomposition routine;

 private:
  void check(std::span<const TensorType> operands, const Location& where) const {
    const auto& [shape, dtype] = operands[0];
    const bool two = takes_sides(routine);
    bool fits = operands.size() == (two ? 2 : 1);
    for (const TensorType& operand : operands) {
      if (dtype != operand.dtype || (dtype != DType::f32 && dtype != DType::f64))
        throw DTypeError("[" + name() + "] takes f32 or f64, not " + std::string(name_of(operand.dtype)),
                         where);
      fits = fits && operand.shape.rank() == shape.rank() && shape.rank() >= 2;
    }
    if (fits) {
      const std::int64_t rows = shape[shape.rank() - 2], columns = shape.back();
      const bool oblong = routine == Decomposition::Qr || routine == Decomposition::Svd ||
                          routine == Decomposition::Reflections;
      fits = (oblong || rows == columns) && (routine != Decomposition::Svd || columns >= rows);
      if (two)
        fits = fits && batch_of(operands[1].shape) == batch_of(shape) &&
               operands[1].shape[shape.rank() - (is_triangular(routine) ? 2 : 1)] == columns;
      for (const TensorType& operand : operands) {
        const Shape& s = operand.shape;
        constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
        fits = fits && s[s.rank() - 2] <= kMost && s.back() <= kMost &&
               (s.back() == 0 || s[s.rank() - 2] <= kMost / s.back());
      }
    }
    if (!fits) {
      std::string shapes;
      for (const TensorType& operand : operands)
        shapes += (shapes.empty() ? "" : " and ") + to_string(operand.shape);
      throw ShapeError("[" + name() + "] does not take matrices of shape " + shapes, where);
    }
  }
};

const std::array<const DecompositionKind*, kRoutines>& kinds() {
  // Never destroyed: kinds live until the process ends.
  static const auto& table = *[] {
    auto* made = new std::array<const DecompositionKind*, kRoutines>;
    for (std::size_t i = 0; i < kRoutines; ++i) {
      auto* kind = new DecompositionKind(static_cast<Decomposition>(i));
      add_kind(*kind);
      (*made)[i] = kind;
    }
    return made;
  }();
  return table;
}

}  // namespace

bool is_triangular(Decomposition routine) {
  return routine == Decomposition::SolveLower || routine == Decomposition::SolveUpper;
}

const Kind& decomposition(Decomposition routine) { return *kinds()[static_cast<std::size_t>(routine)]; }

bool is_decomposition(const Kind& kind) { return dynamic_cast<const DecompositionKind*>(&kind) != nullptr; }

const Kind& DecompositionOp::kind() const { return decomposition(routine); }

std::string DecompositionOp::key() const {
  return joined({batch, m, n, k, by_columns, leading, a_batch}) + " " + std::string(name_of(dtype));
}

std::string DecompositionOp::describe() const {
  return kind().name() + " of " + std::to_string(batch) + " x " + joined({m, n}, "x");
}

std::int64_t DecompositionOp::elements_read(std::size_t operand) const {
  if (operand == 1) return batch * n * k;
  return is_triangular(routine) ? (a_batch == 0 ? 1 : batch) * n * (n + 1) / 2 : batch * m * n;
}

std::int64_t DecompositionOp::elements_written(std::size_t result) const {
  if (result + 1 == kind().result_count()) return batch;
  switch (routine) {
    case Decomposition::Solve:
    case Decomposition::SolveLower:
    case Decomposition::SolveUpper: return batch * n * k;
    case Decomposition::Qr: return batch * m * (result == 0 ? n : k);
    case Decomposition::Reflections: return batch * (result == 0 ? m * n : k);
    default: break;
  }
  return batch * (result == 1 ? n : result == 2 ? n * n : m * n);
}

}  // namespace sinter::library
