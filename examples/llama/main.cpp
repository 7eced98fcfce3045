// Continues a text with a model of llama2.c.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "files.h"
#include "model.h"

namespace {

namespace sn = sinter;

struct Options {
  std::string model, tokenizer, prompt, device;
  std::int64_t tokens = 256;
  double temperature = 0;
  std::int64_t seed = 0;
};

using Token = sn::Tensor<1, sn::Int>;  // of one element

// The most likely token, or by Gumbel's trick one that is drawn by the probabilities.
Token draw(const sn::Tensor<2>& logits, double temperature) {
  sn::Tensor<2> scores = logits;
  if (temperature > 0) {
    const auto u = sn::Tensor<2>::uniform(sn::Sizes<2>(logits.shape()), 1e-7, 1, logits.device());
    scores = logits / temperature - log(-log(u));
  }
  return scores.argmax(1, sn::drop);
}

int run(const Options& options) {
  const sn::Device device = options.device.empty() ? sn::Device::best() : sn::Device::parse(options.device);
  device.seed(options.seed);
  const llama::Llama model = llama::load(options.model, device);
  const llama::Tokenizer tokenizer(options.tokenizer, model.config.vocabulary);
  const std::vector<std::int64_t> prompt = tokenizer.encode(options.prompt);
  std::vector<llama::Cache> caches = model.empty_caches();
  const auto given = static_cast<std::int64_t>(prompt.size());
  const std::int64_t end = std::min(given + options.tokens - 1, model.config.context);

  Token next;
  std::int64_t before = llama::Tokenizer::kBegin, steps = 0;
  auto begin = std::chrono::steady_clock::now();
  for (std::int64_t at = 0; at < end; ++at) {
    const bool is_given = at < given;
    const Token token = is_given ? Token::full({1}, prompt[static_cast<std::size_t>(at)], device) : next;
    next = draw(model.forward(token, caches, at), options.temperature);
    // The token goes back into the model on the device; it is read to be shown.
    const std::int64_t known = at + 1 < given ? prompt[static_cast<std::size_t>(at) + 1] : next.item();
    if (known == llama::Tokenizer::kBegin || known == llama::Tokenizer::kEnd) break;
    const std::string text = tokenizer.text_of(known, before);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    before = known;
    // The first tokens plan and compile.
    if (++steps == 8) begin = std::chrono::steady_clock::now();
  }
  std::printf("\n");
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  if (steps > 8)
    std::fprintf(stderr, "%.2f ms a token on %s\n", time.count() / static_cast<double>(steps - 8),
                 device.name().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Continues a text with a model of llama2.c.", "llama");
  app.add_option("model", o.model, "stories15M.bin or another, in f32")->required();
  app.add_option("tokenizer", o.tokenizer, "tokenizer.bin")->required();
  app.add_option("--prompt", o.prompt, "how the text begins");
  app.add_option("--tokens", o.tokens, "the most to be written")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--temperature", o.temperature, "0: always the most likely token")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seed", o.seed)->capture_default_str();
  app.add_option("--device", o.device, "host, cuda, cuda:1, vulkan (default: the best there is)");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "llama: %s\n", e.what());
    return 1;
  }
}
