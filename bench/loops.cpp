// Elementwise work beside hand-written loops that move the same bytes.
#include "loops.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <sinter/sinter.h>

namespace bench {
namespace {

namespace sn = sinter;
using sn::Device;
using sn::Tensor;
using Clock = std::chrono::steady_clock;

/// f(i) for i < n. The inner loop has a fixed length, so that compilers make vectors of it at -O2 too.
template <class F>
void loop(std::size_t n, F f) {
  constexpr std::size_t kBlock = 64;
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock)
#pragma GCC ivdep
    for (std::size_t k = 0; k < kBlock; ++k) f(i + k);
  for (; i < n; ++i) f(i);
}

/// Memory that loops read and write. `Element` is float, or the bits of a bf16, in which the loops add: they
/// are there for the bytes.
template <class Element>
class Loops {
 public:
  explicit Loops(std::size_t n) : n_(n) {
    for (std::vector<Element>& buffer : buffers_) buffer.assign(n, Element{1});
  }

  void one_to_one() {
    const Element* __restrict x = buffers_[0].data();
    Element* __restrict y = buffers_[1].data();
    loop(n_, [=](std::size_t i) { y[i] = static_cast<Element>(x[i] + x[i]); });
  }
  void three_to_one() {
    const Element* __restrict x = buffers_[0].data();
    const Element* __restrict a = buffers_[1].data();
    const Element* __restrict b = buffers_[2].data();
    Element* __restrict y = buffers_[3].data();
    loop(n_, [=](std::size_t i) { y[i] = static_cast<Element>(x[i] + a[i] + b[i]); });
  }
  /// Three in place.
  void four_to_three() {
    Element* __restrict p = buffers_[0].data();
    Element* __restrict m = buffers_[1].data();
    Element* __restrict v = buffers_[2].data();
    const Element* __restrict g = buffers_[3].data();
    loop(n_, [=](std::size_t i) {
      m[i] = static_cast<Element>(m[i] - g[i]);
      v[i] = static_cast<Element>(v[i] - g[i]);
      p[i] = static_cast<Element>(p[i] - m[i] + v[i]);
    });
  }

 private:
  std::size_t n_;
  std::array<std::vector<Element>, 4> buffers_;
};

struct Case {
  const char* name;
  const char* what;
  /// One repetition of the program.
  std::function<void()> (*program)(std::int64_t n, const Device& device, sn::DType dtype);
  void (Loops<float>::*f32)();
  void (Loops<std::uint16_t>::*bf16)();
};

Tensor<1> normal(std::int64_t n, const Device& device, sn::DType dtype) {
  auto x = Tensor<1>::randn({n}, device).to_float(dtype);
  x.sync();
  return x;
}

constexpr Case kCases[] = {
    {"gelu", "gelu by erf",
     [](std::int64_t n, const Device& device, sn::DType dtype) -> std::function<void()> {
       auto x = normal(n, device, dtype);
       return [=] { gelu_by_ops(x).sync(); };
     },
     &Loops<float>::one_to_one, &Loops<std::uint16_t>::one_to_one},
    {"gelu_tanh", "gelu by tanh",
     [](std::int64_t n, const Device& device, sn::DType dtype) -> std::function<void()> {
       auto x = normal(n, device, dtype);
       return [=] { sn::gelu_tanh(x).sync(); };
     },
     &Loops<float>::one_to_one, &Loops<std::uint16_t>::one_to_one},
    {"chain20", "chain20",
     [](std::int64_t n, const Device& device, sn::DType dtype) -> std::function<void()> {
       auto x = normal(n, device, dtype), a = normal(n, device, dtype), b = normal(n, device, dtype);
       return [=] { chain(x, a, b).sync(); };
     },
     &Loops<float>::three_to_one, &Loops<std::uint16_t>::three_to_one},
    {"adam", "Adam by ops",
     [](std::int64_t n, const Device& device, sn::DType dtype) -> std::function<void()> {
       auto zeros = [&] {
         auto x = Tensor<1>::zeros({n}, device).to_float(dtype);
         x.sync();
         return x;
       };
       auto state = std::make_shared<AdamState>(AdamState{normal(n, device, dtype), zeros(), zeros()});
       auto g = normal(n, device, dtype);
       return [=] {
         adam_by_ops(*state, g);
         state->p.sync();
       };
     },
     &Loops<float>::four_to_three, &Loops<std::uint16_t>::four_to_three},
};

template <class Element>
std::function<double()> beside(std::function<void()> program, std::size_t n,
                               void (Loops<Element>::*loop_of_bytes)()) {
  auto loops = std::make_shared<Loops<Element>>(n);
  auto seconds = [](const auto& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  return [=, program = std::move(program)] {
    // As often as fills a millisecond or so: the sizes of a row end up in the same cache in both.
    const int times = static_cast<int>(std::max<std::size_t>(1, (std::size_t{1} << 21) / n));
    auto repeated = [&](const auto& work) {
      return seconds([&] {
        for (int i = 0; i < times; ++i) work();
      });
    };
    const double own = repeated(program);
    return own / repeated([&] { (*loops.*loop_of_bytes)(); });
  };
}

}  // namespace

std::vector<Workload> loop_rows() {
  std::vector<Workload> rows;
  for (const Case& c : kCases)
    for (const sn::DType dtype : {sn::DType::f32, sn::DType::bf16})
      for (const auto& [n, size] :
           {std::pair<std::int64_t, const char*>{16 << 20, "16mi"}, {1 << 20, "1mi"}, {100'003, "100003"}}) {
        const bool is_half = dtype == sn::DType::bf16;
        Workload row{std::string(c.name) + (is_half ? "_bf16_" : "_") + size + "_to_loop",
                     std::string(c.what) + (is_half ? ", bf16" : "") + ", " + std::to_string(n) +
                         " elements: time over that of a loop that moves the same bytes",
                     3,
                     1,
                     "x",
                     nullptr,
                     [=](const Device& device) -> std::function<double()> {
                       const auto count = static_cast<std::size_t>(n);
                       auto program = c.program(n, device, dtype);
                       return is_half ? beside<std::uint16_t>(std::move(program), count, c.bf16)
                                      : beside<float>(std::move(program), count, c.f32);
                     }};
        row.needs = Workload::Needs::OneThreadOfHost;
        rows.push_back(std::move(row));
      }
  return rows;
}

}  // namespace bench
