// The host device: compiles kernel IR to machine code where an LLVM is installed, and interprets it block by
// block elsewhere. Needs no driver.
#pragma once

#include <memory>

#include "src/runtime/backend.h"

namespace sinter::runtime {

namespace host {
class Jit;
}

/// Runs kernels as SINTER_HOST says. Throws DeviceError where it demands machine code and no LLVM works.
std::unique_ptr<Backend> make_host_backend();

/// Compiles kernels with this compiler, which outlives the backend; null: interprets all of them. `always`: a
/// kernel that the compiler rejects is an error, and no kernel is interpreted because that would be faster.
std::unique_ptr<Backend> make_host_backend(host::Jit* jit, bool always);

}  // namespace sinter::runtime
