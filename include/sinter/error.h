// The exceptions Sinter throws. Every message is one sentence with the offending values in it.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

#include <sinter/detail/api.h>

namespace sinter {

/// The caller's place in the source. Public functions take it as a defaulted last argument, so that an error
/// and an explanation of a kernel can name the user's own line.
using Location = std::source_location;

/// Base of everything that Sinter throws. `what()` reads "[op] sentence with values (file.cpp:12)".
class SINTER_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  Error(const std::string& message, const Location& where)
      : std::runtime_error(message + " (" + where.file_name() + ":" + std::to_string(where.line()) + ")") {}
};

/// Shapes, dimensions or indices that do not fit together.
class SINTER_API ShapeError : public Error {
  using Error::Error;
};

/// An operation that is not defined for the dtype at hand.
class SINTER_API DTypeError : public Error {
  using Error::Error;
};

/// A device that is unknown or missing, a driver that failed, memory that ran out.
class SINTER_API DeviceError : public Error {
  using Error::Error;
};

/// The run-time compiler refused generated source. The message names the file that holds the source.
class SINTER_API CompileError : public Error {
  using Error::Error;
};

/// Differentiation asked of a value that has no history, or whose history is gone.
class SINTER_API AutodiffError : public Error {
  using Error::Error;
};

/// A file that is missing, damaged or of another format.
class SINTER_API DataError : public Error {
  using Error::Error;
};

}  // namespace sinter
