// oneDNN's matrix products, in slices of rows, columns or batches of fixed size: results do not depend on the
// number of threads.
#include "src/runtime/host/products/matmul.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/products/onednn/execution.h"
#include "src/runtime/host/products/onednn/exit.h"
#include "src/runtime/host/products/onednn/onednn.h"
#include "src/runtime/host/products/onednn/parts.h"

namespace sinter::runtime::host {
namespace {

using dnnl::memory;

/// Of `whole` rows, columns or batches, in multiples of `multiple`.
Stretches slices_of(std::int64_t whole, double work, std::int64_t multiple) {
  const std::int64_t least = work < kWorthParting ? 1 : 4;
  // Five slices for two threads take as long as six.
  const std::int64_t wanted = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
      std::clamp(static_cast<std::int64_t>(work / kPartWork), least, kMostParts))));
  const std::int64_t each = std::max<std::int64_t>((whole + wanted - 1) / wanted, 1);
  return {whole, std::min((each + multiple - 1) / multiple * multiple, whole)};
}

class OneDnnMatMul final : public HostExecutable {
 public:
  explicit OneDnnMatMul(const library::MatMulOp& op) : op_(op) {
    const OneThread one_thread;
    const double work = 2.0 * static_cast<double>(op.batch) * static_cast<double>(op.m) *
                        static_cast<double>(op.n) * static_cast<double>(op.k);
    along_ = op.batch >= 4 ? Along::Batch : op.m >= op.n ? Along::Rows : Along::Columns;
    slices_ = slices_of(along_ == Along::Batch  ? op.batch
                        : along_ == Along::Rows ? op.m
                                                : op.n,
                        work, along_ == Along::Batch ? 1 : 16);
    whole_.emplace(make(slices_.length(0)));
    if (const std::int64_t last = slices_.length(slices_.count - 1); last != slices_.each)
      rest_.emplace(make(last));
  }

  /// Narrow slices copy too much: oneDNN then takes up to three times as long as the host's own kernel.
  bool slices_well() const {
    return slices_.count == 1 || along_ == Along::Batch || (along_ == Along::Rows && slices_.each >= 64);
  }

  std::string describe() const override { return op_.describe() + " by oneDNN"; }
  std::size_t held_bytes() const override { return sizeof *this + (rest_ ? 2 : 1) * kPrimitive; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return this->threads(slices_.count) * whole_units(scratch_bytes());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const base::ExitGate::Entry entry(gate());
    if (!entry) return run_at_exit(*make_matmul(op_), most_threads(), workers.pool(), arguments);
    const RenewAfterFirst renew(has_run_);
    const Workers::PerThread own = workers.take_each(workers.threads(slices_.count), scratch_bytes());
    const float* a = reinterpret_cast<const float*>(data_of(arguments.buffers[0]));
    const float* b = reinterpret_cast<const float*>(data_of(arguments.buffers[1]));
    float* c = reinterpret_cast<float*>(data_of(arguments.buffers[2]));
    run_parts(workers, slices_.count, [&](std::int64_t slice, std::size_t thread) {
      const std::int64_t begin = slices_.begin(slice);
      const Product& p = slices_.length(slice) == slices_.each ? *whole_ : *rest_;
      std::int64_t from_a = 0, from_b = 0, to = 0;
      switch (along_) {
        case Along::Batch:
          from_a = begin * op_.a_batch, from_b = begin * op_.b_batch, to = begin * op_.m * op_.n;
          break;
        case Along::Rows: from_a = begin * op_.a_row, to = begin * op_.n; break;
        case Along::Columns: from_b = begin * op_.b_column, to = begin; break;
      }
      execute(p.primitive, {{DNNL_ARG_SRC, at(p.a, a + from_a)},
                            {DNNL_ARG_WEIGHTS, at(p.b, b + from_b)},
                            {DNNL_ARG_DST, at(p.c, c + to)},
                            {DNNL_ARG_SCRATCHPAD, at(p.scratch, own.of(thread))}});
    });
  }

 private:
  std::size_t scratch_bytes() const {
    return std::max(whole_->scratch.get_size(), rest_ ? rest_->scratch.get_size() : 0);
  }

  enum class Along { Batch, Rows, Columns };
  struct Product {
    dnnl::matmul primitive;
    memory::desc a, b, c, scratch;
  };

  Product make(std::int64_t length) const {
    const std::int64_t batch = along_ == Along::Batch ? length : op_.batch;
    const std::int64_t m = along_ == Along::Rows ? length : op_.m,
                       n = along_ == Along::Columns ? length : op_.n;
    const memory::desc a = matrix(batch, m, op_.k, op_.a_batch, op_.a_row, op_.a_column);
    // An operand that all batches share is a batch of one to oneDNN.
    const memory::desc b =
        matrix(op_.b_batch == 0 ? 1 : batch, op_.k, n, op_.b_batch, op_.b_row, op_.b_column);
    const memory::desc c = matrix(batch, m, n, op_.m * op_.n, op_.n, 1);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine(), a, b, c, attributes());
#else
    const dnnl::matmul::primitive_desc description({a, b, c}, attributes(), engine());
#endif
    return {dnnl::matmul(description), a, b, c, description.scratchpad_desc()};
  }

  memory::desc matrix(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t batch_stride,
                      std::int64_t row, std::int64_t column) const {
    // The stride of a dim of size 1 may be anything, which oneDNN does not always see through.
    if (rows == 1) row = column == 1 ? columns : 1;
    if (columns == 1) column = row == 1 ? rows : 1;
    if (op_.batch == 1) return memory::desc({rows, columns}, kF32, {row, column});
    if (batch == 1) batch_stride = std::max(rows * row, columns * column);
    return memory::desc({batch, rows, columns}, kF32, {batch_stride, row, column});
  }

  library::MatMulOp op_;
  Along along_ = Along::Rows;
  Stretches slices_;
  std::optional<Product> whole_, rest_;
  std::atomic<bool> has_run_{false};
};

bool usable(const library::MatMulOp& op) {
  return op.dtype == DType::f32 && op.batch > 0 && op.m > 0 && op.n > 0 && op.k > 0 &&
         (op.a_batch != 0 || op.batch == 1);
}

}  // namespace

// What this version has no implementation for, the host's own kernels take.
std::shared_ptr<HostExecutable> make_onednn_program(const library::MatMulOp& op) try {
  const base::ExitGate::Entry entry(gate());
  if (!entry || !usable(op)) return nullptr;
  auto program = std::make_shared<OneDnnMatMul>(op);
  return program->slices_well() ? program : nullptr;
} catch (const dnnl::error&) {
  return nullptr;
}

}  // namespace sinter::runtime::host
