// Recording costs no allocation per op once a program is in its steady state.
#include <atomic>
#include <cstdlib>
#include <new>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

namespace {

std::atomic<std::uint64_t> allocations{0};

// In a sanitized library each value is a separate allocation (src/trace/value.cpp): one per op.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kPerOp = 1;
#else
constexpr std::uint64_t kPerOp = 0;
#endif

}  // namespace

// The library calls these, too.
void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto whole = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(whole, (bytes + whole - 1) / whole * whole)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

using namespace sinter;

TEST_CASE("a known stretch of elementwise ops is recorded without allocating") {
  const Device device = Device::null();
  Tensor<1> x = Tensor<1>::zeros({16}, device), y = x;
  auto record = [&] {
    for (int i = 0; i < 500; ++i) y = y * 0.5 + x;
  };
  for (int warm = 0; warm < 3; ++warm) {
    record();
    device.sync();
  }
  const std::uint64_t before = allocations;
  record();
  CHECK(allocations - before == kPerOp * 1000);
  device.sync();
  CHECK_MESSAGE(allocations - before < kPerOp * 1000 + 20, "a flush allocates for results, not for ops");
}

TEST_CASE("many inputs and results") {
  const Device device = Device::null();
  std::vector<Tensor<2>> parameters;
  for (int i = 0; i < 300; ++i) parameters.push_back(Tensor<2>::zeros({4, 4 + i % 7}, device));
  auto step = [&] {
    for (Tensor<2>& p : parameters) p = p * 0.9 - 0.1;
  };
  for (int warm = 0; warm < 3; ++warm) {
    step();
    device.sync();
  }
  const std::uint64_t before = allocations;
  step();
  CHECK_MESSAGE(allocations - before < kPerOp * 600 + 30, (allocations - before)
                                                              << " allocations for 600 ops");
  device.sync();
}
