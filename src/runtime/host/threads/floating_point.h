// The processor's floating-point control while the host computes.
#pragma once

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace sinter::runtime {

/// Rounding to nearest, denormals as they are, no traps: for as long as this object lives, on this thread.
/// Programs change these for their own reasons (games flush denormals, interval arithmetic rounds up), and a
/// tensor's values must not depend on it. The caller's settings are back at the end.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() : callers_(control()) {
    if (callers_ != kDefault) set_control(kDefault);
  }
  ~DefaultFloatingPoint() {
    if (callers_ != kDefault) set_control(callers_);
  }
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
#if defined(__x86_64__) || defined(__i386__)
  // MXCSR without its sticky exception flags: all exceptions masked.
  static constexpr std::uint64_t kDefault = 0x1f80, kFlags = 0x3f;
  static std::uint64_t control() { return _mm_getcsr() & ~kFlags; }
  static void set_control(std::uint64_t bits) {
    _mm_setcsr(static_cast<unsigned>(bits | (_mm_getcsr() & kFlags)));
  }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kDefault = 0;
  static std::uint64_t control() {
    std::uint64_t bits = 0;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void set_control(std::uint64_t bits) { asm volatile("msr fpcr, %0" ::"r"(bits)); }
#else
  static constexpr std::uint64_t kDefault = FE_TONEAREST;
  static std::uint64_t control() { return static_cast<std::uint64_t>(std::fegetround()); }
  static void set_control(std::uint64_t bits) { std::fesetround(static_cast<int>(bits)); }
#endif

  const std::uint64_t callers_;
};

}  // namespace sinter::runtime
