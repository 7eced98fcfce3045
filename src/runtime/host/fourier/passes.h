// Transforms of columns that lie beside each other in the lanes of vectors: Stockham's passes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter::runtime::host::fourier {

/// Lanes of a vector: as many lines or columns are transformed at once. At most kMostLanes.
template <class T>
inline constexpr std::int64_t kMostLanes = 64 / sizeof(T);
// Hidden in so many words: g++ shows specializations whatever -fvisibility says.
template <class T>
[[gnu::visibility("hidden")]] std::int64_t lanes();

template <class T>
constexpr T rounded_up(T number, T unit) {
  return (number + unit - 1) / unit * unit;
}

/// Vectors of real and of imaginary parts: row i of them is at re + i * re_step and im + i * im_step.
template <class T>
struct Rows {
  T* re = nullptr;
  T* im = nullptr;
  std::int64_t re_step = 0, im_step = 0;

  Rows exchanged() const { return {im, re, im_step, re_step}; }
  operator Rows<const T>() const { return {re, im, re_step, im_step}; }
};

/// The butterflies of a length, whose prime factors are at most 13, and their factors. Each pass takes one
/// radix off; the order of the rows is the natural one on both sides.
template <class T>
class Passes {
 public:
  /// With m = length / (done * radix): row q + done * (p + m * j) for j < radix becomes, times factors, row
  /// q + done * (radix * p + k) for k < radix.
  struct Pass {
    int radix;
    std::int64_t done;  // the product of the radices before
    std::int64_t rest;  // m
    const T* turns;     // [p][k - 1], complex
    const T* roots;     // of an odd radix: complex, `radix` of them
  };

  explicit Passes(std::int64_t length);
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  std::int64_t length() const { return length_; }
  const std::vector<Pass>& passes() const { return passes_; }
  std::size_t held_bytes() const { return table_.capacity() * sizeof(T) + passes_.capacity() * sizeof(Pass); }

 private:
  std::int64_t length_;
  std::vector<Pass> passes_;
  std::vector<T> table_;
};

/// Two buffers of rows, in each of which vectors of real and of imaginary parts take turns.
template <class T>
struct RowBuffers {
  T* first = nullptr;
  T* second = nullptr;

  static Rows<T> rows(T* buffer) {
    const std::int64_t width = lanes<T>();
    return {buffer, buffer + width, 2 * width, 2 * width};
  }
  /// Elements of both buffers together, for so many rows; four more may be read.
  static std::int64_t size(std::int64_t count) { return 2 * one(count); }
  static RowBuffers of(T* memory, std::int64_t count) { return {memory, memory + one(count)}; }

 private:
  static std::int64_t one(std::int64_t count) { return (count + 4) * 2 * lanes<T>(); }
};

/// Transforms rows and returns where they are: in `to`, where that has an address, or else in one of the
/// buffers. `from` may be in a buffer. Without passes, of one row, that stays in `from`.
template <class T>
Rows<const T> transform_rows(const Passes<T>& passes, const Rows<const T>& from, const RowBuffers<T>& buffers,
                             const Rows<T>& to);

}  // namespace sinter::runtime::host::fourier
