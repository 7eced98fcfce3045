// A table of vectors that are looked up.
#include <sinter/nn/embedding.h>

#include "src/nn/init.h"

namespace sinter::nn {

AnyTensor detail::embedding(const AnyTensor& index, const AnyTensor& weight, Location where) {
  require_given("embedding", weight, where);
  Shape shape = index.shape();
  shape.push_back(weight.shape()[1]);
  const AnyTensor flat = index.reshape({index.numel()}, where);
  return weight.index_select(0, flat, where).reshape(shape, where);
}

Embedding EmbeddingConfig::init(const Device& device, Location where) const {
  detail::require_positive("embedding", "n_embedding", n_embedding, where);
  detail::require_positive("embedding", "d_model", d_model, where);
  return {.weight = initializer.parameter<2>({n_embedding, d_model}, device, where)};
}

}  // namespace sinter::nn
