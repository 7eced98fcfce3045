// KernelBuilder: levels, phases and arguments are found here, so that tests say only what they mean.
#include <algorithm>
#include <cstring>

#include "src/base/element_type.h"
#include "tests/support/kernels/random_kernel.h"

namespace sinter::testing {
namespace {

template <class From>
std::vector<std::byte> converted(DType dtype, const std::vector<From>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(dtype));
  std::byte* to = bytes.data();
  for (const From v : values)
    base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
      T x;
      if constexpr (is_stored_float(dtype_of<T>))
        x = T(static_cast<float>(v));
      else
        x = static_cast<T>(v);
      if (dtype == DType::boolean) x = T(v != 0);
      std::memcpy(to, &x, sizeof x);
      to += sizeof x;
    });
  return bytes;
}

}  // namespace

std::vector<std::byte> to_bytes(DType dtype, const std::vector<double>& values) {
  return converted(dtype, values);
}
std::vector<std::byte> to_bytes(DType dtype, const std::vector<std::int64_t>& values) {
  return converted(dtype, values);
}

std::vector<double> to_doubles(DType dtype, const std::vector<std::byte>& bytes) {
  std::vector<double> values;
  for (std::size_t at = 0; at < bytes.size(); at += size_of(dtype)) {
    base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
      T x;
      std::memcpy(&x, bytes.data() + at, sizeof x);
      values.push_back(static_cast<double>(x));
    });
  }
  return values;
}

KernelBuilder::KernelBuilder(std::vector<std::int64_t> outer, std::vector<std::int64_t> inner,
                             ir::Schedule schedule) {
  kernel_.outer_rank = static_cast<std::uint8_t>(outer.size());
  kernel_.inner_rank = static_cast<std::uint8_t>(inner.size());
  kernel_.schedule = inner.empty() ? ir::Schedule::Pointwise : schedule;
  sizes_ = std::move(outer);
  sizes_.insert(sizes_.end(), inner.begin(), inner.end());
  for (const std::int64_t size : sizes_) kernel_.extents.push_back(argument(size));
}

std::size_t KernelBuilder::numel(std::size_t from, std::size_t to) const {
  std::size_t n = 1;
  for (std::size_t d = from; d < to; ++d) n *= static_cast<std::size_t>(sizes_[d]);
  return n;
}

std::vector<std::int64_t> KernelBuilder::row_major(std::size_t from, std::size_t to) const {
  std::vector<std::int64_t> strides(sizes_.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = to; d-- > from;) {
    strides[d] = stride;
    stride *= sizes_[d];
  }
  return strides;
}

ir::IntRef KernelBuilder::argument(std::int64_t value) {
  bindings_.ints.push_back(value);
  return ir::IntRef::argument(kernel_.ints++);
}

ir::IntRef KernelBuilder::number(std::int64_t value) {
  if (value == 0) return ir::IntRef::zero();
  if (value == 1 && !avoid_constants_) return ir::IntRef::one();
  return argument(value);
}

std::uint16_t KernelBuilder::add_buffer(DType dtype, std::vector<std::byte> contents) {
  kernel_.buffers.push_back({dtype, false, false});
  bindings_.buffers.push_back(std::move(contents));
  return static_cast<std::uint16_t>(kernel_.buffers.size() - 1);
}

std::uint16_t KernelBuilder::output(DType dtype, std::int64_t numel) {
  return add_buffer(
      dtype, std::vector<std::byte>(static_cast<std::size_t>(numel) * size_of(dtype), std::byte{0xCD}));
}

std::uint16_t KernelBuilder::map(const std::vector<std::int64_t>& strides, std::int64_t offset,
                                 const std::vector<Step>& further) {
  ir::MapStep first;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const bool hide = avoid_constants_ && d < kernel_.outer_rank;
    first.strides.push_back(hide ? argument(strides[d]) : number(strides[d]));
  }
  first.offset = number(offset);
  ir::IndexMap map;
  map.steps.push_back(first);
  for (const Step& step : further) {
    ir::MapStep next;
    for (const std::int64_t extent : step.extents) next.extents.push_back(argument(extent));
    for (const std::int64_t stride : step.strides) next.strides.push_back(number(stride));
    next.offset = number(step.offset);
    map.steps.push_back(next);
  }
  kernel_.maps.push_back(map);
  return static_cast<std::uint16_t>(kernel_.maps.size() - 1);
}

std::uint16_t KernelBuilder::map_with(const Parts& parts, const std::vector<std::int64_t>& strides,
                                      std::int64_t offset) {
  const std::uint16_t made = map(strides, offset);
  if (parts.empty()) return made;
  ir::MapStep sum;
  for (const auto& [part, stride] : parts) {
    sum.maps.push_back(part);
    sum.strides.push_back(number(stride));
  }
  kernel_.maps[made].steps.push_back(std::move(sum));
  return made;
}

std::uint16_t KernelBuilder::quotient(const Parts& parts, const std::vector<std::int64_t>& strides,
                                      std::int64_t offset, std::int64_t count, std::int64_t by) {
  const std::uint16_t made = map_with(parts, strides, offset);
  kernel_.maps[made].steps.push_back(
      {{argument(count), argument(by)}, {ir::IntRef::one(), ir::IntRef::zero()}, {}, {}});
  return made;
}

ir::Level KernelBuilder::level_of_map(std::uint16_t map) const {
  return ir::dependence_of_maps(kernel_)[map] >> kernel_.outer_rank != 0 ? ir::Level::Inner
                                                                         : ir::Level::Outer;
}

