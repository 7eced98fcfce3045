// oneDNN's matrix products, in slices of rows, columns or batches whose sizes follow from the op's: results
// do not depend on the number of threads.
#include "src/runtime/host/products/matmul.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>

#include "src/runtime/host/products/onednn/execution.h"
#include "src/runtime/host/products/onednn/exit.h"
#include "src/runtime/host/products/onednn/onednn.h"
#include "src/runtime/host/products/onednn/parts.h"

namespace sinter::runtime::host {
namespace {

using dnnl::memory;

double work_of(const library::MatMulOp& op) {
  return 2.0 * static_cast<double>(op.batch) * static_cast<double>(op.m) * static_cast<double>(op.n) *
         static_cast<double>(op.k);
}

/// Of `whole` rows, columns or batches, in multiples of `multiple`.
Stretches slices_of(std::int64_t whole, double work, std::int64_t multiple) {
  const std::int64_t least = work < kWorthParting ? 1 : 4;
  // Five slices for two threads take as long as six.
  const std::int64_t wanted = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(
      std::clamp(static_cast<std::int64_t>(work / kPartWork), least, kMostParts))));
  const std::int64_t each = std::max<std::int64_t>((whole + wanted - 1) / wanted, 1);
  return {whole, std::min((each + multiple - 1) / multiple * multiple, whole)};
}

/// Where a product is cut. Each slice of rows brings all of b into oneDNN's layout for 16-bit floats, which
/// is little work beside so many rows. Slices of columns have gaps, which its kernels for them do not take.
constexpr std::int64_t kRowsOfHalves = 128;

struct Slices {
  Stretches batches, rows, columns;
  std::int64_t count() const { return batches.count * rows.count * columns.count; }

  explicit Slices(const library::MatMulOp& op)
      : batches(op.batch, op.batch), rows(op.m, op.m), columns(op.n, op.n) {
    const double work = work_of(op);
    if (op.batch >= 4) {
      batches = slices_of(op.batch, work, 1);
    } else if (op.m >= op.n || op.is_stored_otherwise()) {
      rows = slices_of(op.m, work, op.is_stored_otherwise() ? kRowsOfHalves : 16);
    } else {
      columns = slices_of(op.n, work, 16);
    }
  }
};

class OneDnnMatMul final : public ProductProgram {
 public:
  explicit OneDnnMatMul(const library::MatMulOp& op) : op_(op), slices_(op) {
    const OneThread one_thread;
    for (const std::int64_t r : {std::int64_t{0}, slices_.rows.count - 1})
      for (const std::int64_t c : {std::int64_t{0}, slices_.columns.count - 1})
        for (const std::int64_t b : {std::int64_t{0}, slices_.batches.count - 1})
          if (std::optional<Product>& product = product_of(b, r, c); !product)
            product.emplace(
                make(slices_.batches.length(b), slices_.rows.length(r), slices_.columns.length(c)));
  }

  /// Narrow slices copy too much: oneDNN then takes up to three times as long as the host's own kernel. One
  /// slice of halves would keep one thread busy.
  bool slices_well() const {
    if (slices_.rows.count * slices_.columns.count == 1)
      return !op_.is_stored_otherwise() || slices_.batches.count > 1 || work_of(op_) < kWorthParting;
    return slices_.columns.count == 1 && slices_.rows.each >= 64;
  }

