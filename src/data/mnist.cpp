// MNIST: finds and checks its files, and makes batches of its images.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <sinter/data/idx.h>
#include <sinter/data/mnist.h>
#include <sinter/error.h>

namespace sinter::data {
namespace {

// The data set is distributed under both spellings: "train-images-idx3-ubyte" and "train-images.idx3-ubyte".
std::filesystem::path find(const std::filesystem::path& folder, const std::string& stem,
                           const std::string& suffix) {
  std::error_code ignored;
  for (const char* separator : {"-", "."}) {
    auto path = folder / (stem + separator + suffix);
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return {};
}

std::filesystem::path require(const std::filesystem::path& folder, const std::string& stem,
                              const std::string& suffix) {
  auto path = find(folder, stem, suffix);
  if (path.empty())
    throw DataError("[mnist] there is no file " + stem + "-" + suffix + " (or " + stem + "." + suffix +
                    ") in \"" + folder.string() + "\"");
  return path;
}

LabelledImages load_half(const std::filesystem::path& folder, const std::string& name) {
  auto image_file = require(folder, name + "-images", "idx3-ubyte");
  auto label_file = require(folder, name + "-labels", "idx1-ubyte");
  IdxArray images = read_idx(image_file);
  IdxArray labels = read_idx(label_file);
  if (images.shape.rank() != 3)
    throw DataError("[mnist] \"" + image_file.string() + "\" has shape " + to_string(images.shape) +
                    ", expected (images, height, width)");
  if (labels.shape.rank() != 1)
    throw DataError("[mnist] \"" + label_file.string() + "\" has shape " + to_string(labels.shape) +
                    ", expected (labels)");
  if (images.shape[0] != labels.shape[0])
    throw DataError("[mnist] \"" + image_file.string() + "\" has " + std::to_string(images.shape[0]) +
                    " images, \"" + label_file.string() + "\" has " + std::to_string(labels.shape[0]) +
                    " labels");
  auto wrong = std::find_if(labels.values.begin(), labels.values.end(),
                            [](std::uint8_t label) { return label >= Mnist::kClasses; });
  if (wrong != labels.values.end())
    throw DataError("[mnist] \"" + label_file.string() + "\": label " +
                    std::to_string(wrong - labels.values.begin()) + " is " + std::to_string(*wrong) +
                    ", expected 0 to 9");
  return LabelledImages(images.shape[1], images.shape[2], std::move(images.values), std::move(labels.values));
}

}  // namespace

LabelledImages::LabelledImages(std::int64_t height, std::int64_t width, std::vector<std::uint8_t> pixels,
                               std::vector<std::uint8_t> labels)
    : height_(height), width_(width), pixels_(std::move(pixels)), labels_(std::move(labels)) {
  // Whatever is given: products that do not fit in 64 bits belong to no number of bytes.
  std::int64_t area = 0;
  std::size_t bytes = 0;
  if (height < 0 || width < 0 || __builtin_mul_overflow(height, width, &area) ||
      __builtin_mul_overflow(labels_.size(), static_cast<std::size_t>(area), &bytes) ||
      pixels_.size() != bytes)
    throw DataError("[images] " + std::to_string(labels_.size()) + " images of " + std::to_string(height) +
                    " x " + std::to_string(width) + " pixels cannot be made of " +
                    std::to_string(pixels_.size()) + " bytes");
}

LabelledImages::Item LabelledImages::get(std::size_t index) const {
  if (index >= size())
    throw DataError("[images] there are " + std::to_string(size()) + " images, index " +
                    std::to_string(index) + " is none of them");
  std::size_t area = static_cast<std::size_t>(height_ * width_);
  return {std::span(pixels_).subspan(index * area, area), labels_[index]};
}

LabelledImages LabelledImages::first(std::size_t count) const {
  count = std::min(count, size());
  auto pixel_count = static_cast<std::ptrdiff_t>(count) * height_ * width_;
  return LabelledImages(height_, width_, {pixels_.begin(), pixels_.begin() + pixel_count},
                        {labels_.begin(), labels_.begin() + static_cast<std::ptrdiff_t>(count)});
}

Mnist Mnist::load(const Path& name) {
  const std::filesystem::path folder(name.string());
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    throw DataError("[mnist] there is no folder \"" + folder.string() + "\"");
  return {load_half(folder, "train"), load_half(folder, "t10k")};
}

bool Mnist::is_in(const Path& at) {
  const std::filesystem::path folder(at.string());
  for (std::string name : {"train", "t10k"})
    if (find(folder, name + "-images", "idx3-ubyte").empty() ||
        find(folder, name + "-labels", "idx1-ubyte").empty())
      return false;
  return true;
}

ImageBatch ImageBatcher::operator()(const LabelledImages& dataset,
                                    std::span<const std::size_t> indices) const {
  if (indices.empty()) throw ShapeError("[images] a batch holds at least one image");
  std::size_t area = static_cast<std::size_t>(dataset.height() * dataset.width());
  std::vector<std::uint8_t> pixels(indices.size() * area), labels(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    LabelledImages::Item item = dataset.get(indices[i]);
    std::copy(item.pixels.begin(), item.pixels.end(), pixels.begin() + static_cast<std::ptrdiff_t>(i * area));
    labels[i] = item.label;
  }
  auto count = static_cast<std::int64_t>(indices.size());
  auto bytes = [](const std::vector<std::uint8_t>& values) { return std::as_bytes(std::span(values)); };
  AnyTensor images =
      AnyTensor::from_bytes(bytes(pixels), {count, 1, dataset.height(), dataset.width()}, DType::u8, device)
          .cast(DType::f32);
  images = AnyTensor::mul(AnyTensor::sub(AnyTensor::div(images, 255.0), mean), 1 / deviation);
  AnyTensor classes = AnyTensor::from_bytes(bytes(labels), {count}, DType::u8, device).cast(DType::i64);
  return {Tensor<4>(std::move(images)), Tensor<1, Int>(std::move(classes))};
}

}  // namespace sinter::data
