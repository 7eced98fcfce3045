// Output after training: digits with the network's predictions, and statistics of the library.
#pragma once

#include "dataset.h"
#include "model.h"
#include "train.h"

namespace guide {

/// Draws six test images, chosen by the seed, with the most probable classes.
void show_predictions(const Cnn& model, const Images& images, const sinter::Device& device,
                      std::uint64_t seed);

/// Prints how much the library recorded, planned, compiled and launched. `trained` may be null: then only the
/// totals.
void show_statistics(const sinter::Device& device, const Trained* trained);

}  // namespace guide
