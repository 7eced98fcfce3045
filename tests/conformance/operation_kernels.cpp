// Every elementwise op over special and random values, for each dtype of the op table.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/backend_conformance.h"
#include "tests/support/test_data.h"

namespace sinter::testing {
namespace {

bool takes(DTypeRule rule, DType dtype) {
  const bool numeric = is_float(dtype) || dtype == DType::i32 || dtype == DType::i64;
  switch (rule) {
    case DTypeRule::Same: return numeric;
    case DTypeRule::Float:
    case DTypeRule::Bool: return is_float(dtype);
    case DTypeRule::Compare: return numeric || dtype == DType::boolean;
    case DTypeRule::Logic: return !is_float(dtype);
    case DTypeRule::Integer: return dtype == DType::i32 || dtype == DType::i64;
    case DTypeRule::Select: return true;
    default: return false;
  }
}

std::vector<double> special_reals(DType dtype) {
  const bool f32 = dtype == DType::f32;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double largest = f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const double normal = f32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  return {0,         -0.0,      1,         -1,         0.5,      -0.5,   1.5,      -1.5,        2,
          2.5,       -2.5,      3,         -3,         7.5,      10,     -10,      88.7,        -87.3,
          -103,      100,       -100,      1e10,       -1e10,    1e30,   -1e30,    1e-30,       -1e-30,
          inf,       -inf,      nan,       largest,    -largest, normal, -normal,  normal / 64, -normal / 64,
          0.9999999, 1.0000001, 8388608.5, -8388607.5, 16777216, 1e-8,   0.3333333};
}

std::vector<std::int64_t> special_integers(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  const std::int64_t low = dtype == DType::i32 ? INT32_MIN : INT64_MIN,
                     high = dtype == DType::i32 ? INT32_MAX : INT64_MAX;
  return {0,   1,     -1,    2,      -2,  3,       -3,   7,        -7,        10,
          255, 46341, 65536, -65537, low, low + 1, high, high - 1, 1000000007};
}

// Accuracy of sine, cosine and tangent of large arguments is not tested.
bool wants_small_arguments(Op op) { return op == Op::Sin || op == Op::Cos || op == Op::Tan; }

struct Operands {
  std::vector<std::byte> a, b;
  std::vector<std::int64_t> condition;
  std::int64_t count = 0;
};

Operands operands_for(DType dtype, bool small, TestData& data) {
  std::vector<std::pair<double, double>> reals;
  std::vector<std::pair<std::int64_t, std::int64_t>> integers;
  if (is_float(dtype)) {
    std::vector<double> special = special_reals(dtype);
    if (small) std::erase_if(special, [](double v) { return std::isfinite(v) && std::abs(v) > 1000; });
    for (const double x : special)
      for (const double y : special) reals.emplace_back(x, y);
    for (int i = 0; i < 300; ++i) reals.emplace_back(data.real(-3, 3), data.real(-3, 3));
    for (int i = 0; i < 300; ++i) reals.emplace_back(data.real(-80, 80), data.real(-5, 5));
    for (int i = 0; i < 300; ++i) reals.emplace_back(data.real(0, 1), data.real(-50, 50));
    for (int i = 0; i < 300; ++i) reals.emplace_back(data.integer(-30, 30), data.integer(-6, 6));
    if (!small)
      for (int i = 0; i < 300; ++i) reals.emplace_back(std::exp(data.real(-80, 80)), data.real(-3, 3));
  } else {
    const std::vector<std::int64_t> special = special_integers(dtype);
    for (const std::int64_t x : special)
      for (const std::int64_t y : special) integers.emplace_back(x, y);
    const std::int64_t limit = dtype == DType::boolean ? 1 : dtype == DType::i32 ? INT32_MAX : INT64_MAX / 2;
    for (int i = 0; i < 300; ++i)
      integers.emplace_back(data.integer(-limit, limit), data.integer(-limit, limit));
    for (int i = 0; i < 300; ++i) integers.emplace_back(data.integer(-limit, limit), data.integer(-20, 20));
  }
  Operands out;
  const auto put = [&](const auto& pairs) {
    auto first = std::vector<std::decay_t<decltype(pairs[0].first)>>(), second = first;
    for (const auto& [x, y] : pairs) {
      first.push_back(x);
      second.push_back(y);
    }
    out.a = to_bytes(dtype, first);
    out.b = to_bytes(dtype, second);
    out.count = static_cast<std::int64_t>(first.size());
  };
  if (is_float(dtype))
    put(reals);
  else
    put(integers);
  out.condition = data.integers(out.count, 0, 1);
  return out;
}

}  // namespace

std::vector<KernelCase> operation_kernels(bool with_f64, std::size_t max_outputs) {
  TestData data(77);
  std::vector<KernelCase> cases;
  std::vector<DType> dtypes = {DType::f32, DType::i32, DType::i64, DType::boolean};
  if (with_f64) dtypes.push_back(DType::f64);
  for (const DType dtype : dtypes)
    for (const bool small : {false, true}) {
      std::vector<Op> ops;
      for (const OpInfo& op : kOps)
        if (op.op_class == OpClass::Elementwise && takes(op.rule, dtype) &&
            wants_small_arguments(op.op) == small)
          ops.push_back(op.op);
      const Operands operands = operands_for(dtype, small, data);
      for (std::size_t from = 0; from < ops.size(); from += max_outputs) {
        const std::size_t count = std::min(max_outputs, ops.size() - from);
        KernelBuilder k({operands.count});
        std::string name = std::string(name_of(dtype)) + ":";
        const auto all = k.all();
        const ir::ExprId condition = k.load(k.input(DType::boolean, operands.condition), all);
        const ir::ExprId a = k.load(k.input_bytes(dtype, operands.a), all);
        const ir::ExprId b = k.load(k.input_bytes(dtype, operands.b), all);
        for (const Op op : std::span(ops).subspan(from, count)) {
          name += " " + std::string(name_of(op));
          const ir::ExprId result = op == Op::Where       ? k.op(op, condition, a, b)
                                    : info(op).arity == 1 ? k.op(op, a)
                                                          : k.op(op, a, b);
          k.store(k.output(k.expr(result).dtype, operands.count), all, result);
        }
        cases.push_back(k.finish(name));
      }
    }
  return cases;
}

}  // namespace sinter::testing
