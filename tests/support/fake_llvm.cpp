// A library with all functions of libLLVM that Sinter loads, which cannot compile anything.
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
SINTER_FAKE(LLVMVerifyModule)
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
SINTER_FAKE(LLVMCreateTargetMachine)
SINTER_FAKE(LLVMDisposeTargetMachine)
SINTER_FAKE(LLVMCreateTargetDataLayout)
SINTER_FAKE(LLVMDisposeTargetData)
SINTER_FAKE(LLVMTargetMachineEmitToMemoryBuffer)
SINTER_FAKE(LLVMOrcCreateLLJIT)
SINTER_FAKE(LLVMOrcDisposeLLJIT)
SINTER_FAKE(LLVMOrcLLJITGetMainJITDylib)
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

int LLVMParseIRInContext(void*, void*, void**, char** message) {
  *message = ::strdup("this library reads nothing");
  return 1;
}

}  // extern "C"
