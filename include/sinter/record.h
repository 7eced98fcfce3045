// Saving and loading: modules and any named tensors, in files of several formats.
#pragma once

#include <sinter/record/bytes.h>
#include <sinter/record/checkpoint.h>
#include <sinter/record/module.h>
#include <sinter/record/record.h>
