// ResNet-18 for images of 3 x 32 x 32, written like a user would: plain modules, batch norm by ops.
#pragma once

#include <functional>
#include <optional>

#include <sinter/device.h>
#include <sinter/dtype.h>

namespace bench {

/// Forward, backward and SGD with momentum; 16 images on the host, 256 elsewhere. `autocast` is the dtype of
/// convolutions and of what goes between them; without it all is f32. `strided`: with torchvision's first
/// layers, a convolution of 7 x 7 and a pool, both of stride 2.
std::function<void()> resnet18_step(const sinter::Device& device,
                                    std::optional<sinter::DType> autocast = std::nullopt,
                                    bool strided = false);

}  // namespace bench
