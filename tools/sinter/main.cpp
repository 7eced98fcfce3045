// The program `sinter`: shows how Sinter plans other programs, and its settings on this computer.
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include <sinter/device.h>
#include <sinter/environment.h>
#include <sinter/version.h>

#include "embed.h"
#include "explain.h"
#include "tune.h"

namespace {

/// Name, value, meaning of every variable, as docs/environment.md lists them.
int print_environment() {
  std::size_t width = 0;
  const auto entries = sinter::environment_variables();
  for (const auto& entry : entries) width = std::max(width, entry.name.size() + 1 + entry.value.size());
  for (const auto& entry : entries) {
    const std::string setting = entry.name + "=" + entry.value;
    std::printf("%-*s  %s\n", static_cast<int>(std::min<std::size_t>(width, 48)), setting.c_str(),
                entry.description.c_str());
  }
  return 0;
}

int print_devices() {
  const std::string best = sinter::Device::best().name();
  for (const sinter::Device& device : sinter::Device::all())
    std::printf("%-10s %s%s\n", device.name().c_str(), device.description().c_str(),
                device.name() == best ? "  (taken unless asked otherwise)" : "");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Looks into what Sinter does.", "sinter");
  app.set_version_flag("--version", sinter::version_string());
  app.require_subcommand(1);

  tools::ExplainOptions options;
  CLI::App* explain = app.add_subcommand(
      "explain",
      "Runs a program and shows what became of it: kernels and their source lines, bytes, memory, cuts.");
  explain
      ->add_option("--out", options.out,
                   "file (.txt, .json, .svg), or a folder for all three; unset: the terminal")
      ->type_name("PATH");
  explain->add_option("--format", options.format, "text, json or svg; unset: by the name of --out, else text")
      ->check(CLI::IsMember({"text", "json", "svg"}));
  explain->add_option("PROGRAM", options.command, "after --: the program and its arguments")->required();
  CLI::App* environment =
      app.add_subcommand("env", "Prints every environment variable with its value and meaning.");
  app.add_subcommand("devices", "Prints the devices of this computer, best first.");

  CLI::App* tune =
      app.add_subcommand("tune", "Choices between variants of kernels that were made by timing.");
  tune->require_subcommand(1);
  CLI::App* tune_list = tune->add_subcommand("list", "Prints a line for each choice that is stored.");
  CLI::App* tune_show = tune->add_subcommand("show", "Prints all that is stored of choices.");
  std::string part;
  tune_show->add_option("PART", part,
                        "only those whose sizes, kernel, parameters or device have this in them");
  CLI::App* tune_run =
      tune->add_subcommand("run", "Times all variants of matrix products, and stores what is chosen.");
  tools::TuneOptions tuning;
  tune_run->add_option("SIZES", tuning.sizes, "ROWSxCOLUMNSxDEPTH, or with xBATCHES behind")->required();
  tune_run->add_option("--dtype", tuning.dtype, "bf16 unless set")
      ->check(CLI::IsMember({"bf16", "f16", "f32"}));
  tune_run->add_option("--device", tuning.device, "cuda, cuda:1, ...; unset: as SINTER_DEVICE says");
  tune->add_subcommand("clear", "Removes all choices.");

  tools::EmbedOptions embedding;
  CLI::App* embed = app.add_subcommand(
      "embed",
      "Writes NAME.h and NAME.cpp, which make a file, such as a model's weights, part of a program.");
  embed->add_option("FILE", embedding.file, "any file")->required();
  embed->add_option("--name", embedding.name, "of the function that gives the bytes")->required();
  embed->add_option("--out", embedding.out, "the sources without .h and .cpp; unset: the name");
  embed->add_flag("--array", embedding.array,
                  "the bytes as an array, for compilers whose assembler has no .incbin");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  try {
    if (explain->parsed()) return tools::explain(options);
    if (embed->parsed()) return tools::embed(embedding);
    if (tune->parsed())
      return tune_list->parsed()   ? tools::list_tuned()
             : tune_show->parsed() ? tools::show_tuned(part)
             : tune_run->parsed()  ? tools::run_tuning(tuning)
                                   : tools::clear_tuned();
    return environment->parsed() ? print_environment() : print_devices();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinter: %s\n", error.what());
    return 1;
  }
}
