// The object behind a `Device` handle: a backend, its executor, and the recorders of the threads that use it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <sinter/device.h>

#include "src/trace/value.h"

namespace sinter::ir {
struct DeviceTraits;
}
namespace sinter::library {
class Kind;
}
namespace sinter::trace {
class Recorder;
}

namespace sinter::runtime {

class Backend;
struct BufferView;
class Executor;
class ThreadPool;
class Transfer;

/// The random numbers of one thread: op after op draws with the same seed and the next number of the stream.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t next = 0;
};

class DeviceCore {
 public:
  /// `survives_fork`: a forked child may go on with the backend.
  explicit DeviceCore(std::unique_ptr<Backend> backend, bool survives_fork = true);
  ~DeviceCore();

  const std::string& name() const;
  const ir::DeviceTraits& traits() const { return traits_; }

  /// True iff the device has a way to prepare library ops of the kind.
  bool computes(const library::Kind& kind) const;

  /// The calling thread's recorder.
  trace::Recorder& recorder();
  /// `acquire_recorder` finds or makes a recorder for a thread that has none yet. `release_recorder` flushes
  /// it when the thread ends; what fails then stays pending, and its readers try again.
  trace::Recorder& acquire_recorder();
  void release_recorder(trace::Recorder& recorder) noexcept;

  /// Makes a value with the given content (row-major, contiguous).
  trace::ValueRef upload(std::span<const std::byte> data, const Shape& shape, DType dtype);

  /// Begins a copy to host memory (Backend::begin_download); reading.h reads values.
  std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> out);
  /// Backend::host_memory.
  const std::byte* host_memory(const BufferView& from, std::size_t bytes);
  /// Backend::threads.
  ThreadPool* threads();
  /// A new buffer, for make_materialised, that the caller fills through `data` before others see it. Null
  /// where the device's memory is not the host's own.
  struct HostMemory {
    std::shared_ptr<Buffer> buffer;
    std::byte* data = nullptr;
  };
  HostMemory allocate_host_memory(std::size_t bytes);
  void count_from_device(std::size_t bytes) { bytes_from_device_.fetch_add(bytes); }
  /// Throws DeviceError in a forked child where the device did not come along.
  void require_present() const;

  /// Flushes the calling thread's recorder, and waits for the work of all threads.
  void synchronize();
  /// Returns cached memory to the driver or the system; the number of bytes.
  std::size_t trim();

  /// Seed and stream number of the calling thread's next random op: `draw_random` has those of its stream, of
  /// which RandomScope may know better.
  std::pair<std::int64_t, std::int64_t> next_random();
  std::pair<std::int64_t, std::int64_t> draw_random();
  /// The calling thread's numbers from now on, and the seed of threads that have drawn none yet. Throws Error
  /// for a stream above kMostStreams.
  void seed(std::uint64_t seed, std::uint64_t stream);
  static constexpr std::uint64_t kMostStreams = std::uint64_t{1} << 22;
  /// The stream of a thread that draws without having been given one: streams in the order in which such
  /// threads come, apart from those that people name.
  RandomStream begin_random();

  Statistics statistics();
  void reset_statistics();

  /// Around a fork, by the thread that forks: holds all locks of the device's recorders and runs meanwhile
  /// (src/base/fork.h has the order). Where the backend does not survive it, everything that would reach the
  /// backend throws DeviceError in the child, and buffers stay as they are.
  void before_fork();
  void after_fork(bool in_child);
  bool is_lost() const;

 private:
  Statistics running_counts();

  std::unique_ptr<Backend> backend_;
  const ir::DeviceTraits& traits_;  // of the backend
  const bool survives_fork_;
  std::unique_ptr<Executor> executor_;
  std::mutex recorders_mutex_;
  std::vector<std::unique_ptr<trace::Recorder>> recorders_;
  std::vector<trace::Recorder*> free_recorders_;
  std::mutex random_mutex_;
  std::uint64_t seed_ = 0, unnamed_streams_ = 0;
  std::atomic<std::uint64_t> bytes_to_device_{0}, bytes_from_device_{0};
  std::mutex base_mutex_;
  Statistics base_;  // subtracted from the running counts by reset_statistics
};

/// The devices that somebody has used so far.
std::vector<DeviceCore*> cores_in_use();

}  // namespace sinter::runtime
