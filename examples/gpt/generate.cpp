#include "generate.h"

#include <algorithm>
#include <vector>

namespace gpt {
namespace {

using Token = sn::Tensor<2, sn::Int>;  // (1, 1)

// Gumbel's trick: the largest of logits plus such noise is drawn by their probabilities.
Token draw(const sn::Tensor<3>& logits, double temperature) {
  sn::Tensor<3> scores = logits;
  if (temperature > 0) {
    const auto u = sn::Tensor<3>::uniform(sn::Sizes<3>(logits.shape()), 1e-7, 1, logits.device());
    scores = logits / temperature - log(-log(u));
  }
  return scores.argmax(2, sn::drop);
}

}  // namespace

void generate(const Gpt& trained, std::string_view prompt, std::int64_t count, double temperature,
              const std::function<void(char)>& show) {
  Gpt model = trained;
  const sn::Device device = model.tokens.device().inner();
  sn::visit_parameters(model, [](std::string_view, auto& parameter) { parameter = parameter.inner(); });
  const std::int64_t context = model.positions.shape()[0];
  std::vector<Cache> caches = model.empty_caches(1);
  const auto given = [&](char c) {
    return Token::from_data(std::vector<std::int64_t>{static_cast<unsigned char>(c)}, {1, 1}, device);
  };
  const std::string start(prompt.empty() ? "\n" : prompt);
  const auto length = static_cast<std::int64_t>(start.size());
  Token next;
  for (std::int64_t at = 0; at < std::min(length + count, context); ++at) {
    const Token token = at < length ? given(start[static_cast<std::size_t>(at)]) : next;
    next = draw(model.forward(token, &caches, at), temperature);
    next.sync();  // computes, does not wait
    if (at >= length) show(static_cast<char>(token.item()));
  }
}

}  // namespace gpt
