// The host's functions, interpreted and compiled, against double precision and their stated bounds.
//
// SINTER_TEST_ALL_FLOATS=1 goes over all 2^32 floats, about a minute a function; SINTER_TEST_FUNCTION=tanh
// chooses one.
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/env.h"
#include "src/runtime/host/host_backend.h"
#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/machine_code/jit.h"
#include "src/runtime/host/maths/bounds.h"
#include "tests/support/kernels/random_kernel.h"

namespace {

using namespace sinter;
namespace host = sinter::runtime::host;

constexpr std::size_t kBlock = std::size_t{1} << 20;

/// The error as bounds.h defines it, in units of at least 2^least.
double ulps(float got, double want, int least = -149) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got)) return INFINITY;
  if (want == 0 && got == 0) return std::signbit(want) == std::signbit(got) ? 0 : INFINITY;
  const float rounded = static_cast<float>(want);
  if (std::isinf(rounded)) {
    if (got == rounded) return 0;
    return std::isinf(want) || std::abs(got) < std::numeric_limits<float>::max() ? INFINITY : 1;
  }
  if (std::isinf(got)) return std::abs(rounded) == std::numeric_limits<float>::max() ? 1 : INFINITY;
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(want) >> 52 & 0x7ff) - 1023;
  const int inverse = 1023 - std::max(exponent - 23, least);
  const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(inverse) << 52);
  return std::abs(static_cast<double>(got) - want) * scale;
}

/// The same for f64, where a long double is wider.
double ulps(double got, long double want, int = 0) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (want == 0 && got == 0) return std::signbit(want) == std::signbit(got) ? 0 : INFINITY;
  const double rounded = static_cast<double>(want);
  if (std::isinf(rounded) || !std::isfinite(got)) return got == rounded ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(want, &exponent);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) /
                             std::ldexp(1.0L, std::max(exponent - 53, -1074)));
}

using Reference = double (*)(double);
Reference reference_of(Op op) {
  switch (op) {
    case Op::Exp: return [](double x) { return std::exp(x); };
    case Op::Expm1: return [](double x) { return std::expm1(x); };
    case Op::Log: return [](double x) { return std::log(x); };
    case Op::Log1p: return [](double x) { return std::log1p(x); };
    case Op::Sin: return [](double x) { return std::sin(x); };
    case Op::Cos: return [](double x) { return std::cos(x); };
    case Op::Tan: return [](double x) { return std::tan(x); };
    case Op::Asin: return [](double x) { return std::asin(x); };
    case Op::Acos: return [](double x) { return std::acos(x); };
    case Op::Atan: return [](double x) { return std::atan(x); };
    case Op::Sinh: return [](double x) { return std::sinh(x); };
    case Op::Cosh: return [](double x) { return std::cosh(x); };
    case Op::Asinh: return [](double x) { return std::asinh(x); };
    case Op::Acosh: return [](double x) { return std::acosh(x); };
    case Op::Atanh: return [](double x) { return std::atanh(x); };
    case Op::Tanh: return [](double x) { return std::tanh(x); };
    case Op::Sigmoid: return [](double x) { return 1 / (1 + std::exp(-x)); };
    case Op::Erf: return [](double x) { return std::erf(x); };
    case Op::Ndtr: return [](double x) { return std::erfc(x * -0.70710678118654752) / 2; };
    case Op::Sqrt: return [](double x) { return std::sqrt(x); };
    case Op::Rsqrt: return [](double x) { return 1 / std::sqrt(x); };
    case Op::Recip: return [](double x) { return 1 / x; };
    case Op::Floor: return [](double x) { return std::floor(x); };
    case Op::Ceil: return [](double x) { return std::ceil(x); };
    case Op::Round: return [](double x) { return std::nearbyint(x); };
    case Op::Trunc: return [](double x) { return std::trunc(x); };
    default: throw std::logic_error("no reference for " + std::string(name_of(op)));
  }
}

using WideReference = long double (*)(long double);
WideReference wide_reference_of(Op op) {
  switch (op) {
    case Op::Exp: return [](long double x) { return std::exp(x); };
    case Op::Expm1: return [](long double x) { return std::expm1(x); };
    case Op::Log: return [](long double x) { return std::log(x); };
    case Op::Log1p: return [](long double x) { return std::log1p(x); };
    case Op::Tanh: return [](long double x) { return std::tanh(x); };
    case Op::Sigmoid: return [](long double x) { return 1 / (1 + std::exp(-x)); };
    default: throw std::logic_error("no reference for " + std::string(name_of(op)));
  }
}

