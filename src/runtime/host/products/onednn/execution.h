// How oneDNN's primitives run here: each on one thread; the host's own pool deals out parts of the work.
//
// Two pools of threads on the same cores would wait for each other's spinning, so oneDNN is never let use its
// own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include <oneapi/dnnl/dnnl.hpp>

#include "jit/library/library_op.h"
#include "src/runtime/host/threads/workers.h"

namespace sinter::runtime::host {

constexpr auto kF32 = dnnl::memory::data_type::f32;

dnnl::memory::data_type data_type_of(DType dtype);

/// Whether it is a product of f32, or of two operands of bf16 with a result of bf16 or f32.
bool has_dtypes(const library::ProductOp& op);
/// Of 16-bit floats oneDNN has programs for any processor, which widen them at each use. Throws dnnl::error
/// unless `implementation`, as oneDNN names it, is by instructions that multiply them.
void require_instructions(const library::ProductOp& op, std::string_view implementation);

// A primitive with its machine code, about; oneDNN does not tell.
constexpr std::size_t kPrimitive = 96 * 1024;

const dnnl::engine& engine();

/// Keeps OpenMP in the calling thread as long as this lives; the caller's own setting comes back afterwards.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = 0;
};

/// Scratch memory is ours: one primitive then runs in several threads at once.
dnnl::primitive_attr attributes();

using Arguments = std::unordered_map<int, dnnl::memory>;

/// Memory of `desc` that lies at `data`.
dnnl::memory at(const dnnl::memory::desc& desc, const void* data);

void execute(const dnnl::primitive& primitive, const Arguments& arguments);

/// Runs f(part, thread) for all parts.
template <class F>
void run_parts(Workers& workers, std::int64_t count, F&& f) {
  workers.pool().run(static_cast<std::size_t>(count), [&](std::size_t part, std::size_t thread) {
    const OneThread one_thread;
    f(static_cast<std::int64_t>(part), thread);
  });
}

}  // namespace sinter::runtime::host