  std::string describe() const override { return op_.describe() + " by oneDNN"; }
  std::size_t held_bytes() const override {
    std::size_t bytes = sizeof *this;
    for (const auto& product : products_) bytes += product ? kPrimitive : 0;
    return bytes;
  }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return this->threads(slices_.count()) * whole_units(scratch_bytes());
  }

  void compute(Workers& workers, const ProductData& data) override {
    const base::ExitGate::Entry entry(gate());
    if (!entry) return run_at_exit(*make_matmul(op_), most_threads(), workers.pool(), data);
    const RenewAfterFirst renew(has_run_);
    const Workers::PerThread own = workers.take_each(workers.threads(slices_.count()), scratch_bytes());
    run_parts(workers, slices_.count(), [&](std::int64_t slice, std::size_t thread) {
      // Slices of the same columns follow each other.
      const std::int64_t r = slice % slices_.rows.count,
                         c = slice / slices_.rows.count % slices_.columns.count,
                         b = slice / slices_.rows.count / slices_.columns.count;
      const std::int64_t batch = slices_.batches.begin(b), row = slices_.rows.begin(r),
                         column = slices_.columns.begin(c);
      const Product& p = *product_of(b, r, c);
      const auto from = [&](std::size_t buffer, std::int64_t element) {
        return data[buffer] + element * static_cast<std::int64_t>(size_of(op_.stored_dtype(buffer)));
      };
      execute(p.primitive, {{DNNL_ARG_SRC, at(p.a, from(0, batch * op_.a_batch + row * op_.a_row))},
                            {DNNL_ARG_WEIGHTS, at(p.b, from(1, batch * op_.b_batch + column * op_.b_column))},
                            {DNNL_ARG_DST, at(p.c, from(2, batch * op_.m * op_.n + row * op_.n + column))},
                            {DNNL_ARG_SCRATCHPAD, at(p.scratch, own.of(thread))}});
    });
  }

 private:
  struct Product {
    dnnl::matmul primitive;
    memory::desc a, b, c, scratch;
  };

  /// Slices are of several kinds, as the last ones may be smaller.
  std::optional<Product>& product_of(std::int64_t batches, std::int64_t rows, std::int64_t columns) {
    const auto is_short = [](const Stretches& stretches, std::int64_t part) {
      return stretches.length(part) != stretches.each;
    };
    return products_[(is_short(slices_.rows, rows) || is_short(slices_.batches, batches) ? 2 : 0) +
                     (is_short(slices_.columns, columns) ? 1 : 0)];
  }

  std::size_t scratch_bytes() const {
    std::size_t bytes = 0;
    for (const auto& product : products_) bytes = std::max(bytes, product ? product->scratch.get_size() : 0);
    return bytes;
  }

  Product make(std::int64_t batch, std::int64_t m, std::int64_t n) const {
    const memory::desc a = matrix(0, batch, m, op_.k, op_.a_batch, op_.a_row, op_.a_column);
    // An operand that all batches share is a batch of one to oneDNN.
    const memory::desc b =
        matrix(1, op_.b_batch == 0 ? 1 : batch, op_.k, n, op_.b_batch, op_.b_row, op_.b_column);
    const memory::desc c = matrix(2, batch, m, n, op_.m * op_.n, op_.n, 1);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine(), a, b, c, attributes());
#else
    const dnnl::matmul::primitive_desc description({a, b, c}, attributes(), engine());
#endif
    require_instructions(op_, description.impl_info_str());
    return {dnnl::matmul(description), a, b, c, description.scratchpad_desc()};
  }

  memory::desc matrix(std::size_t buffer, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                      std::int64_t batch_stride, std::int64_t row, std::int64_t column) const {
    const memory::data_type dtype = data_type_of(op_.stored_dtype(buffer));
    // The stride of a dim of size 1 may be anything, which oneDNN does not always see through.
    if (rows == 1) row = column == 1 ? columns : 1;
    if (columns == 1) column = row == 1 ? rows : 1;
    if (op_.batch == 1) return memory::desc({rows, columns}, dtype, {row, column});
    if (batch == 1) batch_stride = std::max(rows * row, columns * column);
    return memory::desc({batch, rows, columns}, dtype, {batch_stride, row, column});
  }

  library::MatMulOp op_;
  Slices slices_;
  std::array<std::optional<Product>, 4> products_;
  std::atomic<bool> has_run_{false};
};

bool usable(const library::MatMulOp& op) {
  return has_dtypes(op) && op.batch > 0 && op.m > 0 && op.n > 0 && op.k > 0 &&
         (op.a_batch != 0 || op.batch == 1);
}

}  // namespace

// What this version has no implementation for, the host's own kernels take.
std::shared_ptr<ProductProgram> make_onednn_program(const library::MatMulOp& op) try {
  const base::ExitGate::Entry entry(gate());
  if (!entry || !usable(op)) return nullptr;
  auto program = std::make_shared<OneDnnMatMul>(op);
  return program->slices_well() ? program : nullptr;
} catch (const dnnl::error&) {
  return nullptr;
}

}  // namespace sinter::runtime::host
