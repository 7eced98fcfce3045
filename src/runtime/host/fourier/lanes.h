// Lines in the lanes of vectors: where they come from and go to, and spectra of real lines there.
#pragma once

#include <array>
#include <cstdint>

#include "src/runtime/host/fourier/passes.h"

namespace sinter::runtime::host::fourier {

/// Up to as many lines as vectors have lanes.
template <class T>
struct Lines {
  std::array<T*, kMostLanes<T>> first;  // the last of `count` lines stands for those that are missing
  std::int64_t count = 0;
  std::int64_t step = 1;      // from one number of a line to the next
  bool lie_together = false;  // line i begins i elements behind line 0
};

/// The first `count` numbers of the lines as rows, `row_step` apart.
template <class T>
[[gnu::visibility("hidden")]] void load_lines(const Lines<const T>& lines, std::int64_t count, T* rows,
                                              std::int64_t row_step);
/// And back, times a factor.
template <class T>
[[gnu::visibility("hidden")]] void store_lines(const Lines<T>& lines, std::int64_t count, const T* rows,
                                               std::int64_t row_step, T factor);

/// 2 h real numbers are h complex ones, whose transforms z have those of the real ones in them: with
/// w = exp(-2 pi i / 2h), z[k] and z[h - k] give twice the results k and h - k. `turns`: w^k for k <= h / 2.
template <class T>
[[gnu::visibility("hidden")]] void part_mirrored(T* rows, std::int64_t h, const T* turns);
/// The way back, of the inverse: from results 0 to h of which those at both ends have no imaginary part.
template <class T>
[[gnu::visibility("hidden")]] void join_mirrored(T* rows, std::int64_t h, const T* turns);

}  // namespace sinter::runtime::host::fourier
