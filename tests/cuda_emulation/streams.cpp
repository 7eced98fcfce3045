// Streams of work, run in one of several orders.
#include "streams.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace sinter_emulation {
namespace {

struct Stream;

/// A position in a stream where an event was recorded.
struct Mark {
  Stream* stream;
  bool reached = false;
  std::chrono::steady_clock::time_point when{};
};

struct Operation {
  std::function<int()> work;
  std::shared_ptr<Mark> after;  // null: only earlier work of the stream
};

struct Stream {
  int device;
  bool has_kernels;
  std::deque<Operation> operations;
  bool captures = false, capture_failed = false;
  std::vector<std::function<int()>> captured;
};

struct Event {
  int device;
  bool has_time;
  std::shared_ptr<Mark> mark;  // of the last cuEventRecord
};

std::set<Stream*> streams;
std::set<Event*> events;
int failure = kSuccess;  // the first error of any work; sticky

enum class Order { Now, Late, Behind, Random };
std::mt19937 random_numbers;

Order order() {
  static const Order chosen = [] {
    const char* text = std::getenv("SINTER_EMULATION_ORDER");
    const std::string name = text ? text : "now";
    if (name == "now") return Order::Now;
    if (name == "late") return Order::Late;
    if (name == "behind") return Order::Behind;
    random_numbers.seed(static_cast<unsigned>(std::atoi(name.c_str())));
    return Order::Random;
  }();
  return chosen;
}

void do_next(Stream& stream);

void reach(Mark& mark) {
  while (!mark.reached) do_next(*mark.stream);
}

void do_next(Stream& stream) {
  Operation next = std::move(stream.operations.front());
  stream.operations.pop_front();
  if (next.after) reach(*next.after);
  if (!next.work) return;
  const int result = next.work();
  if (failure == kSuccess) failure = result;
}

void finish(Stream& stream) {
  while (!stream.operations.empty()) do_next(stream);
}

void do_some() {
  // Delays one stream for a while, like a long kernel.
  static const Stream* slow = nullptr;
  static unsigned calls = 0;
  if (calls++ % 256 == 0) {
    auto chosen = streams.begin();
    std::advance(chosen, random_numbers() % streams.size());
    slow = *chosen;
  }
  for (unsigned left = random_numbers() % 3; left > 0; --left) {
    std::vector<Stream*> busy;
    for (Stream* stream : streams)
      if (stream != slow && !stream->operations.empty()) busy.push_back(stream);
    if (busy.empty()) return;
    do_next(*busy[random_numbers() % busy.size()]);
  }
}

int add(void* handle, Operation operation) {
  auto* stream = static_cast<Stream*>(handle);
  if (!streams.count(stream) || stream->device != current_device()) return kInvalidHandle;
  if (stream->captures) return stream->capture_failed = true, kCaptureUnsupported;
  stream->operations.push_back(std::move(operation));
  if (order() == Order::Now || (order() == Order::Behind && !stream->has_kernels)) finish(*stream);
  if (order() == Order::Random) do_some();
  return kSuccess;
}

int create_stream(void** stream, unsigned) {
  if (current_device() < 0) return kInvalidContext;
  if (allocation_fails()) return kOutOfMemory;
  auto* made = new Stream{current_device(), false, {}, false, false, {}};
  streams.insert(made);
  return *stream = made, kSuccess;
}
int destroy_stream(void* handle) {
  auto* stream = static_cast<Stream*>(handle);
  if (!streams.count(stream)) return kInvalidHandle;
  finish(*stream);
  streams.erase(stream);
  return delete stream, kSuccess;
}
int synchronize_stream(void* handle) {
  auto* stream = static_cast<Stream*>(handle);
  if (!streams.count(stream)) return kInvalidHandle;
  finish(*stream);
  return failure;
}
int wait_event(void* stream, void* handle, unsigned flags) {
  auto* event = static_cast<Event*>(handle);
  if (!events.count(event) || flags != 0) return kInvalidHandle;
  // An event that was never recorded blocks nothing.
  return event->mark ? add(stream, {nullptr, event->mark}) : kSuccess;
}

int create_event(void** event, unsigned flags) {
  if (current_device() < 0) return kInvalidContext;
  if (allocation_fails()) return kOutOfMemory;
  auto* made = new Event{current_device(), (flags & 2u) == 0, nullptr};
  events.insert(made);
  return *event = made, kSuccess;
}
int destroy_event(void* handle) {
  auto* event = static_cast<Event*>(handle);
  if (!events.erase(event)) return kInvalidHandle;
  return delete event, kSuccess;
}
int record_event(void* handle, void* stream) {
  auto* event = static_cast<Event*>(handle);
  if (!events.count(event) || event->device != current_device()) return kInvalidHandle;
  event->mark = std::make_shared<Mark>(Mark{static_cast<Stream*>(stream)});
  return add(stream, {[mark = event->mark] {
                        mark->when = std::chrono::steady_clock::now();
                        return mark->reached = true, kSuccess;
                      },
                      nullptr});
}
int elapsed_between_events(float* milliseconds, void* from, void* to) {
  auto *start = static_cast<Event*>(from), *stop = static_cast<Event*>(to);
  for (Event* event : {start, stop})
    if (!events.count(event) || !event->has_time || !event->mark) return kInvalidHandle;
  if (!start->mark->reached || !stop->mark->reached) return kNotReady;
  if (failure) return failure;
  *milliseconds = std::chrono::duration<float, std::milli>(stop->mark->when - start->mark->when).count();
  return kSuccess;
}
int synchronize_event(void* handle) {
  auto* event = static_cast<Event*>(handle);
  if (!events.count(event)) return kInvalidHandle;
  if (event->mark) reach(*event->mark);
  return failure;
}
int query_event(void* handle) {
  auto* event = static_cast<Event*>(handle);
  if (!events.count(event)) return kInvalidHandle;
  if (failure) return failure;
  return !event->mark || event->mark->reached ? kSuccess : kNotReady;
}

}  // namespace

