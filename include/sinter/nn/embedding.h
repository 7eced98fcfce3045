// A table of vectors that are looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/nn/init.h>
#include <sinter/nn/low_rank.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor embedding(const AnyTensor& index, const AnyTensor& weight, Location where);
}  // namespace detail

/// y[..] = weight[index[..]]
struct Embedding {
  Tensor<2> weight;  // (n_embedding, d_model)
  std::optional<LowRank> lora = std::nullopt;

  /// (..) -> (.., d_model). An index outside of [0, n_embedding) throws ShapeError when the result is read.
  template <std::size_t R>
  requires(R < kMaxRank) Tensor<R + 1> forward(const Tensor<R, Int>& index,
                                               Location where = Location::current())
  const {
    AnyTensor y = detail::embedding(index.dynamic(), weight.dynamic(), where);
    if (lora) y = detail::with_low_rank_rows(y, index.dynamic(), *lora, where);
    return Tensor<R + 1>(std::move(y));
  }
};

struct SINTER_API EmbeddingConfig {
  std::int64_t n_embedding, d_model;
  /// As PyTorch does.
  Initializer initializer = init::normal(0, 1);

  /// Throws ShapeError when a size is not positive.
  Embedding init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
