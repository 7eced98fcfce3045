// Which columns of a stripe of scores count, where a mask of places leaves a part of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/ir/scores/score_places.h"
#include "jit/ir/scores/score_stripes.h"
#include "src/runtime/backend.h"

namespace sinter::runtime::host {

class SeenColumns {
 public:
  explicit SeenColumns(const ir::Kernel& kernel);

  struct Range {
    std::int64_t first = 0, end = 0;
  };
  /// Columns outside of the range change nothing in the stripe's rows: there some condition is false
  /// everywhere, so that weights are 0 and scores minus infinity. Never empty where there are columns.
  /// `stripe.first_column` and `columns` are not looked at.
  Range range(const LaunchArguments& arguments, const ir::Stripe& stripe, std::int64_t columns) const;

 private:
  struct Bounds {  // of a number; of a condition 1 is true, 0 false
    std::int64_t low = 0, high = 0;
  };
  bool may_skip(ir::ExprId condition, const LaunchArguments& arguments) const;
  Bounds bounds(ir::ExprId id, const LaunchArguments& arguments, const ir::Stripe& stripe, Range columns,
                std::span<const Bounds> known) const;

  const ir::Kernel& kernel_;
  const ir::ScorePlaces places_;
  std::vector<ir::ExprId> needed_;  // what conditions are made of, operands first
  std::vector<ir::ExprId> reduced_;
};

}  // namespace sinter::runtime::host
