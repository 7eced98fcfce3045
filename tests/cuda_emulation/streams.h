// Streams and events of the emulated driver. SINTER_EMULATION_ORDER sets when work runs:
//   now      at submission (the default)
//   late     only when the program waits for it, and then only what it depends on
//   behind   late on streams with kernels, now on all others: copies run far ahead
//   SEED     a number: in a random order that streams and events allow
// A program that lacks a wait computes something wrong in one order or another.
#pragma once

#include <functional>

#include "driver.h"

namespace sinter_emulation {

/// Enqueues work on a stream. The work returns an error code, which later waits report. kInvalidHandle unless
/// it is a stream of the calling thread's device.
int enqueue(void* stream, std::function<int()> work);
/// As enqueue, for work that runs kernels.
int enqueue_kernels(void* stream, std::function<int()> work);

/// From now on work that runs kernels is not enqueued but kept, and no other work is allowed.
int begin_capture(void* stream);
/// Gives what was kept. An error where there was other work.
int end_capture(void* stream, std::vector<std::function<int()>>& work);

/// Runs all enqueued work of all streams.
int finish_all();

}  // namespace sinter_emulation
