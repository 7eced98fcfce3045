// Kernel IR to machine code of this processor, through libLLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "jit/compile/kernel_cache.h"
#include "jit/emit/llvm/emit.h"
#include "jit/ir/kernel.h"

namespace sinter::runtime::host {

/// A kernel's function, see jit/emit/llvm/emit.h.
using JitFunction = void (*)(void* const* buffers, const std::int64_t* ints, const void* scalars,
                             const emit::LlvmFunction* functions, std::int64_t first, std::int64_t last,
                             void* scratch, std::int64_t cached, std::uint32_t* fault);

/// Machine code that stays loaded as long as someone holds it.
class JitCode {
 public:
  virtual ~JitCode() = default;
  JitFunction function = nullptr;
};

struct JitKernel {
  std::shared_ptr<const JitCode> code;
  emit::LlvmSource source;  // its text is dropped
  compile::Origin origin = compile::Origin::Memory;
};

/// A compiler that works on this machine, used by any number of threads. It outlives all code that it made.
class Jit {
 public:
  virtual ~Jit() = default;
  virtual std::string describe() const = 0;  // "LLVM 19, znver4, 16 lanes"
  virtual const emit::LlvmTarget& target() const = 0;
  /// Compiles, loads and forgets an empty function; throws CompileError.
  virtual void probe() = 0;
  /// Throws CompileError with the compiler's message and the path of the text.
  virtual JitKernel compile(const ir::Kernel& kernel, bool join = false) = 0;
};

/// The process's compiler, opened at the first call; null where there is none, `reason` then says why.
Jit* jit(std::string* reason = nullptr);

/// A compiler from a certain library, "" for the newest that is found; null with the `reason`. `cpu` and
/// `features` are the processor's own where they are empty.
std::unique_ptr<Jit> open_jit(const std::string& library, const std::string& cpu, const std::string& features,
                              std::string& reason);

/// The table of vector functions that code calls for what it has no text for.
const emit::LlvmFunction* jit_functions();

}  // namespace sinter::runtime::host
