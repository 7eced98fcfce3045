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

/// The side with few rows (or columns) are vectors; the other one's columns (rows) are items.
template <class T>
class MatVecProgram final : public HostExecutable {
 public:
  explicit MatVecProgram(const library::MatMulOp& op) : op_(op), by_rows_(op.m <= op.n) {
    vectors_ = by_rows_ ? op.m : op.n;
    items_ = by_rows_ ? op.n : op.m;
    const std::int64_t bytes = std::max<std::int64_t>(op.k, 1) * static_cast<std::int64_t>(sizeof(T));
    each_ = std::max<std::int64_t>(kPieceBytes / bytes, 1);
    each_ = std::min((each_ + kGemvBlock - 1) / kGemvBlock * kGemvBlock, std::max<std::int64_t>(items_, 1));
    pieces_ = (items_ + each_ - 1) / each_;
  }

  std::string describe() const override { return op_.describe() + " by a kernel of the host, by vectors"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(vector_bytes());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const T* a = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const T* b = reinterpret_cast<const T*>(data_of(arguments.buffers[1]));
    T* c = reinterpret_cast<T*>(data_of(arguments.buffers[2]));
    // The vectors one behind the other, each without gaps.
    T* const packed = reinterpret_cast<T*>(workers.take(vector_bytes()));
    const T* from = by_rows_ ? a : b;
    const std::int64_t batch_stride = by_rows_ ? op_.a_batch : op_.b_batch,
                       vector = by_rows_ ? op_.a_row : op_.b_column,
                       step = by_rows_ ? op_.a_column : op_.b_row;
    for (std::int64_t i = 0; i < op_.batch * vectors_; ++i)
      for (std::int64_t p = 0; p < op_.k; ++p)
        packed[i * op_.k + p] = from[i / vectors_ * batch_stride + i % vectors_ * vector + p * step];
    workers.pool().run(static_cast<std::size_t>(op_.batch * pieces_), [&](std::size_t piece, std::size_t) {
      const std::int64_t batch = static_cast<std::int64_t>(piece) / pieces_,
                         first = (static_cast<std::int64_t>(piece) - batch * pieces_) * each_;
      multiply(first, std::min(each_, items_ - first),
               by_rows_ ? b + batch * op_.b_batch : a + batch * op_.a_batch,
               packed + batch * vectors_ * op_.k, c + batch * op_.m * op_.n);
    });
  }

 private:
  std::size_t vector_bytes() const {
    return static_cast<std::size_t>(op_.batch * vectors_ * op_.k) * sizeof(T);
  }

  void multiply(std::int64_t first, std::int64_t count, const T* matrix, const T* x, T* c) const {
    const std::int64_t item = by_rows_ ? op_.b_column : op_.a_row, step = by_rows_ ? op_.b_row : op_.a_column;
    for (std::int64_t i = 0; i < vectors_; ++i) {
      T* const y = by_rows_ ? c + i * op_.n + first : c + first * op_.n + i;
      multiply_vector(count, op_.k, matrix + first * item, item, step, x + i * op_.k, y,
                      by_rows_ ? 1 : op_.n);
    }
  }

  library::MatMulOp op_;
  bool by_rows_;  // the vectors are rows of a, else columns of b
  std::int64_t vectors_, items_, each_, pieces_;
};

}  // namespace

bool is_matvec(const library::MatMulOp& op) {
  if (op.dtype != DType::f32 && op.dtype != DType::f64) return false;
  if (op.batch < 1 || op.m < 1 || op.n < 1 || op.k < 1 || std::min(op.m, op.n) > kMostVectors) return false;
  const bool by_rows = op.m <= op.n;
  const std::int64_t item = by_rows ? op.b_column : op.a_row, step = by_rows ? op.b_row : op.a_column;
  return item == 1 || step == 1;
}

std::shared_ptr<HostExecutable> make_matvec(const library::MatMulOp& op) {
  if (op.dtype == DType::f64) return std::make_shared<MatVecProgram<double>>(op);
  return std::make_shared<MatVecProgram<float>>(op);
}

}  // namespace sinter::runtime::host
