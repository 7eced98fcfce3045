// Collects the kernels written by hand; each subject has its own file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/kernels/random_kernel.h"
#include "tests/support/test_data.h"

namespace sinter::testing {

class HandmadeKernels {
 public:
  explicit HandmadeKernels(bool with_f64) : with_f64_(with_f64) {}
  std::vector<KernelCase> build();

 private:
  struct Shape2 {
    std::int64_t rows, columns;
    std::string text() const { return std::to_string(rows) + "x" + std::to_string(columns); }
  };

  void add(KernelBuilder& k, std::string name) { cases_.push_back(k.finish(std::move(name))); }
  /// All dtypes with arithmetic, except 16-bit floats.
  std::vector<DType> dtypes() const;

  // handmade_kernels.cpp
  void elementwise();
  void views();
  void indexed();
  void random_numbers();

  // handmade_types.cpp
  void types();
  /// 16-bit floats: all values cast to f32, numbers of all magnitudes cast to them, moves that preserve bits,
  /// vectors beside larger elements.
  void stored_floats(DType stored, const std::vector<double>& reals);

  // handmade_sizes.cpp
  void sizes();

  // handmade_reductions.cpp
  /// Kernels that reduce each row.
  void rows(const Shape2& shape, ir::Schedule schedule, const std::string& suffix);
  void reductions(ir::Schedule schedule, const std::string& suffix);

  bool with_f64_;
  TestData data_{2024};
  std::vector<KernelCase> cases_;
};

}  // namespace sinter::testing
