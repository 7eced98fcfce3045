// The options of the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace guide {

struct Options {
  std::string device;  // empty: the best available
  std::size_t epochs = 3;
  std::size_t batch = 64;
  std::optional<std::size_t> images;  // train only on this many images
  double learning_rate = 1e-3;
  std::uint64_t seed = 42;
  std::filesystem::path data;  // the folder with mnist/ or fashion-mnist/
  std::filesystem::path save;  // file for the weights
  bool predict_only = false;
  bool help = false;
};

/// An invalid argument; the message is for the user.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

extern const char* const kUsage;

Options parse_options(int argc, const char* const* argv);

}  // namespace guide
