// Marks the names that the library shows to programs. Everything else in it is hidden.
#pragma once

/// Stands before the name of a class, and before a function's return type. Classes need it that are thrown or
/// have members defined in the library; templates and inline functions need none.
#define SINTER_API __attribute__((visibility("default")))
