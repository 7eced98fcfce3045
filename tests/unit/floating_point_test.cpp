// The host's results do not depend on the rounding mode and the denormal switches of the thread that asks for
// them.
#include <cfenv>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <sinter/sinter.h>

using namespace sinter;

namespace {

/// Made before anybody changes anything.
struct Numbers {
  std::vector<float> plain = std::vector<float>(1 << 18), denormal = std::vector<float>(1 << 18);
  Numbers() {
    for (std::size_t i = 0; i < plain.size(); ++i) {
      plain[i] = 1.0f / static_cast<float>(i + 3);
      denormal[i] = 1e-41f * static_cast<float>(i % 7);
    }
  }
};
const Numbers numbers;

/// Elementwise work on denormals, a reduction, maths, a matrix product and a convolution; large enough for
/// all threads.
std::vector<float> results() {
  const Device d = Device::host();
  const auto x = Tensor<2>::from_data(numbers.plain, {512, 512}, d);
  const auto small = Tensor<2>::from_data(numbers.denormal, {512, 512}, d);
  const auto image = x.reshape({16, 4, 64, 64}).narrow(2, 0, 16);
  std::vector<float> all;
  for (const std::vector<float>& more :
       {(small * 0.5 + small).to_vector<float>(), (x / 3.0).to_vector<float>(), x.sum(1).to_vector<float>(),
        softmax(x * 9.0, 1).to_vector<float>(), x.matmul(x).to_vector<float>(),
        image.conv2d(Tensor<4>::full({4, 4, 3, 3}, 0.25, d)).to_vector<float>()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("the caller's rounding mode changes no result and is the same afterwards") {
  // Before anything else computes: the host's threads are started by a caller that rounds up.
  std::fesetround(FE_UPWARD);
  const std::vector<float> upward = results();
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  const std::vector<float> nearest = results();
  CHECK(same_bits(upward, nearest));
}

#if defined(__x86_64__)
TEST_CASE("a caller that flushes denormals does not flush the host's") {
  const std::vector<float> plain = results();
  CHECK(plain[1] > 0);  // a denormal, times 1.5
  const unsigned before = _mm_getcsr();
  const unsigned flushing = before | 0x8040;
  _mm_setcsr(flushing);
  const std::vector<float> flushed = results();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK((after & ~0x3fu) == (flushing & ~0x3fu));
  CHECK(same_bits(plain, flushed));
}
#endif
