// The order of a data loader's items.
#include <algorithm>
#include <numeric>

#include <sinter/data/loader.h>
#include <sinter/error.h>

namespace sinter::data {
namespace {

// SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform below `bound`, without the bias of a plain remainder.
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t reject = (0 - bound) % bound;  // 2^64 mod bound
    for (;;) {
      std::uint64_t value = next();
      if (value >= reject) return value % bound;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<std::size_t> make_order(std::size_t count, bool shuffle, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!shuffle) return order;
  SplitMix64 random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

void DataLoaderConfig::check() const {
  if (batch_size == 0) throw DataError("[data loader] the batch size is 0, expected 1 or more");
}

std::span<const std::size_t> DataLoaderConfig::part(const std::vector<std::size_t>& order,
                                                    std::size_t batch) const {
  const std::span<const std::size_t> all(order);
  const std::size_t first = batch * batch_size;
  return all.subspan(first, std::min(batch_size, all.size() - first));
}

}  // namespace sinter::data
