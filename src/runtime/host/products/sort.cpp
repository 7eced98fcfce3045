// Sorts each sequence by one thread, as integers without a sign that have the order of the numbers: by digits
// where there are many, by comparisons where there are few or few are kept, which are selected first.
#include "src/runtime/host/products/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "src/runtime/host/buffer.h"

namespace sinter::runtime::host {
namespace {

// Below, counting digits takes longer than comparing.
constexpr std::size_t kFew = 1024;
constexpr std::size_t kMore =
    64;  // pairs beside four times those that are kept, so that few are not selected often
constexpr std::int64_t kElements = 1 << 12;  // what is too little to share

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Has the order of the numbers: NaN last, both zeros alike.
template <class T>
Bits<T> bits_in_order(T x) {
  using B = Bits<T>;
  constexpr B kSign = B{1} << (8 * sizeof(B) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return ~B{0};
    const B bits = std::bit_cast<B>(x == 0 ? T{0} : x);
    return bits & kSign ? ~bits : bits | kSign;
  } else {
    return static_cast<B>(x) ^ kSign;
  }
}

template <class T>
class SortProgram final : public HostExecutable {
 public:
  explicit SortProgram(const library::SortOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return threads(op_.sequences()) * whole_units(bytes_of_thread());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    if (op_.numel() == 0 || op_.keep == 0) return;
    const auto* x = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    auto* places = reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[1]));
    T* values = op_.with_values ? reinterpret_cast<T*>(data_of(arguments.buffers[2])) : nullptr;
    const auto memory = workers.take_each(threads(op_.sequences()), bytes_of_thread());
    const auto sequence = [&](std::size_t number, std::size_t thread) {
      const auto [slice, column] = std::div(static_cast<std::int64_t>(number), op_.inner);
      const T* keys = x + slice * op_.x_outer + column * op_.x_inner;
      const std::int64_t first = static_cast<std::int64_t>(number) * op_.keep;
      sort(keys, reinterpret_cast<Pair*>(memory.of(thread)), places + first);
      if (values)
        for (std::int64_t i = first; i < first + op_.keep; ++i)
          values[i] = keys[std::int64_t{places[i]} * op_.x_step];
    };
    const auto count = static_cast<std::size_t>(op_.sequences());
    if (op_.numel() < kElements)
      for (std::size_t i = 0; i < count; ++i) sequence(i, 0);
    else
      workers.pool().run(count, sequence);
  }

 private:
  struct Pair {
    Bits<T> key;
    std::uint32_t position;
    bool operator<(const Pair& other) const {
      return key != other.key ? key < other.key : position < other.position;
    }
  };

  bool by_digits() const { return static_cast<std::size_t>(op_.length) > kFew && op_.keep > op_.length / 16; }
  /// Pairs that are held at once where few are kept.
  std::size_t selected() const {
    return std::min(static_cast<std::size_t>(op_.length), 4 * static_cast<std::size_t>(op_.keep) + kMore);
  }
  std::size_t bytes_of_thread() const {
    return (by_digits() ? 2 * static_cast<std::size_t>(op_.length) : selected()) * sizeof(Pair);
  }

  Pair pair_at(const T* x, std::size_t i) const {
    const Bits<T> key = bits_in_order(x[static_cast<std::int64_t>(i) * op_.x_step]);
    return {op_.descending ? ~key : key, static_cast<std::uint32_t>(i)};
  }

  void sort(const T* x, Pair* pairs, std::int32_t* places) const {
    const auto length = static_cast<std::size_t>(op_.length), keep = static_cast<std::size_t>(op_.keep);
    if (by_digits()) {
      for (std::size_t i = 0; i < length; ++i) pairs[i] = pair_at(x, i);
      pairs = sort_digits(pairs, pairs + length, length);
    } else {
      select(x, pairs);
      std::sort(pairs, pairs + keep);
    }
    for (std::size_t i = 0; i < keep; ++i) places[i] = static_cast<std::int32_t>(pairs[i].position);
  }

