// A kernel of one's own: swish with a slope, x / (1 + e^(-b x)), and its gradient, each in one source for
// CUDA and Vulkan and one for the host. docs/custom-kernels.md shows what it prints.
#include <cmath>
#include <iostream>

#include <sinter/sinter.h>

namespace sn = sinter;

namespace {

/// Of each element: f(x, slope, given), which the host computes by `f` and GPUs by `source`.
template <class F>
sn::CustomKernel of_each_element(const char* name, const char* source, F f) {
  return sn::CustomKernel(
      {.name = name,
       .inputs = {"x", "slope", "given"},
       .outputs = {"y"},
       .sizes = {},
       .source = source,
       .host = [f](const sn::KernelArguments& a, std::int64_t begin, std::int64_t end) {
         const auto x = a.input<float>(0), slope = a.input<float>(1), given = a.input<float>(2);
         const auto y = a.output<float>(0);
         for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
           y[i] = f(x[i], slope[0], given[i]);
       }});
}

sn::Tensor<1> run(const sn::CustomKernel& kernel, const sn::Tensor<1>& x, const sn::Tensor<1>& slope,
                  const sn::Tensor<1>& given) {
  return sn::Tensor<1>(kernel({x.dynamic(), slope.dynamic(), given.dynamic()},
                              {.outputs = {{x.shape(), x.dtype()}}, .threads = x.numel()})[0]);
}

}  // namespace

int main() {
  const sn::Device device = sn::Device::host().autodiff();

  // A kernel runs once for each thread and reads and writes elements by their numbers.
  const auto swish = of_each_element(
      "swish", "y(thread) = given(thread) * x(thread) / (1.0f + exp(-slope(0) * x(thread)));",
      [](float x, float slope, float given) { return given * x / (1.0f + std::exp(-slope * x)); });
  const auto swish_slope =
      of_each_element("swish_slope",
                      "const float s = 1.0f / (1.0f + exp(-slope(0) * x(thread)));\n"
                      "y(thread) = given(thread) * (s + slope(0) * x(thread) * s * (1.0f - s));",
                      [](float x, float slope, float given) {
                        const float s = 1.0f / (1.0f + std::exp(-slope * x));
                        return given * (s + slope * x * s * (1.0f - s));
                      });

  // A custom function gives it a gradient.
  const auto slope = sn::Tensor<1>::from_data({1.5}, device);
  const sn::CustomFunction function(
      "swish",
      [&](sn::Saved& saved, const sn::Tensor<1>& x) {
        saved.keep(x);
        return run(swish, x, slope, x.ones_like());
      },
      [&](const sn::Saved& saved, const sn::Tensor<1>& gradient) {
        return run(swish_slope, saved.get<1>(0), slope, gradient);
      });

  const auto x = sn::Tensor<1>::from_data({-2, -0.5, 0, 1, 3}, device).require_grad();
  const auto y = function(x) * 2.0;  // what stands around it fuses as ever
  std::cout << "swish\n" << y << "\n";
  std::cout << "its gradient\n" << *y.sum().backward().get(x) << "\n";

  const auto plain = x / ((x * -1.5).exp() + 1.0) * 2.0;
  std::cout << "by plain operations\n" << plain << "\n";
}
