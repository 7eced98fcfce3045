// The host device: kernel IR becomes machine code where an LLVM is installed, and is interpreted block by
// block elsewhere; no driver is needed.
#pragma once

#include <memory>

#include "src/runtime/backend.h"

namespace sinter::runtime {

namespace host {
class Jit;
}

/// Runs kernels as SINTER_HOST says. Throws DeviceError where it asks for machine code and there is no LLVM
/// that works, or SINTER_LLVM names one that does not.
std::unique_ptr<Backend> make_host_backend();

/// Runs kernels as code of this compiler, which outlives the backend; null: interprets all of them. `always`:
/// what it refuses is an error, and nothing is interpreted for being faster that way.
std::unique_ptr<Backend> make_host_backend(host::Jit* jit, bool always);

}  // namespace sinter::runtime
