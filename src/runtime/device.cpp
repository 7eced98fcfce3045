// Finds devices by name, and makes one DeviceCore for each that lives as long as the program.
#include <atomic>
#include <charconv>
#include <map>
#include <mutex>

#include <unistd.h>

#include <sinter/device.h>
#include <sinter/error.h>

#include "src/base/env.h"
#include "src/base/fork.h"
#include "src/runtime/device_core.h"
#include "src/runtime/explain/collect.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/null/null_backend.h"
#ifdef SINTER_HAS_CUDA
#include "src/runtime/cuda/cuda_backend.h"
#endif
#ifdef SINTER_HAS_VULKAN
#include "src/runtime/vulkan/vulkan_backend.h"
#endif

namespace sinter {
namespace {

using runtime::Backend;
using runtime::DeviceCore;

/// A driver that was opened in one process is of no use in a child that is forked from it.
class OpenedIn {
 public:
  /// Throws DeviceError where an ancestor of this process opened it.
  void require_here(const std::string& device) {
    const pid_t here = ::getpid();
    pid_t opened = 0;
    if (process_.compare_exchange_strong(opened, here) || opened == here) return;
    throw DeviceError("[device] " + device +
                      " cannot be opened here: its driver was in use when this process was "
                      "forked, and does not survive that; use the host, or fork before looking for devices");
  }
  void note() {
    pid_t unopened = 0;
    process_.compare_exchange_strong(unopened, ::getpid());
  }

 private:
  std::atomic<pid_t> process_{0};
};

OpenedIn cuda_driver, vulkan_driver;

int cuda_devices() {
#ifdef SINTER_HAS_CUDA
  cuda_driver.note();
  return runtime::cuda_device_count();
#else
  return 0;
#endif
}

std::unique_ptr<Backend> make_cuda(int index) {
#ifdef SINTER_HAS_CUDA
  cuda_driver.require_here("cuda:" + std::to_string(index));
  const int count = runtime::cuda_device_count();
  if (count == 0)
    throw DeviceError("[device] cuda:" + std::to_string(index) +
                      " is not there: " + runtime::cuda_unavailable_reason());
  if (index >= count)
    throw DeviceError("[device] cuda:" + std::to_string(index) + " is not there: this computer has " +
                      std::to_string(count) + " CUDA device(s)");
  return runtime::make_cuda_backend(index);
#else
  throw DeviceError("[device] cuda:" + std::to_string(index) +
                    ": this build of Sinter has no CUDA (meson option cuda)");
#endif
}

struct VulkanName {
  std::string name;
  bool hardware;
};

std::vector<VulkanName> vulkan_names() {
  std::vector<VulkanName> names;
#ifdef SINTER_HAS_VULKAN
  vulkan_driver.note();
  for (const runtime::VulkanDeviceInfo& info : runtime::vulkan_devices())
    names.push_back({info.name, info.hardware});
#endif
  return names;
}

std::unique_ptr<Backend> make_vulkan(int index) {
#ifdef SINTER_HAS_VULKAN
  vulkan_driver.require_here("vulkan:" + std::to_string(index));
  const std::vector<VulkanName> names = vulkan_names();
  if (names.empty())
    throw DeviceError("[device] vulkan:" + std::to_string(index) +
                      " is not there: " + runtime::vulkan_unavailable_reason());
  if (index >= static_cast<int>(names.size())) {
    std::string list;
    for (const VulkanName& name : names) list += (list.empty() ? "" : ", ") + name.name;
    throw DeviceError("[device] vulkan:" + std::to_string(index) + " is not there: this computer has " +
                      std::to_string(names.size()) + " Vulkan device(s): " + list);
  }
  return runtime::make_vulkan_backend(index);
#else
  throw DeviceError("[device] vulkan:" + std::to_string(index) +
                    ": this build of Sinter has no Vulkan (meson option vulkan)");
#endif
}

/// Never destroyed: values and threads may outlive static objects.
struct Cores final : base::SurvivesFork {
  Cores() { base::watch_forks_first(*this); }

  void before_fork() noexcept override {
    mutex.lock();
    for (const auto& [name, core] : by_name)
      if (core) core->before_fork();
  }
  void after_fork(bool in_child) noexcept override {
    for (const auto& [name, core] : by_name)
      if (core) core->after_fork(in_child);
    mutex.unlock();
  }

