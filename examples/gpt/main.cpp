// Trains a GPT on a text, byte by byte, and lets it write.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "generate.h"
#include "model.h"
#include "text.h"
#include "train.h"

namespace {

struct Options {
  std::string text, device, prompt = "\n", size = "small";
  std::optional<std::int64_t> layers, heads, width, context;
  gpt::Config model;
  gpt::Training training;
  std::filesystem::path from;
  std::int64_t tokens = 300;
  double temperature = 0.8;
  bool only_generate = false;
};

// Sizes by name; single numbers may be set as well.
gpt::Config config_of(const std::string& size) {
  if (size == "small") return {};
  if (size == "char") return {.context = 256, .layers = 6, .heads = 6, .width = 384};
  if (size == "124M") return {.vocabulary = 50304, .context = 1024, .layers = 12, .heads = 12, .width = 768};
  throw sinter::Error("there is no size \"" + size + "\": small, char and 124M are known");
}

int run(const Options& options) {
  namespace sn = sinter;
  const sn::Device device = options.device.empty() ? sn::Device::best() : sn::Device::parse(options.device);
  device.seed(static_cast<std::int64_t>(options.training.seed));
  gpt::Gpt model = gpt::make(options.model, device.autodiff());
  std::int64_t parameters = 0;
  sn::visit_parameters(model,
                       [&](std::string_view, const auto& parameter) { parameters += parameter.numel(); });
  std::printf("%lld parameters on %s\n", static_cast<long long>(parameters), device.name().c_str());
  if (!options.from.empty()) sn::record::load(model, options.from, {.prefix = "model"});
  if (options.only_generate)
    sn::record::load(model, options.training.file, {.prefix = "model"});
  else
    model = gpt::train(std::move(model), gpt::Text(options.text, device), options.training);
  std::printf("%s", options.prompt.c_str());
  gpt::generate(model, options.prompt, options.tokens, options.temperature, [](char c) {
    std::fputc(c, stdout);
    std::fflush(stdout);
  });
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Trains a GPT on a text, byte by byte, and lets it write.", "gpt");
  app.add_option("text", o.text, "a file, or a folder of .txt files");
  app.add_option("--device", o.device, "host, cuda, cuda:1, vulkan (default: the best there is)");
  app.add_option("--size", o.size, "small, char (10 M parameters) or 124M (GPT-2's)");
  app.add_option("--layers", o.layers, "in place of the size's");
  app.add_option("--heads", o.heads, "in place of the size's");
  app.add_option("--width", o.width, "in place of the size's");
  app.add_option("--context", o.context, "in place of the size's: tokens that the model sees");
  app.add_option("--steps", o.training.steps)->capture_default_str()->check(CLI::NonNegativeNumber);
  app.add_option("--batch", o.training.batch)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--lr", o.training.learning_rate, "learning rate after the warm-up")->capture_default_str();
  app.add_option("--warm-up", o.training.warm_up)->capture_default_str()->check(CLI::NonNegativeNumber);
  app.add_option("--report", o.training.report, "steps between progress lines")->check(CLI::PositiveNumber);
  app.add_option("--checkpoint", o.training.checkpoint, "steps between checkpoints")
      ->check(CLI::PositiveNumber);
  app.add_option("--until", o.training.until, "stops at this step, to be resumed");
  app.add_option("--seed", o.training.seed)->capture_default_str();
  app.add_flag("--bf16", o.training.mixed, "products in bf16, parameters in f32");
  app.add_option("--save", o.training.file, "the checkpoint")->capture_default_str();
  app.add_option("--from", o.from, "weights to start with, from a checkpoint");
  app.add_flag("--resume", o.training.resume, "goes on where the checkpoint was written");
  app.add_flag("--generate", o.only_generate, "no training: loads the checkpoint and writes");
  app.add_option("--prompt", o.prompt, "what the text begins with");
  app.add_option("--tokens", o.tokens, "how many to write")->capture_default_str();
  app.add_option("--temperature", o.temperature, "0: always the most likely")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (o.text.empty() && !o.only_generate) throw sinter::Error("which text? --help lists the options");
    o.model = config_of(o.size);
    if (o.layers) o.model.layers = *o.layers;
    if (o.heads) o.model.heads = *o.heads;
    if (o.width) o.model.width = *o.width;
    if (o.context) o.model.context = *o.context;
    if (o.model.layers < 1 || o.model.heads < 1 || o.model.width < 1 || o.model.context < 1 ||
        o.model.width % o.model.heads != 0)
      throw sinter::Error("sizes are 1 or more, and the width is a multiple of the heads");
    return run(o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpt: %s\n", error.what());
    return 1;
  }
}
