// A kernel as machine code, launched on all threads. Some launches fall back to the interpreter.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/runtime/host/machine_code/jit.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

class JitProgram final : public HostExecutable {
 public:
  /// Compiles the kernel; throws CompileError. `always`: runs the code even where the interpreter is expected
  /// to be faster. The compiler and the counts outlive the program.
  JitProgram(const ir::Kernel& kernel, Jit& jit, compile::OriginCounts& counts, bool always);

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t* faults) override;
  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const override;
  std::string describe() const override { return "compiled kernel"; }
  std::string describe_launch(std::span<const std::int64_t> ints, std::size_t members) const override;
  std::size_t faults() const override { return kernel_.faults; }
  std::size_t held_bytes() const override;
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
    std::uint32_t* faults = nullptr;
    std::int64_t slices = 0;  // of the first inner loop, which threads share; 0: each takes outer points
    std::int64_t slice_steps = 0;
    bool large = false;        // results that are not read in place bypass the caches
    std::int64_t cached = -1;  // see jit/emit/llvm/emit.h

    double work() const { return unit * static_cast<double>(outer); }
  };
  /// All machine-code members together: the longest scratch, and whether threads share them.
  struct Sum {
    double work = 0;
    std::int64_t pieces = 0;
    std::size_t scratch = 0;
    void add(const Member& member);
    bool shared() const;
    std::int64_t shared_pieces() const { return shared() ? pieces : 1; }
  };
  // As for interpreted code (run.cpp): less work than this, in ns, is not worth waking other threads.
  static constexpr double kWorthSharing = 12e3;
  static constexpr double kPiece = 25e3;

  Member member_of(std::span<const std::int64_t> ints) const;
  bool is_joined(const Member& member) const {
    return member.code != nullptr && member.code == joined_.made.load(std::memory_order_acquire);
  }
  void use(Member& member, const JitKernel& code) const;
  bool is_better_joined(const Member& member) const;
  /// Why the interpreter is expected to be faster; null where it is not.
  const char* reason_to_interpret(const Member& member) const;
  /// Why threads should share the inner loops; null where they should not.
  const char* reason_to_split(const Member& member) const;
  /// Divides the first inner loop; false where that cannot be done.
  bool use_split(Member& member) const;
  /// Whether an inner result lies over what outer values are made of, which every slice makes again.
  bool overwrites_outer(const Member& member) const;
  std::size_t partial_bytes(const Member& member) const;
  void run_split(Workers workers, const Member& member) const;

  /// Code with other loops, compiled at first use by whoever is first.
  struct Variant {
    std::atomic<const JitKernel*> made{nullptr};
    std::atomic<bool> failed{false};
    ~Variant() { delete made.load(); }
  };
  const JitKernel* find_or_compile(Variant& variant, emit::LlvmLoops loops) const;
  std::int64_t cached_of(const Member& member) const;
  void compute(const Member& member, std::int64_t piece, std::byte* scratch) const;

  ir::Kernel kernel_;
  Jit& jit_;
  compile::OriginCounts& counts_;
  bool always_;
  JitKernel code_;
  mutable Variant joined_;                                  // lanes over two loops, for short rows
  mutable Variant split_;                                   // slices of inner loops, for few outer points
  std::vector<std::uint16_t> outer_loads_, inner_stores_;   // buffers
  double outer_result_bytes_ = 0, inner_result_bytes_ = 0;  // bytes stored per outer and per inner point
  KernelProgram interpreted_;
};

}  // namespace sinter::runtime::host
