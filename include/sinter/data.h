// Data sets and how they come in batches.
#pragma once

#include <sinter/data/idx.h>
#include <sinter/data/loader.h>
#include <sinter/data/mnist.h>