int enqueue(void* stream, std::function<int()> work) { return add(stream, {std::move(work), nullptr}); }

int enqueue_kernels(void* handle, std::function<int()> work) {
  if (auto* stream = static_cast<Stream*>(handle); streams.count(stream)) {
    if (stream->captures) return stream->captured.push_back(std::move(work)), kSuccess;
    stream->has_kernels = true;
  }
  return enqueue(handle, std::move(work));
}

int begin_capture(void* handle) {
  auto* stream = static_cast<Stream*>(handle);
  if (!streams.count(stream) || stream->device != current_device() || stream->captures) return kInvalidHandle;
  stream->captures = true;
  return kSuccess;
}

int end_capture(void* handle, std::vector<std::function<int()>>& work) {
  auto* stream = static_cast<Stream*>(handle);
  if (!streams.count(stream) || !stream->captures) return kInvalidHandle;
  stream->captures = false;
  work = std::exchange(stream->captured, {});
  return std::exchange(stream->capture_failed, false) ? kCaptureUnsupported : kSuccess;
}

int finish_all() {
  for (Stream* stream : streams) finish(*stream);
  return failure;
}

const std::map<std::string, void*>& stream_functions() {
  static const std::map<std::string, void*> functions = {
      {"cuStreamCreate", entry<&create_stream>()},
      {"cuStreamDestroy", entry<&destroy_stream>()},
      {"cuStreamSynchronize", entry<&synchronize_stream>()},
      {"cuStreamWaitEvent", entry<&wait_event>()},
      {"cuEventCreate", entry<&create_event>()},
      {"cuEventDestroy", entry<&destroy_event>()},
      {"cuEventRecord", entry<&record_event>()},
      {"cuEventSynchronize", entry<&synchronize_event>()},
      {"cuEventQuery", entry<&query_event>()},
      {"cuEventElapsedTime", entry<&elapsed_between_events>()},
  };
  return functions;
}

}  // namespace sinter_emulation
