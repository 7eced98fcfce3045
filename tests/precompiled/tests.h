// What most tests include, precompiled where -Db_pch=true (src/precompiled/standard.h): reading it and what
// it instantiates takes a third of the time to compile a test. Alone in its folder because meson asks for
// that. It changes with Sinter's headers, comments included, which a cache of compiled files has to see
// (scripts/common.sh).
#include <random>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/precompiled/standard.h"
