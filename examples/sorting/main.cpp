// Scans, sorts, results of unknown size, indexed writes. docs/sorting.md shows it.
#include <iostream>

#include <sinter/sinter.h>

namespace sn = sinter;

int main() {
  const sn::Device device = sn::Device::host();
  const auto x = sn::Tensor<2>::from_data({{3, 1, 2}, {4, 6, 5}}, device);

  std::cout << "running sums\n" << sn::cumsum(x, 1) << "\n";
  std::cout << "from the end\n" << sn::cumsum(x, 1, {.reverse = true}) << "\n";
  const auto [values, indices] = sn::sort(x, 1);
  std::cout << "sorted\n" << values << "\n";
  std::cout << "where they were\n" << indices << "\n";
  std::cout << "two largest\n" << sn::topk(x, 2).values << "\n";

  // The size is read: this waits.
  std::cout << "greater than 2\n" << sn::mask_select(x, x > 2.0) << "\n";
  std::cout << "at\n" << sn::nonzero(x > 2.0) << "\n";
  const auto letters = sn::unique(sn::Tensor<1, sn::Int>::from_data({7, 5, 7, 7}, device));
  std::cout << "different ones\n" << letters.values << "\n";
  std::cout << "how often\n" << letters.counts << "\n";

  // Of several values for one place the last one stays.
  const auto rows = sn::Tensor<1, sn::Int>::from_data({1, 1}, device);
  std::cout << "written\n" << sn::index_copy(x, 0, rows, -x) << "\n";

  device.seed(1);
  std::cout << "shuffled rows of\n" << sn::shuffle(x).shape().numel() << " elements\n";
}
