// Launches of a plan that run at the same time, and the workspace that each strand of them has to itself.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "jit/plan/launch_order.h"
#include "src/runtime/backend.h"

namespace sinter::runtime {

/// The workspaces of a run, those of its strands one behind the other.
struct Workspaces {
  static constexpr std::size_t kStrands = plan::LaunchOrder::kMostStrands;
  std::array<std::size_t, kStrands> bytes{};  // the most that a launch of each strand needs

  void need(std::size_t strand, std::size_t more) {
    if (more > bytes[strand]) bytes[strand] = more;
  }
  /// Where that of a strand begins; of kStrands: where the last ends.
  std::size_t from(std::size_t strand) const {
    constexpr std::size_t kAlignment = 1024;
    std::size_t at = 0;
    for (std::size_t s = 0; s < strand; ++s) at += (bytes[s] + kAlignment - 1) / kAlignment * kAlignment;
    return at;
  }
};

/// An order for a plan, and what the workspaces of its strands need.
struct Strands {
  plan::LaunchOrder order;
  Workspaces workspaces;
};

/// `executables`: of each launch of the plan. Null where no two launches could run at the same time.
std::unique_ptr<const Strands> strands_of(const plan::Plan& plan, std::span<const ExecutableRef> executables,
                                          std::size_t most);

}  // namespace sinter::runtime
