// The list of passes.
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

/// True iff scores of many rows may stay out of memory.
bool keeps_tiles(const ir::DeviceTraits& traits) {
  return traits.tensor_cores.keeps_scores() || traits.score_tile_bytes > 0 || traits.fewest_striped > 0;
}

// Name, function, when it is wanted.
constexpr Pass kPasses[] = {
    {"widen_integers", widen_integers, [](auto&, auto&) { return true; }},
    {"simplify", simplify, [](auto&, auto&) { return true; }},
    {"take_out_factors", take_out_factors, [](auto&, auto& options) { return options.fusion; }},
    {"join_sums_of_products", join_sums_of_products, [](auto&, auto& options) { return options.fusion; }},
    {"split_planes", split_planes, [](auto&, auto&) { return true; }},
    {"choose_layouts", choose_layouts,
     [](auto& traits, auto& options) {
       return (traits.channels_last || traits.tensor_cores.any() || traits.fixed_windows) && options.fusion;
     }},
    {"transpose_products", transpose_products, [](auto&, auto& options) { return options.fusion; }},
    {"sum_windows", sum_windows,
     [](auto& traits, auto& options) { return traits.fixed_windows && options.fusion; }},
    {"sum_small_products", sum_small_products,
     [](auto& traits, auto& options) { return !traits.is_cpu && options.fusion; }},
    {"contract_convolutions", contract_convolutions,
     [](auto& traits, auto&) { return traits.tensor_cores.any(); }},
    {"contract_products", contract_products,
     [](auto& traits, auto&) { return traits.tensor_cores.any() || traits.lone_rows; }},
    {"slice_products", slice_products,
     [](auto& traits, auto& options) {
       return traits.tensor_cores.any() && traits.tensor_cores.has_groups && options.fusion;
     }},
    {"absorb_casts", absorb_casts, [](auto& traits, auto&) { return traits.narrow_products; }},
    {"keep_scores", keep_scores,
     [](auto& traits, auto& options) { return (keeps_tiles(traits) || traits.lone_rows) && options.fusion; }},
    {"order_heads", order_heads,
     [](auto& traits, auto& options) { return keeps_tiles(traits) && options.fusion; }},
    {"join_in_memory", join_in_memory, [](auto&, auto& options) { return options.fusion; }},
    {"divide_concatenations", divide_concatenations, [](auto&, auto& options) { return options.fusion; }},
    {"split_reductions", split_reductions, [](auto& traits, auto&) { return !traits.grid_reductions; }},
    {"use_welford", use_welford,
     [](auto& traits, auto& options) { return traits.grid_reductions && options.fusion; }},
    {"leave_room_for_parts", leave_room_for_parts,
     [](auto& traits, auto& options) {
       return traits.row_lanes > 0 && traits.grid_reductions && options.fusion;
     }},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

}  // namespace sinter::plan
