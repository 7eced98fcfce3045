// Trains an LSTM on a text, character by character, and lets it write. The text is cut into rows that are
// read side by side; each step continues where the one before stopped, with its state.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

struct CharRnn {
  sn::nn::Embedding embedding;
  sn::nn::Lstm lstm;
  sn::nn::Linear head;

  struct Output {
    sn::Tensor<3> logits;  // (batch, time, characters)
    sn::nn::RecurrentState state;
  };
  Output forward(const sn::Tensor<2, sn::Int>& x,
                 const std::optional<sn::nn::RecurrentState>& state = std::nullopt) const {
    const auto [output, next] = lstm.forward(embedding.forward(x), state);
    return {head.forward(output), next};
  }
};

struct Text {
  std::string characters;  // those that occur, in order
  std::vector<std::int32_t> tokens;

  explicit Text(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw sn::DataError("the text " + file + " cannot be opened");
    const std::string all((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    characters = all;
    std::sort(characters.begin(), characters.end());
    characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
    for (const char c : all) tokens.push_back(token(c));
  }
  std::int32_t token(char c) const {
    const auto at = std::lower_bound(characters.begin(), characters.end(), c);
    return static_cast<std::int32_t>(at - characters.begin());
  }
};

void train(CharRnn& model, const Text& text, std::int64_t steps, std::int64_t batch, std::int64_t time,
           const sn::Device& device) {
  const std::int64_t length = (static_cast<std::int64_t>(text.tokens.size()) - 1) / batch;
  if (length < time)
    throw sn::DataError("a text of " + std::to_string(text.tokens.size()) + " characters is too short for " +
                        std::to_string(batch) + " rows of " + std::to_string(time));
  const auto all =
      sn::Tensor<1, sn::Int>::from_data(text.tokens, {static_cast<std::int64_t>(text.tokens.size())}, device);
  const auto x = all.narrow(0, 0, batch * length).reshape({batch, length});
  const auto y = all.narrow(0, 1, batch * length).reshape({batch, length});
  auto adam = sn::optim::AdamConfig{.options = {.clip_norm = 1}}.init();
  std::optional<sn::nn::RecurrentState> state;
  std::int64_t at = 0;
  for (std::int64_t step = 1; step <= steps; ++step, at += time) {
    if (at + time > length) {
      at = 0;
      state.reset();
    }
    const auto [logits, next] = model.forward(x.narrow(1, at, time), state);
    const auto loss =
        sn::nn::cross_entropy(logits.reshape({-1, logits.shape()[2]}), y.narrow(1, at, time).flatten());
    // The gradient ends where the step began.
    state = {next.hidden.detach(), next.cell->detach()};
    adam.step(5e-3, model, loss.backward());
    if (step == 1 || step % 50 == 0 || step == steps)
      std::printf("step %lld  loss %.4f\n", static_cast<long long>(step), loss.item());
  }
}

std::string write(const CharRnn& model, const Text& text, std::int64_t count, double temperature,
                  const sn::Device& device) {
  std::string written;
  std::optional<sn::nn::RecurrentState> state;
  auto token = sn::Tensor<2, sn::Int>::full({1, 1}, text.token(text.characters[0]), device);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [logits, next] = model.forward(token, state);
    state = next;
    token = sn::categorical(logits.reshape({1, -1}) / temperature, 1);
    written += text.characters[static_cast<std::size_t>(token.item())];
  }
  return written;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains an LSTM on a text, character by character, and lets it write.", "lstm");
  std::string file;
  std::int64_t steps = 500, batch = 16, time = 32, hidden = 128, characters = 300;
  double temperature = 0.8;
  app.add_option("text", file, "any text file")->required();
  app.add_option("--steps", steps)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--batch", batch, "rows that are read side by side")->check(CLI::PositiveNumber);
  app.add_option("--time", time, "characters of a step")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--hidden", hidden)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--characters", characters, "how many to write")->check(CLI::NonNegativeNumber);
  app.add_option("--temperature", temperature)->capture_default_str()->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    const sn::Device device = sn::Device::best();
    device.seed(1);
    const Text text(file);
    const auto size = static_cast<std::int64_t>(text.characters.size());
    CharRnn model{
        .embedding = sn::nn::EmbeddingConfig{.n_embedding = size, .d_model = 32}.init(device.autodiff()),
        .lstm = sn::nn::LstmConfig{.d_in = 32, .d_hidden = hidden}.init(device.autodiff()),
        .head = sn::nn::LinearConfig{.d_in = hidden, .d_out = size}.init(device.autodiff())};
    train(model, text, steps, batch, time, device);
    std::printf("%s\n", write(sn::nn::valid(model), text, characters, temperature, device).c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lstm: %s\n", error.what());
    return 1;
  }
}
