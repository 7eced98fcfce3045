// All free functions on tensors.
#pragma once

#include <sinter/functions/activation.h>
#include <sinter/functions/basic.h>
#include <sinter/functions/convolution.h>
#include <sinter/functions/creation.h>
#include <sinter/functions/fft.h>
#include <sinter/functions/image.h>
#include <sinter/functions/linalg.h>
#include <sinter/functions/maths.h>
#include <sinter/functions/matrix.h>
#include <sinter/functions/options.h>
#include <sinter/functions/padding.h>
#include <sinter/functions/read.h>
#include <sinter/functions/reductions.h>
#include <sinter/functions/sampling.h>
#include <sinter/functions/scan.h>
#include <sinter/functions/scatter.h>
#include <sinter/functions/signal.h>
#include <sinter/functions/sort.h>
#include <sinter/functions/statistics.h>
#include <sinter/functions/sync.h>
#include <sinter/functions/views.h>
