// Kernels whose variants are chosen by timing: what was chosen, and how to have it chosen anew
// (docs/tuning.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <sinter/detail/api.h>

namespace sinter {

/// A choice that was made by timing, as the file of choices has it.
struct TunedKernel {
  std::string device;  // with its driver, compiler and the version of this library
  std::string kernel;  // family, dtype, and a hash of its structure
  std::string sizes;   // the largest of those it holds for: "4096x4096x4096"
  std::string
      parameters;  // "rows=128,columns=256,slots=4,workgroups=1,turns=0", or "library=1,version=130101"
  double microseconds = 0, model_microseconds = 0;  // of a launch; by the cost model's choice
};

/// What the file has, the oldest first; empty where there is none, or none that may be used.
SINTER_API std::vector<TunedKernel> tuned_kernels();
/// Its path; empty where nothing is kept on disk.
SINTER_API std::string tuning_file();
/// Removes all choices, and returns how many there were. Programs that run keep theirs.
SINTER_API std::size_t forget_tuned_kernels();

/// What timing the variants of a kernel came to.
struct TimedKernel {
  struct Variant {
    std::string parameters;
    double microseconds = 0;  // 0: not timed
    std::string dropped;      // why it takes no part; empty: it does
  };
  std::string device, kernel, sizes;
  std::vector<Variant> variants;  // the cost model's choice first
  std::string chosen;
  std::string undecided;  // why the cost model's choice is taken and not stored; empty: it was decided
  std::uint64_t rounds = 0;
  double milliseconds = 0;  // that all of it took
};

/// While an instance exists, plans that are made time the variants of their kernels as SINTER_AUTOTUNE=full
/// does, whatever is known already, and the file of choices takes the results. Plans that were made before
/// stay as they are.
class SINTER_API TuneAnew {
 public:
  TuneAnew();
  ~TuneAnew();
  TuneAnew(const TuneAnew&) = delete;
  TuneAnew& operator=(const TuneAnew&) = delete;

  /// What this process has timed since the last call.
  std::vector<TimedKernel> take_timed();
};

}  // namespace sinter
