// Trains ResNet-18 on small images, such as those of MNIST and Fashion-MNIST, and says how many it knows.
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>

#include "train.h"

namespace {

namespace sn = sinter;

struct Options {
  std::string folder, device;
  resnet::Config model;
  resnet::Training training;
  bool only_evaluate = false;
};

int run(Options options) {
  const resnet::Images images = resnet::load_images(options.folder);
  options.model.classes = images.classes;
  const sn::Device device = options.device.empty() ? sn::Device::best() : sn::Device::parse(options.device);
  device.seed(static_cast<std::int64_t>(options.training.seed));
  resnet::Resnet model = resnet::make(options.model, device.autodiff());
  std::printf("%zu images of %lld x %lld in %lld classes, %lld parameters on %s\n", images.sets.train.size(),
              static_cast<long long>(images.sets.train.height()),
              static_cast<long long>(images.sets.train.width()), static_cast<long long>(images.classes),
              static_cast<long long>(sn::num_parameters(model)), device.name().c_str());
  if (options.only_evaluate) {
    sn::record::load(model, options.training.file, {.prefix = "model"});
    resnet::evaluate(model, images, options.training.mixed);
  } else {
    resnet::train(model, images, options.training);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Trains ResNet-18 on small images.", "resnet");
  app.add_option("folder", o.folder, "of the four files of MNIST or a relative, unpacked")->required();
  app.add_option("--device", o.device, "host, cuda, cuda:1, vulkan (default: the best there is)");
  app.add_option("--width", o.model.width, "channels of the first layer; 64 are ResNet-18's")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--epochs", o.training.epochs)->capture_default_str()->check(CLI::NonNegativeNumber);
  app.add_option("--batch", o.training.batch)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--lr", o.training.learning_rate, "the greatest learning rate")->capture_default_str();
  app.add_option("--report", o.training.report, "steps between progress lines")->check(CLI::PositiveNumber);
  app.add_option("--checkpoint", o.training.checkpoint, "steps between checkpoints")
      ->check(CLI::PositiveNumber);
  app.add_option("--until", o.training.until, "stops at this step, to be resumed");
  app.add_option("--seed", o.training.seed)->capture_default_str();
  app.add_flag("--bf16", o.training.mixed, "convolutions and products in bf16, parameters in f32");
  app.add_flag("--flip", o.training.flip, "half of the images from right to left");
  app.add_option("--save", o.training.file, "the checkpoint")->capture_default_str();
  app.add_flag("--resume", o.training.resume, "goes on where the checkpoint was written");
  app.add_flag("--evaluate", o.only_evaluate, "no training: loads the checkpoint and tests it");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(std::move(o));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resnet: %s\n", error.what());
    return 1;
  }
}
