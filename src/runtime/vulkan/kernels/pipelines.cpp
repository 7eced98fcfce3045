// Builds pipelines from SPIR-V.
#include "src/runtime/vulkan/kernels/pipelines.h"

#include "src/base/env.h"
#include "src/runtime/vulkan/kernels/pipeline_statistics.h"
#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {

OwnedPipeline::~OwnedPipeline() {
  if (owner_) owner_->let_go(handle);
}

void Pipelines::let_go(VkPipeline pipeline) noexcept {
  std::lock_guard lock(mutex_);
  --alive_;
  unused_.push_back({pipeline, 0});
}

void Pipelines::end_unused(std::uint64_t open, std::uint64_t completed) noexcept {
  std::lock_guard lock(mutex_);
  std::erase_if(unused_, [&](Unused& unused) {
    if (unused.value == 0) unused.value = open;
    if (unused.value > completed) return false;
    vkDestroyPipeline(device_.handle(), unused.pipeline, nullptr);
    return true;
  });
}

Pipelines::~Pipelines() {
  for (const Unused& unused : unused_) vkDestroyPipeline(device_.handle(), unused.pipeline, nullptr);
  for (const auto& [bindings, layout] : layouts_) {
    vkDestroyPipelineLayout(device_.handle(), layout.pipeline, nullptr);
    vkDestroyDescriptorSetLayout(device_.handle(), layout.set, nullptr);
  }
}

Pipelines::Layout Pipelines::layout(std::uint32_t bindings) {
  std::lock_guard lock(mutex_);
  if (auto found = layouts_.find(bindings); found != layouts_.end()) return found->second;
  std::vector<VkDescriptorSetLayoutBinding> list(bindings);
  for (std::uint32_t i = 0; i < bindings; ++i)
    list[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo set_info =
      structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
  if (bindings <= device_.info().max_push_descriptors)
    set_info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
  set_info.bindingCount = bindings;
  set_info.pBindings = list.data();
  Layout made{};
  check(vkCreateDescriptorSetLayout(device_.handle(), &set_info, nullptr, &made.set),
        "vkCreateDescriptorSetLayout");
  VkPipelineLayoutCreateInfo info =
      structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
  info.setLayoutCount = 1;
  info.pSetLayouts = &made.set;
  const VkResult code = vkCreatePipelineLayout(device_.handle(), &info, nullptr, &made.pipeline);
  if (code != VK_SUCCESS) vkDestroyDescriptorSetLayout(device_.handle(), made.set, nullptr);
  check(code, "vkCreatePipelineLayout");
  return layouts_[bindings] = made;
}

OwnedPipeline Pipelines::make(std::span<const std::uint32_t> spirv, std::uint32_t bindings,
                              std::uint32_t lanes, std::uint32_t row) {
  const Layout shared = layout(bindings);
  {
    std::lock_guard lock(mutex_);
    unused_.reserve(unused_.size() + alive_ + 1);
    ++alive_;
  }
  struct Uncount {  // where no pipeline can be made
    Pipelines* self;
    ~Uncount() {
      if (!self) return;
      std::lock_guard lock(self->mutex_);
      --self->alive_;
    }
  } uncount{this};
  VkShaderModuleCreateInfo module_info =
      structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
  module_info.codeSize = spirv.size_bytes();
  module_info.pCode = spirv.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check(vkCreateShaderModule(device_.handle(), &module_info, nullptr, &module), "vkCreateShaderModule");

  const std::uint32_t constants[] = {lanes, row};
  const VkSpecializationMapEntry entries[] = {{0, 0, sizeof lanes}, {1, sizeof lanes, sizeof row}};
  const VkSpecializationInfo specialization{2, entries, sizeof constants, constants};
  VkComputePipelineCreateInfo info =
      structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  // With full subgroups gl_SubgroupSize is the device's size, and consecutive lanes are in one subgroup.
  if (device_.info().full_subgroups && lanes % device_.info().subgroup_size == 0)
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT required =
      structure<VkPipelineShaderStageRequiredSubgroupSizeCreateInfoEXT>(
          VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO_EXT);
  required.requiredSubgroupSize = device_.info().subgroup_size;
  if (device_.info().chooses_subgroups) info.stage.pNext = &required;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &specialization;
  info.layout = shared.pipeline;
  if (device_.info().has_statistics) info.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const PipelineCache::Handle cache = cache_.handle();
  const auto start = PipelineCache::Clock::now();
  const VkResult code = device_.attempt("vkCreateComputePipelines", [&] {
    return vkCreateComputePipelines(device_.handle(), cache.get(), 1, &info, nullptr, &pipeline);
  });
  cache_.add(PipelineCache::Clock::now() - start);
  vkDestroyShaderModule(device_.handle(), module, nullptr);
  check(code, "vkCreateComputePipelines");
  if (base::logs("compile"))
    base::log_line("compile",
                   "vulkan: a kernel of " + std::to_string(spirv.size_bytes()) + " bytes for groups of " +
                       std::to_string(lanes) + ": " +
                       (device_.info().has_statistics ? pipeline_statistics(device_.handle(), pipeline)
                                                      : "the driver tells nothing of it"));
  uncount.self = nullptr;
  return {*this,
          {pipeline, shared.pipeline, shared.set, bindings, bindings <= device_.info().max_push_descriptors}};
}

}  // namespace sinter::runtime::vulkan
