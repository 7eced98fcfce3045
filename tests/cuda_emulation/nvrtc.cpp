// An NVRTC for machines without a GPU: compiles kernels with the host's C++ compiler, for the emulated driver
// to run. Built as libnvrtc.so.13 and found through LD_LIBRARY_PATH, so that tests run the same kernel text
// that runs on a GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <regex>
#include <sstream>
#include <string>

#include <unistd.h>

#include "interface.h"

namespace {

struct Program {
  std::string source, log, code;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr int kSuccess = 0, kCompilation = 6;

/// True iff launches do nothing and the driver takes any code (card.h), so that nothing need be compiled.
bool is_idle_card() {
  const char* idle = std::getenv("SINTER_EMULATION_IDLE");
  return idle && std::string(idle) == "h100";
}

// Constructed before threads start: constructing a regex fills a table of the C++ library without a lock.
const std::regex kStatement(
    R"re(asm\("([\w.]+) %0, %1(?:, %2)?;" : "=\w+"\((\w+)\) : "\w+"\((\w+)\)(?:, "\w+"\((\w+)\))?\);)re");
const std::regex kEntry(R"(extern "C" __global__ void[^{;]*?(sinter_\w+)\()");

/// Replaces single PTX instructions by calls of functions named after them, which kernel_side.h defines:
/// asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); becomes y = ptx_ex2_approx_ftz_f32(x);
std::string without_instructions(const std::string& source) {
  std::string text;
  std::size_t done = 0;
  for (std::sregex_iterator at(source.begin(), source.end(), kStatement), end; at != end; ++at) {
    std::string name = (*at)[1];
    std::replace(name.begin(), name.end(), '.', '_');
    text += source.substr(done, static_cast<std::size_t>(at->position()) - done) + (*at)[2].str() +
            " = ptx_" + name + "(" + (*at)[3].str() + ((*at)[4].matched ? ", " + (*at)[4].str() : "") + ");";
    done = static_cast<std::size_t>(at->position() + at->length());
  }
  return text + source.substr(done);
}

/// Takes functions out of a text.
void take_out(std::string& text, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::size_t at = 0, begin = 0;
    do {  // until it is no call
      at = text.find(std::string(" ") + name + "(", at + 1);
      if (at == std::string::npos) break;
      begin = text.rfind('\n', at) + 1;
    } while (text.compare(begin, 5, "SN_FN") != 0);
    if (at == std::string::npos) continue;
    if (const std::string kTemplate = "template <int kGroups>\n";
        begin >= kTemplate.size() && text.compare(begin - kTemplate.size(), kTemplate.size(), kTemplate) == 0)
      begin -= kTemplate.size();
    // A definition on one line, or up to the brace of its own line.
    const std::size_t line = text.find('\n', at);
    const std::size_t end = text[line - 1] == '}' ? line : text.find("\n}\n", at) + 2;
    text.erase(begin, end - begin);
  }
}

/// Takes the functions out of a text that tensor_side.h has for it, and includes that; a text whose warps
/// multiply no tiles stays as it is.
std::string with_emulated_matrices(const std::string& source) {
  const std::size_t instruction = source.find("mma.sync.aligned.m16n8");
  if (instruction == std::string::npos && source.find("SN_FN void tc_read_four(") == std::string::npos)
    return source;
  std::string text = source;
  take_out(text, {"tc_shared_address",  "tc_copy_16",      "tc_copy_near_16",  "tc_copy_only_8",
                  "tc_copy_only_4",     "tc_commit",       "tc_wait_all_but",  "tc_load_matrices",
                  "tc_load_transposed", "tc_put_words",    "tc_rounded",       "tc_bring_near",
                  "tc_multiply",        "tc_multiply_f32", "tc_multiply_bf16", "tc_multiply_f16",
                  "tc_value",           "tc_values",       "tc_read_four",     "tc_read_two"});
  const char* factor = source.find(".tf32.tf32", instruction) != std::string::npos   ? "0"
                       : source.find(".bf16.bf16", instruction) != std::string::npos ? "1"
                                                                                     : "2";
  return std::string("#define SINTER_EMULATED_FACTOR ") + factor +
         "\n#include \"" SINTER_EMULATION_FOLDER "/tensor_side.h\"\n#line 1 \"kernel.cu\"\n" + text;
}

// Statements of kernels/tensor_cores/contraction_sm90.cu itself.
const std::regex kGroupWait(R"re(asm volatile\("wgmma\.wait_group[^;]*;[^;]*;)re");
const std::regex kGroupStatement(
    R"re(asm volatile\("[^"]*"(?: : (?:"\+f"|SN_SUM_REGISTER)\([^;]*\))? ?:::? ?"memory"\);)re");
const std::regex kRegisters(R"(asm volatile\("setmaxnreg[^)]*\))");

