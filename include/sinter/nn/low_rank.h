// What a layer adds to a frozen weight: the product of two thin matrices.
#pragma once

#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/nn/dropout.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// E. Hu et al., "LoRA: low-rank adaptation of large language models", ICLR 2022: the layer computes with
/// weight + scale B A, without ever making that sum: scale B (A dropout(x)) is added to its result. Part of
/// Linear and Embedding, where nn::add_lora (lora.h) puts it.
struct LowRank {
  Tensor<2> a;  // (rank, d_in)
  Tensor<2> b;  // (d_out, rank)
  double scale = 1;
  Dropout dropout = {0, false};  // of the input, as far as A sees it
};

namespace detail {
/// y + scale B (A dropout(x)).
SINTER_API AnyTensor with_low_rank(const AnyTensor& y, const AnyTensor& x, const LowRank& lora,
                                   Location where);
/// The same for rows that are looked up: A is (rank, n_embedding).
SINTER_API AnyTensor with_low_rank_rows(const AnyTensor& y, const AnyTensor& index, const LowRank& lora,
                                        Location where);
}  // namespace detail

}  // namespace sinter::nn
