// Sorts integers without a sign that have the order of the numbers, by digits of up to 11 bits: 32 bits from
// the last digit on, of more the first ones before, so that what is alike so far lies in the cache. Where few
// are kept, these are selected first. A few long sequences are shared by all threads, of others each is
// sorted by one.
#include "src/runtime/host/passes/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "src/runtime/host/buffer.h"

namespace sinter::runtime::host {
namespace {

constexpr std::size_t kInsertion = 16;  // up to here, counting digits takes longer than comparing
constexpr std::size_t kMore =
    64;  // pairs beside four times those that are kept, so that few are not selected often
constexpr std::int64_t kElements = 1 << 12;  // what is too little to share
constexpr int kMostBits = 11;                // of a digit, so that its counts stay in the cache
// With as many, and no more bits, going on from the last digit takes fewer steps.
constexpr std::size_t kMany = 1024;
constexpr int kFewBits = 32, kFewDigits = 3;
// Sequences are shared where they are long, and fewer than threads may be.
constexpr std::int64_t kLong = 1 << 16, kSequences = 32;

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
    if (shares_each())
      return whole_units(bytes_of_thread()) + whole_units(count_words() * sizeof(std::uint32_t)) +
             whole_units(static_cast<std::size_t>(pieces()) * sizeof(Key));
    return threads(op_.sequences()) * whole_units(bytes_of_thread());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    if (op_.numel() == 0 || op_.keep == 0) return;
    const auto* x = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    auto* places = reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[1]));
    T* values = op_.with_values ? reinterpret_cast<T*>(data_of(arguments.buffers[2])) : nullptr;
    const auto count = static_cast<std::size_t>(op_.sequences());
    const auto keys_of = [&](std::size_t number) {
      const auto [slice, column] = std::div(static_cast<std::int64_t>(number), op_.inner);
      return x + slice * op_.x_outer + column * op_.x_inner;
    };
    if (shares_each()) {
      const Shared memory{
          reinterpret_cast<Pair*>(workers.take(bytes_of_thread())),
          reinterpret_cast<std::uint32_t*>(workers.take(count_words() * sizeof(std::uint32_t))),
          reinterpret_cast<Key*>(workers.take(static_cast<std::size_t>(pieces()) * sizeof(Key)))};
      for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t first = static_cast<std::int64_t>(i) * op_.keep;
        sort_by_all(workers.pool(), keys_of(i), memory, places + first, values ? values + first : nullptr);
      }
      return;
    }
    const auto memory = workers.take_each(threads(op_.sequences()), bytes_of_thread());
    const auto sequence = [&](std::size_t number, std::size_t thread) {
      const T* keys = keys_of(number);
      const std::int64_t first = static_cast<std::int64_t>(number) * op_.keep;
      sort(keys, reinterpret_cast<Pair*>(memory.of(thread)), places + first);
      if (values)
        for (std::int64_t i = first; i < first + op_.keep; ++i)
          values[i] = keys[std::int64_t{places[i]} * op_.x_step];
    };
    if (op_.numel() < kElements)
      for (std::size_t i = 0; i < count; ++i) sequence(i, 0);
    else
      workers.pool().run(count, sequence);
  }

 private:
  using Key = Bits<T>;
  struct Pair {
    Key key;
    std::uint32_t position;
    bool operator<(const Pair& other) const {
      return key != other.key ? key < other.key : position < other.position;
    }
  };

  bool by_digits() const { return op_.keep > op_.length / 16; }
  bool shares_each() const { return by_digits() && op_.length >= kLong && op_.sequences() < kSequences; }
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
      Key varies = 0;
      for (std::size_t i = 0; i < length; ++i) {
        pairs[i] = pair_at(x, i);
        varies |= pairs[i].key ^ pairs[0].key;
      }
      pairs = sort_bits(pairs, pairs + length, length, std::bit_width(varies));
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

  static void insert(Pair* pairs, std::size_t length) {
    for (std::size_t i = 1; i < length; ++i) {
      const Pair pair = pairs[i];
      std::size_t to = i;
      for (; to > 0 && pair.key < pairs[to - 1].key; --to) pairs[to] = pairs[to - 1];
      pairs[to] = pair;
    }
  }

  /// Bits of a digit that leaves a pair or two for each of its values.
  static int bits_of_digit(std::size_t length, int bits) {
    return std::min(bits, std::clamp(static_cast<int>(std::bit_width(length)) - 1, 4, kMostBits));
  }

  /// The same as sort_bits, from the last digit to the first one, to and fro between both.
  static Pair* sort_from_last(Pair* from, Pair* spare, std::size_t length, int bits) {
    if (bits == 0) return from;
    const int number = (bits + kMostBits - 1) / kMostBits, width = (bits + number - 1) / number;
    const std::size_t digits = std::size_t{1} << width;
    const auto digit_of = [&](const Pair& pair, int n) {
      return static_cast<std::size_t>(pair.key >> (n * width)) & (digits - 1);
    };
    std::array<std::uint32_t, kFewDigits << kMostBits> counts;
    std::fill_n(counts.begin(), static_cast<std::size_t>(number) * digits, 0);
    for (std::size_t i = 0; i < length; ++i)
      for (int n = 0; n < number; ++n) ++counts[static_cast<std::size_t>(n) * digits + digit_of(from[i], n)];
    for (int n = 0; n < number; ++n) {
      std::uint32_t *count = &counts[static_cast<std::size_t>(n) * digits], before = 0;
      if (count[digit_of(from[0], n)] == length) continue;
      for (std::size_t d = 0; d < digits; ++d) before += std::exchange(count[d], before);
      for (std::size_t i = 0; i < length; ++i) spare[count[digit_of(from[i], n)]++] = from[i];
      std::swap(from, spare);
    }
    return from;
  }

  /// By the last `bits` bits of the keys, whose others are alike; `spare` has room for as many. Equal keys
  /// stay in their order. Returns which of both has the pairs then.
  static Pair* sort_bits(Pair* from, Pair* spare, std::size_t length, int bits) {
    if (length <= kInsertion) {
      insert(from, length);
      return from;
    }
    if (length >= kMany && bits <= kFewBits) return sort_from_last(from, spare, length, bits);
    std::array<std::uint32_t, std::size_t{1} << kMostBits> ends;
    const int digit = bits_of_digit(length, bits), rest = bits - digit;
    if (digit == 0) return from;
    const std::size_t digits = std::size_t{1} << digit;
    const auto digit_of = [&](const Pair& pair) {
      return static_cast<std::size_t>(pair.key >> rest) & (digits - 1);
    };
    std::fill_n(ends.begin(), digits, 0);
    for (std::size_t i = 0; i < length; ++i) ++ends[digit_of(from[i])];
    if (ends[digit_of(from[0])] == length) return sort_bits(from, spare, length, rest);
    std::uint32_t before = 0;
    for (std::size_t d = 0; d < digits; ++d) before += std::exchange(ends[d], before);
    for (std::size_t i = 0; i < length; ++i) spare[ends[digit_of(from[i])]++] = from[i];
    for (std::size_t d = 0, begin = 0; rest > 0 && d < digits; begin = ends[d++])
      sort_to(spare + begin, from + begin, ends[d] - begin, rest, spare + begin);
    return spare;
  }

  /// The same to one of both.
  static void sort_to(Pair* from, Pair* spare, std::size_t length, int bits, Pair* to) {
    if (length < 2) return;
    const Pair* sorted = sort_bits(from, spare, length, bits);
    if (sorted != to) std::copy_n(sorted, length, to);
  }

  struct Shared {
    Pair* pairs;
    std::uint32_t* counts;
    Key* varies;
  };
  std::int64_t pieces() const { return std::clamp<std::int64_t>(op_.length / (kLong / 2), 1, 64); }
  static constexpr std::size_t kDigits = std::size_t{1} << kMostBits;
  std::size_t count_words() const { return static_cast<std::size_t>(pieces() + 1) * kDigits; }

  /// Deals the pairs out by their first digit, and sorts what has the same.
  void sort_by_all(ThreadPool& pool, const T* x, const Shared& memory, std::int32_t* places,
                   T* values) const {
    const auto length = static_cast<std::size_t>(op_.length), all = static_cast<std::size_t>(pieces());
    Pair *from = memory.pairs, *to = from + length;
    const auto each_piece = [&](const auto& work) {
      pool.run(all, [&](std::size_t p, std::size_t) { work(p, p * length / all, (p + 1) * length / all); });
    };
    const Key first = pair_at(x, 0).key;
    each_piece([&](std::size_t p, std::size_t begin, std::size_t end) {
      Key varies = 0;
      for (std::size_t i = begin; i < end; ++i) {
        from[i] = pair_at(x, i);
        varies |= from[i].key ^ first;
      }
      memory.varies[p] = varies;
    });
    Key varies = 0;
    for (std::size_t p = 0; p < all; ++p) varies |= memory.varies[p];
    const int bits = std::bit_width(varies), rest = std::max(bits - kMostBits, 0);
    const auto digit_of = [&](const Pair& pair) {
      return static_cast<std::size_t>(pair.key >> rest) & (kDigits - 1);
    };
    std::uint32_t* const ends = memory.counts + all * kDigits;
    each_piece([&](std::size_t p, std::size_t begin, std::size_t end) {
      std::uint32_t* counts = memory.counts + p * kDigits;
      std::fill_n(counts, kDigits, 0);
      for (std::size_t i = begin; i < end; ++i) ++counts[digit_of(from[i])];
    });
    std::uint32_t before = 0;
    for (std::size_t d = 0; d < kDigits; ++d) {
      for (std::size_t p = 0; p < all; ++p) before += std::exchange(memory.counts[p * kDigits + d], before);
      ends[d] = before;
    }
    each_piece([&](std::size_t p, std::size_t begin, std::size_t end) {
      std::uint32_t* next = memory.counts + p * kDigits;
      for (std::size_t i = begin; i < end; ++i) to[next[digit_of(from[i])]++] = from[i];
    });
    constexpr std::size_t kTogether = 8;
    const auto keep = static_cast<std::size_t>(op_.keep);
    pool.run(kDigits / kTogether, [&](std::size_t piece, std::size_t) {
      const std::size_t d = piece * kTogether, begin = d > 0 ? ends[d - 1] : 0;
      for (std::size_t k = d, at = begin; rest > 0 && k < d + kTogether; at = ends[k++])
        sort_to(to + at, from + at, ends[k] - at, rest, to + at);
      for (std::size_t i = begin; i < std::min<std::size_t>(ends[d + kTogether - 1], keep); ++i) {
        places[i] = static_cast<std::int32_t>(to[i].position);
        if (values) values[i] = x[std::int64_t{places[i]} * op_.x_step];
      }
    });
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
