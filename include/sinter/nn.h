// All layers, losses and functions on modules.
#pragma once

#include <sinter/nn/activation.h>
#include <sinter/nn/conv.h>
#include <sinter/nn/dropout.h>
#include <sinter/nn/linear.h>
#include <sinter/nn/loss.h>
#include <sinter/nn/module.h>
#include <sinter/nn/pool.h>