  /// Brings the first pairs in order to the front, themselves in no order. Pairs are gathered; when there is
  /// no room for more, the first ones stay, and of what comes then only keys that are less than theirs go in:
  /// one that is equal stands behind.
  void select(const T* x, Pair* pairs) const {
    const auto length = static_cast<std::size_t>(op_.length), keep = static_cast<std::size_t>(op_.keep);
    std::size_t count = selected();
    for (std::size_t i = 0; i < count; ++i) pairs[i] = pair_at(x, i);
    if (keep == length) return;
    std::nth_element(pairs, pairs + keep - 1, pairs + count);
    std::size_t next = count;
    count = keep;
    for (Bits<T> last = pairs[keep - 1].key; next < length; ++next) {
      const Pair pair = pair_at(x, next);
      if (pair.key >= last) continue;
      pairs[count++] = pair;
      if (count < selected()) continue;
      std::nth_element(pairs, pairs + keep - 1, pairs + count);
      count = keep;
      last = pairs[keep - 1].key;
    }
    std::nth_element(pairs, pairs + keep - 1, pairs + count);
  }

  /// From the last digit to the first one, to and fro between both lists; digits that are all alike are left
  /// out. Returns where the pairs are.
  static Pair* sort_digits(Pair* from, Pair* to, std::size_t length) {
    constexpr std::size_t kDigits = sizeof(Bits<T>);
    std::array<std::array<std::uint32_t, 256>, kDigits> counts{};
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t d = 0; d < kDigits; ++d) ++counts[d][from[i].key >> (8 * d) & 255];
    for (std::size_t d = 0; d < kDigits; ++d) {
      std::array<std::uint32_t, 256>& count = counts[d];
      if (count[from[0].key >> (8 * d) & 255] == length) continue;
      std::uint32_t before = 0;
      for (std::uint32_t& number : count) before += std::exchange(number, before);
      for (std::size_t i = 0; i < length; ++i) to[count[from[i].key >> (8 * d) & 255]++] = from[i];
      std::swap(from, to);
    }
    return from;
  }

  library::SortOp op_;
};

template <class T>
class SearchProgram final : public HostExecutable {
 public:
  explicit SearchProgram(const library::SearchSortedOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* sorted = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const auto* values = reinterpret_cast<const T*>(data_of(arguments.buffers[1]));
    auto* places = reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[2]));
    const std::int64_t count = op_.rows * op_.count;
    const auto piece = [&](std::size_t number, std::size_t) {
      const std::int64_t begin = static_cast<std::int64_t>(number) * kElements;
      for (std::int64_t i = begin; i < std::min(begin + kElements, count); ++i) {
        const T* row = sorted + (op_.shared ? 0 : i / op_.count * op_.length);
        const Bits<T> key = bits_in_order(values[i]);
        const T* place = op_.right ? std::upper_bound(row, row + op_.length, key,
                                                      [](Bits<T> k, T x) { return k < bits_in_order(x); })
                                   : std::lower_bound(row, row + op_.length, key,
                                                      [](T x, Bits<T> k) { return bits_in_order(x) < k; });
        places[i] = static_cast<std::int32_t>(place - row);
      }
    };
    const auto pieces = static_cast<std::size_t>((count + kElements - 1) / kElements);
    workers.pool().run(pieces, piece);
  }

 private:
  library::SearchSortedOp op_;
};

template <template <class> class Program, class Op>
std::shared_ptr<HostExecutable> program_of(const Op& op) {
  switch (op.x_dtype) {
    case DType::f32: return std::make_shared<Program<float>>(op);
    case DType::f64: return std::make_shared<Program<double>>(op);
    case DType::i32: return std::make_shared<Program<std::int32_t>>(op);
    case DType::i64: return std::make_shared<Program<std::int64_t>>(op);
    default: break;
  }
  throw DeviceError("[" + op.kind().name() + "] the host compares f32, f64, i32 and i64, not " +
                    std::string(name_of(op.x_dtype)));
}

}  // namespace

std::shared_ptr<HostExecutable> make_sort(const library::SortOp& op) { return program_of<SortProgram>(op); }
std::shared_ptr<HostExecutable> make_search_sorted(const library::SearchSortedOp& op) {
  return program_of<SearchProgram>(op);
}

}  // namespace sinter::runtime::host
