// Operators that map elements to elements.
#include <cmath>
#include <limits>

#include "tests/onnx/operators.h"
#include "tests/support/test_device.h"

namespace sinter::testing::onnx {
namespace {

using A = AnyTensor;

Operator unary(A (*function)(const A&, Location)) {
  return [=](const Call& c) -> Results { return {function(c.in(0), Location::current())}; };
}
#define METHOD(name) [](const Call& c) -> Results { return {c.in(0).name()}; }
#define OPERANDS(name) [](const Call& c) -> Results { return {c.in(0).name(c.in(1))}; }

/// Joins any number of operands.
template <class F>
Operator joined(F join) {
  return [=](const Call& c) -> Results {
    A all = c.in(0);
    for (std::size_t i = 1; i < c.all().size(); ++i) all = join(all, c.in(i));
    return {all};
  };
}

DType widest(const Call& c) { return has_dtype(c.device(), DType::f64) ? DType::f64 : DType::f32; }

Results clip(const Call& c) {
  A x = c.in(0);
  if (c.has(1)) x = x.clamp_min(c.in(1));
  if (c.has(2)) x = x.clamp_max(c.in(2));
  return {x};
}

/// Numbers of two dtypes; the result has that of the base.
Results power(const Call& c) {
  const A &x = c.in(0), &y = c.in(1);
  if (is_float(x.dtype()) && x.dtype() == y.dtype()) return {x.pow(y)};
  return {x.cast(widest(c)).pow(y.cast(widest(c))).cast(x.dtype())};
}

Results is_inf(const Call& c) {
  const A &x = c.in(0), infinite = x.is_inf();
  if (!c.flag("detect_positive", true)) return {infinite & (x < 0)};
  if (!c.flag("detect_negative", true)) return {infinite & (x > 0)};
  return {infinite};
}

Results cast(const Call& c) {
  const auto dtype = dtype_of_number(c.integer("to", 0));
  if (!dtype) throw Unmapped("strings and complex numbers are no dtypes");
  return {c.in(0).cast(*dtype)};
}

}  // namespace

void add_elementwise(Operators& table) {
  const std::pair<const char*, A (*)(const A&, Location)> functions[] = {
      {"HardSwish", hard_swish}, {"Mish", mish}, {"Relu", relu}, {"Softsign", softsign}};
  for (const auto& [name, function] : functions) table[name] = unary(function);
  table["Abs"] = METHOD(abs);
  table["Acos"] = METHOD(acos);
  table["Acosh"] = METHOD(acosh);
  table["Asin"] = METHOD(asin);
  table["Asinh"] = METHOD(asinh);
  table["Atan"] = METHOD(atan);
  table["Atanh"] = METHOD(atanh);
  table["Ceil"] = METHOD(ceil);
  table["Cos"] = METHOD(cos);
  table["Cosh"] = METHOD(cosh);
  table["Erf"] = METHOD(erf);
  table["Exp"] = METHOD(exp);
  table["Floor"] = METHOD(floor);
  table["IsNaN"] = METHOD(is_nan);
  table["Log"] = METHOD(log);
  table["Neg"] = METHOD(neg);
  table["Not"] = METHOD(logical_not);
  table["Reciprocal"] = METHOD(recip);
  table["Round"] = METHOD(round);
  table["Sigmoid"] = METHOD(sigmoid);
  table["Sign"] = METHOD(sign);
  table["Sin"] = METHOD(sin);
  table["Sinh"] = METHOD(sinh);
  table["Sqrt"] = METHOD(sqrt);
  table["Tan"] = METHOD(tan);
  table["Tanh"] = METHOD(tanh);
  table["Add"] = OPERANDS(add);
  table["Sub"] = OPERANDS(sub);
  table["Mul"] = OPERANDS(mul);
  table["Div"] = OPERANDS(div);
  table["And"] = OPERANDS(logical_and);
  table["Or"] = OPERANDS(logical_or);
  table["Xor"] = OPERANDS(logical_xor);
  table["Equal"] = OPERANDS(equal);
  table["Less"] = OPERANDS(less);
  table["LessOrEqual"] = OPERANDS(less_equal);
  table["Greater"] = OPERANDS(greater);
  table["GreaterOrEqual"] = OPERANDS(greater_equal);
  table["Pow"] = power;
  table["Clip"] = clip;
  table["IsInf"] = is_inf;
  table["Cast"] = cast;
  table["CastLike"] = [](const Call& c) -> Results { return {c.in(0).cast(c.in(1).dtype())}; };
  table["Identity"] = [](const Call& c) -> Results { return {c.in(0)}; };
  table["Max"] = joined([](const A& a, const A& b) { return a.maximum(b); });
  table["Min"] = joined([](const A& a, const A& b) { return a.minimum(b); });
  table["Sum"] = joined([](const A& a, const A& b) { return a.add(b); });
  table["Mean"] = [](const Call& c) -> Results {
    return {joined([](const A& a, const A& b) { return a.add(b); })(c)[0].div(
        static_cast<double>(c.all().size()))};
  };
  table["Mod"] = [](const Call& c) -> Results {
    return {c.flag("fmod") ? c.in(0).fmod(c.in(1)) : c.in(0).remainder(c.in(1))};
  };
  table["BitShift"] = [](const Call& c) -> Results {
    return {c.text("direction", "") == "LEFT" ? c.in(0).shift_left(c.in(1)) : c.in(0).shift_right(c.in(1))};
  };
  table["Where"] = [](const Call& c) -> Results { return {where(c.in(0), c.in(1), c.in(2))}; };
  table["Celu"] = [](const Call& c) -> Results { return {c.in(0).celu(c.number("alpha", 1))}; };
  table["Elu"] = [](const Call& c) -> Results { return {c.in(0).elu(c.number("alpha", 1))}; };
  table["Selu"] = [](const Call& c) -> Results {
    if (!c.is_given("alpha") && !c.is_given("gamma")) return {c.in(0).selu()};
    return {c.in(0).elu(c.number("alpha", 1.67326)) * c.number("gamma", 1.0507)};
  };
  table["LeakyRelu"] = [](const Call& c) -> Results { return {c.in(0).leaky_relu(c.number("alpha", 0.01))}; };
  table["ThresholdedRelu"] = [](const Call& c) -> Results {
    return {c.in(0).threshold(c.number("alpha", 1), 0)};
  };
  // The slopes broadcast, as those of prelu() do not.
  table["PRelu"] = [](const Call& c) -> Results { return {where(c.in(0) < 0, c.in(0) * c.in(1), c.in(0))}; };
  table["HardSigmoid"] = [](const Call& c) -> Results {
    return {(c.in(0) * c.number("alpha", 0.2) + c.number("beta", 0.5)).clamp(0, 1)};
  };
  table["Shrink"] = [](const Call& c) -> Results {
    return {c.in(0).shrink(c.number("lambd", 0.5), c.number("bias", 0))};
  };
  table["Softplus"] = [](const Call& c) -> Results { return {c.in(0).softplus()}; };
}

}  // namespace sinter::testing::onnx
