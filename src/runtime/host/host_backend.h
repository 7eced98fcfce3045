// The host device: runs kernel IR block by block on all cores, without a compiler or a driver.
#pragma once

#include <memory>

#include "src/runtime/backend.h"

namespace sinter::runtime {

std::unique_ptr<Backend> make_host_backend();

}  // namespace sinter::runtime
