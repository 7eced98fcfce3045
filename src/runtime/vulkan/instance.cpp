// Makes the Vulkan instance, finds usable devices, collects validation messages.
#include "src/runtime/vulkan/instance.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/vulkan/device.h"
#include "src/runtime/vulkan/result.h"
#include "src/runtime/vulkan/vulkan_backend.h"

namespace sinter::runtime {
namespace vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr const char* kInstallDriver =
    "install the driver of your GPU, or the package mesa-vulkan-drivers for a device in software";

struct Messages {
  std::mutex mutex;
  std::vector<std::string> pending;
  std::atomic<std::uint64_t> count{0};
};

Messages& messages() {
  static Messages& instance = *new Messages;  // never destroyed: threads may launch
  return instance;
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  // The loader reports odd driver files through the same callback; they are not errors of ours.
  if (data->pMessageIdName && std::strstr(data->pMessageIdName, "Loader Message")) return VK_FALSE;
  Messages& m = messages();
  std::lock_guard lock(m.mutex);
  m.count.fetch_add(1);
  if (m.pending.size() < 16) m.pending.push_back(data->pMessage ? data->pMessage : "(no text)");
  return VK_FALSE;
}

/// The version of the specification that a layer is for; 0: it is not there.
std::uint32_t version_of_layer(const char* name) {
  std::uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  for (const VkLayerProperties& layer : layers)
    if (!std::strcmp(layer.layerName, name)) return layer.specVersion;
  return 0;
}

bool has_instance_extension(const char* name) {
  std::uint32_t count = 0;
  vkEnumerateInstanceExtensionProperties(nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateInstanceExtensionProperties(nullptr, &count, extensions.data());
  for (const VkExtensionProperties& extension : extensions)
    if (!std::strcmp(extension.extensionName, name)) return true;
  return false;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info =
      structure<VkDebugUtilsMessengerCreateInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  info.pfnUserCallback = on_message;
  return info;
}

VkResult create(Instance& out) {
  VkApplicationInfo application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "sinter";
  application.pEngineName = "sinter";
  application.apiVersion = VK_API_VERSION_1_3;

  VkInstanceCreateInfo info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
  // Synchronisation validation finds missing barriers.
  const VkValidationFeatureEnableEXT enabled[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features =
      structure<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = enabled;
  std::vector<const char*> extensions;
  // Without it, loaders leave out devices that are only a part of Vulkan, such as MoltenVK's.
  if (has_instance_extension(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }
  if (out.validation) {
    messenger.pNext = &features;
    info.pNext = &messenger;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledLayerCount = 1;
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
  }
  info.ppEnabledExtensionNames = extensions.data();
  info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  return vkCreateInstance(&info, nullptr, &out.handle);
}

void listen(const Instance& instance) {
  auto create_messenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      vkGetInstanceProcAddr(instance.handle, "vkCreateDebugUtilsMessengerEXT"));
  if (!create_messenger) throw DeviceError("[vulkan] the validation layer lacks VK_EXT_debug_utils");
  VkDebugUtilsMessengerCreateInfoEXT info = messenger_info();
  VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
  check(create_messenger(instance.handle, &info, nullptr, &messenger), "vkCreateDebugUtilsMessengerEXT");
}

Instance make_instance() {
  Instance result;
  result.validation = base::environment().validation;
  if (result.validation) result.layer_version = version_of_layer(kValidationLayer);
  if (result.validation && result.layer_version == 0) {
    result.reason = std::string("SINTER_VULKAN_VALIDATION=1 needs the layer ") + kValidationLayer +
                    ", which is not installed; it is in the package vulkan-validationlayers";
    return result;
  }
  if (VkResult code = create(result); code != VK_SUCCESS) {
    result.handle = VK_NULL_HANDLE;
    result.reason = code == VK_ERROR_INCOMPATIBLE_DRIVER
                        ? std::string("no Vulkan driver was found: ") + kInstallDriver
                        : "the Vulkan loader gave no instance (" + name_of(code) + "): " + kInstallDriver;
    return result;
  }
  if (result.validation) listen(result);

  std::uint32_t count = 0;
  VkResult code = vkEnumeratePhysicalDevices(result.handle, &count, nullptr);
  std::vector<VkPhysicalDevice> found(code == VK_SUCCESS ? count : 0);
  if (!found.empty()) vkEnumeratePhysicalDevices(result.handle, &count, found.data());
  std::string refused;
  for (VkPhysicalDevice device : found) {
    std::string missing = missing_features(device);
    if (missing.empty())
      result.devices.push_back(device);
    else
      refused += (refused.empty() ? "" : "; ") + missing;
  }
  if (!refused.empty() && base::logs("device"))
    base::log_line("device", "Vulkan devices left out: " + refused);
  if (result.devices.empty())
    result.reason = refused.empty() ? std::string("no Vulkan driver has a device: ") + kInstallDriver
                                    : "no Vulkan device can run Sinter's kernels: " + refused;
  return result;
}

}  // namespace

const Instance& instance() {
  static const Instance& made = *new Instance(make_instance());
  return made;
}

bool may_validate_matrices() {
  constexpr std::uint32_t kFirst = VK_MAKE_API_VERSION(0, 1, 4, 311);  // with matrices of bf16
  return !instance().validation || instance().layer_version >= kFirst;
}

std::uint64_t validation_message_count() { return messages().count.load(); }

void throw_validation_messages() {
  if (!validation_message_count()) return;
  Messages& m = messages();
  std::vector<std::string> taken;
  {
    std::lock_guard lock(m.mutex);
    taken.swap(m.pending);
  }
  if (taken.empty()) return;
  std::string text = "[vulkan] the validation layer reported:";
  for (const std::string& message : taken) text += "\n  " + message;
  throw DeviceError(text);
}

}  // namespace vulkan

std::vector<VulkanDeviceInfo> vulkan_devices() {
  std::vector<VulkanDeviceInfo> result;
  for (VkPhysicalDevice device : vulkan::instance().devices) {
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(device, &properties);
    result.push_back({properties.deviceName, vulkan::is_hardware(device)});
  }
  return result;
}

std::string vulkan_unavailable_reason() { return vulkan::instance().reason; }

std::uint64_t vulkan_validation_messages() { return vulkan::validation_message_count(); }

}  // namespace sinter::runtime