/// Blocks of a cluster; the kernels of a text have as many each.
std::string cluster_of(const std::string& source) {
  std::smatch found;
  return std::regex_search(source, found, std::regex(R"(__cluster_dims__\((\d+))")) ? found[1].str() : "1";
}

/// Copies of windows become calls with their operands: where they are is the kernel's own text.
void call_for_windows(std::string& text) {
  const std::string kEnd = ": \"memory\");";
  for (const std::string dims : {"4d", "5d"}) {
    const std::size_t begin =
        text.find("asm volatile(\n      \"cp.async.bulk.tensor." + dims + ".shared::cluster.global.im2col");
    if (begin == std::string::npos) continue;
    const std::size_t operands = text.find("::\"r\"(to)", begin) + 2, end = text.find(kEnd, operands);
    const std::string plain =
        std::regex_replace(text.substr(operands, end - operands), std::regex(R"("[rlh]"\()"), "(");
    text.replace(begin, end + kEnd.size() - begin, "tc_load_pixels(" + plain + ");");
  }
}

/// Likewise of group_side.h. Lanes of a warp wait for each other where they wait for products: all of them
/// have read a slot when one of them says so.
std::string with_emulated_groups(const std::string& source) {
  const std::size_t instruction = source.find("wgmma.mma_async.sync.aligned.m64n");
  if (instruction == std::string::npos) return source;
  // "k32.f32.e4m3.e5m2 {", and behind the operands ", p, 1, 1, 0, 1;" where factors may lie across the sum.
  const bool is_whole = source.find(".s32.s8.s8 ", instruction) != std::string::npos;
  const std::string kResult = is_whole ? ".s32." : ".f32.", kScales = is_whole ? ", p" : ", p, 1, 1";
  const std::size_t types = source.find(kResult, instruction) + kResult.size(),
                    second = source.find('.', types), end = source.find(' ', second),
                    flags = source.find(kScales, end) + kScales.size();
  const bool has_flags = source[flags] == ',';
  const auto name = [](const std::string& type) { return "sinter_emulation::" + type + ", "; };
  const std::string multiply = "#define tc_multiply(d, a, b, more) sinter_emulation::multiply<" +
                               name(source.substr(types, second - types)) +
                               name(source.substr(second + 1, end - second - 1)) +
                               (has_flags ? source[flags + 2] : '0') + ", " +
                               (has_flags ? source[flags + 5] : '0') + ">(d, a, b, more)\n";
  std::string text = source;
  take_out(text, {"tc_shared_address", "tc_barrier_init", "tc_arrive", "tc_expect", "tc_wait", "tc_prefetch",
                  "tc_load_2d", "tc_load_3d", "tc_load_4d", "tc_load_5d", "tc_sync_group", "tc_put_words",
                  "tc_rounded", "tc_bring_near", "tc_multiply", "tc_sync_consumers", "tc_cluster_barrier",
                  "tc_read_of"});
  call_for_windows(text);
  const std::size_t map = text.find("struct __align__(64) TensorMap");
  text.erase(map, text.find("};", map) + 2 - map);
  text = std::regex_replace(text, kGroupWait, "__syncwarp();");
  text = std::regex_replace(text, kRegisters, "(void)0");
  text = std::regex_replace(text, kGroupStatement, ";");
  const std::string kShared = "extern __shared__ unsigned char shared[]";
  text.replace(text.find(kShared), kShared.size(), "SINTER_SHARED_OF_BLOCK(shared)");
  return "#define SINTER_EMULATED_CLUSTER " + cluster_of(source) +
         "\n#include \"" SINTER_EMULATION_FOLDER "/group_side.h\"\n" + multiply + "#line 1 \"kernel.cu\"\n" +
         text;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 0;  // no real NVRTC's version, so that the cache never mixes its output with theirs
  // Raise when the generated code changes: it is part of the cache key.
  *minor = is_idle_card() ? 0 : 10;
  return kSuccess;
}

