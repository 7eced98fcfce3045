// Layers whose weights have few bits: which layers of a model, and back.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/nn/linear.h>
#include <sinter/nn/lora.h>
#include <sinter/quantize.h>

namespace sinter::nn {

namespace detail {

struct LinearLeaf {
  template <class T>
  static constexpr bool matches = std::is_same_v<T, Linear>;
};

SINTER_API void require_quantizable(bool found, const std::vector<std::string>& patterns, Location where);

}  // namespace detail

/// The model with the weight of each Linear whose path fits one of the patterns (see path_matches) in few
/// bits: buffers under the layer's path, "head.quantized.nf4" and "head.quantized.scales", which no optimizer
/// changes, in place of "head.weight". The layer computes as before, with dequantize(). Reads the weights.
///
///   model = nn::quantize(std::move(model), {"*.query", "*.value"});
///   model = nn::add_lora(std::move(model), {"*.query", "*.value"});   // QLoRA
///
/// A record of such a model loads into one that was quantized with the same options. Throws Error where no
/// layer fits, one that fits is quantized already, or a weight has a number that is not finite (see
/// sinter::quantize).
template <class M>
M quantize(M model, const std::vector<std::string>& layers = {"*"}, const QuantOptions& options = {},
           Location where = Location::current()) {
  sinter::detail::unshare(model);
  bool found = false;
  sinter::detail::SeenOnce seen;
  visit_leaves<detail::LinearLeaf>(model, [&](const std::string& path, auto& layer) {
    if (!detail::fits_any(layers, path)) return;
    found = true;
    if (!seen.is_new_object(&layer)) return;  // several pointers lead to it
    if (layer.quantized) throw Error("[quantize] the layer " + path + " is quantized already", where);
    layer.quantized = sinter::quantize(layer.weight, options, where);
    layer.weight = {};
  });
  detail::require_quantizable(found, layers, where);
  return model;
}

/// The model with plain weights again, as far as the codes hold them, in the dtypes that they had, and frozen
/// (see nn::unfreeze). Throws Error where no layer is quantized.
template <class M>
M dequantize(M model, Location where = Location::current()) {
  sinter::detail::unshare(model);
  bool found = false;
  const bool trains = detail::may_train(model);
  visit_leaves<detail::LinearLeaf>(model, [&](const std::string&, auto& layer) {
    if (!layer.quantized) return;
    found = true;
    layer.weight = Tensor<2>(detail::weight_of(layer, trains, where));
    layer.quantized.reset();
  });
  detail::require_quantizable(found, {}, where);
  return model;
}

}  // namespace sinter::nn
