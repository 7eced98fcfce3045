// A library with all functions of libLLVM that Sinter loads, which cannot compile anything.
// What it does instead is in SINTER_FAKE_LLVM: "fatal" is an error that ends the process, by way of the
// handler, as LLVM's report_fatal_error does; "diagnose" an error in the code, which ends the process where
// nobody listens; else it refuses the text.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define SINTER_FAKE(name) \
  void* name() { return nullptr; }

extern "C" {

SINTER_FAKE(LLVMGetGEPSourceElementType)
SINTER_FAKE(LLVMContextCreate)
SINTER_FAKE(LLVMContextDispose)
SINTER_FAKE(LLVMCreateMemoryBufferWithMemoryRangeCopy)
SINTER_FAKE(LLVMDisposeMemoryBuffer)
SINTER_FAKE(LLVMGetBufferStart)
SINTER_FAKE(LLVMGetBufferSize)
SINTER_FAKE(LLVMDisposeModule)
SINTER_FAKE(LLVMSetTarget)
SINTER_FAKE(LLVMSetModuleDataLayout)
SINTER_FAKE(LLVMInitializeX86TargetInfo)
SINTER_FAKE(LLVMInitializeX86Target)
SINTER_FAKE(LLVMInitializeX86TargetMC)
SINTER_FAKE(LLVMInitializeX86AsmPrinter)
SINTER_FAKE(LLVMInitializeAArch64TargetInfo)
SINTER_FAKE(LLVMInitializeAArch64Target)
SINTER_FAKE(LLVMInitializeAArch64TargetMC)
SINTER_FAKE(LLVMInitializeAArch64AsmPrinter)
SINTER_FAKE(LLVMGetTargetFromTriple)
SINTER_FAKE(LLVMDisposeTargetMachine)
SINTER_FAKE(LLVMCreateTargetDataLayout)
SINTER_FAKE(LLVMDisposeTargetData)
SINTER_FAKE(LLVMOrcCreateLLJIT)
SINTER_FAKE(LLVMOrcDisposeLLJIT)
SINTER_FAKE(LLVMOrcLLJITGetMainJITDylib)
SINTER_FAKE(LLVMOrcLLJITGetExecutionSession)
SINTER_FAKE(LLVMOrcExecutionSessionGetSymbolStringPool)
SINTER_FAKE(LLVMOrcSymbolStringPoolClearDeadEntries)
SINTER_FAKE(LLVMOrcJITDylibCreateResourceTracker)
SINTER_FAKE(LLVMOrcResourceTrackerRemove)
SINTER_FAKE(LLVMOrcReleaseResourceTracker)
SINTER_FAKE(LLVMOrcLLJITAddObjectFileWithRT)
SINTER_FAKE(LLVMOrcLLJITLookup)
SINTER_FAKE(LLVMGetErrorMessage)
SINTER_FAKE(LLVMDisposeErrorMessage)

char* LLVMGetDefaultTargetTriple() { return ::strdup("nowhere"); }
char* LLVMGetHostCPUName() { return ::strdup("nothing"); }
char* LLVMGetHostCPUFeatures() { return ::strdup("+sse4.1"); }
void LLVMDisposeMessage(char* message) { std::free(message); }

static bool does(const char* what) {
  const char* mode = std::getenv("SINTER_FAKE_LLVM");
  return mode != nullptr && std::strcmp(mode, what) == 0;
}

static void (*fatal_error_handler)(const char*) = nullptr;
static void (*diagnostic_handler)(void*, void*) = nullptr;
static void* diagnostic_context = nullptr;

void LLVMInstallFatalErrorHandler(void (*handler)(const char*)) { fatal_error_handler = handler; }

void LLVMContextSetDiagnosticHandler(void*, void (*handler)(void*, void*), void* context) {
  diagnostic_handler = handler;
  diagnostic_context = context;
}
int LLVMGetDiagInfoSeverity(void*) { return 0; }
char* LLVMGetDiagInfoDescription(void*) { return ::strdup("this library cannot select that"); }

int LLVMParseIRInContext(void*, void*, void**, char** message) {
  if (does("fatal")) {
    if (fatal_error_handler != nullptr) fatal_error_handler("this library cannot go on");
    std::exit(1);
  }
  if (does("diagnose")) return 0;
  *message = ::strdup("this library reads nothing");
  return 1;
}

int LLVMVerifyModule(void*, int, char**) { return 0; }
void* LLVMCreateTargetMachine(void*, const char*, const char*, const char*, int, int, int) {
  static int machine;
  return &machine;
}

int LLVMTargetMachineEmitToMemoryBuffer(void*, void*, int, char**, void** buffer) {
  if (diagnostic_handler == nullptr) {
    std::fputs("error: this library cannot select that\n", stderr);
    std::exit(1);
  }
  diagnostic_handler(nullptr, diagnostic_context);
  *buffer = nullptr;
  return 0;
}

}  // extern "C"
