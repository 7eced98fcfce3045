// Training with a progress line, checkpoints and resumption, and evaluation.
#pragma once

#include <cstdint>
#include <filesystem>

#include "model.h"

namespace resnet {

// The images, and how their pixels are spread.
struct Images {
  sn::data::Mnist sets;
  std::int64_t classes;
  double mean, deviation;
};

// Reads the four files of MNIST and its relatives. Throws sn::DataError.
Images load_images(const std::filesystem::path& folder);

struct Training {
  std::int64_t epochs = 10, batch = 128;
  std::int64_t report = 50;        // steps between progress lines
  std::int64_t checkpoint = 1000;  // steps between checkpoints
  double learning_rate = 0.1;      // the greatest: it rises and falls along one cycle
  std::int64_t until = 0;          // stops at this step, to be resumed; 0: at the end
  std::uint64_t seed = 42;
  bool mixed = false;  // products and convolutions in bf16
  bool flip = false;   // half of the images from right to left
  bool resume = false;
  std::filesystem::path file = "resnet.safetensors";
};

// Trains the model and leaves it, with the optimizer's state, the step and the state of the random numbers,
// in `training.file`. What is resumed goes on as if it had never stopped.
void train(Resnet& model, const Images& images, const Training& training);

// Prints the mean loss and the accuracy over the test images.
void evaluate(const Resnet& model, const Images& images, bool mixed);

}  // namespace resnet
