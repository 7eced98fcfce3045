// Training and testing.
#pragma once

#include <cstddef>

#include <sinter/device.h>

#include "dataset.h"
#include "model.h"
#include "options.h"

namespace guide {

struct Trained {
  Cnn model;
  std::size_t steps = 0;
  double test_accuracy = 0;         // percent, after the last epoch
  sinter::Statistics statistics{};  // of the last epoch's training steps, including reads
  std::size_t measured_steps = 0;
};

Trained train(const Options& options, const Images& images, const sinter::Device& device);

}  // namespace guide
