// The last step of lowering: a draft with numbers becomes kernel IR with arguments.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "jit/ir/kernel.h"
#include "jit/plan/lower/lower.h"
#include "jit/plan/lower/maps/index_map.h"
#include "jit/plan/score_form.h"

namespace sinter::plan {

struct DraftStore {
  std::uint16_t buffer = 0, map = 0;
  ir::ExprId value = 0;
};

struct DraftBounds {
  struct Dim {
    std::int64_t extent, lower, step, size;
    MovingParts moving{};  // of `lower`
  };
  std::vector<Dim> bounds;
};

/// What a LoadAt counts in, and the node that it is.
struct Indexed {
  std::int64_t stride = 0, extent = 0;
  NodeId node = kNoNode;
};

/// A kernel in the making: expressions refer to `maps` and, for InBounds, through `buffer` to `bounds`;
/// levels and phases are still to be found.
struct Draft {
  std::size_t outer_rank = 0;
  bool has_reduction = false;
  bool feeds_recipe = false;           // stores what a recipe reads
  bool contracts = false;              // ... that is a contraction
  std::int64_t parts = 0;              // of a kernel with Partials
  bool repeats = false;                // ... whose results are needed several times (ChosenLoops::repeats)
  bool few_rows = false;               // ... of few rows or few columns
  bool computes_factor = false;        // ... one factor of which is computed for each result again
  ScoreForm scores = ScoreForm::None;  // ... over scores that are gone over so
  /// ... whose factors of f32 may be rounded to tf32; whose sum of factors of 8 bits may be one of the tensor
  /// cores as a whole.
  bool rounds_factors = false;
  ir::Tiling::Blocks blocks;           // ... of groups side by side
  std::vector<ir::ExprId> contracted;  // Reduces that are contractions
  std::vector<std::int64_t> extents;
  std::vector<IndexMap> maps;
  std::vector<DraftBounds> bounds;
  absl::flat_hash_map<ir::ExprId, Indexed> indexed;   // LoadAt
  absl::flat_hash_set<ir::ExprId> chosen_where_seen;  // selects whose other choice nobody sees
  std::vector<ir::Expr> exprs;
  std::vector<DraftStore> stores;
  std::vector<BufferUse> buffers;
  std::vector<DType> buffer_dtypes;
  std::vector<ScalarArgument> scalars;
  std::vector<NodeId> computed;
};

/// Thrown while lowering: why the group has to be cut.
struct Cut {
  std::string reason;
};

/// Joins loop dims, finds levels and phases, chooses the schedule, and turns numbers into arguments. Throws
/// Cut.
Lowered finish(Draft draft, const LowerLimits& limits);

}  // namespace sinter::plan
