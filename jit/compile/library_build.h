// Which build of a compiler is at work. Its version is not enough for the key of a cached kernel: a package
// that is updated for a wrong result, or built with a patch, tells the same version.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace sinter::compile {

/// The build of the shared object that holds the address: its name and its build id, which changes with every
/// change of its code. Where it has none: its path, size and time of change.
std::string build_of(const void* address);

/// True iff both addresses lie in the same object.
bool in_one_object(const void* a, const void* b);

/// The builds of the objects that are loaded now whose file names begin with one of these, in the order of
/// their names.
std::string builds_of_loaded(std::initializer_list<std::string_view> prefixes);

}  // namespace sinter::compile
