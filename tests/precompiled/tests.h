// What tests include, precompiled where -Db_pch=true (src/precompiled/standard.h). Alone in its folder
// because meson asks for that.
#include <random>

#include <doctest/doctest.h>

#include "src/precompiled/standard.h"
