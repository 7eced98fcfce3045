// Copies of values to host memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <sinter/error.h>

#include "src/trace/value.h"

namespace sinter::runtime {

/// Computes the values that are pending, each recorder's together, and does not wait for the devices. Throws
/// what is known to have gone wrong with any of them, and where a device is lost.
void compute(std::vector<trace::Value*> values);

struct ReadRequest {
  trace::Value* value = nullptr;
  std::span<std::byte> out;  // all elements, row-major
};

/// Computes the values that are pending, each recorder's together, and copies all of them: the copies of all
/// devices are under way before the first is waited for. Throws what went wrong with a value; all values are
/// what they were then.
void read(std::span<const ReadRequest> requests, const Location& where);

}  // namespace sinter::runtime
