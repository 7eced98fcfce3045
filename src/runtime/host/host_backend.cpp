// The host as a device: memory from a pool, work done while it is handed over.
#include "src/runtime/host/host_backend.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/host/library.h"
#include "src/runtime/host/pool.h"
#include "src/runtime/host/program.h"

#if defined(__linux__)
#include <unistd.h>
#endif

namespace sinter::runtime {
namespace {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

std::size_t physical_memory() {
#if defined(__linux__)
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && size > 0) return static_cast<std::size_t>(pages) * static_cast<std::size_t>(size);
#endif
  return 0;
}

class HostBackend final : public Backend {
 public:
  HostBackend() : workers_(static_cast<std::size_t>(base::environment().host_threads)) {
    traits_.name = "host";
    const std::size_t threads = workers_.pool().size();
    traits_.description =
        processor_name() + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    traits_.is_cpu = true;
    // Long reductions with few outer points are dealt out to the threads here; the planner need not split
    // them.
    traits_.lanes = 1;
    traits_.groups = 1;
    traits_.max_buffers = 128;
    traits_.launch_bytes = 32 * 1024;
    traits_.work_per_byte = 4;
    traits_.batch_bytes = std::size_t{1} << 16;
    traits_.memory_bytes = physical_memory();
  }

  const ir::DeviceTraits& traits() const override { return traits_; }

  BufferRef allocate(std::size_t bytes) override {
    return std::make_shared<host::HostBuffer>(*this, memory_, bytes);
  }

  void upload(const BufferView& to, std::span<const std::byte> data) override {
    check_range(to, data.size(), "upload");
    if (!data.empty()) std::memcpy(host::data_of(to), data.data(), data.size());
  }

  void download(const BufferView& from, std::span<std::byte> data) override {
    check_range(from, data.size(), "download");
    throw_fault();
    if (!data.empty()) std::memcpy(data.data(), host::data_of(from), data.size());
  }

  std::vector<ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    std::vector<ExecutableRef> programs;
    for (const ir::Kernel* kernel : kernels)
      programs.push_back(std::make_shared<host::KernelProgram>(*kernel));
    return programs;
  }

  ExecutableRef prepare(const ir::LibraryOp& op) override { return host::make_library_program(op); }

  void launch(Executable& executable, const LaunchArguments& arguments) override {
    ++launches_;
    auto& program = static_cast<host::HostExecutable&>(executable);
    if (!logs_launches_) return program.run(workers_, arguments, fault_);
    const auto begin = std::chrono::steady_clock::now();
    program.run(workers_, arguments, fault_);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    base::log_line("launch", "host: " + program.describe() + ": " + std::to_string(time.count()) + " us");
  }

  void submit() override {}
  void synchronize() override { throw_fault(); }

  BackendStatistics statistics() const override {
    const PoolStatistics pool = memory_->statistics();
    BackendStatistics result;
    result.launches = launches_;
    result.bytes_in_use = pool.in_use;
    result.bytes_reserved = pool.reserved;
    result.peak_bytes_in_use = pool.peak_in_use;
    return result;
  }

 private:
  static void check_range(const BufferView& view, std::size_t bytes, const char* what) {
    if (view.byte_offset + bytes > view.buffer->bytes())
      throw DeviceError(std::string("[") + what + "] " + std::to_string(bytes) + " bytes at " +
                        std::to_string(view.byte_offset) + " do not fit into a buffer of " +
                        std::to_string(view.buffer->bytes()) + " bytes");
  }

  void throw_fault() {
    if (fault_.exchange(false)) throw ShapeError("[gather] an index was out of range");
  }

  std::shared_ptr<MemoryPool> memory_ = std::make_shared<MemoryPool>();
  host::Workers workers_;
  ir::DeviceTraits traits_;
  std::atomic<bool> fault_{false};
  std::uint64_t launches_ = 0;
  bool logs_launches_ = base::logs("launch");
};

}  // namespace

std::unique_ptr<Backend> make_host_backend() { return std::make_unique<HostBackend>(); }

}  // namespace sinter::runtime
