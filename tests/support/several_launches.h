// A computation that every device does in at least three launches, with integer results, which are exact.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <sinter/any_tensor.h>

namespace sinter::testing {

inline std::vector<float> values_of(const AnyTensor& x) {
  std::vector<float> values(static_cast<std::size_t>(x.numel()));
  x.read_bytes(std::as_writable_bytes(std::span(values)));
  return values;
}

class SeveralLaunches {
 public:
  struct Results {
    AnyTensor scaled, product, largest;
  };

  /// Operands of rows x inner and inner x columns, small integers that depend on `salt`.
  SeveralLaunches(std::int64_t rows, std::int64_t inner, std::int64_t columns, const Device& device,
                  int salt = 0)
      : rows_(rows), inner_(inner), columns_(columns), device_(device) {
    const auto fill = [&](std::int64_t count, int step) {
      std::vector<float> data(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<float>((static_cast<int>(i) * step + salt) % 7 - 3);
      return data;
    };
    x_data_ = fill(rows * inner, 3);
    w_data_ = fill(inner * columns, 5);
    x_ = AnyTensor::from_bytes(std::as_bytes(std::span(x_data_)), {rows, inner}, DType::f32, device);
    w_ = AnyTensor::from_bytes(std::as_bytes(std::span(w_data_)), {inner, columns}, DType::f32, device);
  }

  /// Records all of it as one trace and flushes.
  Results run(int factor) const {
    using A = AnyTensor;
    Results results;
    results.scaled = A::add(A::mul(x_, factor), 1);
    results.product = A::add(A::mul(x_.matmul(w_), factor), results.scaled.sum({1}));
    results.largest = results.product.max({0});
    device_.flush();
    return results;
  }

  bool is_right(const Results& results, int factor) const {
    const std::size_t rows = static_cast<std::size_t>(rows_), inner = static_cast<std::size_t>(inner_);
    const std::size_t columns = static_cast<std::size_t>(columns_);
    std::vector<float> scaled(rows * inner), product(rows * columns), largest(columns);
    for (std::size_t i = 0; i < scaled.size(); ++i) scaled[i] = x_data_[i] * static_cast<float>(factor) + 1;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) {
        float sum = 0, row = 0;
        for (std::size_t k = 0; k < inner; ++k) {
          sum += x_data_[r * inner + k] * w_data_[k * columns + c];
          row += scaled[r * inner + k];
        }
        const float value = product[r * columns + c] = sum * static_cast<float>(factor) + row;
        largest[c] = r == 0 ? value : std::max(largest[c], value);
      }
    return values_of(results.scaled) == scaled && values_of(results.product) == product &&
           values_of(results.largest) == largest;
  }

  bool is_right(int factor) const { return is_right(run(factor), factor); }

 private:
  std::int64_t rows_, inner_, columns_;
  Device device_;
  std::vector<float> x_data_, w_data_;
  AnyTensor x_, w_;
};

}  // namespace sinter::testing
