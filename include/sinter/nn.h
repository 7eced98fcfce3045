// All layers, losses and functions on modules.
#pragma once

#include <sinter/functions/layers.h>
#include <sinter/nn/activation.h>
#include <sinter/nn/attention.h>
#include <sinter/nn/conv.h>
#include <sinter/nn/deform_conv.h>
#include <sinter/nn/dropout.h>
#include <sinter/nn/embedding.h>
#include <sinter/nn/init.h>
#include <sinter/nn/interpolate.h>
#include <sinter/nn/linear.h>
#include <sinter/nn/lora.h>
#include <sinter/nn/loss.h>
#include <sinter/nn/low_rank.h>
#include <sinter/nn/module.h>
#include <sinter/nn/norm.h>
#include <sinter/nn/pool.h>
#include <sinter/nn/position.h>
#include <sinter/nn/quantize.h>
#include <sinter/nn/rearrange.h>
#include <sinter/nn/recurrent.h>
#include <sinter/nn/sequence_loss.h>
#include <sinter/nn/similarity.h>
#include <sinter/nn/transformer.h>
