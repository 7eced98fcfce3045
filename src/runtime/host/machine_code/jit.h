// Compiles kernel IR to machine code of this processor, through libLLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "jit/compile/kernel_cache.h"
#include "jit/emit/llvm/emit.h"
#include "jit/ir/kernel.h"

namespace sinter::runtime::host {

/// The signature of a compiled kernel, documented in jit/emit/llvm/emit.h.
using JitFunction = void (*)(void* const* buffers, const std::int64_t* ints, const void* scalars,
                             const emit::LlvmFunction* functions, std::int64_t first, std::int64_t last,
                             void* scratch, std::int64_t cached, std::uint32_t* fault);

/// Loaded machine code; the destructor unloads it.
class JitCode {
 public:
  virtual ~JitCode() = default;
  JitFunction function = nullptr;
  std::size_t bytes = 0;  // of the object code that was loaded
};

struct JitKernel {
  std::shared_ptr<const JitCode> code;
  emit::LlvmSource source;  // its text is dropped
  compile::Origin origin = compile::Origin::Memory;
};

/// A compiler for this machine; thread-safe. Outlives all code that it compiled.
class Jit {
 public:
  virtual ~Jit() = default;
  virtual std::string describe() const = 0;  // "LLVM 19, znver4, 16 lanes"
  virtual const emit::LlvmTarget& target() const = 0;
  /// Compiles, loads and forgets an empty function; throws CompileError.
  virtual void probe() = 0;
  /// Throws CompileError with the compiler's message and the path of the source.
  virtual JitKernel compile(const ir::Kernel& kernel, emit::LlvmLoops loops = emit::LlvmLoops::Whole) = 0;
};

/// The process's compiler, opened at the first call; null with the `reason` where there is none.
Jit* jit(std::string* reason = nullptr);

/// Opens a compiler of the given library ("": the newest one found); null with the `reason`. Empty `cpu` and
/// `features` mean this processor's. `target`: what texts are made for, where that is not what the processor
/// has: LLVM makes several instructions of a vector that is too wide for it, so every text can be tested
/// everywhere.
std::unique_ptr<Jit> open_jit(const std::string& library, const std::string& cpu, const std::string& features,
                              std::string& reason, const emit::LlvmTarget* target = nullptr);

/// The table of the interpreter's vector functions, which compiled code calls for operations that have no
/// LLVM text.
const emit::LlvmFunction* jit_functions();

}  // namespace sinter::runtime::host
