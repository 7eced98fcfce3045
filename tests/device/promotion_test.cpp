// Operands of two dtypes meet in a third: the table, and each operation that uses it.
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {

TEST_CASE("the dtype in which two dtypes meet") {
  using enum DType;
  // PyTorch's table where it has one (torch.promote_types), NumPy's for unsigned integers beyond u8.
  const std::vector<DType> order = {boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64};
  const std::vector<std::vector<DType>> table = {{boolean, u8, i8, i16, i32, i64, f16, bf16, f32, f64},
                                                 {u8, u8, i16, i16, i32, i64, f16, bf16, f32, f64},
                                                 {i8, i16, i8, i16, i32, i64, f16, bf16, f32, f64},
                                                 {i16, i16, i16, i16, i32, i64, f16, bf16, f32, f64},
                                                 {i32, i32, i32, i32, i32, i64, f16, bf16, f32, f64},
                                                 {i64, i64, i64, i64, i64, i64, f16, bf16, f32, f64},
                                                 {f16, f16, f16, f16, f16, f16, f16, f32, f32, f64},
                                                 {bf16, bf16, bf16, bf16, bf16, bf16, f32, bf16, f32, f64},
                                                 {f32, f32, f32, f32, f32, f32, f32, f32, f32, f64},
                                                 {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64}};
  for (std::size_t a = 0; a < order.size(); ++a)
    for (std::size_t b = 0; b < order.size(); ++b) {
      CAPTURE(name_of(order[a]));
      CAPTURE(name_of(order[b]));
      CHECK(promote(order[a], order[b]) == table[a][b]);
    }
  CHECK(promote(u16, u8) == u16);
  CHECK(promote(u16, i16) == i32);
  CHECK(promote(i32, u16) == i32);
  CHECK(promote(u32, i32) == i64);
  CHECK(promote(u64, u32) == u64);
  CHECK(promote(u64, f32) == f32);
  CHECK(promote(u64, i8) == std::nullopt);
}

TEST_CASE("operands of two dtypes") {
  const Device device = test_device();
  const auto bytes = Tensor<1, Int>::from_data(std::vector<std::uint8_t>{200, 3}, {2}, device);
  const auto negative = Tensor<1, Int>::from_data(std::vector<std::int8_t>{-100, 3}, {2}, device);
  const auto x = Tensor<1>::from_data({0.5, 2}, device);
  CHECK((bytes + negative).to_vector<std::int16_t>() == std::vector<std::int16_t>{100, 6});
  CHECK((bytes > negative).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK((x.dynamic() * bytes.dynamic()).dtype() == DType::f32);
  CHECK(values_of(x.dynamic() * bytes.dynamic()) == std::vector<float>{100, 6});
  CHECK(AnyTensor::fmod(bytes.dynamic(), negative.dynamic()).dtype() == DType::i16);
  if (has_dtype(device, DType::bf16)) {
    CHECK((x + x.cast(DType::bf16)).dtype() == DType::f32);
    CHECK((x.cast(DType::f16) * x.cast(DType::bf16)).dtype() == DType::f32);
    CHECK(Tensor<1>::cat({x.cast(DType::bf16), x}, 0).dtype() == DType::f32);
  }
  const AnyTensor chosen = AnyTensor::where((x > 1).dynamic(), bytes.dynamic(), negative.dynamic());
  CHECK(chosen.dtype() == DType::i16);
  CHECK(Tensor<1, Int>(chosen).to_vector<std::int16_t>() == std::vector<std::int16_t>{-100, 3});
  CHECK(is_close(bytes.dynamic(), negative.dynamic()).dtype() == DType::boolean);
}

TEST_CASE("x += y keeps the dtype of x") {
  const Device device = test_device();
  auto x = Tensor<1, Int>::from_data(std::vector<std::uint8_t>{200, 3}, {2}, device);
  x += Tensor<1, Int>::from_data({100, 1}, device);
  CHECK(x.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{44, 4});
  x(0) -= Tensor<0, Int>(AnyTensor::full({}, 1, DType::i64, device));
  CHECK(x.to_vector<std::uint8_t>() == std::vector<std::uint8_t>{43, 4});
}

TEST_CASE("gradients come back in the dtype of their operand") {
  const Device device = test_device().autodiff();
  if (!has_dtype(device, DType::bf16)) return;
  const auto x = Tensor<1>::from_data({1, 2}, device).require_grad();
  const auto y = Tensor<1>::from_data({3, 4}, device).cast(DType::bf16).detach().require_grad();
  const auto gradients = (x * y).sum().backward();
  CHECK(gradients.get(x)->dtype() == DType::f32);
  CHECK(gradients.get(y)->dtype() == DType::bf16);
  CHECK(values_of(gradients.get(x)->dynamic()) == std::vector<float>{3, 4});
  CHECK(values_of(gradients.get(y)->cast(DType::f32).dynamic()) == std::vector<float>{1, 2});
}

}  // namespace sinter::testing