/// y = op(a) or op(a, b) over up to kBlock numbers.
template <class T>
class Function {
 public:
  virtual ~Function() = default;
  virtual void run(const T* a, const T* b, T* y, std::size_t n) = 0;
};

template <class T>
constexpr DType kDType = sizeof(T) == 4 ? DType::f32 : DType::f64;

template <class T>
class Interpreted final : public Function<T> {
 public:
  explicit Interpreted(Op op)
      : block_(host::block_functions().elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(
            kDType<T>)][static_cast<std::size_t>(host::Form::VV)]) {}
  void run(const T* a, const T* b, T* y, std::size_t n) override { block_(y, a, b, nullptr, n); }

 private:
  host::BlockFunction block_;
};

/// Launches like a backend.
template <class T>
class Compiled final : public Function<T> {
 public:
  Compiled(host::Jit& jit, Op op, int operands) : backend_(runtime::make_host_backend(&jit, true)) {
    testing::KernelBuilder k({static_cast<std::int64_t>(kBlock)});
    std::vector<ir::ExprId> args;
    for (int i = 0; i < operands; ++i) {
      const std::uint16_t x = k.input_bytes(kDType<T>, std::vector<std::byte>(kBlock * sizeof(T)));
      args.push_back(k.load(x, k.all()));
      buffers_.push_back(backend_->allocate(kBlock * sizeof(T)));
    }
    const std::uint16_t y = k.output(kDType<T>, kBlock);
    buffers_.push_back(backend_->allocate(kBlock * sizeof(T)));
    k.store(y, k.all(), operands == 1 ? k.op(op, args[0]) : k.op(op, args[0], args[1]));
    case_ = k.finish("function");
    const ir::Kernel* kernel = &case_.kernel;
    executable_ = backend_->compile({&kernel, 1}).at(0);
  }
  void run(const T* a, const T* b, T* y, std::size_t n) override {
    std::vector<runtime::BufferView> views;
    for (const runtime::BufferRef& buffer : buffers_) views.push_back({buffer.get(), 0});
    backend_->upload(views[0], std::as_bytes(std::span(a, n)));
    if (views.size() == 3) backend_->upload(views[1], std::as_bytes(std::span(b, n)));
    backend_->begin(nullptr, {});
    backend_->launch(*executable_, {views, case_.bindings.ints, case_.bindings.scalars});
    backend_->submit();
    backend_->download(views.back(), std::as_writable_bytes(std::span(y, n)));
  }

 private:
  std::unique_ptr<runtime::Backend> backend_;
  testing::KernelCase case_;
  runtime::ExecutableRef executable_;
  std::vector<runtime::BufferRef> buffers_;
};

template <class T>
struct Way {
  std::string name;
  std::unique_ptr<Function<T>> function;
  double worst = 0;
  T at = 0, at_second = 0;
  std::vector<T> y = std::vector<T>(kBlock);
};

/// A compiler for processors without fused multiply-add.
host::Jit* plain_jit() {
#if defined(__x86_64__)
  static std::string reason;
  static const auto jit = host::open_jit(base::environment().llvm, "x86-64", "+sse3,+ssse3,+sse4.1", reason);
  return jit.get();
#else
  return nullptr;
#endif
}

template <class T>
std::vector<Way<T>> ways_of(Op op, int operands) {
  std::vector<Way<T>> ways;
  auto add = [&](std::string name, std::unique_ptr<Function<T>> function) {
    ways.emplace_back();
    ways.back().name = std::move(name);
    ways.back().function = std::move(function);
  };
  add("interpreted", std::make_unique<Interpreted<T>>(op));
  if (host::jit() != nullptr) add("compiled", std::make_unique<Compiled<T>>(*host::jit(), op, operands));
  if (plain_jit() != nullptr)
    add("compiled without fma", std::make_unique<Compiled<T>>(*plain_jit(), op, operands));
  return ways;
}

