// Streams and events of the emulated driver. SINTER_EMULATION_ORDER says when work is done:
//   now      as it is handed over (this is so where it is not set)
//   late     not before somebody waits for it, and then no more of other streams than it waits for
//   behind   late on streams with kernels, now on all others: copies run far ahead
//   SEED     a number: at random, any order that streams and events allow
// A program that lacks a wait computes something wrong in one order or another.
#pragma once

#include <functional>

#include "driver.h"

namespace sinter_emulation {

/// Hands work to a stream; it gives an error code, which later waits report. kInvalidHandle for what is no
/// stream of the calling thread's device.
int enqueue(void* stream, std::function<int()> work);
/// The same for work that runs kernels.
int enqueue_kernels(void* stream, std::function<int()> work);

/// Does everything that was handed over, of all streams.
int finish_all();

}  // namespace sinter_emulation
