// The version of these headers, and that of the library that the program runs with.
#pragma once

#include <sinter/detail/api.h>

// meson.build says the same; the library does not compile when they differ.
#define SINTER_VERSION_MAJOR 0
#define SINTER_VERSION_MINOR 1
#define SINTER_VERSION_PATCH 0

/// One number that grows with each version: #if SINTER_VERSION >= 200 asks for 0.2.0.
#define SINTER_VERSION (SINTER_VERSION_MAJOR * 10000 + SINTER_VERSION_MINOR * 100 + SINTER_VERSION_PATCH)

#define SINTER_DETAIL_TEXT_OF(x) #x
#define SINTER_DETAIL_VERSION_TEXT(major, minor, patch) \
  SINTER_DETAIL_TEXT_OF(major) "." SINTER_DETAIL_TEXT_OF(minor) "." SINTER_DETAIL_TEXT_OF(patch)
/// "0.1.0"
#define SINTER_VERSION_STRING \
  SINTER_DETAIL_VERSION_TEXT(SINTER_VERSION_MAJOR, SINTER_VERSION_MINOR, SINTER_VERSION_PATCH)

namespace sinter {

/// SINTER_VERSION as the library was built. Another number than the macro's: the program was compiled with
/// the headers of another version than it runs with.
SINTER_API int version();

/// SINTER_VERSION_STRING as the library was built.
SINTER_API const char* version_string();

}  // namespace sinter
