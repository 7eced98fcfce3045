#include "src/runtime/host/products/matvec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/runtime/host/products/gemv.h"

namespace sinter::runtime::host {
namespace {

// More vectors are better multiplied together, so that the matrix goes through the registers but once.
constexpr std::int64_t kMostVectors = 3;
constexpr std::int64_t kPieceBytes = 128 << 10;  // of the matrix
constexpr std::int64_t kWorthSharing = 64 << 10;

/// How the two sides of a product are read: few vectors, each along k, and items.
struct Sides {
  bool by_rows;  // the vectors are rows of a and the items columns of b; else the other way round
  std::int64_t vectors, items;
  std::int64_t vector, vector_step, vector_batch;  // strides
  std::int64_t item, item_step, item_batch;
};

Sides sides_of(const library::MatMulOp& op) {
  if (op.m <= op.n)
    return {true, op.m, op.n, op.a_row, op.a_column, op.a_batch, op.b_column, op.b_row, op.b_batch};
  return {false, op.n, op.m, op.b_column, op.b_row, op.b_batch, op.a_row, op.a_column, op.a_batch};
}

bool lies_along_k(const Sides& sides, std::int64_t k) { return sides.vector_step == 1 || k == 1; }

/// Vectors and sums of T, a matrix of M. Vectors of i8 and vectors and results of 16-bit floats are converted
/// on their way.
template <class T, class M>
class MatVecProgram final : public ProductProgram {
 public:
  explicit MatVecProgram(const library::MatMulOp& op) : op_(op), sides_(sides_of(op)) {
    const std::int64_t row = op.k * static_cast<std::int64_t>(sizeof(M)), matrix = sides_.items * row;
    each_ = std::max<std::int64_t>(kPieceBytes / row, 1);
    each_ = std::min((each_ + kGemvBlock<M> - 1) / kGemvBlock<M> * kGemvBlock<M>, sides_.items);
    pieces_ = (sides_.items + each_ - 1) / each_;
    batches_each_ = std::clamp<std::int64_t>(kPieceBytes / matrix, 1, op.batch);
    is_shared_ = op.batch * matrix >= kWorthSharing;
  }

  std::string describe() const override { return op_.describe() + " by a kernel of the host, by vectors"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(packed_bytes());
  }

  void compute(Workers& workers, const ProductData& data) override {
    const M* const matrices = reinterpret_cast<const M*>(data[sides_.by_rows ? 1 : 0]);
    const std::byte* const given = data[sides_.by_rows ? 0 : 1];
    const T* vectors = reinterpret_cast<const T*>(given);
    std::int64_t stride = sides_.vector, batch_stride = sides_.vector_batch;
    if (is_packed()) {
      T* const packed = reinterpret_cast<T*>(workers.take(packed_bytes()));
      switch (vector_dtype()) {
        case DType::bf16: pack(packed, reinterpret_cast<const bfloat16*>(given)); break;
        case DType::f16: pack(packed, reinterpret_cast<const float16*>(given)); break;
        case DType::i8: pack(packed, reinterpret_cast<const std::int8_t*>(given)); break;
        default: pack(packed, vectors);
      }
      vectors = packed;
      stride = op_.k;
      batch_stride = sides_.vector_batch == 0 ? 0 : sides_.vectors * op_.k;
    }
    // A piece is some of the items of a batch, or several batches.
    const std::int64_t groups = (op_.batch + batches_each_ - 1) / batches_each_;
    const auto multiply_piece = [&](std::size_t piece, std::size_t) {
      const std::int64_t group = static_cast<std::int64_t>(piece) / pieces_,
                         first = (static_cast<std::int64_t>(piece) - group * pieces_) * each_,
                         last = std::min((group + 1) * batches_each_, op_.batch);
      for (std::int64_t batch = group * batches_each_; batch < last; ++batch)
        multiply(first, std::min(each_, sides_.items - first), matrices + batch * sides_.item_batch,
                 vectors + batch * batch_stride, stride, data[2], batch * op_.m * op_.n);
    };
    const auto pieces = static_cast<std::size_t>(groups * pieces_);
    if (is_shared_)
      workers.pool().run(pieces, multiply_piece);
    else
      for (std::size_t piece = 0; piece < pieces; ++piece) multiply_piece(piece, 0);
  }