  std::mutex mutex;
  std::map<std::string, std::unique_ptr<DeviceCore>> by_name;
};

Cores& cores() {
  static auto* instance = new Cores;
  return *instance;
}

/// The core of that name, made at first use.
DeviceCore& find_core(const std::string& name, std::unique_ptr<Backend> (*make)(int), int index,
                      bool survives_fork = true) {
  std::lock_guard lock(cores().mutex);
  std::unique_ptr<DeviceCore>& entry = cores().by_name[name];
  if (!entry) {
    runtime::explain_process_if_asked();
    std::unique_ptr<Backend> backend = make(index);
    if (base::logs("device")) base::log_line("device", name + ": " + backend->traits().description);
    entry = std::make_unique<DeviceCore>(std::move(backend), survives_fork);
  }
  return *entry;
}

}  // namespace

std::vector<DeviceCore*> runtime::cores_in_use() {
  std::lock_guard lock(cores().mutex);
  std::vector<DeviceCore*> found;
  for (const auto& [name, core] : cores().by_name)
    if (core) found.push_back(core.get());
  return found;
}

Device Device::host() {
  return Device(&find_core(
      "host", [](int) { return runtime::make_host_backend(); }, 0));
}

Device Device::cuda(int index) {
  return Device(&find_core("cuda:" + std::to_string(index), make_cuda, index, false));
}

Device Device::vulkan(int index) {
  return Device(&find_core("vulkan:" + std::to_string(index), make_vulkan, index, false));
}

Device Device::null() {
  return Device(&find_core(
      "null",
      [](int) {
        ir::DeviceTraits traits;
        traits.lanes = 16384;
        traits.groups = 128;
        traits.batch_bytes = 32760;
        traits.grid_reductions = true;
        traits.row_lanes = 1024;
        traits.max_divisions = 128;
        traits.lone_rows = base::environment().lone_rows;
        traits.joins = ir::DeviceTraits::Joins::UnorderedAll;
        if (base::environment().score_tiles) traits.score_tile_bytes = std::size_t{227} << 10;
        traits.tensor_cores = {132, std::size_t{227} << 10};
        traits.tensor_cores.exact_products = 128;
        traits.launch_bytes = 8 << 20;
        traits.work_per_byte = 14;
        traits.wait_bytes = 1 << 20;
        return runtime::make_null_backend(traits);
      },
      0));
}

Device Device::parse(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  int index = 0;
  bool valid = true;
  if (colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    valid = error == std::errc() && end == digits.data() + digits.size() && index >= 0;
  }
  if (valid && kind == "cuda") return cuda(index);
  if (valid && kind == "vulkan") return vulkan(index);
  if (name == "host") return host();
  if (name == "null") return null();
  std::string known = "host, null";
  for (const Device& device : all())
    if (device.name() != "host") known += ", " + device.name();
  throw DeviceError("[device] there is no device \"" + std::string(name) + "\"; this computer has " + known);
}

Device Device::best() {
  if (const std::string& name = base::environment().device; !name.empty()) return parse(name);
  if (cuda_devices() > 0) return cuda(0);
  const std::vector<VulkanName> names = vulkan_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].hardware) return vulkan(static_cast<int>(i));
  return host();
}

std::vector<Device> Device::all() {
  std::vector<Device> devices;
  for (int i = 0; i < cuda_devices(); ++i) devices.push_back(cuda(i));
  const std::vector<VulkanName> names = vulkan_names();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i].hardware == (pass == 0)) devices.push_back(vulkan(static_cast<int>(i)));
    if (pass == 0) devices.push_back(host());
  }
  return devices;
}

const std::string& Device::name() const { return core_->name(); }
const std::string& Device::description() const { return core_->traits().description; }
void Device::seed(std::uint64_t seed, std::uint64_t stream) const { core_->seed(seed, stream); }
void Device::flush() const { core_->recorder().flush(); }
void Device::sync() const { core_->synchronize(); }
std::size_t Device::trim_memory() const { return core_->trim(); }
Statistics Device::statistics() const { return core_->statistics(); }
void Device::reset_statistics() const { core_->reset_statistics(); }

}  // namespace sinter
