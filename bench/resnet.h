// ResNet-18 for images of 3 x 32 x 32, written like a user would: plain modules, batch norm by ops.
#pragma once

#include <functional>

#include <sinter/device.h>

namespace bench {

/// Forward, backward and SGD with momentum; few images on the host, 128 elsewhere.
std::function<void()> resnet18_step(const sinter::Device& device);

}  // namespace bench
