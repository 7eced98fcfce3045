// Recorders per thread, uploads and downloads, statistics.
#include "src/runtime/device_core.h"

#include <algorithm>
#include <new>
#include <optional>

#include <pthread.h>

#include <sinter/error.h>
#include <sinter/random.h>

#include "src/base/env.h"
#include "src/base/exit_gate.h"
#include "src/runtime/backend.h"
#include "src/runtime/executor.h"
#include "src/runtime/random_tape.h"
#include "src/trace/recorder.h"

namespace sinter::runtime {
namespace {

// A stream's number in front of the number of the draw: 2^40 draws of each of 2^23 streams.
constexpr int kDrawBits = 40;

/// Has no destructor: objects of the thread may end, and compute, after its recorders.
thread_local bool recorders_have_ended = false;

/// What the current thread uses of each device. When the thread ends, its recorders flush and other threads
/// can reuse them.
class ThreadRecorders {
 public:
  struct Entry {
    DeviceCore* device;
    trace::Recorder* recorder;
    std::optional<RandomStream> random;
  };
  ~ThreadRecorders() {
    recorders_have_ended = true;
    for (const Entry& entry : entries_) entry.device->release_recorder(*entry.recorder);
  }
  Entry& find(DeviceCore& device) {
    for (Entry& entry : entries_)
      if (entry.device == &device) return entry;
    return entries_.emplace_back(Entry{&device, &device.acquire_recorder(), std::nullopt});
  }

 private:
  std::vector<Entry> entries_;
};

thread_local ThreadRecorders thread_recorders;

/// The number that a stream's first draw has. Throws Error beyond the streams that there are.
std::uint64_t first_of_stream(const char* what, std::uint64_t stream) {
  if (stream >= DeviceCore::kMostStreams)
    throw Error("[" + std::string(what) + "] stream " + std::to_string(stream) + " is not below " +
                std::to_string(DeviceCore::kMostStreams));
  return stream << kDrawBits;
}

/// For what a thread computes in destructors that run after that of its recorders. Keys end after all objects
/// of the thread; in the thread that ends the process they never do.
ThreadRecorders& late_recorders() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (pthread_key_create(&made, [](void* late) { delete static_cast<ThreadRecorders*>(late); }) != 0)
      throw Error("[device] the system has no place left for what a thread needs that ends");
    return made;
  }();
  if (void* late = pthread_getspecific(key)) return *static_cast<ThreadRecorders*>(late);
  auto late = std::make_unique<ThreadRecorders>();
  if (pthread_setspecific(key, late.get()) != 0) throw std::bad_alloc();
  return *late.release();
}

ThreadRecorders& recorders_of_thread() { return recorders_have_ended ? late_recorders() : thread_recorders; }

}  // namespace

DeviceCore::DeviceCore(std::unique_ptr<Backend> backend, bool survives_fork)
    : backend_(std::move(backend)),
      traits_(backend_->traits()),
      survives_fork_(survives_fork),
      executor_(std::make_unique<Executor>(*backend_)) {}
DeviceCore::~DeviceCore() = default;

const std::string& DeviceCore::name() const { return traits_.name; }
bool DeviceCore::computes(const library::Kind& kind) const { return backend_->computes(kind); }
const std::byte* DeviceCore::host_memory(const BufferView& from, std::size_t bytes) {
  return backend_->host_memory(from, bytes);
}
ThreadPool* DeviceCore::threads() { return backend_->threads(); }
DeviceCore::HostMemory DeviceCore::allocate_host_memory(std::size_t bytes) {
  const auto lock = executor_->lock();
  BufferRef buffer = backend_->allocate(bytes);
  const std::byte* const data = backend_->host_memory({buffer.get(), 0}, bytes);
  if (data == nullptr) return {};
  return {std::move(buffer), const_cast<std::byte*>(data)};
}
void DeviceCore::require_present() const { executor_->require_present(); }
bool DeviceCore::is_lost() const { return executor_->is_lost(); }

bool is_lost(const DeviceCore& device) { return device.is_lost(); }
std::size_t bytes_of(const Buffer& buffer) { return buffer.bytes(); }

void DeviceCore::before_fork() {
  recorders_mutex_.lock();
  for (const auto& recorder : recorders_) recorder->before_fork();
  executor_->before_fork();
  random_mutex_.lock();
  base_mutex_.lock();
}

void DeviceCore::after_fork(bool in_child) {
  base_mutex_.unlock();
  random_mutex_.unlock();
  executor_->after_fork();
  for (const auto& recorder : recorders_) recorder->after_fork();
  recorders_mutex_.unlock();
  if (!in_child || survives_fork_) return;
  executor_->lose();
  trace::buffers_of_lost_devices.store(true);
}

trace::Recorder& DeviceCore::recorder() { return *recorders_of_thread().find(*this).recorder; }

trace::Recorder& DeviceCore::acquire_recorder() {
  base::ExitGate::note_thread();
  std::lock_guard lock(recorders_mutex_);
  // What could not be run when its thread ended waits for its readers, and is nothing to a new thread.
  const auto free = std::find_if(free_recorders_.rbegin(), free_recorders_.rend(),
                                 [](trace::Recorder* recorder) { return recorder->empty(); });
  if (free != free_recorders_.rend()) {
    trace::Recorder* recorder = *free;
    free_recorders_.erase(std::next(free).base());
    recorder->begin_thread();
    return *recorder;
  }
  const auto usual = static_cast<std::size_t>(base::environment().trace_limit);
  const auto longest = static_cast<std::size_t>(std::max<std::int64_t>(0, base::environment().longest_trace));
  recorders_.push_back(std::make_unique<trace::Recorder>(*executor_, *this, usual, longest));
  return *recorders_.back();
}

