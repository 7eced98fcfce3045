// Counts by pieces of the operand, each with counts of its own, which are added up.
#include "src/runtime/host/products/counting.h"

#include <algorithm>

#include "src/runtime/host/buffer.h"

namespace sinter::runtime::host {
namespace {

constexpr std::int64_t kLeast = 1 << 15;  // elements that are worth a piece

/// An index out of range was told of before and stands for row 0 here.
std::int32_t row_at(std::int32_t index, std::int64_t rows) { return index >= 0 && index < rows ? index : 0; }

class CountIndicesProgram final : public HostExecutable {
 public:
  explicit CountIndicesProgram(const library::CountIndicesOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(words() * sizeof(std::int32_t));
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* index = reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[0]));
    auto* counts = reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[1]));
    if (op_.rows == 0) return;
    const std::int64_t all = pieces();
    if (all == 1) return count(index, op_.count, counts);
    auto* own = reinterpret_cast<std::int32_t*>(workers.take(words() * sizeof(std::int32_t)));
    workers.pool().run(static_cast<std::size_t>(all), [&](std::size_t i, std::size_t) {
      const auto piece = static_cast<std::int64_t>(i);
      const std::int64_t begin = piece * op_.count / all, end = (piece + 1) * op_.count / all;
      count(index + begin, end - begin, own + piece * op_.rows);
    });
    std::copy_n(own, op_.rows, counts);
    for (std::int64_t piece = 1; piece < all; ++piece)
      for (std::int64_t row = 0; row < op_.rows; ++row) counts[row] += own[piece * op_.rows + row];
  }

 private:
  /// As many as have more to count than to add up.
  std::int64_t pieces() const {
    constexpr std::int64_t kMost = 32, kOfRow = 4;
    return std::clamp<std::int64_t>(op_.count / std::max(kLeast, kOfRow * op_.rows), 1, kMost);
  }
  std::size_t words() const { return pieces() == 1 ? 0 : static_cast<std::size_t>(pieces() * op_.rows); }

  void count(const std::int32_t* index, std::int64_t size, std::int32_t* counts) const {
    std::fill_n(counts, op_.rows, 0);
    for (std::int64_t i = 0; i < size; ++i) ++counts[row_at(index[i], op_.rows)];
  }

  library::CountIndicesOp op_;
};

class LastPositionsProgram final : public HostExecutable {
 public:
  explicit LastPositionsProgram(const library::LastPositionsOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  void run(Workers&, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* index = reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[0]));
    auto* last = reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[1]));
    std::fill_n(last, op_.rows, 0);
    if (op_.rows == 0) return;
    for (std::int64_t i = 0; i < op_.count; ++i)
      last[row_at(index[i], op_.rows)] = static_cast<std::int32_t>(i + 1);
  }

 private:
  library::LastPositionsOp op_;
};

class CountStepsProgram final : public HostExecutable {
 public:
  explicit CountStepsProgram(const library::CountStepsOp& op) : op_(op) {}
  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const auto* running = reinterpret_cast<const std::int32_t*>(data_of(arguments.buffers[0]));
    auto* places = reinterpret_cast<std::int32_t*>(data_of(arguments.buffers[1]));
    const std::int64_t pieces = std::max<std::int64_t>(op_.length / kLeast, 1);
    workers.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t i, std::size_t) {
      const auto piece = static_cast<std::int64_t>(i);
      const std::int64_t begin = piece * op_.length / pieces, end = (piece + 1) * op_.length / pieces;
      for (std::int64_t at = begin; at < end; ++at)
        if (running[at] != (at > 0 ? running[at - 1] : 0))
          places[running[at] - 1] = static_cast<std::int32_t>(at);
    });
  }

 private:
  library::CountStepsOp op_;
};

}  // namespace

std::shared_ptr<HostExecutable> make_count_indices(const library::CountIndicesOp& op) {
  return std::make_shared<CountIndicesProgram>(op);
}
std::shared_ptr<HostExecutable> make_last_positions(const library::LastPositionsOp& op) {
  return std::make_shared<LastPositionsProgram>(op);
}
std::shared_ptr<HostExecutable> make_count_steps(const library::CountStepsOp& op) {
  return std::make_shared<CountStepsProgram>(op);
}

}  // namespace sinter::runtime::host
