// Data sets, and loaders that make batches of them.
#pragma once

#include <sinter/data/idx.h>
#include <sinter/data/loader.h>
#include <sinter/data/mnist.h>
