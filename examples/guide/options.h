// What the command line asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

namespace guide {

struct Options {
  std::string device;  // empty: the best there is
  std::size_t epochs = 3;
  std::size_t batch = 64;
  std::optional<std::size_t> images;  // train on the first so many only
  double learning_rate = 1e-3;
  std::uint64_t seed = 42;
  std::filesystem::path data;  // the folder that holds mnist/ or fashion-mnist/
  std::filesystem::path save;  // where the weights go
  bool predict_only = false;
  bool help = false;
};

/// An argument that cannot be understood; the message is for the user.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

extern const char* const kUsage;

Options parse_options(int argc, const char* const* argv);

}  // namespace guide
