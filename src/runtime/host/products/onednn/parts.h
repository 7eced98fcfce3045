// How work is divided into parts that threads take. Functions of the op alone: a part of a gradient is a sum
// of its own, and results must not depend on the number of threads.
#pragma once

#include <cstdint>

#include "jit/library/conv2d.h"

namespace sinter::runtime::host {

constexpr double kPartWork = 6e6;  // floating-point operations that are worth a part
constexpr double kWorthParting = 3e6;
constexpr std::int64_t kMostParts = 32;

/// `count` stretches of `each`, of which the last may be shorter.
struct Stretches {
  std::int64_t whole = 0, each = 0, count = 0;
  Stretches() = default;
  Stretches(std::int64_t all, std::int64_t length);
  std::int64_t begin(std::int64_t part) const { return part * each; }
  std::int64_t length(std::int64_t part) const {
    return whole - begin(part) < each ? whole - begin(part) : each;
  }
};

/// A convolution's parts, by images, by channels of what it gives, or both.
struct ConvParts {
  Stretches images;
  Stretches channels;  // of y; of x where it is the gradient of x that is wanted
  std::int64_t count() const { return images.count * channels.count; }
};

/// Winograd's algorithm for 4 x 4 results at a time (Lavin and Gray, "Fast algorithms for convolutional
/// neural networks", 2016) multiplies a quarter as often, but transforms images, weights and results. It adds
/// up other numbers than the definition does: an infinity reaches all results of its tile, and errors are
/// those of a few roundings more, so it takes a program that lets factors be rounded. Whether that is allowed
/// and pays.
bool gains_by_winograd(const library::Conv2dOp& op);

/// The division that costs the least besides the products.
ConvParts divide(const library::Conv2dOp& op, bool winograd);

}  // namespace sinter::runtime::host
