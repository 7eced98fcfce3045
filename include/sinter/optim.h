// Optimizers.
#pragma once

#include <sinter/optim/adam.h>
#include <sinter/optim/sgd.h>
