// Chooses who computes a library op on the host.
#include "src/runtime/host/products/library.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/base/env.h"
#include "src/runtime/host/fourier/fourier.h"
#include "src/runtime/host/passes/counting.h"
#include "src/runtime/host/passes/indexed_join.h"
#include "src/runtime/host/passes/scan.h"
#include "src/runtime/host/passes/segments.h"
#include "src/runtime/host/passes/sort.h"
#include "src/runtime/host/products/amx/convolution.h"
#include "src/runtime/host/products/amx/matmul.h"
#include "src/runtime/host/products/conv2d.h"
#include "src/runtime/host/products/matmul.h"
#include "src/runtime/host/products/matvec.h"
#if SINTER_HAS_ONEDNN
#include "src/runtime/host/products/gemm_pairs.h"
#include "src/runtime/host/products/onednn/onednn.h"
#endif

namespace sinter::runtime::host {

bool prefers_channels_last() {
#if SINTER_HAS_ONEDNN
  return base::environment().onednn;
#else
  return false;
#endif
}

namespace {

#if SINTER_HAS_ONEDNN
// A side so short that the other library copies more than it multiplies.
constexpr std::int64_t kNarrow = 16;
// Of a convolution that takes longer than rounding its factors.
constexpr std::int64_t kFewestRounded = 16;

bool own_is_faster(const library::MatMulOp& m) {
  if (m.is_stored_otherwise()) return false;
  if (m.m < 4 || m.n < 4 || m.k < 4) return false;
  return m.n <= kNarrow || m.k <= kNarrow || (m.m <= kNarrow && m.b_column == 1);
}
bool own_is_faster(const library::Conv2dOp&) { return false; }
#endif

/// oneDNN's program where there is one and it is faster; else null.
template <class Op>
std::shared_ptr<ProductProgram> by_onednn([[maybe_unused]] const Op& op) {
#if SINTER_HAS_ONEDNN
  if (base::environment().onednn && !own_is_faster(op)) return make_onednn_program(op);
#endif
  return nullptr;
}

std::shared_ptr<ProductProgram> matmul_by_vectors(const library::MatMulOp& op) {
  if (rounds_to_pairs(op)) return make_matmul(op);
  if (auto program = by_onednn(op)) return program;
  return make_matmul(op);
}

std::shared_ptr<HostExecutable> prepare_matmul(const library::LibraryOp& any) {
  const auto& op = library::as<library::MatMulOp>(any);
  if (is_matvec(op)) return make_matvec(op);
  if (auto program = amx::make_matmul(op, matmul_by_vectors)) return program;
  return matmul_by_vectors(op);
}

/// With factors that are rounded to bf16 first, where the precision allows it and it pays; else null.
std::shared_ptr<ProductProgram> by_rounded_factors([[maybe_unused]] const library::Conv2dOp& op) {
#if SINTER_HAS_ONEDNN
  const std::int64_t channels = std::min(op.c_in, op.c_out) / op.groups;
  if (op.precision != MatmulPrecision::Medium || op.dtype != DType::f32 || op.is_stored_otherwise() ||
      channels < kFewestRounded || !multiplies_pairs())
    return nullptr;
  library::Conv2dOp rounded = op;
  std::array<Conversion, 3> conversions{};
  for (std::size_t factor = 0; factor < 2; ++factor) {
    rounded.stored[factor] = DType::bf16;
    conversions[factor] = {DType::f32, op.elements_read(factor), DType::bf16};
  }
  if (auto program = by_onednn(rounded)) return with_conversions(std::move(program), conversions);
#endif
  return nullptr;
}

std::shared_ptr<ProductProgram> conv2d_by_vectors(const library::Conv2dOp& op) {
  if (auto program = by_onednn(op)) return program;
  library::Conv2dOp wide = op;
  wide.stored = {};
  if (op.is_stored_otherwise())
    if (auto program = by_onednn(wide)) return with_conversions(std::move(program), conversions_of(op));
  return make_conv2d(op);
}

std::shared_ptr<HostExecutable> prepare_conv2d(const library::LibraryOp& any) {
  const auto& op = library::as<library::Conv2dOp>(any);
  if (auto program = amx::make_conv2d(op, conv2d_by_vectors)) return program;
  if (auto program = by_rounded_factors(op)) return program;
  return conv2d_by_vectors(op);
}

}  // namespace

LibraryTable<std::shared_ptr<HostExecutable>(const library::LibraryOp&)>& library_table() {
  using Direction = library::Conv2dOp::Direction;
  // Never destroyed: devices may outlive static objects.
  static auto* table = new LibraryTable<std::shared_ptr<HostExecutable>(const library::LibraryOp&)>{
      {&library::matmul(), prepare_matmul},
      {&library::conv2d(Direction::Forward), prepare_conv2d},
      {&library::conv2d(Direction::BackwardInput), prepare_conv2d},
      {&library::conv2d(Direction::BackwardWeight), prepare_conv2d},
      {&library::sort_indices(),
       [](const library::LibraryOp& op) {
         return make_sort_indices(library::as<library::SortIndicesOp>(op));
       }},
      {&library::segment_sum(),
       [](const library::LibraryOp& op) { return make_segment_sum(library::as<library::SegmentSumOp>(op)); }},
      {&library::indexed_join(),
       [](const library::LibraryOp& op) {
         return make_indexed_join(library::as<library::IndexedJoinOp>(op));
       }},
      {&library::sort(),
       [](const library::LibraryOp& op) { return make_sort(library::as<library::SortOp>(op)); }},
      {&library::sort_with_values(),
       [](const library::LibraryOp& op) { return make_sort(library::as<library::SortOp>(op)); }},
      {&library::search_sorted(),
       [](const library::LibraryOp& op) {
         return make_search_sorted(library::as<library::SearchSortedOp>(op));
       }},
  };
  [[maybe_unused]] static const bool countings = [] {
    for (const library::Counting counting : library::kCountings)
      table->add(library::counting(counting), [](const library::LibraryOp& op) {
        return make_counting(library::as<library::CountingOp>(op));
      });
    return true;
  }();
  [[maybe_unused]] static const bool scans = [] {
    for (std::size_t kind = 0; kind < library::kScanKinds; ++kind)
      table->add(library::scan(static_cast<library::ScanKind>(kind)),
                 [](const library::LibraryOp& op) { return make_scan(library::as<library::ScanOp>(op)); });
    return true;
  }();
  [[maybe_unused]] static const bool transforms = [] {
    using library::Fourier;
    for (const Fourier transform : {Fourier::Complex, Fourier::FromReal, Fourier::ToReal})
      table->add(library::fourier(transform), [](const library::LibraryOp& op) {
        return make_fourier(library::as<library::FourierOp>(op));
      });
    return true;
  }();
  return *table;
}

}  // namespace sinter::runtime::host
