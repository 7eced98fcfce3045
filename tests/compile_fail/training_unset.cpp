// expect: Training
#include <sinter/nn/dropout.h>

#ifdef SINTER_CONTROL
sinter::nn::Dropout dropout{.probability = 0.5, .training = false};
#else
sinter::nn::Dropout dropout{.probability = 0.5};
#endif
