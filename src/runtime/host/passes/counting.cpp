// Counts by pieces of the operand, each with counts of its own, which are added up.
#include "src/runtime/host/passes/counting.h"

#include <algorithm>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/passes/row_buckets.h"

namespace sinter::runtime::host {
namespace {

constexpr std::int64_t kLeast = 1 << 15;  // elements that are worth a piece

class CountingProgram : public HostExecutable {
 public:
  explicit CountingProgram(const library::CountingOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }

 protected:
  static const std::int32_t* operand(const LaunchArguments& arguments) {
    return reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[0]));
  }
  static std::int32_t* result(const LaunchArguments& arguments) {
    return reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[1]));
  }
  const library::CountingOp op_;
};

class CountIndicesProgram final : public CountingProgram {
 public:
  using CountingProgram::CountingProgram;
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(words() * sizeof(std::int32_t));
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* index = operand(arguments);
    auto* counts = result(arguments);
    if (op_.results == 0) return;
    const std::int64_t all = pieces();
    if (all == 1) return count(index, op_.length, counts);
    auto* own = reinterpret_cast<std::int32_t*>(workers.take(words() * sizeof(std::int32_t)));
    workers.pool().run(static_cast<std::size_t>(all), [&](std::size_t i, std::size_t) {
      const auto piece = static_cast<std::int64_t>(i);
      const std::int64_t begin = piece * op_.length / all, end = (piece + 1) * op_.length / all;
      count(index + begin, end - begin, own + piece * op_.results);
    });
    std::copy_n(own, op_.results, counts);
    for (std::int64_t piece = 1; piece < all; ++piece)
      for (std::int64_t row = 0; row < op_.results; ++row) counts[row] += own[piece * op_.results + row];
  }

 private:
  /// As many as have more to count than to add up.
  std::int64_t pieces() const {
    constexpr std::int64_t kMost = 32, kOfRow = 4;
    return std::clamp<std::int64_t>(op_.length / std::max(kLeast, kOfRow * op_.results), 1, kMost);
  }
  std::size_t words() const { return pieces() == 1 ? 0 : static_cast<std::size_t>(pieces() * op_.results); }

  void count(const std::int32_t* index, std::int64_t size, std::int32_t* counts) const {
    std::fill_n(counts, op_.results, 0);
    for (std::int64_t i = 0; i < size; ++i) ++counts[row_at(index[i], op_.results)];
  }
};

class LastPositionsProgram final : public CountingProgram {
 public:
  using CountingProgram::CountingProgram;

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* index = operand(arguments);
    auto* last = result(arguments);
    const std::int64_t pieces = std::max<std::int64_t>(op_.results / kLeast, 1);
    for_each_piece(workers.pool(), true, pieces, [&](std::int64_t piece) {
      std::fill(last + piece * op_.results / pieces, last + (piece + 1) * op_.results / pieces, 0);
    });
    if (op_.results == 0) return;
    for (std::int64_t i = 0; i < op_.length; ++i)
      last[row_at(index[i], op_.results)] = static_cast<std::int32_t>(i + 1);
  }
};

class CountStepsProgram final : public CountingProgram {
 public:
  using CountingProgram::CountingProgram;
  static constexpr std::int64_t kBlock = 64;  // elements that are passed by together where no count steps

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* running = operand(arguments);
    auto* places = result(arguments);
    const std::int64_t pieces = std::max<std::int64_t>(op_.length / kLeast, 1);
    workers.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t i, std::size_t) {
      const auto piece = static_cast<std::int64_t>(i);
      const std::int64_t begin = piece * op_.length / pieces, end = (piece + 1) * op_.length / pieces;
      std::int32_t before = begin > 0 ? running[begin - 1] : 0;
      for (std::int64_t from = begin; from < end; from += kBlock) {
        const std::int64_t to = std::min(from + kBlock, end);
        if (running[to - 1] == before) continue;
        // Backwards, what is written last of a count is its first element, without a branch for each.
        for (std::int64_t at = to; at-- > from && running[at] != before;)
          places[running[at] - 1] = static_cast<std::int32_t>(at);
        before = running[to - 1];
      }
    });
  }
};

}  // namespace

std::shared_ptr<HostExecutable> make_counting(const library::CountingOp& op) {
  switch (op.counting) {
    case library::Counting::Indices: return std::make_shared<CountIndicesProgram>(op);
    case library::Counting::LastPositions: return std::make_shared<LastPositionsProgram>(op);
    case library::Counting::Steps: break;
  }
  return std::make_shared<CountStepsProgram>(op);
}

}  // namespace sinter::runtime::host
