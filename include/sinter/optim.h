// Optimizers, schedules of learning rates, averages of weights, scaling of losses.
#pragma once

#include <sinter/optim/adam.h>
#include <sinter/optim/average.h>
#include <sinter/optim/grad_scaler.h>
#include <sinter/optim/lbfgs.h>
#include <sinter/optim/optimizer.h>
#include <sinter/optim/schedule.h>
#include <sinter/optim/sgd.h>