ir::ExprId KernelBuilder::add(ir::Expr e) {
  const auto use = [&](ir::ExprId id) {
    if (id == ir::kNone) return;
    e.level = std::max(e.level, kernel_.exprs.at(id).level);
    e.phase = std::max(e.phase, kernel_.exprs.at(id).phase);
  };
  for (const ir::ExprId arg : e.args) use(arg);
  use(e.predicate);
  if (e.kind == ir::ExprKind::Reduce) {
    e.level = ir::Level::Outer;
    ++e.phase;
  } else if (e.kind != ir::ExprKind::Scalar && e.kind != ir::ExprKind::Elementwise) {
    e.level = std::max(e.level, level_of_map(e.map));
  }
  kernel_.phases = std::max<std::uint16_t>(kernel_.phases, e.phase + 1);
  kernel_.exprs.push_back(std::move(e));
  return static_cast<ir::ExprId>(kernel_.exprs.size() - 1);
}

ir::ExprId KernelBuilder::load(std::uint16_t buffer, std::uint16_t map, ir::ExprId predicate) {
  kernel_.buffers[buffer].read = true;
  ir::Expr e;
  e.kind = ir::ExprKind::Load;
  e.dtype = kernel_.buffers[buffer].dtype;
  e.buffer = buffer;
  e.map = map;
  e.predicate = predicate;
  return add(e);
}

ir::ExprId KernelBuilder::load_at(std::uint16_t buffer, std::uint16_t map, ir::ExprId index,
                                  std::int64_t stride, std::int64_t extent, ir::ExprId predicate) {
  kernel_.buffers[buffer].read = true;
  ir::Expr e;
  e.fault = kernel_.faults++;
  e.kind = ir::ExprKind::LoadAt;
  e.dtype = kernel_.buffers[buffer].dtype;
  e.buffer = buffer;
  e.map = map;
  e.args[0] = index;
  e.stride = number(stride);
  e.extent = number(extent);
  e.predicate = predicate;
  return add(e);
}

std::uint16_t KernelBuilder::add_scalar(DType dtype, double real, std::int64_t integer) {
  runtime::ScalarValue value;
  value.dtype = dtype;
  if (is_float(dtype)) {
    value.real = real;
  } else {
    value.integer = integer;
  }
  kernel_.scalars.push_back(dtype);
  bindings_.scalars.push_back(value);
  return static_cast<std::uint16_t>(kernel_.scalars.size() - 1);
}

ir::ExprId KernelBuilder::scalar(DType dtype, double value) {
  ir::Expr e;
  e.kind = ir::ExprKind::Scalar;
  e.dtype = dtype;
  e.scalar = add_scalar(dtype, value, is_float(dtype) ? 0 : static_cast<std::int64_t>(value));
  return add(e);
}

ir::ExprId KernelBuilder::index(std::uint16_t map) {
  ir::Expr e;
  e.kind = ir::ExprKind::Index;
  e.dtype = DType::i64;
  e.map = map;
  return add(e);
}

ir::ExprId KernelBuilder::in_bounds(std::uint16_t map, const std::vector<BoundSizes>& bounds) {
  ir::Expr e;
  e.kind = ir::ExprKind::InBounds;
  e.dtype = DType::boolean;
  e.map = map;
  for (const BoundSizes& b : bounds)
    e.bounds.push_back({argument(b.extent), number(b.lower), number(b.step), number(b.size)});
  return add(e);
}

ir::ExprId KernelBuilder::random(std::uint16_t map, std::int64_t seed, std::int64_t stream, bool normal) {
  ir::Expr e;
  e.kind = normal ? ir::ExprKind::RandomNormal : ir::ExprKind::Random;
  e.map = map;
  e.scalar = add_scalar(DType::i64, 0, seed);
  add_scalar(DType::i64, 0, stream);
  return add(e);
}

ir::ExprId KernelBuilder::op(Op op, ir::ExprId a, ir::ExprId b, ir::ExprId c) {
  ir::Expr e;
  e.op = op;
  e.args[0] = a;
  e.args[1] = b;
  e.args[2] = c;
  const DTypeRule rule = info(op).rule;
  const bool truth = rule == DTypeRule::Compare || rule == DTypeRule::Bool;
  e.dtype = truth ? DType::boolean : expr(rule == DTypeRule::Select ? b : a).dtype;
  return add(e);
}

ir::ExprId KernelBuilder::cast(DType dtype, ir::ExprId a) {
  const DType from = expr(a).dtype;
  if (from == dtype) return a;
  // What is only stored is cast from and to what it is computed in.
  if (const DType computed = arithmetic_of(from); computed != from && computed != dtype)
    return cast(dtype, cast(computed, a));
  if (const DType computed = arithmetic_of(dtype); computed != dtype && computed != from)
    return cast(dtype, cast(computed, a));
  ir::Expr e;
  e.op = Op::Cast;
  e.dtype = dtype;
  e.args[0] = a;
  return add(e);
}

ir::ExprId KernelBuilder::reduce(Op op, ir::ExprId a) {
  ir::Expr e;
  e.kind = ir::ExprKind::Reduce;
  e.op = op;
  e.dtype = expr(a).dtype;
  e.args[0] = a;
  return add(e);
}

void KernelBuilder::store(std::uint16_t buffer, std::uint16_t map, ir::ExprId value, int phase) {
  kernel_.buffers[buffer].written = true;
  ir::Store store;
  store.buffer = buffer;
  store.map = map;
  store.value = value;
  store.level = level_of_map(map);
  store.phase = phase < 0 ? expr(value).phase : static_cast<std::uint16_t>(phase);
  kernel_.phases = std::max<std::uint16_t>(kernel_.phases, store.phase + 1);
  kernel_.stores.push_back(store);
}

KernelCase KernelBuilder::finish(std::string name) {
  ir::verify(kernel_);
  return {std::move(name), std::move(kernel_), std::move(bindings_)};
}

}  // namespace sinter::testing
