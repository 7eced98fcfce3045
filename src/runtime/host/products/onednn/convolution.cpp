// Convolutions by oneDNN, in parts.
#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>

#include "src/runtime/host/products/conv2d.h"
#include "src/runtime/host/products/onednn/exit.h"
#include "src/runtime/host/products/onednn/onednn.h"
#include "src/runtime/host/products/onednn/part_convolution.h"
#include "src/runtime/host/products/onednn/parts.h"

namespace sinter::runtime::host {
namespace {

using Direction = library::Conv2dOp::Direction;

class OneDnnConv2d final : public ProductProgram {
 public:
  OneDnnConv2d(const library::Conv2dOp& op, bool winograd)
      : op_(op), winograd_(winograd), parts_(divide(op, winograd)) {
    const OneThread one_thread;
    // The op names its operands by direction; here they are x, weight, y.
    if (op.direction == Direction::BackwardInput) order_ = {2, 1, 0};
    if (op.direction == Direction::BackwardWeight) order_ = {0, 2, 1};
    for (std::size_t i = 0; i < 3; ++i) dtypes_[i] = op.stored_dtype(order_[i]);
    if (has_sums()) dtypes_[1] = DType::f32;
    const auto& [images, channels] = parts_;
    for (const std::int64_t i : {std::int64_t{0}, images.count - 1})
      for (const std::int64_t c : {std::int64_t{0}, channels.count - 1})
        if (std::optional<PartConvolution>& kind = kind_of(i, c); !kind)
          kind.emplace(op, dtypes_, images.length(i), channels.length(c), winograd);
  }

  std::string describe() const override {
    return op_.describe() + " by oneDNN" + (winograd_ ? ", Winograd" : "");
  }
  std::size_t held_bytes() const override {
    std::size_t bytes = sizeof *this;
    for (const auto& kind : kinds_) bytes += kind ? kPrimitive : 0;
    return bytes;
  }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(sums_bytes()) + this->threads(parts_.count()) * whole_units(part_bytes());
  }

  void compute(Workers& workers, const ProductData& data) override {
    const base::ExitGate::Entry entry(gate());
    if (!entry) return run_at_exit(*make_conv2d(op_), most_threads(), workers.pool(), data);
    const RenewAfterFirst renew(has_run_);
    float* const sums = reinterpret_cast<float*>(workers.take(sums_bytes()));
    const auto at = [&](std::size_t i, std::int64_t element) {
      return data[order_[i]] + element * static_cast<std::int64_t>(size_of(dtypes_[i]));
    };
    const Workers::PerThread own = workers.take_each(workers.threads(parts_.count()), part_bytes());
    const bool of_x = op_.direction == Direction::BackwardInput;
    run_parts(workers, parts_.count(), [&](std::int64_t part, std::size_t thread) {
      const std::int64_t i = part / parts_.channels.count, c = part % parts_.channels.count;
      const std::int64_t image = parts_.images.begin(i), channel = parts_.channels.begin(c);
      const std::int64_t in = of_x ? channel : 0, out = of_x ? 0 : channel, window = op_.kh * op_.kw;
      const std::int64_t first_weight = (out * (op_.c_in / op_.groups) + in) * window;
      kind_of(i, c)->run(
          own.of(thread),
          {at(0, image * op_.c_in * op_.h * op_.w + in * (op_.x_last ? 1 : op_.h * op_.w)),
           has_sums() ? reinterpret_cast<std::byte*>(sums + i * weights() + first_weight)
                      : at(1, first_weight),
           at(2, image * op_.c_out * op_.oh * op_.ow + out * (op_.y_last ? 1 : op_.oh * op_.ow))});
    });
    if (!has_sums()) return;
    if (op_.stored_dtype(2) == DType::bf16)
      add_up(workers, sums, reinterpret_cast<bfloat16*>(data[2]));
    else
      add_up(workers, sums, reinterpret_cast<float*>(data[2]));
  }

 private:
  std::int64_t weights() const { return op_.c_out * (op_.c_in / op_.groups) * op_.kh * op_.kw; }
  /// Each stretch of images has a gradient of the weight of its own; they are added in order.
  bool has_sums() const { return op_.direction == Direction::BackwardWeight && parts_.images.count > 1; }
  std::size_t sums_bytes() const {
    return has_sums() ? static_cast<std::size_t>(parts_.images.count * weights()) * sizeof(float) : 0;
  }
  std::size_t part_bytes() const {
    std::size_t bytes = 0;
    for (const auto& kind : kinds_) bytes = std::max(bytes, kind ? kind->bytes() : 0);
    return bytes;
  }

  /// Into the first of the sums, and from there to the result.
  template <class T>
  void add_up(Workers& workers, float* sums, T* out) const {
    constexpr std::int64_t kBlock = 16 * 1024;
    const std::int64_t weights = this->weights();
    workers.pool().run(static_cast<std::size_t>((weights + kBlock - 1) / kBlock),
                       [&](std::size_t piece, std::size_t) {
                         const std::int64_t begin = static_cast<std::int64_t>(piece) * kBlock,
                                            end = std::min(begin + kBlock, weights);
                         for (std::int64_t i = 1; i < parts_.images.count; ++i)
                           for (std::int64_t k = begin; k < end; ++k) sums[k] += sums[i * weights + k];
                         for (std::int64_t k = begin; k < end; ++k) out[k] = T(sums[k]);
                       });
  }

  /// Parts are of up to four kinds, as the last ones may be smaller.
  std::optional<PartConvolution>& kind_of(std::int64_t images, std::int64_t channels) {
    const bool few_images = parts_.images.length(images) != parts_.images.each,
               few_channels = parts_.channels.length(channels) != parts_.channels.each;
    return kinds_[(few_images ? 2 : 0) + (few_channels ? 1 : 0)];
  }

  library::Conv2dOp op_;
  bool winograd_;
  ConvParts parts_;
  std::array<std::size_t, 3> order_{0, 1, 2};  // of x, weight, y among the op's buffers
  std::array<DType, 3> dtypes_{};              // that parts have of x, weight, y
  std::array<std::optional<PartConvolution>, 4> kinds_;
  std::atomic<bool> has_run_{false};
};

bool usable(const library::Conv2dOp& op) {
  for (std::int64_t size : {op.n, op.c_in, op.h, op.w, op.c_out, op.kh, op.kw, op.oh, op.ow})
    if (size <= 0) return false;
  // With so few channels the host's own kernel is faster.
  if (op.direction == Direction::Forward && op.c_in / op.groups < 4) return false;
  return has_dtypes(op);
}

}  // namespace

// What this version has no implementation for, the host's own kernels take.
std::shared_ptr<ProductProgram> make_onednn_program(const library::Conv2dOp& op) try {
  const base::ExitGate::Entry entry(gate());
  if (!entry || !usable(op)) return nullptr;
  if (gains_by_winograd(op)) {
    try {
      return std::make_shared<OneDnnConv2d>(op, true);
    } catch (const dnnl::error&) {
      // Newer versions have none, nor do processors without AVX-512.
    }
  }
  return std::make_shared<OneDnnConv2d>(op, false);
} catch (const dnnl::error&) {
  return nullptr;
}

}  // namespace sinter::runtime::host
