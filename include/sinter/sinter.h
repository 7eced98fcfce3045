// All of Sinter.
#pragma once

#include <sinter/activation.h>
#include <sinter/any_tensor.h>
#include <sinter/data.h>
#include <sinter/describe.h>
#include <sinter/device.h>
#include <sinter/dtype.h>
#include <sinter/environment.h>
#include <sinter/error.h>
#include <sinter/explain.h>
#include <sinter/functions.h>
#include <sinter/module.h>
#include <sinter/nn.h>
#include <sinter/optim.h>
#include <sinter/record.h>
#include <sinter/reflect.h>
#include <sinter/scalar.h>
#include <sinter/shape.h>
#include <sinter/sizes.h>
#include <sinter/tensor.h>
#include <sinter/version.h>
