// Complex numbers as pairs of tensors: arithmetic, a spectrum, gradients.
#include <complex>
#include <iostream>
#include <vector>

#include <sinter/sinter.h>

namespace sn = sinter;

int main() {
  using C = std::complex<float>;
  const sn::Device device = sn::Device::host().autodiff();
  const std::vector<C> numbers = {{1, 2}, {3, -4}, {0, 0.5f}, {-1, 0}};
  const auto z = sn::Complex<2>::from_data(numbers, {2, 2}, device);

  std::cout << z << "\n";
  std::cout << "times i plus 1\n" << z * C(0, 1) + 1 << "\n";
  std::cout << "magnitudes\n" << sn::abs(z) << "\n";
  std::cout << "square roots of the first row\n" << sn::sqrt(z(0)) << "\n";
  std::cout << "first column\n" << z(sn::all, 0) << "\n";
  std::cout << "product of matrices\n" << z.matmul(z.t()) << "\n";
  const C sum = z.sum().item();
  std::cout << "sum " << sum << "\n";

  // A spectrum, turned by a quarter and transformed back.
  const auto x = sn::Tensor<1>::from_data({1, 0, 0, 0}, device);
  const auto turns = sn::polar(sn::Tensor<1>::ones({3}, device), sn::rfftfreq(4, device) * -2 * 3.14159265);
  std::cout << "shifted\n" << sn::irfft(sn::rfft(x) * turns).round() << "\n";

  // Both parts have gradients, as in PyTorch.
  const auto w = sn::Complex<1>::full({2}, C(1, 1), device).require_grad();
  const auto loss = sn::square(sn::abs(w * w - C(0, 4))).sum();
  const auto gradients = loss.backward();
  std::cout << "loss " << loss.item() << ", gradient\n"
            << sn::complex(*gradients.get(w.real), *gradients.get(w.imag)) << "\n";
}
