// The table of the host's vector functions, and the few loops that need no explicit vectors.
#include "src/runtime/host/interpreter/elementwise.h"

#include <cstring>
#include <limits>
#include <memory>

namespace sinter::runtime::host {
namespace {

// Every elementwise op needs its loops here: a table row without a dtype rule would have none.
constexpr bool every_elementwise_op_has_a_rule() {
  for (const OpInfo& op : kOps)
    if (op.op_class == OpClass::Elementwise && (op.rule == DTypeRule::None || op.arity < 1 || op.arity > 3))
      return false;
  return true;
}
static_assert(every_elementwise_op_has_a_rule());

/// Calls f with an unsigned integer of the element size.
template <class F>
void by_size(std::size_t size, F&& f) {
  if (size == 4)
    f(std::uint32_t{});
  else if (size == 8)
    f(std::uint64_t{});
  else if (size == 2)
    f(std::uint16_t{});
  else
    f(std::uint8_t{});
}

template <class T>
void write(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}

template <class T>
void write_identity_as(Op reduction, void* out) {
  using Limits = std::numeric_limits<T>;
  switch (reduction) {
    case Op::Prod: return write(out, T{1});
    case Op::Max:
      return write(out, Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
    case Op::Min: return write(out, Limits::has_infinity ? Limits::infinity() : Limits::max());
    default: return write(out, T{0});
  }
}

}  // namespace

const BlockFunctions& block_functions() {
  // Never destroyed: threads may compute after the end of static objects.
  static const BlockFunctions& functions = *[] {
    auto table = std::make_unique<BlockFunctions>();
    add_float_functions(*table);
    add_integer_functions(*table);
    add_cast_functions(*table);
    return table.release();
  }();
  return functions;
}

void fill(void* out, const void* value, std::size_t size, std::size_t n) {
  by_size(size, [&](auto zero) {
    using T = decltype(zero);
    T x;
    std::memcpy(&x, value, sizeof x);
    T* to = static_cast<T*>(out);
    for (std::size_t i = 0; i < n; ++i) to[i] = x;
  });
}

void gather_strided(void* out, const void* in, std::int64_t stride, std::size_t size, std::size_t n) {
  by_size(size, [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out);
    const T* from = static_cast<const T*>(in);
    for (std::size_t i = 0; i < n; ++i, from += stride) to[i] = *from;
  });
}

void scatter_strided(void* out, const void* in, std::int64_t stride, std::size_t size, std::size_t n) {
  by_size(size, [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out);
    const T* from = static_cast<const T*>(in);
    for (std::size_t i = 0; i < n; ++i, to += stride) *to = from[i];
  });
}

Op combining_op(Op reduction, DType dtype) {
  const bool truth = dtype == DType::boolean;
  switch (reduction) {
    case Op::Prod: return Op::Mul;
    case Op::Max: return truth ? Op::Or : Op::Maximum;
    case Op::Min: return truth ? Op::And : Op::Minimum;
    default: return Op::Add;
  }
}

void write_identity(Op reduction, DType dtype, void* out) {
  switch (dtype) {
    case DType::f32: return write_identity_as<float>(reduction, out);
    case DType::f64: return write_identity_as<double>(reduction, out);
    case DType::i32: return write_identity_as<std::int32_t>(reduction, out);
    case DType::i64: return write_identity_as<std::int64_t>(reduction, out);
    case DType::boolean:
      return write(out, static_cast<std::uint8_t>(reduction == Op::Min || reduction == Op::Prod));
    default: break;  // nothing else is reduced
  }
}

}  // namespace sinter::runtime::host
