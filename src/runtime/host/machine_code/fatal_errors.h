// Survives what LLVM calls a fatal error.
//
// At such an error LLVM calls a handler and ends the process as soon as that returns. It cannot be left by an
// exception or a jump either: its code is compiled without exceptions, and the locks it holds would stay
// locked. So LLVM runs on a thread of its own, and the handler never returns: that thread sleeps until the
// process ends, and who asked for the work goes on without it. LLVM is not called any more after that; what
// it has made and loaded is of further use.
#pragma once

#include <functional>

#include "src/runtime/host/machine_code/llvm_api.h"

namespace sinter::runtime::host {

/// Makes fatal errors of this library known here. The handler is one for all who use the library in this
/// process; errors of calls that were not made through here end the process, as they do without a handler.
void watch_fatal_errors(const LlvmApi& api);

/// Runs work that calls LLVM, unless that has ended. Throws what the work throws, and CompileError after a
/// fatal error, of this call or of any other. The work may then still be running or stand still for ever, so
/// it owns what it uses.
void run_llvm(std::function<void()> work);

/// True once the process ends, and LLVM's static objects with it: from then on `run_llvm` throws
/// CompileError.
bool llvm_has_ended();

/// True after a fatal error.
bool llvm_has_failed();

}  // namespace sinter::runtime::host
