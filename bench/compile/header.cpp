#include <sinter/sinter.h>
