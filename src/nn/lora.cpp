// Low-rank matrices beside weights.
#include <sinter/nn/lora.h>

#include "src/base/number_text.h"
#include "src/nn/init.h"

namespace sinter::nn::detail {
namespace {

using A = AnyTensor;

A scaled(const A& y, double scale, const Location& where) { return scale == 1 ? y : A::mul(y, scale, where); }

/// y + more, in y's dtype: inside of an Autocast scope products have 16 bits.
A added(const A& y, const A& more, const Location& where) {
  return A::add(y, more.cast(y.dtype(), where), where);
}

}  // namespace

AnyTensor with_low_rank(const AnyTensor& y, const AnyTensor& x, const LowRank& lora, Location where) {
  const A seen = dropout(x, lora.dropout.probability, x.rank(), lora.dropout.training, where);
  const A inner = linear(seen, lora.a.dynamic(), nullptr, where);
  const A outer = linear(inner, lora.b.dynamic(), nullptr, where);
  return added(y, scaled(outer, lora.scale, where), where);
}

AnyTensor with_low_rank_rows(const AnyTensor& y, const AnyTensor& index, const LowRank& lora,
                             Location where) {
  const A rows = embedding(index, lora.a.dynamic().transpose(0, 1, where), where);
  const A seen = dropout(rows, lora.dropout.probability, rows.rank(), lora.dropout.training, where);
  return added(y, scaled(linear(seen, lora.b.dynamic(), nullptr, where), lora.scale, where), where);
}

LowRank new_low_rank(const AnyTensor& weight, bool is_table, const LoraOptions& options,
                     const std::string& path, Location where) {
  if (options.rank < 1)
    throw Error("[add_lora] the rank is " + std::to_string(options.rank) + ", expected 1 or more", where);
  if (!(options.alpha > 0))
    throw Error("[add_lora] alpha is " + text_of(options.alpha) + ", expected more than 0", where);
  if (!(options.dropout >= 0 && options.dropout < 1))
    throw Error("[add_lora] the dropout is " + text_of(options.dropout) + ", expected 0 to less than 1",
                where);
  if (!weight.defined() || weight.rank() != 2 || !is_float(weight.dtype()))
    throw Error("[add_lora] the weight of " + path + " is no matrix of floating-point numbers", where);
  const std::int64_t d_out = weight.shape()[is_table ? 1 : 0], d_in = weight.shape()[is_table ? 0 : 1];
  const Device device = weight.device();
  const auto values = [&](const Initializer& initializer, const Shape& shape) {
    return Tensor<2>(initializer.values(shape, device, where).cast(weight.dtype(), where));
  };
  const Initializer a = is_table ? init::zeros() : init::lecun_uniform();
  const Initializer b = is_table ? init::normal(0, 1) : init::zeros();
  return {.a = values(a, {options.rank, d_in}),
          .b = values(b, {d_out, options.rank}),
          .scale = options.alpha / static_cast<double>(options.rank),
          .dropout = {options.dropout, Training(device)}};
}

AnyTensor merged(const AnyTensor& weight, bool is_table, const LowRank& lora, const std::string& path,
                 Location where) {
  const DType dtype = arithmetic_of(weight.dtype());
  const A a = lora.a.dynamic().inner().cast(dtype, where), b = lora.b.dynamic().inner().cast(dtype, where);
  const A product = b.matmul(a, where);
  const A change = is_table ? product.transpose(0, 1, where) : product;
  if (change.shape() != weight.shape())
    throw ShapeError("[merge_lora] the matrices of " + path + " make " + to_string(change.shape()) +
                         ", but the weight is " + to_string(weight.shape()),
                     where);
  const A sum = A::add(weight.inner().cast(dtype, where), scaled(change, lora.scale, where), where);
  const A next = sum.cast(weight.dtype(), where).to_device(weight.device(), where);
  return weight.requires_grad() ? next.require_grad(where) : next;
}

bool fits_any(const std::vector<std::string>& patterns, std::string_view path) {
  for (const std::string& pattern : patterns)
    if (path_matches(pattern, path)) return true;
  return false;
}

void require_layers(const char* what, const std::vector<std::string>* patterns, bool found, Location where) {
  if (found) return;
  if (!patterns || patterns->empty())
    throw Error("[" + std::string(what) + "] no layer of the model has low-rank matrices", where);
  std::string text;
  for (const std::string& pattern : *patterns) text += (text.empty() ? "\"" : ", \"") + pattern + "\"";
  throw Error("[" + std::string(what) + "] no Linear or Embedding has a path that fits " + text, where);
}

}  // namespace sinter::nn::detail
