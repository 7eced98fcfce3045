// The README's program: a gradient step by hand, on the best device there is.
#include <iostream>

#include <sinter/sinter.h>

namespace sn = sinter;

int main() {
  if (sn::version() != SINTER_VERSION) return 1;
  auto device = sn::Device::best().autodiff();
  auto x = sn::Tensor<2>::from_data({{1, 2}, {3, 4}, {5, 6}}, device);
  auto w = sn::Tensor<2>::ones({2, 1}, device).require_grad();
  auto loss = (sn::gelu(x.matmul(w)) - 1.0).square().mean();
  auto gradients = loss.backward();
  std::cout << "loss " << loss.item() << "\n" << *gradients.get(w) << "\n";
}