/// Compares the first n results of all implementations and targets.
template <class T, class Want>
void compare(std::vector<Way<T>>& ways, const std::vector<T>& a, const std::vector<T>& b, std::size_t n,
             Want&& want, int least = -149) {
  for (Way<T>& way : ways) way.function->run(a.data(), b.data(), way.y.data(), n);
  const std::size_t parts = std::max(1u, std::thread::hardware_concurrency());
  struct Worst {
    double error = 0;
    std::size_t at = 0;
  };
  std::vector<std::vector<Worst>> worst(parts, std::vector<Worst>(ways.size()));
  std::vector<std::thread> threads;
  for (std::size_t part = 0; part < parts; ++part)
    threads.emplace_back([&, part] {
      for (std::size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
        const auto exact = want(i);
        for (std::size_t w = 0; w < ways.size(); ++w) {
          const double error = ulps(ways[w].y[i], exact, least);
          if (!(error <= worst[part][w].error)) worst[part][w] = {error, i};
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Worst>& part : worst)
    for (std::size_t w = 0; w < ways.size(); ++w)
      if (part[w].error > ways[w].worst)
        ways[w].worst = part[w].error, ways[w].at = a[part[w].at], ways[w].at_second = b[part[w].at];
}

/// Two implementations give the same bits; all NaNs are equal.
template <class T>
std::size_t differences(const Way<T>& one, const Way<T>& other, std::size_t n) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i)
    count += std::memcmp(&one.y[i], &other.y[i], sizeof(T)) != 0 &&
             !(std::isnan(one.y[i]) && std::isnan(other.y[i]));
  return count;
}

bool have_fma() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma");
#else
  return true;
#endif
}

template <class T>
void report(const std::vector<Way<T>>& ways, Op op, double bound, std::size_t different) {
  for (const Way<T>& way : ways) {
    MESSAGE(std::string(name_of(op)) << ", " << way.name << ": at most " << way.worst << " ulp, at " << way.at
                                     << ", " << way.at_second << "; stated: " << bound);
    CHECK(way.worst <= bound);
  }
  INFO(std::string(name_of(op)) << ": compiled differs from interpreted for " << different << " operands");
  CHECK(different == 0);
}

bool is_chosen(Op op) {
  const char* only = std::getenv("SINTER_TEST_FUNCTION");
  return only == nullptr || std::string(only) == name_of(op);
}

const float kSpecial[] = {0.0f,           1.0f,          0.5f,        2.0f,      3.0f,      1.5f,
                          16777215.0f,    16777216.0f,   33554434.0f, 0x1p-149f, 0x1p-126f, 0x1.fffffcp-127f,
                          0x1.fffffep-1f, 0x1.000002p0f, 88.72284f,   104.0f,    8000.0f,   1e10f,
                          3.40282347e38f, INFINITY,      NAN};

}  // namespace

TEST_CASE("functions of one operand stay within their bounds") {
  const char* every = std::getenv("SINTER_TEST_ALL_FLOATS");
  const std::uint64_t step = every != nullptr && std::string(every) == "1" ? 1 : 1499;
  std::vector<float> x(kBlock);
  for (const auto& [op, bound] : host::kMathsBounds) {
    if (!is_chosen(op)) continue;
    std::vector<Way<float>> ways = ways_of<float>(op, 1);
    const Reference reference = reference_of(op);
    const int least = op == Op::Ndtr ? -24 : -149;
    std::size_t different = 0;
    auto check = [&](std::size_t n) {
      compare(
          ways, x, x, n, [&](std::size_t i) { return reference(static_cast<double>(x[i])); }, least);
      if (ways.size() > 1 && have_fma()) different += differences(ways[0], ways[1], n);
    };
    for (std::uint64_t begin = 0; begin < (std::uint64_t{1} << 32); begin += kBlock * step) {
      for (std::size_t i = 0; i < kBlock; ++i)
        x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(begin + i * step));
      check(kBlock);
    }
    if (step > 1) {
      std::size_t n = 0;
      for (float special : kSpecial)
        for (float sign : {1.0f, -1.0f}) x[n++] = sign * special;
      // The range where most functions are nonlinear, and near the zeros of sine and cosine.
      for (int i = -100000; i <= 100000; ++i) x[n++] = static_cast<float>(i) * 2e-4f;
      for (int i = -5200; i <= 5200; ++i) x[n++] = static_cast<float>(i * 1.5707963267948966);
      // Large numbers among small ones: neighbouring lanes must not matter.
      for (int i = 0; i < 1000; ++i)
        x[n++] = i % 7 == 0 ? 1e6f + static_cast<float>(i) : 0.01f * static_cast<float>(i);
      check(n);
    }
    report(ways, op, bound, different);
  }
}

