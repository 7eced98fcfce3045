// Finds the images: MNIST, or else Fashion-MNIST.
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include <sinter/data.h>

namespace guide {

struct Images {
  std::string name;
  std::array<std::string, 10> classes;
  double mean, deviation;
  sinter::data::Mnist sets;
};

/// Looks in `folder`/mnist, `folder`/fashion-mnist and `folder` itself. Throws sinter::DataError that says
/// how to get the files.
Images load_images(const std::filesystem::path& folder);

}  // namespace guide
