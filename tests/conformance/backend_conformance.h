// The conformance suite that every backend must pass, run by a test program of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/runtime/backend.h"
#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {

struct ConformanceOptions {
  int random_kernels = 200;
  int random_long_kernels = 0;  // few outer points, long inner loops; the oracle needs a second for ten
  std::uint64_t first_seed = 0;
  bool products = true, segments = true;  // ops of the library, which no generated kernel computes
  Precision precision;
  double library_relative = 1e-5;  // error of f32 matmul and conv2d, relative to the sum of |terms|
  double library_relative_f64 = 1e-13;
};

/// Runs all functions below. Reports failures through doctest, with the kernel's text.
void check_backend(runtime::Backend& backend, const ConformanceOptions& options = {});

/// Allocation, transfers at any offset and size, buffers allocated and released while work is in flight.
void check_memory(runtime::Backend& backend);
/// Kernels against the oracle, twice: both runs must give the same bits.
void check_kernels(runtime::Backend& backend, const std::vector<KernelCase>& cases,
                   const ConformanceOptions& options);
/// Every elementwise op over special and random values, for each dtype that it accepts.
void check_operations(runtime::Backend& backend, const ConformanceOptions& options);
void check_library_ops(runtime::Backend& backend, const ConformanceOptions& options);
/// The library ops that a scatter is made of.
void check_segments(runtime::Backend& backend, const ConformanceOptions& options);
/// The kernels in batched launches of members with different sizes, where the backend supports them.
void check_kernels_of_members(runtime::Backend& backend, std::vector<KernelCase> cases,
                              const ConformanceOptions& options);
/// An index out of range sets the word of its LoadAt, member, launch and run, and nothing else.
void check_faults(runtime::Backend& backend, const ConformanceOptions& options);

/// Kernels of check_operations: each with as many ops as `max_outputs` allows.
std::vector<KernelCase> operation_kernels(bool with_f64, std::size_t max_outputs);

}  // namespace sinter::testing