#if defined(__x86_64__)
template <class T>
void check_nothing_underflows(Op op, T x) {
  for (const Way<T>& way : ways_of<T>(op, 1)) {
    const std::vector<T> all(kBlock, x);
    std::vector<T> y(kBlock, 7);
    std::feclearexcept(FE_UNDERFLOW);
    way.function->run(all.data(), all.data(), y.data(), all.size());
    INFO(std::string(name_of(op)) << " of " << x << ", " << way.name);
    CHECK(std::fetestexcept(FE_UNDERFLOW) == 0);
    CHECK(y[0] == 0);
    CHECK(y.back() == 0);
  }
}

// An operation whose result is no normal number takes a hundred cycles more on Intel's processors.
TEST_CASE("what a mask hides from a softmax takes no longer than other numbers") {
  for (const double hidden : {-std::numeric_limits<double>::infinity(), -1e30, -1e9, -1500.0}) {
    for (const Op op : {Op::Exp, Op::Sigmoid}) check_nothing_underflows(op, static_cast<float>(hidden));
    for (const Op op : {Op::Exp, Op::Sigmoid}) check_nothing_underflows(op, hidden);
  }
}
#endif

TEST_CASE("functions of f64 stay within their bounds") {
  if (std::numeric_limits<long double>::digits < 64) return;  // nothing to compare with
  for (const auto& [op, bound] : host::kMathsBoundsOfF64) {
    if (!is_chosen(op)) continue;
    std::vector<Way<double>> ways = ways_of<double>(op, 1);
    const WideReference reference = wide_reference_of(op);
    std::vector<double> x(kBlock);
    std::size_t different = 0;
    auto check = [&](std::size_t n) {
      compare(ways, x, x, n, [&](std::size_t i) { return reference(x[i]); });
      if (ways.size() > 1 && have_fma()) different += differences(ways[0], ways[1], n);
    };
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> near(-3, 3), far(-750, 750);
    std::size_t n = 0;
    for (const double special :
         {0.0, 1.0, 0.5, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-1, 0x1.0000000000001p0, 709.782712893384,
          709.7827128933841, 745.1332191019411, 745.1332191019412, 1e300, double(INFINITY), double(NAN)})
      for (double sign : {1.0, -1.0}) x[n++] = sign * special;
    for (; n < kBlock; ++n) {
      const std::uint64_t kind = random() % 4;
      x[n] = kind == 0 ? std::bit_cast<double>(random()) : kind == 1 ? far(random) : near(random);
      if (kind == 3) x[n] = 1 + x[n] * 0x1p-12;  // about the zero of the logarithm
    }
    check(kBlock);
    report(ways, op, bound, different);
  }
}

TEST_CASE("functions of two operands stay within their bounds") {
  for (const auto& [op, bound] : host::kMathsBoundsOfPairs) {
    if (!is_chosen(op)) continue;
    std::vector<Way<float>> ways = ways_of<float>(op, 2);
    const auto want = op == Op::Pow ? [](double a, double b) { return std::pow(a, b); }
                                    : [](double a, double b) { return std::atan2(a, b); };
    std::vector<float> a(kBlock), b(kBlock);
    std::size_t different = 0;
    auto check = [&](std::size_t n) {
      compare(ways, a, b, n,
              [&](std::size_t i) { return want(static_cast<double>(a[i]), static_cast<double>(b[i])); });
      if (ways.size() > 1 && have_fma()) different += differences(ways[0], ways[1], n);
    };
    std::size_t n = 0;
    for (float x : kSpecial)
      for (float y : kSpecial)
        for (int signs = 0; signs < 4; ++signs) {
          a[n] = signs % 2 != 0 ? -x : x;
          b[n++] = signs / 2 != 0 ? -y : y;
        }
    check(n);
    std::mt19937 random(42);
    for (int round = 0; round < 3; ++round) {
      std::uniform_real_distribution<float> result(-105, 90);
      for (std::size_t i = 0; i < kBlock; ++i) {
        a[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        b[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        // Most powers of any two numbers are 0 or infinite: choose exponents for results that are not,
        // and whole ones.
        if (round == 1) {
          a[i] = std::abs(a[i]);
          b[i] = result(random) / std::log(a[i]);
        } else if (round == 2) {
          b[i] = std::trunc(result(random) / std::log(std::abs(a[i])));
        }
      }
      check(kBlock);
    }
    report(ways, op, bound, different);
  }
}
