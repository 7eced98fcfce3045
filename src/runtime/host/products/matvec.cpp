#include "src/runtime/host/products/matvec.h"

#include <algorithm>
#include <utility>

#include "src/runtime/host/buffer.h"
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

template <class T>
class MatVecProgram final : public HostExecutable {
 public:
  explicit MatVecProgram(const library::MatMulOp& op) : op_(op), sides_(sides_of(op)) {
    const std::int64_t row = op.k * static_cast<std::int64_t>(sizeof(T)), matrix = sides_.items * row;
    each_ = std::max<std::int64_t>(kPieceBytes / row, 1);
    each_ = std::min((each_ + kGemvBlock - 1) / kGemvBlock * kGemvBlock, sides_.items);
    pieces_ = (sides_.items + each_ - 1) / each_;
    batches_each_ = std::clamp<std::int64_t>(kPieceBytes / matrix, 1, op.batch);
    is_shared_ = op.batch * matrix >= kWorthSharing;
  }

  std::string describe() const override { return op_.describe() + " by a kernel of the host, by vectors"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(packed_bytes());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const T* a = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const T* b = reinterpret_cast<const T*>(data_of(arguments.buffers[1]));
    T* c = reinterpret_cast<T*>(data_of(arguments.buffers[2]));
    const T *vectors = sides_.by_rows ? a : b, *matrices = sides_.by_rows ? b : a;
    std::int64_t stride = sides_.vector;
    if (T* const packed = reinterpret_cast<T*>(workers.take(packed_bytes())); packed_bytes() > 0) {
      for (std::int64_t i = 0; i < sides_.vectors; ++i)
        for (std::int64_t p = 0; p < op_.k; ++p)
          packed[i * op_.k + p] = vectors[i * sides_.vector + p * sides_.vector_step];
      vectors = packed;
      stride = op_.k;
    }
    // A piece is some of the items of a batch, or several batches.
    const std::int64_t groups = (op_.batch + batches_each_ - 1) / batches_each_;
    const auto compute = [&](std::size_t piece, std::size_t) {
      const std::int64_t group = static_cast<std::int64_t>(piece) / pieces_,
                         first = (static_cast<std::int64_t>(piece) - group * pieces_) * each_,
                         last = std::min((group + 1) * batches_each_, op_.batch);
      for (std::int64_t batch = group * batches_each_; batch < last; ++batch)
        multiply(first, std::min(each_, sides_.items - first), matrices + batch * sides_.item_batch,
                 vectors + batch * sides_.vector_batch, stride, c + batch * op_.m * op_.n);
    };
    const auto pieces = static_cast<std::size_t>(groups * pieces_);
    if (is_shared_)
      workers.pool().run(pieces, compute);
    else
      for (std::size_t piece = 0; piece < pieces; ++piece) compute(piece, 0);
  }

 private:
  /// Of a copy of the vectors, where they have gaps.
  std::size_t packed_bytes() const {
    return lies_along_k(sides_, op_.k) ? 0 : static_cast<std::size_t>(sides_.vectors * op_.k) * sizeof(T);
  }

  void multiply(std::int64_t first, std::int64_t count, const T* matrix, const T* vectors,
                std::int64_t stride, T* c) const {
    for (std::int64_t i = 0; i < sides_.vectors; ++i) {
      T* const y = sides_.by_rows ? c + i * op_.n + first : c + first * op_.n + i;
      multiply_vector(count, op_.k, matrix + first * sides_.item, sides_.item, sides_.item_step,
                      vectors + i * stride, y, sides_.by_rows ? 1 : op_.n);
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
  // The vectors of many batches are not copied.
  return (sides.item == 1 || sides.item_step == 1) && (op.batch == 1 || lies_along_k(sides, op.k));
}

std::shared_ptr<HostExecutable> make_matvec(const library::MatMulOp& op) {
  if (op.dtype == DType::f64) return std::make_shared<MatVecProgram<double>>(op);
  return std::make_shared<MatVecProgram<float>>(op);
}

}  // namespace sinter::runtime::host
