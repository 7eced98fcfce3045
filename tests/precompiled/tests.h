// What tests include, precompiled where -Db_pch=true (src/precompiled/standard.h).
#include <random>

#include <doctest/doctest.h>

#include "src/precompiled/standard.h"
