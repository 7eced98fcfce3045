// Compiles one compute shader; run while the build is configured, to find a shaderc that works.
#include <shaderc/shaderc.hpp>

int main() {
  const char* source =
      "#version 450\n"
      "layout(local_size_x = 8) in;\n"
      "layout(std430, binding = 0) buffer Values { float v[]; };\n"
      "void main() { v[gl_GlobalInvocationID.x] *= 2.0; }\n";
  shaderc::Compiler compiler;
  shaderc::CompileOptions options;
  options.SetTargetEnvironment(shaderc_target_env_vulkan, shaderc_env_version_vulkan_1_2);
  const auto result =
      compiler.CompileGlslToSpv(source, shaderc_compute_shader, "probe.comp", "main", options);
  const bool ok = result.GetCompilationStatus() == shaderc_compilation_status_success;
  return ok && result.end() - result.begin() > 20 ? 0 : 1;
}
