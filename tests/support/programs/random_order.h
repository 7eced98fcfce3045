// The generator's steps by order and position: scans, sorts, searches, indexed writes, pools, transposed
// convolutions.
#pragma once

#include "tests/support/programs/random_assembly.h"

namespace sinter::testing {

class RandomOrder : public RandomAssembly {
 public:
  using RandomAssembly::RandomAssembly;

 protected:
  void order_step();
  void write_by_index();
  void transposed_convolution();
  void pool();

 private:
  int with_axis(std::int64_t longest, bool with_bools);
  void scan();
  void sort();
  void search();
};

}  // namespace sinter::testing
