// A kernel as machine code, launched on all threads. Some launches fall back to the interpreter.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "src/runtime/host/machine_code/jit.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

class JitProgram final : public HostExecutable {
 public:
  /// Compiles the kernel; throws CompileError. `always`: runs the code even where the interpreter is expected
  /// to be faster. The compiler and the counts outlive the program.
  JitProgram(const ir::Kernel& kernel, Jit& jit, compile::OriginCounts& counts, bool always);

  void run(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault) override;
  std::string describe() const override;
  std::string how(std::span<const std::int64_t> ints, std::size_t members) override;

 private:
  /// One member of a batched launch: its loop sizes, and its division into pieces.
  struct Member {
    std::int64_t outer = 1, inner = 1;  // points
    std::int64_t row = 1, before = 1;   // points of the vectorised loop, and of the loop around it
    const JitKernel* code = nullptr;    // null: interpreted
    const char* reason = nullptr;       // why it is interpreted
    double unit = 0;                    // estimated ns of an outer point
    std::size_t scratch = 0;            // bytes per thread
    std::int64_t per_piece = 1, pieces = 0;
    void* const* buffers = nullptr;
    const std::int64_t* ints = nullptr;
    const std::uint64_t* scalars = nullptr;
    bool cached = true;  // false: stores bypass the caches

    double work() const { return unit * static_cast<double>(outer); }
  };
  Member member_of(std::span<const std::int64_t> ints);
  void use(Member& member, const JitKernel& code) const;
  bool is_better_joined(const Member& member) const;
  /// Why the interpreter is expected to be faster; null where it is not.
  const char* reason_to_interpret(const Member& member) const;
  const JitKernel* joined();
  void compute(const Member& member, Workers& workers, std::int64_t piece, std::size_t thread,
               std::uint32_t& fault) const;

  ir::Kernel kernel_;
  Jit& jit_;
  compile::OriginCounts& counts_;
  bool always_;
  JitKernel code_;
  JitKernel joined_;  // lanes over two loops, for short rows; compiled at first use
  bool join_failed_ = false;
  double outer_result_bytes_ = 0, inner_result_bytes_ = 0;  // bytes stored per outer and per inner point
  KernelProgram interpreted_;
  std::string last_;  // for `describe`
};

}  // namespace sinter::runtime::host
