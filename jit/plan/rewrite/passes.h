// The passes over the graph. A pass is a function in a file of this folder and a row in the list of
// passes.cpp; docs/adding-a-pass.md walks through one.
#pragma once

#include <span>
#include <string_view>

#include "jit/ir/traits.h"
#include "jit/plan/graph.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

struct Pass {
  std::string_view name;
  void (*run)(Graph& graph, const ir::DeviceTraits& traits);
  bool (*wanted)(const ir::DeviceTraits& traits, const PlanOptions& options);
};

/// All passes, in the order in which they run.
std::span<const Pass> passes();

/// Integers that are stored in a dtype of their own (i8, i16, u8, u16, u32, u64) are computed in i32 or i64.
void widen_integers(Graph& graph, const ir::DeviceTraits& traits);

/// Nodes that compute the same thing become one; what no result needs, and what has no elements, is left out.
void simplify(Graph& graph, const ir::DeviceTraits& traits);

/// A factor that is the same for all terms of a sum, and itself made of a reduction, scales the sum instead.
void take_out_factors(Graph& graph, const ir::DeviceTraits& traits);

/// Products that are added up become one, of all their factors side by side, where that moves less.
void join_sums_of_products(Graph& graph, const ir::DeviceTraits& traits);

/// Images that convolutions hand each other, directly or through elementwise work, lie with their channels
/// last in memory: where that saves library ops at least two transposes of an image, and where convolutions
/// become contractions, which read and write images so, or sums over windows of an image that lies so. What
/// such an image is to others is a view of it.
void choose_layouts(Graph& graph, const ir::DeviceTraits& traits);

/// (AB)^T is computed directly where only the transpose is read.
void transpose_products(Graph& graph, const ir::DeviceTraits& traits);

/// Convolutions become contractions over windows, where the device has tensor cores and they may compute
/// them: of 16-bit floats, and of f32 that may be rounded. Groups of several channels are products of a
/// batch, some of them side by side (groups.h).
void contract_convolutions(Graph& graph, const ir::DeviceTraits& traits);

/// Of a convolution, or of a gradient of one: of the image, or of the weight.
bool is_convolution(const Node& node);
bool gives_image(const Node& convolution);
bool gives_weight(const Node& convolution);

/// Convolutions over three dims that are not to be contracted become sums of convolutions over two, one for
/// each plane of the kernel.
void split_planes(Graph& graph, const ir::DeviceTraits& traits);

/// Depthwise convolutions and their gradients become sums over windows, on devices whose kernels have the
/// points of a window in their text (DeviceTraits::fixed_windows).
void sum_windows(Graph& graph, const ir::DeviceTraits& traits);

/// Whether sum_windows makes such sums of a convolution, or of a gradient of one.
bool is_summed_convolution(const Graph& graph, const Node& node);

/// Batches of products with few rows and columns become sums of products.
void sum_small_products(Graph& graph, const ir::DeviceTraits& traits);

/// Whether contract_convolutions makes a contraction of a convolution, or of a gradient of one.
bool is_contracted_convolution(const Graph& graph, const Node& node, const ir::TensorCores& cores);

/// Likewise matrix products, and those of one row or column on devices that compute them as they read them
/// (DeviceTraits::lone_rows).
void contract_products(Graph& graph, const ir::DeviceTraits& traits);

/// Whether contract_products makes a contraction of a matrix product of the graph. A contraction is asked
/// about as the product that it was.
bool is_contracted(const Graph& graph, const Node& product, const ir::TensorCores& cores);

/// A small product of 16 bits that elementwise work reads in slices, which it brings together element by
/// element, becomes a product for each slice, whose sums one kernel has in its tiles.
void slice_products(Graph& graph, const ir::DeviceTraits& traits);

/// Products of which only the softmax of each row is wanted, and what it weighs, as in attention and its
/// gradients, are kept out of memory: each kernel that needs an element of them computes it (Dot), and what
/// rows of weights are multiplied by is combined by the same kernel (Combine).
void keep_scores(Graph& graph, const ir::DeviceTraits& traits);

/// Combined vectors that are read with the heads of a row side by side are stored so.
void order_heads(Graph& graph, const ir::DeviceTraits& traits);

/// Products that stay library ops read 16-bit floats as they are stored, and write a result that is only read
/// as 16-bit floats so: the casts to f32 in front and the cast behind are gone, and with them the f32 copies.
void absorb_casts(Graph& graph, const ir::DeviceTraits& traits);

/// Pieces of a long concatenation that lie one behind the other in memory are stored in their places.
void join_in_memory(Graph& graph, const ir::DeviceTraits& traits);

/// Long concatenations are computed by several kernels.
void divide_concatenations(Graph& graph, const ir::DeviceTraits& traits);

/// Reductions with too few results to keep the device busy become two, one after the other.
void split_reductions(Graph& graph, const ir::DeviceTraits& traits);

/// How split_reductions cuts a reduction: dim `dim`, which is reduced, is seen as (pieces, size / pieces).
struct ReductionCut {
  std::size_t dim = 0;
  std::int64_t pieces = 1;  // 1: it is not cut
};
ReductionCut choose_reduction_cut(const Shape& in, std::int64_t bits, const ir::DeviceTraits& traits);

/// Variances of much data take one pass over it, by Welford's method, and not one for the mean and one for
/// the squared differences.
void use_welford(Graph& graph, const ir::DeviceTraits& traits);

/// A node in front of each sum over rows holds a place for sums of parts of these.
void leave_room_for_parts(Graph& graph, const ir::DeviceTraits& traits);

/// That node, which has no operand yet; kNoNode: there is none.
NodeId place_for_parts(const Graph& graph, NodeId sum);

}  // namespace sinter::plan
