// A tour of tensors: creation, arithmetic, views, reductions, gradients, and what the JIT made of it.
// docs/tensors.md walks through it.
#include <cstdint>
#include <iostream>
#include <vector>

#include <sinter/sinter.h>

namespace sn = sinter;

int main() {
  const sn::Device device = sn::Device::host();

  // Rank and kind are part of the type; shape, dtype and device are known at run time.
  const auto a = sn::Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, device);
  const auto row = sn::Tensor<1>::from_data({10, 20, 30}, device);
  std::cout << "a + row\n" << a + row.unsqueeze(0) << "\n";  // sizes of 1 broadcast
  std::cout << "where a > 2\n" << sn::where(a > 2.0, a, -1.0) << "\n";

  const auto [rows, columns] = a.dims();
  std::cout << rows << " rows, " << columns << " columns\n";

  // Views copy nothing; braces say the rank.
  std::cout << "transposed and flattened\n" << a.transpose(0, 1).reshape({6}) << "\n";
  std::cout << "second column, reversed\n" << a.narrow(1, 1, 1).squeeze(1).flip({0}) << "\n";

  // Parts put together: one kernel, whatever the pieces are made of.
  std::cout << "joined\n" << sn::Tensor<2>::cat({a, a * 10.0, a.narrow(0, 0, 1)}, 0) << "\n";
  std::cout << "a part replaced\n" << a.slice_assign({sn::all, sn::s_from(1)}, -a.narrow(1, 0, 2)) << "\n";

  // Reductions keep their dimension, so that they broadcast back; whole reductions have rank 0.
  std::cout << "row means\n" << a.mean(1) << "\n";
  std::cout << "largest in each row at\n" << a.argmax(1) << "\n";
  std::cout << "sum " << a.sum().item() << "\n";

  // Integers have 8 to 64 bits, with a sign or without, and wrap around. Sums have 64 bits.
  const auto bytes = sn::Tensor<1, sn::Int>::from_data(std::vector<std::uint8_t>{200, 100}, {2}, device);
  std::cout << "bytes\n" << bytes + bytes << "\nsum " << bytes.sum().item() << "\n";

  // Random numbers: equal seeds give equal numbers, on every device.
  device.seed(42);
  std::cout << "uniform\n" << sn::Tensor<1>::rand({3}, device) << "\n";

  // A generator of one's own draws beside them. Integers of any width.
  sn::Generator generator(7);
  const auto dice = sn::Tensor<1, sn::Int>::randint({6}, 1, 7, device, generator, sn::DType::u8);
  std::cout << "dice\n" << dice << "\n";

  // Several tensors are read together: one flush, one wait.
  const auto [total, best] = sn::read(a.sum(), a.argmax(1, sn::drop));
  std::cout << "total " << total.item() << ", best at " << best.to_vector<std::int64_t>()[1] << "\n";

  // Gradients are a value, asked for by leaf.
  const auto x = sn::Tensor<1>::from_data({0.5, 1.0, 2.0}, device.autodiff()).require_grad();
  const auto gradients = (x * x).log().sum().backward();
  std::cout << "d/dx sum log x^2\n" << *gradients.get(x) << "\n";

  // A mistake throws on the line that makes it, with both values.
  try {
    a.matmul(a);
  } catch (const sn::ShapeError& error) {
    const std::string text = error.what();
    std::cout << text.substr(0, text.rfind(" (")) << "\n";
  }

  // A softmax by plain operations is one kernel; the second time it is found again.
  device.sync();
  device.reset_statistics();
  for (int i = 0; i < 2; ++i) {
    const auto e = (a - a.max(1)).exp();
    const auto y = e / e.sum(1);
    y.sync();
  }
  const sn::Statistics counts = device.statistics();
  std::cout << counts.ops_recorded << " operations, " << counts.launches << " launches, "
            << counts.plans_built << " planned, " << counts.plans_found << " found\n";
}
