// Test kernels: a builder to write them in few lines, a set written by hand, and random ones.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "jit/ir/kernel.h"
#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {

/// A kernel and its launch arguments.
struct KernelCase {
  std::string name;
  ir::Kernel kernel;
  Bindings bindings;
};

/// `values` as elements of `dtype`, converted as C++ does.
std::vector<std::byte> to_bytes(DType dtype, const std::vector<double>& values);
std::vector<std::byte> to_bytes(DType dtype, const std::vector<std::int64_t>& values);
/// The elements as doubles.
std::vector<double> to_doubles(DType dtype, const std::vector<std::byte>& bytes);

/// Builds kernels: finds levels, phases and flags, and makes sizes int arguments.
///
///   KernelBuilder k({4, 8});
///   const auto x = k.load(k.input(DType::f32, values), k.all());
///   k.store(k.output(DType::f32, 32), k.all(), k.op(Op::Exp, x));
///   KernelCase exp = k.finish("exp");
class KernelBuilder {
 public:
  struct Step {
    std::vector<std::int64_t> extents, strides;
    std::int64_t offset = 0;
  };
  struct BoundSizes {
    std::int64_t extent, lower, step, size;
  };

  /// `schedule` matters only where there are inner dims.
  explicit KernelBuilder(std::vector<std::int64_t> outer, std::vector<std::int64_t> inner = {},
                         ir::Schedule schedule = ir::Schedule::LanesInner);

  /// Makes later strides and offsets of 1 arguments too, and strides of 0 along outer dims.
  void avoid_constants() { avoid_constants_ = true; }
  void set_wide() { kernel_.wide = true; }

  std::uint16_t input(DType dtype, const std::vector<double>& values) {
    return add_buffer(dtype, to_bytes(dtype, values));
  }
  std::uint16_t input(DType dtype, const std::vector<std::int64_t>& values) {
    return add_buffer(dtype, to_bytes(dtype, values));
  }
  std::uint16_t input(DType dtype, std::initializer_list<double> values) {
    return input(dtype, std::vector<double>(values));
  }
  std::uint16_t input_bytes(DType dtype, std::vector<std::byte> bytes) {
    return add_buffer(dtype, std::move(bytes));
  }
  /// Filled with the byte 0xCD, to detect elements that the kernel does not store.
  std::uint16_t output(DType dtype, std::int64_t numel);

  std::uint16_t map(const std::vector<std::int64_t>& strides, std::int64_t offset = 0,
                    const std::vector<Step>& further = {});
  /// Numbers of earlier maps, which are quotients, times strides.
  using Parts = std::vector<std::pair<std::uint16_t, std::int64_t>>;
  /// strides * coordinates + offset + parts.
  std::uint16_t map_with(const Parts& parts, const std::vector<std::int64_t>& strides,
                         std::int64_t offset = 0);
  /// The quotient of such a number by `by`; all quotients are less than `count`.
  std::uint16_t quotient(const Parts& parts, const std::vector<std::int64_t>& strides, std::int64_t offset,
                         std::int64_t count, std::int64_t by);
  /// Row-major position over all coordinates; over the outer or the inner ones alone.
  std::uint16_t all() { return map(row_major(0, sizes_.size())); }
  std::uint16_t outer() { return map(row_major(0, kernel_.outer_rank)); }
  std::uint16_t inner() { return map(row_major(kernel_.outer_rank, sizes_.size())); }
  /// Strides of these; along dims outside of [from, to) they are 0.
  std::vector<std::int64_t> row_major(std::size_t from, std::size_t to) const;

  ir::ExprId load(std::uint16_t buffer, std::uint16_t map, ir::ExprId predicate = ir::kNone);
  ir::ExprId load_at(std::uint16_t buffer, std::uint16_t map, ir::ExprId index, std::int64_t stride,
                     std::int64_t extent, ir::ExprId predicate = ir::kNone);
  ir::ExprId scalar(DType dtype, double value);
  ir::ExprId index(std::uint16_t map);
  ir::ExprId in_bounds(std::uint16_t map, const std::vector<BoundSizes>& bounds);
  ir::ExprId random(std::uint16_t map, std::int64_t seed, std::int64_t stream, bool normal = false);
  ir::ExprId op(Op op, ir::ExprId a, ir::ExprId b = ir::kNone, ir::ExprId c = ir::kNone);
  ir::ExprId cast(DType dtype, ir::ExprId a);
  ir::ExprId reduce(Op op, ir::ExprId a);
  /// In the phase of the value, or a later one.
  void store(std::uint16_t buffer, std::uint16_t map, ir::ExprId value, int phase = -1);

  const ir::Expr& expr(ir::ExprId id) const { return kernel_.exprs[id]; }
  std::size_t numel(std::size_t from, std::size_t to) const;
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  std::size_t outer_rank() const { return kernel_.outer_rank; }
  int last_phase() const { return kernel_.phases - 1; }

  /// The kernel, verified.
  KernelCase finish(std::string name);

 private:
  std::uint16_t add_buffer(DType dtype, std::vector<std::byte> contents);
  ir::IntRef argument(std::int64_t value);
  ir::IntRef number(std::int64_t value);
  std::uint16_t add_scalar(DType dtype, double real, std::int64_t integer);
  ir::ExprId add(ir::Expr e);
  ir::Level level_of_map(std::uint16_t map) const;

  ir::Kernel kernel_;
  Bindings bindings_;
  std::vector<std::int64_t> sizes_;
  bool avoid_constants_ = false;
};

/// Kernels written by hand, each with all schedules that make sense. Kernels that need f64 only if wanted.
std::vector<KernelCase> handmade_kernels(bool with_f64 = true);

/// A valid kernel generated from `seed`.
KernelCase random_kernel(std::uint64_t seed, bool with_f64 = true);

/// As random_kernel, with few outer points and inner loops of tens of thousands.
KernelCase random_long_kernel(std::uint64_t seed, bool with_f64 = true);

}  // namespace sinter::testing
