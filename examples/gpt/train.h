// Training with a progress line, checkpoints and resume.
#pragma once

#include <cstdint>
#include <filesystem>

#include "model.h"
#include "text.h"

namespace gpt {

struct Training {
  std::int64_t steps = 2000, batch = 16;
  std::int64_t report = 50;       // steps between progress lines
  std::int64_t checkpoint = 500;  // steps between checkpoints
  double learning_rate = 1e-3;    // after the warm-up; falls to a tenth along a cosine
  std::int64_t warm_up = 100;
  std::int64_t until = 0;  // stops at this step, to be resumed; 0: at the end
  std::uint64_t seed = 42;
  bool mixed = false;  // products in bf16
  std::filesystem::path file = "gpt.safetensors";
  bool resume = false;
};

// Trains the model and leaves it, with the optimizer's state and the step, in `training.file`. What is
// resumed goes on as if it had never stopped.
Gpt train(Gpt model, const Text& text, const Training& training);

}  // namespace gpt
