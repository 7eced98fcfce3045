// MNIST and data sets that are published in its format (Fashion-MNIST, KMNIST).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/path.h>
#include <sinter/tensor.h>

namespace sinter::data {

/// Greyscale images of one size, each with a class label. Models Dataset of loader.h.
class SINTER_API LabelledImages {
 public:
  struct Item {
    std::span<const std::uint8_t> pixels;  // height * width, row-major
    std::uint8_t label;
  };

  LabelledImages() = default;
  /// `pixels` holds height * width bytes for each label. Throws DataError when it does not.
  LabelledImages(std::int64_t height, std::int64_t width, std::vector<std::uint8_t> pixels,
                 std::vector<std::uint8_t> labels);

  std::size_t size() const { return labels_.size(); }
  Item get(std::size_t index) const;
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }

  /// The first `count` images; all of them when there are fewer.
  LabelledImages first(std::size_t count) const;

 private:
  std::int64_t height_ = 0, width_ = 0;
  std::vector<std::uint8_t> pixels_, labels_;
};

struct SINTER_API Mnist {
  LabelledImages train, test;

  /// Mean and standard deviation of the training pixels of MNIST, scaled to [0, 1].
  static constexpr double kMean = 0.1307, kDeviation = 0.3081;
  static constexpr std::int64_t kClasses = 10;

  /// Reads the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
  /// t10k-labels-idx1-ubyte (or train-images.idx3-ubyte and so on), unpacked, from `folder`. Throws DataError
  /// that names the file and what is wrong with it.
  static Mnist load(const Path& folder);

  /// True iff all four files are in `folder`; does not read them.
  static bool is_in(const Path& folder);
};

/// A batch of images as the input of a network, and their class labels.
struct ImageBatch {
  Tensor<4> images;       // (n, 1, height, width), normalised
  Tensor<1, Int> labels;  // (n), i64
  std::int64_t size() const { return labels.shape()[0]; }
};

/// Stacks images into a batch and uploads them as bytes. The normalisation (pixel / 255 - mean) / deviation
/// is recorded on the device, where it fuses with the network's first operations.
struct SINTER_API ImageBatcher {
  Device device;
  double mean = Mnist::kMean, deviation = Mnist::kDeviation;

  /// Throws ShapeError when there are no images or they differ in size.
  ImageBatch operator()(const LabelledImages& dataset, std::span<const std::size_t> indices) const;
};

}  // namespace sinter::data
