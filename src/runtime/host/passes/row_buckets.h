// What an index sends to rows, brought together by ranges of rows, so that who goes on with a range has all
// of it in the cache, and in the order of positions. Follows from indices and sizes alone, not from threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime::host {

/// An index out of range was told of before and stands for row 0 here.
inline std::int32_t row_at(std::int32_t index, std::int64_t rows) {
  return index >= 0 && index < rows ? index : 0;
}

/// work(i) for each i below `pieces`, by all threads where `shared`.
template <class Work>
void for_each_piece(ThreadPool& pool, bool shared, std::int64_t pieces, const Work& work) {
  if (!shared || pieces < 2)
    for (std::int64_t i = 0; i < pieces; ++i) work(i);
  else
    pool.run(static_cast<std::size_t>(pieces),
             [&](std::size_t i, std::size_t) { work(static_cast<std::int64_t>(i)); });
}

/// Buckets of 2^shift rows.
class RowBuckets {
 public:
  /// As few as leave up to `most` rows to each, but some for each thread: memory is slow where many places
  /// are written in turn.
  RowBuckets(std::int64_t count, std::int64_t rows, std::int64_t most) : count_(count), rows_(rows) {
    const auto bits = [](std::int64_t number) {
      return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(number)));
    };
    shift_ = std::min(bits(std::max<std::int64_t>(rows / kWanted, 1) - 1),
                      bits(std::max<std::int64_t>(most, 1)) - 1);
  }

  std::int64_t count() const { return count_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t buckets() const { return rows_ == 0 ? 0 : ((rows_ - 1) >> shift_) + 1; }
  std::int64_t rows_each() const { return std::int64_t{1} << shift_; }
  std::int64_t first_row(std::int64_t bucket) const { return std::min(bucket << shift_, rows_); }

  /// Numbers that `fill` works with.
  std::size_t words() const { return static_cast<std::size_t>((pieces() + 1) * buckets() + 1); }

  /// entries[..] = make(row, position), bucket by bucket. The first words say where each one begins, and
  /// where the last one ends.
  template <class Entry, class Make>
  void fill(ThreadPool& pool, const std::int32_t* row_of, Entry* entries, std::int32_t* words,
            const Make& make) const {
    const std::int64_t all = buckets(), parts = pieces();
    std::int32_t* const counts = words + all + 1;  // of each piece, its own
    const auto range = [&](std::int64_t p) {
      return std::pair(p * count_ / parts, (p + 1) * count_ / parts);
    };
    for_each_piece(pool, true, parts, [&](std::int64_t p) {
      std::int32_t* own = counts + p * all;
      std::fill_n(own, all, 0);
      const auto [begin, end] = range(p);
      for (std::int64_t i = begin; i < end; ++i) ++own[row_at(row_of[i], rows_) >> shift_];
    });
    std::int32_t before = 0;
    for (std::int64_t b = 0; b < all; ++b) {
      words[b] = before;
      for (std::int64_t p = 0; p < parts; ++p) before += std::exchange(counts[p * all + b], before);
    }
    words[all] = before;
    for_each_piece(pool, true, parts, [&](std::int64_t p) {
      std::int32_t* next = counts + p * all;
      const auto [begin, end] = range(p);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int32_t row = row_at(row_of[i], rows_);
        entries[next[row >> shift_]++] = make(row, static_cast<std::int32_t>(i));
      }
    });
  }

 private:
  static constexpr std::int64_t kWanted = 32;

  /// As many as have much more to look at than there are buckets.
  std::int64_t pieces() const {
    constexpr std::int64_t kMost = 64, kLeast = 1 << 15, kOfBucket = 8;
    return std::clamp<std::int64_t>(count_ / std::max(kLeast, kOfBucket * buckets()), 1, kMost);
  }

  std::int64_t count_, rows_;
  int shift_ = 0;
};

/// Positions in the order of their rows, equal rows in that of positions.
class RowOrder {
 public:
  RowOrder(std::int64_t count, std::int64_t rows) : buckets_(count, rows, kRowsEach) {}

  /// Words of 32 bits that `find` works with.
  std::size_t words() const {
    return in_one() ? 0 : 2 * static_cast<std::size_t>(buckets_.count()) + buckets_.words();
  }

  /// positions [count]; ends [rows]: where each row's end.
  void find(ThreadPool& pool, const std::int32_t* row_of, std::int32_t* positions, std::int32_t* ends,
            std::int32_t* memory) const {
    const std::int64_t count = buckets_.count(), rows = buckets_.rows();
    if (in_one()) {
      const auto row = [&](std::int64_t i) { return row_at(row_of[i], rows); };
      const auto position = [](std::int64_t i) { return static_cast<std::int32_t>(i); };
      return sort(0, count, 0, rows, row, position, positions, ends);
    }
    auto* entries = reinterpret_cast<Entry*>(memory);
    std::int32_t* begins = memory + 2 * count;
    buckets_.fill(pool, row_of, entries, begins, [](std::int32_t row, std::int32_t position) {
      return Entry{row, position};
    });
    for_each_piece(pool, true, buckets_.buckets(), [&](std::int64_t b) {
      const auto row = [&](std::int64_t i) { return entries[i].row; };
      const auto position = [&](std::int64_t i) { return entries[i].position; };
      sort(begins[b], begins[b + 1], buckets_.first_row(b), buckets_.first_row(b + 1), row, position,
           positions, ends);
    });
  }

 private:
  static constexpr std::int64_t kRowsEach = 1 << 14;  // whose counts stay in the cache
  static constexpr std::int64_t kFew = 1 << 15;       // indices that are not worth dealing out

  struct Entry {
    std::int32_t row, position;
  };

  bool in_one() const { return buckets_.count() < kFew; }

  /// Places from `begin` to `end`, of the rows from `first` to `last`.
  template <class Row, class Position>
  static void sort(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last,
                   const Row& row, const Position& position, std::int32_t* positions, std::int32_t* ends) {
    std::fill(ends + first, ends + last, 0);
    for (std::int64_t i = begin; i < end; ++i) ++ends[row(i)];
    auto before = static_cast<std::int32_t>(begin);
    for (std::int64_t r = first; r < last; ++r) before += std::exchange(ends[r], before);
    for (std::int64_t i = begin; i < end; ++i) positions[ends[row(i)]++] = position(i);
  }

  RowBuckets buckets_;
};

}  // namespace sinter::runtime::host