void DeviceCore::release_recorder(trace::Recorder& recorder) noexcept {
  try {
    recorder.flush();
  } catch (const std::exception&) {
    // Whoever reads a value of it tries again, and is told.
  }
  std::lock_guard lock(recorders_mutex_);
  free_recorders_.push_back(&recorder);
}

trace::ValueRef DeviceCore::upload(std::span<const std::byte> data, const Shape& shape, DType dtype) {
  if (!traits().supports(dtype))
    throw DTypeError("[from_data] " + name() + " (" + traits().description + ") has no " +
                     std::string(name_of(dtype)));
  BufferRef buffer;
  std::unique_ptr<Transfer> transfer;
  const auto begin = [&] {
    const auto lock = executor_->lock();
    buffer = backend_->allocate_for_upload(data.size());
    if (!data.empty()) transfer = backend_->begin_upload({buffer.get(), 0}, data);
  };
  try {
    begin();
  } catch (const DeviceError&) {
    // What failed for want of memory may be all that still fills it.
    if (!recorder().drop_leftovers()) throw;
    begin();
  }
  if (transfer) transfer->finish();
  bytes_to_device_.fetch_add(data.size());
  return trace::make_materialised(*this, shape, dtype, std::move(buffer));
}

std::unique_ptr<Transfer> DeviceCore::begin_download(const BufferView& from, std::span<std::byte> out) {
  count_from_device(out.size());
  const auto lock = executor_->lock();
  return backend_->begin_download(from, out);
}

void DeviceCore::synchronize() {
  recorder().flush();
  backend_->synchronize();
}

std::size_t DeviceCore::trim() {
  const auto lock = executor_->lock();
  return backend_->trim();
}

RandomStream DeviceCore::begin_random() {
  std::lock_guard lock(random_mutex_);
  const std::uint64_t number = unnamed_streams_++;
  return {seed_, (number == 0 ? 0 : kMostStreams + number) << kDrawBits};
}

std::pair<std::int64_t, std::int64_t> DeviceCore::next_random() { return RandomScope::next(*this); }

std::pair<std::int64_t, std::int64_t> DeviceCore::draw_random() {
  std::optional<RandomStream>& random = recorders_of_thread().find(*this).random;
  if (!random) random = begin_random();
  return {static_cast<std::int64_t>(random->seed), static_cast<std::int64_t>(random->next++)};
}

void DeviceCore::seed(std::uint64_t seed, std::uint64_t stream) {
  recorders_of_thread().find(*this).random = RandomStream{seed, first_of_stream("seed", stream)};
  std::lock_guard lock(random_mutex_);
  seed_ = seed;
  if (unnamed_streams_ == 0) unnamed_streams_ = 1;  // this thread might have been the first
}

Statistics DeviceCore::running_counts() {
  Statistics counts = executor_->counts();
  const BackendStatistics backend = executor_->is_lost() ? BackendStatistics() : backend_->statistics();
  counts.graphs_built = backend.graphs_built;
  counts.graph_launches = backend.graph_launches;
  counts.kernels_compiled = backend.kernels_compiled;
  counts.kernels_from_memory = backend.kernels_from_memory;
  counts.kernels_from_disk = backend.kernels_from_disk;
  counts.bytes_to_device = bytes_to_device_.load();
  counts.bytes_from_device = bytes_from_device_.load();
  counts.bytes_in_use = backend.bytes_in_use;
  counts.peak_bytes_in_use = backend.peak_bytes_in_use;
  counts.bytes_reserved = backend.bytes_reserved;
  std::lock_guard lock(recorders_mutex_);
  for (const auto& recorder : recorders_) counts.ops_recorded += recorder->ops_recorded();
  return counts;
}

Statistics DeviceCore::statistics() {
  Statistics counts = running_counts();
  std::lock_guard lock(base_mutex_);
  counts.ops_recorded -= base_.ops_recorded;
  counts.traces -= base_.traces;
  counts.plans_built -= base_.plans_built;
  counts.plans_found -= base_.plans_found;
  counts.plans_dropped -= base_.plans_dropped;
  counts.launches -= base_.launches;
  counts.graphs_built -= base_.graphs_built;
  counts.graph_launches -= base_.graph_launches;
  counts.kernels_compiled -= base_.kernels_compiled;
  counts.kernels_from_memory -= base_.kernels_from_memory;
  counts.kernels_from_disk -= base_.kernels_from_disk;
  counts.bytes_in_place -= base_.bytes_in_place;
  counts.bytes_to_device -= base_.bytes_to_device;
  counts.bytes_from_device -= base_.bytes_from_device;
  return counts;
}

void DeviceCore::reset_statistics() {
  const Statistics counts = running_counts();
  std::lock_guard lock(base_mutex_);
  base_ = counts;
}

}  // namespace sinter::runtime

namespace sinter {
namespace {

std::optional<runtime::RandomStream>& random_of(const Device& device) {
  return runtime::recorders_of_thread().find(device.core()).random;
}

}  // namespace

RandomState Generator::begin(std::uint64_t seed, std::uint64_t stream) {
  return {seed, runtime::first_of_stream("Generator", stream)};
}

RandomState random_state(const Device& device) {
  std::optional<runtime::RandomStream>& random = random_of(device);
  if (!random) random = device.core().begin_random();
  return {random->seed, random->next};
}

void set_random_state(const Device& device, const RandomState& state) {
  device.core().seed(state.seed, 0);
  random_of(device)->next = state.next;
}

}  // namespace sinter
