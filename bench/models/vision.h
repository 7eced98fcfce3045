// Training steps of networks for images: ResNets, a vision transformer, a U-Net.
#pragma once

#include <functional>
#include <optional>

#include <sinter/device.h>
#include <sinter/dtype.h>

namespace bench {

/// Forward, backward and SGD with momentum; 16 images of 3 x 32 x 32 on the host, 256 elsewhere. `autocast`
/// is the dtype of convolutions and of what goes between them; without it all is f32. `strided`: with
/// torchvision's first layers, a convolution of 7 x 7 and a pool, both of stride 2.
std::function<void()> resnet18_step(const sinter::Device& device,
                                    std::optional<sinter::DType> autocast = std::nullopt,
                                    bool strided = false);

/// The same of ResNet-50 as torchvision has it, 64 images of 3 x 224 x 224, 1,000 classes.
std::function<void()> resnet50_step(const sinter::Device& device,
                                    std::optional<sinter::DType> autocast = std::nullopt);

/// ViT-S/16 by AdamW: 64 images of 3 x 224 x 224 in 196 pieces, 12 layers of width 384 with 6 heads, 1,000
/// classes; no dropout.
std::function<void()> vit_step(const sinter::Device& device,
                               std::optional<sinter::DType> autocast = std::nullopt);

/// A U-Net of 31 million parameters by AdamW: 16 images of 3 x 64 x 64 to images, with batch norms.
std::function<void()> unet_step(const sinter::Device& device,
                                std::optional<sinter::DType> autocast = std::nullopt);

}  // namespace bench
