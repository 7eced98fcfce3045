// Fine-tuning by low-rank matrices: which layers of a model get them, merging them into the weights, and
// records of them alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/module.h>
#include <sinter/nn/embedding.h>
#include <sinter/nn/linear.h>
#include <sinter/nn/module.h>
#include <sinter/record.h>

namespace sinter::nn {

/// See add_lora().
struct LoraOptions {
  std::int64_t rank = 8;
  /// The product B A counts alpha / rank times.
  double alpha = 16;
  /// Of what A sees, in training.
  double dropout = 0;
};

namespace detail {

struct LoraLeaf {
  template <class T>
  static constexpr bool matches = std::is_same_v<T, Linear> || std::is_same_v<T, Embedding>;
};

/// The weight that low-rank matrices stand beside, also of a layer that has it in few bits: that is on the
/// device with autodiff if `trains`.
template <class Layer>
AnyTensor weight_of(const Layer& layer, bool trains, Location where) {
  if constexpr (requires { layer.quantized; }) {
    if (layer.quantized) {
      const AnyTensor weight = sinter::dequantize(*layer.quantized, std::nullopt, where);
      return trains ? weight.to_device(weight.device().autodiff(), where) : weight;
    }
  }
  return layer.weight.dynamic();
}

/// Whether the parameters of a model are on a device with autodiff, or there are none.
template <class M>
bool may_train(const M& model) {
  bool found = false, any = false;
  visit_parameters(model, [&](const std::string&, const auto& tensor) {
    any = true;
    found |= tensor.device().is_autodiff();
  });
  return found || !any;
}

SINTER_API LowRank new_low_rank(const AnyTensor& weight, bool is_table, const LoraOptions& options,
                                const std::string& path, Location where);
SINTER_API AnyTensor merged(const AnyTensor& weight, bool is_table, const LowRank& lora,
                            const std::string& path, Location where);
SINTER_API bool fits_any(const std::vector<std::string>& patterns, std::string_view path);
SINTER_API void require_layers(const char* what, const std::vector<std::string>* patterns, bool found,
                               Location where);

/// Calls f(path, layer) for each layer that has low-rank matrices.
template <class M, class F>
void visit_lora(M& model, F&& f) {
  visit_leaves<LoraLeaf>(model, [&](const std::string& path, auto& layer) {
    if (layer.lora) f(path.empty() ? std::string("lora") : path + ".lora", layer);
  });
}

template <class M>
std::vector<record::detail::Named> lora_state(const M& model) {
  std::vector<record::detail::Named> named;
  visit_lora(model, [&](const std::string& path, const auto& layer) {
    named.push_back({path + ".a", layer.lora->a.dynamic()});
    named.push_back({path + ".b", layer.lora->b.dynamic()});
  });
  return named;
}

}  // namespace detail

/// The model with low-rank matrices in each Linear and Embedding whose path fits one of the patterns (see
/// path_matches), however deep in the model: "*.query", "layers.*.feed_forward.*". They are parameters under
/// the layer's path, "layers.0.query.lora.a" and "lora.b", in the weight's dtype; all others are frozen, so
/// that an optimizer steps them alone. B (of an Embedding A) begins as 0: the model computes what it did. The
/// other one is uniform in +-1 / sqrt(d_in) (normal for an Embedding), as PEFT's.
///
///   model = nn::add_lora(std::move(model), {"*.query", "*.value"}, {.rank = 4});
///
/// Layers that nn::quantize (quantize.h) has been at get them as well: QLoRA. A layer that several pointers
/// lead to gets them once, where one of its paths fits.
///
/// Throws Error where no layer fits, one that fits has such matrices already, or an option is out of range.
template <class M>
M add_lora(M model, const std::vector<std::string>& layers = {"*"}, const LoraOptions& options = {},
           Location where = Location::current()) {
  sinter::detail::unshare(model);
  bool found = false;
  const bool trains = detail::may_train(model);
  sinter::detail::SeenOnce seen;
  visit_leaves<detail::LoraLeaf>(model, [&](const std::string& path, auto& layer) {
    if (!detail::fits_any(layers, path)) return;
    found = true;
    if (!seen.is_new_object(&layer)) return;
    if (layer.lora) throw Error("[add_lora] the layer " + path + " has low-rank matrices already", where);
    constexpr bool is_table = std::is_same_v<std::remove_cvref_t<decltype(layer)>, Embedding>;
    const AnyTensor weight = detail::weight_of(layer, trains, where);
    layer.lora = detail::new_low_rank(weight, is_table, options, path, where);
  });
  detail::require_layers("add_lora", &layers, found, where);
  detail::set_state(model, detail::set_frozen(detail::state_of(model), true, "*", where));
  detail::visit_lora(model, [&](const std::string&, auto& layer) {
    if (!layer.lora->a.device().is_autodiff() || layer.lora->a.requires_grad()) return;
    layer.lora->a = layer.lora->a.require_grad(where);
    layer.lora->b = layer.lora->b.require_grad(where);
  });
  return model;
}

/// The model with its low-rank matrices added to the weights, which are frozen or not as before, and gone:
/// the same function at the cost of the plain layers. 16 bits are added up in f32 and rounded once. Weights
/// that are tied and get different sums are tied no longer. A quantized weight is a plain one afterwards, in
/// the dtype that it had before. Throws Error where no layer has any.
template <class M>
M merge_lora(M model, Location where = Location::current()) {
  sinter::detail::unshare(model);
  bool found = false;
  detail::visit_lora(model, [&](const std::string& path, auto& layer) {
    found = true;
    constexpr bool is_table = std::is_same_v<std::remove_cvref_t<decltype(layer)>, Embedding>;
    const AnyTensor weight = detail::weight_of(layer, layer.lora->a.device().is_autodiff(), where);
    layer.weight = Tensor<2>(detail::merged(weight, is_table, *layer.lora, path, where));
    layer.lora.reset();
    if constexpr (!is_table) layer.quantized.reset();
  });
  detail::require_layers("merge_lora", nullptr, found, where);
  return model;
}

/// The model without its low-rank matrices: what it was before add_lora, frozen still.
template <class M>
M remove_lora(M model) {
  sinter::detail::unshare(model);
  visit_leaves<detail::LoraLeaf>(model, [](const std::string&, auto& layer) { layer.lora.reset(); });
  return model;
}

/// The low-rank matrices alone, under their paths: a file of a few megabytes beside that of the model.
template <class M>
record::Record lora_record(const M& model, Location where = Location::current()) {
  const auto named = detail::lora_state(model);
  detail::require_layers("lora_record", nullptr, !named.empty(), where);
  return record::detail::make_record(named, {});
}

/// The model with the low-rank matrices of a record, for those that it has. DataError lists all that are
/// missing, unexpected, or of another shape or dtype.
template <class M>
M load_lora(M model, const record::Record& record, Location where = Location::current()) {
  sinter::detail::unshare(model);
  const auto named = detail::lora_state(model);
  detail::require_layers("load_lora", nullptr, !named.empty(), where);
  auto tensors = record::detail::match(record, named, {}, "record").tensors;
  std::size_t at = 0;
  detail::visit_lora(model, [&](const std::string&, auto& layer) {
    layer.lora->a = Tensor<2>(std::move(tensors[at++]));
    layer.lora->b = Tensor<2>(std::move(tensors[at++]));
  });
  return model;
}

}  // namespace sinter::nn