 private:
  DType vector_dtype() const { return op_.stored_dtype(sides_.by_rows ? 0 : 1); }
  bool is_packed() const { return vector_dtype() != op_.dtype || !lies_along_k(sides_, op_.k); }
  std::int64_t vector_batches() const { return sides_.vector_batch == 0 ? 1 : op_.batch; }
  /// Of a copy of the vectors, where they have gaps or fewer bits than T.
  std::size_t packed_bytes() const {
    return is_packed() ? static_cast<std::size_t>(vector_batches() * sides_.vectors * op_.k) * sizeof(T) : 0;
  }
  template <class Stored>
  void pack(T* to, const Stored* vectors) const {
    for (std::int64_t batch = 0; batch < vector_batches(); ++batch)
      for (std::int64_t i = 0; i < sides_.vectors; ++i)
        for (std::int64_t p = 0; p < op_.k; ++p)
          *to++ = vectors[batch * sides_.vector_batch + i * sides_.vector + p * sides_.vector_step];
  }

  /// `c`: the result, of which the matrix of this batch begins at `at`.
  void multiply(std::int64_t first, std::int64_t count, const M* matrix, const T* vectors,
                std::int64_t stride, std::byte* c, std::int64_t at) const {
    const std::int64_t step = sides_.by_rows ? 1 : op_.n;
    for (std::int64_t i = 0; i < sides_.vectors; ++i) {
      const std::int64_t to = at + (sides_.by_rows ? i * op_.n + first : first * op_.n + i);
      const auto compute = [&](std::int64_t from, std::int64_t items, T* y, std::int64_t y_step) {
        multiply_vector(items, op_.k, matrix + (first + from) * sides_.item, sides_.item, sides_.item_step,
                        vectors + i * stride, y, y_step);
      };
      switch (op_.stored_dtype(2)) {
        case DType::bf16: round_items(count, compute, reinterpret_cast<bfloat16*>(c) + to, step); break;
        case DType::f16: round_items(count, compute, reinterpret_cast<float16*>(c) + to, step); break;
        default: compute(0, count, reinterpret_cast<T*>(c) + to, step);
      }
    }
  }

  template <class Compute, class Half>
  static void round_items(std::int64_t count, const Compute& compute, Half* to, std::int64_t step) {
    std::array<T, kGemvBlock<M>> sums;
    for (std::int64_t j = 0; j < count; j += kGemvBlock<M>) {
      const std::int64_t items = std::min(kGemvBlock<M>, count - j);
      compute(j, items, sums.data(), 1);
      for (std::int64_t k = 0; k < items; ++k)
        to[(j + k) * step] = Half(static_cast<float>(sums[static_cast<std::size_t>(k)]));
    }
  }

  library::MatMulOp op_;
  Sides sides_;
  std::int64_t each_, pieces_, batches_each_;
  bool is_shared_;
};

}  // namespace

bool is_matvec(const library::MatMulOp& op) {
  if (op.dtype != DType::f32 && op.dtype != DType::f64) return false;
  if (op.batch < 1 || op.m < 1 || op.n < 1 || op.k < 1 || std::min(op.m, op.n) > kMostVectors) return false;
  const Sides sides = sides_of(op);
  // The vectors of many batches are not copied, except to widen them.
  const bool is_widened = op.stored_dtype(sides.by_rows ? 0 : 1) != op.dtype;
  return (sides.item == 1 || sides.item_step == 1) &&
         (op.batch == 1 || is_widened || lies_along_k(sides, op.k));
}

std::shared_ptr<ProductProgram> make_matvec(const library::MatMulOp& op) {
  if (op.dtype == DType::f64) return std::make_shared<MatVecProgram<double, double>>(op);
  switch (op.stored_dtype(sides_of(op).by_rows ? 1 : 0)) {
    case DType::bf16: return std::make_shared<MatVecProgram<float, bfloat16>>(op);
    case DType::f16: return std::make_shared<MatVecProgram<float, float16>>(op);
    case DType::i8: return std::make_shared<MatVecProgram<float, std::int8_t>>(op);
    default: return std::make_shared<MatVecProgram<float, float>>(op);
  }
}

}  // namespace sinter::runtime::host
