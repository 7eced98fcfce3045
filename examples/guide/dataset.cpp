// Finds the images.
#include "dataset.h"

#include <sinter/error.h>

namespace guide {

using sinter::data::Mnist;

Images load_images(const std::filesystem::path& folder) {
  std::error_code ignored;
  auto is_folder = [&](const char* name) { return std::filesystem::is_directory(folder / name, ignored); };
  try {
    if (is_folder("mnist") || !is_folder("fashion-mnist"))
      return {"MNIST",
              {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
              Mnist::kMean,
              Mnist::kDeviation,
              Mnist::load(is_folder("mnist") ? folder / "mnist" : folder)};
    return {"Fashion-MNIST",
            {"T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "boot"},
            0.2860,
            0.3530,
            Mnist::load(folder / "fashion-mnist")};
  } catch (const sinter::DataError& error) {
    throw sinter::DataError(
        std::string(error.what()) +
        ". scripts/fetch-data downloads the images and prints where they are; --data or SINTER_DATA "
        "names a folder that holds them");
  }
}

}  // namespace guide
