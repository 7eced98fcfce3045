// Trains the network, saves it, loads it into a fresh one and shows its predictions for a few digits.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>

#include <sinter/device.h>
#include <sinter/error.h>
#include <sinter/record.h>

#include "dataset.h"
#include "model.h"
#include "options.h"
#include "show.h"
#include "train.h"

namespace guide {
namespace {

// Fails before the training, not after it, if the weights cannot be saved.
void require_writable(const std::filesystem::path& file) {
  std::filesystem::path beside = file;
  beside += ".try";
  sn::record::Record().write(beside);
  std::filesystem::remove(beside);
}

int run(const Options& options) {
  auto device = (options.device.empty() ? sn::Device::best() : sn::Device::parse(options.device)).autodiff();
  Images images = load_images(options.data);

  std::optional<Trained> trained;
  if (!options.predict_only) {
    require_writable(options.save);
    trained = train(options, images, device);
    sn::record::save(trained->model, options.save);
    std::printf("saved %s\n", options.save.string().c_str());
  }

  // A fresh network on the device without autodiff, like a program that only predicts.
  Cnn model = sn::record::load(CnnConfig{}.init(device.inner()), options.save);
  show_predictions(model, images, device, options.seed);
  show_statistics(device, trained ? &*trained : nullptr);
  return 0;
}

}  // namespace
}  // namespace guide

int main(int argc, char** argv) {
  try {
    guide::Options options = guide::parse_options(argc, argv);
    if (options.help) {
      std::fputs(guide::kUsage, stdout);
      return 0;
    }
    return guide::run(options);
  } catch (const guide::UsageError& error) {
    std::fprintf(stderr, "guide: %s; --help lists the options\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "guide: %s\n", error.what());
    return 1;
  }
}
