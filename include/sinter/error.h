// The exceptions Sinter throws. Every message is one sentence with the offending values in it.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

#include <sinter/detail/api.h>

namespace sinter {

/// The caller's source line. Public functions take it as a defaulted last argument, so that errors and
/// `explain` can name the user's own line.
using Location = std::source_location;

/// Base of every exception of Sinter. `what()` reads "[op] sentence with values (file.cpp:12)".
class SINTER_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  Error(const std::string& message, const Location& where);
};

/// Shapes, dimensions or indices do not match.
class SINTER_API ShapeError : public Error {
  using Error::Error;
};

/// An operation is not defined for a dtype.
class SINTER_API DTypeError : public Error {
  using Error::Error;
};

/// A device is unknown or missing, a driver failed, or memory ran out.
class SINTER_API DeviceError : public Error {
  using Error::Error;
};

/// The run-time compiler rejected generated source. The message names the file with the source.
class SINTER_API CompileError : public Error {
  using Error::Error;
};

/// The program differentiates a value that has no history, or whose history was released.
class SINTER_API AutodiffError : public Error {
  using Error::Error;
};

/// A file is missing, damaged or of another format.
class SINTER_API DataError : public Error {
  using Error::Error;
};

}  // namespace sinter
