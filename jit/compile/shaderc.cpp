// Runs shaderc on generated GLSL.
#include "jit/compile/shaderc.h"

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include <shaderc/shaderc.hpp>

#include <sinter/error.h>

#include "jit/compile/cooperative_matrices.h"
#include "jit/compile/library_build.h"
#include "jit/compile/shaderc_build.h"
#include "jit/compile/source_files.h"

namespace sinter::compile {
namespace {

/// One compiler for the whole process: making one takes fifty times longer than a kernel does.
const shaderc::Compiler& compiler() {
  static const shaderc::Compiler& instance = *new shaderc::Compiler;
  return instance;
}

std::vector<std::byte> run_shaderc(const std::string& source) {
  shaderc::CompileOptions options;
  options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
  options.SetOptimizationLevel(shaderc_optimization_level_zero);
  const shaderc::SpvCompilationResult result =
      compiler().CompileGlslToSpv(source, shaderc_compute_shader, "kernel.comp", "main", options);
  if (result.GetCompilationStatus() != shaderc_compilation_status_success)
    throw CompileError("[vulkan] shaderc refused a kernel; its source is " +
                       keep_refused_source(source, ".comp") + "\n" + result.GetErrorMessage());
  const auto words = std::as_bytes(std::span(result.begin(), result.end()));
  return {words.begin(), words.end()};
}

}  // namespace

// shaderc does not tell its own version, only that of the SPIR-V it writes. Linked into this library it is
// what the archives were when that was built; as a library of its own it may be another each day, and so may
// be the glslang and the SPIRV-Tools it uses.
const std::string& shaderc_build() {
  static const std::string& build = *new std::string([] {
    static const char here = 0;
    const auto* shaderc = reinterpret_cast<const void*>(&shaderc_compiler_initialize);
    const std::string archives = SINTER_SHADERC_BUILD;
    if (!in_one_object(shaderc, &here))
      return archives + ", " + builds_of_loaded({"libshaderc", "libglslang", "libSPIRV"});
    return archives.empty() ? build_of(&here) : archives;
  }());
  return build;
}

std::vector<std::uint32_t> compile_glsl(const std::string& source, Origin* origin) {
  dump_source(source, ".comp");
  KernelKey key;
  key.source = source;
  key.options = "O0";
  key.compiler = "shaderc " + shaderc_build();
  key.target = "vulkan1.2";
  const std::vector<std::byte> bytes = KernelCache::global().find_or(
      key, [&] { return run_shaderc(source); }, origin);
  std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
  // The cache has what shaderc made; what is made of that may be another thing in the next version.
  return has_nv_matrices(words) ? with_khr_matrices(words) : words;
}

}  // namespace sinter::compile
