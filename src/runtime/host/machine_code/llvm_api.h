// The part of LLVM's C interface that Sinter uses. The library is opened at run time and the declarations are
// our own, so that building needs no LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sinter::runtime::host {

using LlvmBool = int;
struct LlvmContextTag;
struct LlvmModuleTag;
struct LlvmBufferTag;
struct LlvmTargetTag;
struct LlvmMachineTag;
struct LlvmLayoutTag;
struct LlvmJitTag;
struct LlvmDylibTag;
struct LlvmTrackerTag;
struct LlvmSessionTag;
struct LlvmNamesTag;
struct LlvmErrorTag;
struct LlvmDiagnosticTag;
using LlvmContext = LlvmContextTag*;
using LlvmModuleRef = LlvmModuleTag*;
using LlvmBuffer = LlvmBufferTag*;
using LlvmTargetRef = LlvmTargetTag*;
using LlvmMachine = LlvmMachineTag*;
using LlvmLayout = LlvmLayoutTag*;
using LlvmJit = LlvmJitTag*;
using LlvmDylib = LlvmDylibTag*;
using LlvmTracker = LlvmTrackerTag*;
using LlvmSession = LlvmSessionTag*;
using LlvmNames = LlvmNamesTag*;
using LlvmError = LlvmErrorTag*;
using LlvmDiagnostic = LlvmDiagnosticTag*;

// Enumerators as in llvm-c/TargetMachine.h, llvm-c/Analysis.h and llvm-c/Core.h.
inline constexpr int kLlvmOptimizeLess = 1;
inline constexpr int kLlvmRelocationPic = 2;
inline constexpr int kLlvmCodeModelSmall = 3;
inline constexpr int kLlvmObjectFile = 1;
inline constexpr int kLlvmReturnStatus = 2;
inline constexpr int kLlvmSeverityError = 0;

struct LlvmApi {
  LlvmContext (*context_create)() = nullptr;
  void (*context_dispose)(LlvmContext) = nullptr;
  void (*context_set_diagnostic_handler)(LlvmContext, void (*)(LlvmDiagnostic, void*), void*) = nullptr;
  int (*diagnostic_severity)(LlvmDiagnostic) = nullptr;
  char* (*diagnostic_description)(LlvmDiagnostic) = nullptr;
  /// For the whole library: called before the process ends.
  void (*install_fatal_error_handler)(void (*)(const char*)) = nullptr;
  void (*context_set_opaque_pointers)(LlvmContext, LlvmBool) = nullptr;  // LLVM 15 and 16 only
  void (*version)(unsigned*, unsigned*, unsigned*) = nullptr;            // from LLVM 16 on
  LlvmBuffer (*buffer_copy)(const char*, std::size_t, const char* name) = nullptr;
  void (*buffer_dispose)(LlvmBuffer) = nullptr;
  const char* (*buffer_start)(LlvmBuffer) = nullptr;
  std::size_t (*buffer_size)(LlvmBuffer) = nullptr;
  void (*message_dispose)(char*) = nullptr;
  LlvmBool (*parse)(LlvmContext, LlvmBuffer, LlvmModuleRef*, char**) = nullptr;  // takes the buffer
  LlvmBool (*verify)(LlvmModuleRef, int, char**) = nullptr;
  void (*module_dispose)(LlvmModuleRef) = nullptr;
  void (*module_set_triple)(LlvmModuleRef, const char*) = nullptr;
  void (*module_set_layout)(LlvmModuleRef, LlvmLayout) = nullptr;
  char* (*default_triple)() = nullptr;
  char* (*host_cpu)() = nullptr;
  char* (*host_features)() = nullptr;
  void (*initialize_info)() = nullptr;
  void (*initialize_target)() = nullptr;
  void (*initialize_mc)() = nullptr;
  void (*initialize_printer)() = nullptr;
  LlvmBool (*target_from_triple)(const char*, LlvmTargetRef*, char**) = nullptr;
  LlvmMachine (*machine_create)(LlvmTargetRef, const char* triple, const char* cpu, const char* features,
                                int level, int relocation, int code_model) = nullptr;
  void (*machine_dispose)(LlvmMachine) = nullptr;
  LlvmLayout (*machine_layout)(LlvmMachine) = nullptr;
  void (*layout_dispose)(LlvmLayout) = nullptr;
  LlvmBool (*emit)(LlvmMachine, LlvmModuleRef, int file_type, char**, LlvmBuffer*) = nullptr;
  LlvmError (*jit_create)(LlvmJit*, void* builder) = nullptr;
  LlvmError (*jit_dispose)(LlvmJit) = nullptr;
  LlvmDylib (*jit_dylib)(LlvmJit) = nullptr;
  LlvmTracker (*tracker_create)(LlvmDylib) = nullptr;
  LlvmError (*tracker_remove)(LlvmTracker) = nullptr;
  void (*tracker_release)(LlvmTracker) = nullptr;
  LlvmSession (*jit_session)(LlvmJit) = nullptr;
  LlvmNames (*session_names)(LlvmSession) = nullptr;
  void (*names_clear)(LlvmNames) = nullptr;
  LlvmError (*jit_add_object)(LlvmJit, LlvmTracker, LlvmBuffer) = nullptr;  // takes the buffer
  LlvmError (*jit_lookup)(LlvmJit, std::uint64_t*, const char*) = nullptr;
  char* (*error_message)(LlvmError) = nullptr;  // takes the error
  void (*error_message_dispose)(char*) = nullptr;
};

/// An open libLLVM.
struct LlvmLibrary {
  LlvmApi api;
  int version = 0;       // 14 to 21
  std::string identity;  // its file, for people
  std::string build;     // which library exactly, for cache keys
  std::string problem;   // why there is none that works; empty where all is well

  bool works() const { return problem.empty(); }
};

/// Opens the library at `path`; an empty path means the newest supported version on the system.
LlvmLibrary open_llvm(const std::string& path);

}  // namespace sinter::runtime::host