const char* nvrtcGetErrorString(int result) { return result == kSuccess ? "success" : "compilation failed"; }

int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{source, "", ""};
  return kSuccess;
}

int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  *program = nullptr;
  return kSuccess;
}

int nvrtcCompileProgram(void* handle, int, const char* const*) {
  Program& program = *static_cast<Program*>(handle);
  if (is_idle_card()) return program.code = "idle", kSuccess;
  char folder[] = "/tmp/sinter-emulation-XXXXXX";
  if (!mkdtemp(folder)) return kCompilation;
  const std::string base = std::string(folder) + "/kernel";
  {
    std::ofstream file(base + ".cpp");
    file << "#include \"" SINTER_EMULATION_FOLDER "/kernel_side.h\"\n#line 1 \"kernel.cu\"\n"
         << without_instructions(with_emulated_groups(with_emulated_matrices(program.source))) << "\n";
    for (std::sregex_iterator at(program.source.begin(), program.source.end(), kEntry), end; at != end;
         ++at) {
      const std::string name = (*at)[1];
      file << "extern \"C\" void run_" << name << "(void** a) { sinter_emulation::call(&" << name
           << ", a); }\n"
           << "extern \"C\" void sizes_" << name << "(unsigned long* to) { sinter_emulation::sizes(&" << name
           << ", to); }\n"
           << "extern \"C\" unsigned cluster_" << name << " = " << cluster_of(program.source) << ";\n";
    }
  }
  // No contraction, like for generated kernels on a GPU. No C++ library: to look through it takes as long as
  // to compile most kernels.
  const std::string command =
      std::string(SINTER_EMULATION_COMPILER) +
      " -std=c++17 -ftemplate-depth=5000 -O1 -w -shared -nostdlib -fPIC -ffp-contract=off -fwrapv -o " +
      base + ".so " + base + ".cpp -lm -lgcc 2> " + base + ".log";
  const int status = std::system(command.c_str());
  program.log = read(base + ".log");
  if (status == 0) {
    const std::string object = read(base + ".so");
    sinter_emulation::CodeHeader header{};
    std::memcpy(header.magic, sinter_emulation::kCodeMagic, sizeof header.magic);
    header.bytes = object.size();
    program.code.assign(reinterpret_cast<const char*>(&header), sizeof header);
    program.code += object;
  }
  for (const char* ending : {".cpp", ".so", ".log"}) std::remove((base + ending).c_str());
  rmdir(folder);
  return status == 0 ? kSuccess : kCompilation;
}

int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = static_cast<Program*>(program)->log.size() + 1;
  return kSuccess;
}
int nvrtcGetProgramLog(void* program, char* log) {
  std::strcpy(log, static_cast<Program*>(program)->log.c_str());
  return kSuccess;
}
int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  *size = static_cast<Program*>(program)->code.size();
  return kSuccess;
}
int nvrtcGetCUBIN(void* program, char* code) {
  const std::string& made = static_cast<Program*>(program)->code;
  std::memcpy(code, made.data(), made.size());
  return kSuccess;
}
int nvrtcGetPTXSize(void* program, std::size_t* size) { return nvrtcGetCUBINSize(program, size); }
int nvrtcGetPTX(void* program, char* code) { return nvrtcGetCUBIN(program, code); }
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 0;
  return kSuccess;
}
int nvrtcGetSupportedArchs(int*) { return kSuccess; }

}  // extern "C"
