// Reading: several tensors at once, and views, which copy what they show and not what lies between.
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/failing_backend.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

std::vector<float> counted(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

std::uint64_t bytes_read(const Device& device) { return device.statistics().bytes_from_device; }

}  // namespace

TEST_CASE("tensors of several ranks and kinds are read by one flush") {
  const Device device = test_device();
  const auto x = Tensor<2>::from_data(counted(12), {3, 4}, device);
  device.sync();
  device.reset_statistics();
  const auto sum = x.sum();
  const auto best = x.argmax(1, drop);
  const auto any = (x > 10.0).any();
  const AnyTensor shifted = (x + 0.5).dynamic();
  const auto [s, b, a, all] = read(sum, best, any, shifted);
  CHECK(device.statistics().traces == 1);
  const double total = s.item();
  const bool found = a.item();
  CHECK(total == 66);
  CHECK(found);
  CHECK(b.to_vector<std::int64_t>() == std::vector<std::int64_t>{3, 3, 3});
  CHECK(b.shape() == Shape{3});
  CHECK(all.shape() == Shape{3, 4});
  CHECK(all.dtype() == DType::f32);
  CHECK(all.span<float>()[5] == 5.5f);
}

TEST_CASE("what would be left to be computed later is computed in the same run where it is read along") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data(counted(300000), {300000}, device);
  device.sync();
  device.reset_statistics();
  const auto a = x + 1.0, b = x * 2.0, c = x - 3.0;
  const auto [first, second, third] = read(a, b, c);
  CHECK(device.statistics().traces == 1);
  CHECK(first.span<float>()[299999] == 300000);
  CHECK(second.span<float>()[299999] == 599998);
  CHECK(third.span<float>()[299999] == 299996);
}

TEST_CASE("a list of tensors, the same one several times, and none") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data(counted(5), {5}, device);
  const auto y = x * 2.0;
  const std::vector<TensorData> data = read(std::vector<AnyTensor>{x.dynamic(), y.dynamic(), y.dynamic()});
  REQUIRE(data.size() == 3);
  CHECK(data[0].to_vector<float>() == counted(5));
  CHECK(data[1].to_vector<float>() == std::vector<float>{0, 2, 4, 6, 8});
  CHECK(data[2].to_vector<float>() == data[1].to_vector<float>());
  const std::vector<Tensor<1>> typed{x, y + 1.0};
  CHECK(read(typed)[1].to_vector<float>() == std::vector<float>{1, 3, 5, 7, 9});
  CHECK(read(std::vector<AnyTensor>{}).empty());
}

TEST_CASE("tensors of two devices and of two threads") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data(counted(4), {4}, device) + 1.0;
  const auto y = Tensor<1, Int>::from_data({5, 6}, Device::host()) * 2;
  std::optional<Tensor<1>> other;
  std::thread([&] {
    const auto base = Tensor<1>::from_data(counted(3), {3}, device);
    other = base * 3.0;
    base.sync();
  }).join();
  const auto [a, b, c] = read(x, y, *other);
  CHECK(a.to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(b.to_vector<std::int64_t>() == std::vector<std::int64_t>{10, 12});
  CHECK(c.to_vector<float>() == std::vector<float>{0, 3, 6});
}

TEST_CASE("what is read has its dtype and shape") {
  const Device device = test_device();
  const auto none = Tensor<2>::zeros({0, 3}, device).to_data();
  CHECK(none.bytes().empty());
  CHECK(none.shape() == Shape{0, 3});
  CHECK_THROWS_WITH_AS(none.item(), doctest::Contains("[item] a tensor of shape (0, 3) is not one number"),
                       ShapeError);
  const auto truth = Tensor<1, Bool>::from_data({true, false, true}, device).to_data();
  CHECK(truth.to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK_THROWS_WITH_AS(truth.span<float>(), doctest::Contains("the tensor holds bool, not f32"), DTypeError);
  CHECK(Tensor<0, Int>::from_data(7, device).to_data().item() == 7);
  CHECK(TensorData().numel() == 0);
  CHECK_THROWS_WITH_AS(read(AnyTensor()), doctest::Contains("[read]"), Error);
}

TEST_CASE("several tensors are computed in one run, what would be left as a recipe too") {
  const Device device = test_device();
  const auto x = Tensor<2>::from_data(counted(300000), {300, 1000}, device);
  device.sync();
  device.reset_statistics();
  const auto sum = x.sum(1);
  const auto centred = x - x.mean(1);
  sync({sum, centred, centred});
  CHECK(device.statistics().traces == 1);
  device.reset_statistics();
  CHECK(centred.to_vector<float>()[299999] == doctest::Approx(499.5).epsilon(1e-3));
  CHECK(sum.to_vector<float>()[0] == 499500);
  CHECK(device.statistics().launches == 0);
}

TEST_CASE("what is computed together may be of any kinds and devices, or a list, or nothing") {
  const Device device = test_device(), host = Device::parse("host");
  const auto x = Tensor<1>::from_data(counted(10), {10}, device), on_host = Tensor<1>::ones({4}, host) + 1.0;
  const auto largest = x.argmax(0);
  const AnyTensor shifted = (x + 0.5).dynamic();
  device.sync();
  device.reset_statistics();
  sync({largest, shifted, on_host, x > 3.0});
  CHECK(device.statistics().traces <= 1);
  CHECK(largest.item() == 9);
  CHECK(on_host.to_vector<float>() == std::vector<float>(4, 2));
  const std::vector<AnyTensor> list{(x * 2.0).dynamic(), (x * 3.0).dynamic()};
  sync(list);
  CHECK(list[1].to_data().span<float>()[9] == 27);
  const std::vector<Tensor<1>> typed{x - 1.0, x - 2.0};
  device.reset_statistics();
  sync(typed);
  CHECK(device.statistics().traces == 1);
  CHECK(typed[1].to_vector<float>()[9] == 7);
  sync({});
  sync(std::vector<AnyTensor>{});
  CHECK_THROWS_WITH_AS(sync({x, AnyTensor()}), doctest::Contains("[sync]"), Error);
  const auto bad = x.index_select(0, Tensor<1, Int>::from_data({1, 90}, device));
  const auto good = x + 1.0;
  CHECK_THROWS_AS(read(good, bad), ShapeError);
  sync({good});
  CHECK(good.to_vector<float>()[9] == 10);
}

TEST_CASE("an index out of range among what is read is told, and the others stay") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data(counted(4), {4}, device);
  const auto bad = x.index_select(0, Tensor<1, Int>::from_data({1, 9}, device));
  const auto good = x + 1.0;
  CHECK_THROWS_AS(read(good, bad), ShapeError);
  CHECK(good.to_vector<float>() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a view copies what it shows") {
  const Device device = test_device();
  // 4 MiB, and its columns, rows backwards, and every other element of a part.
  const std::int64_t rows = 1024, columns = 1024;
  const std::vector<float> values = counted(rows * columns);
  const auto x = Tensor<2>::from_data(values, {rows, columns}, device);
  const auto column = x.select(1, 77), last = x.select(1, -1);
  const auto block = x(s(0, rows, 16), s(0, columns, 8));
  const auto backwards = x(s(0, rows, 128), all).flip({0, 1});
  device.sync();
  device.reset_statistics();

  const std::vector<float> shown = column.to_vector<float>();
  CHECK(bytes_read(device) == rows * 4);
  bool equal = true;
  for (std::int64_t i = 0; i < rows; ++i) equal &= shown[i] == values[i * columns + 77];
  CHECK(equal);

  device.reset_statistics();
  CHECK(last.to_vector<float>().back() == values.back());
  const std::vector<float> some = block.to_vector<float>();
  CHECK(bytes_read(device) == (rows + rows / 16 * columns / 8) * 4);
  CHECK(some[columns / 8 + 1] == values[16 * columns + 8]);

  device.reset_statistics();
  const std::vector<float> turned = backwards.to_vector<float>();
  CHECK(bytes_read(device) == turned.size() * 4);
  CHECK(turned.front() == values[(rows - 128) * columns + columns - 1]);
  CHECK(turned.back() == values[0]);

  // All of it in another order is copied once, and so is what shows an element several times.
  device.reset_statistics();
  CHECK(x.t().to_vector<float>()[1] == values[columns]);
  CHECK(bytes_read(device) == values.size() * 4);
  const auto wide = x.narrow(0, 0, 1).expand({64, columns});
  device.sync();
  device.reset_statistics();
  CHECK(wide.to_vector<float>()[columns + 3] == 3);
  CHECK(bytes_read(device) <= 64 * columns * 4);
}

TEST_CASE("views of every dtype, to the host and to another device") {
  const Device device = test_device();
  for (const DType dtype :
       {DType::f32, DType::f16, DType::bf16, DType::i8, DType::u16, DType::i64, DType::boolean}) {
    if (!has_dtype(device, dtype)) continue;
    CAPTURE(name_of(dtype));
    const AnyTensor x = AnyTensor::arange(0, 512 * 512, 1, device).reshape({512, 512}).cast(dtype);
    device.sync();
    const AnyTensor column = x.narrow(1, 3, 1);
    column.sync();
    device.reset_statistics();
    const TensorData data = column.to_data(), whole = x.to_data();
    CHECK(bytes_read(device) == (512 + 512 * 512) * size_of(dtype));
    bool equal = true;
    for (std::size_t i = 0; i < 512; ++i)
      equal &= std::memcmp(data.bytes().data() + i * size_of(dtype),
                           whole.bytes().data() + (i * 512 + 3) * size_of(dtype), size_of(dtype)) == 0;
    CHECK(equal);
    const AnyTensor moved = column.to_device(Device::host());
    CHECK(std::memcmp(moved.to_data().bytes().data(), data.bytes().data(), data.bytes().size()) == 0);
  }
}

TEST_CASE("columns are read where nothing may be compiled, and end no trace") {
  const Device device = test_device();
  const auto x = Tensor<2>::from_data(counted(256 * 1024), {256, 1024}, device);
  const auto column = x.select(1, 5);
  device.sync();
  {
    const ForbidCompilation forbid;
    CHECK(column.to_vector<float>()[2] == 2 * 1024 + 5);
  }
  // What this thread has recorded is not run for it.
  const auto pending = x + 1.0;
  device.reset_statistics();
  const auto other = x.select(1, 6);
  CHECK(column.to_vector<float>()[3] == 3 * 1024 + 5);
  CHECK(device.statistics().traces == (device == Device::host() ? 0 : 1));  // a GPU gathers the column
  CHECK(pending.to_vector<float>()[0] == 1);
  CHECK(other.to_vector<float>()[1] == 1024 + 6);
}

TEST_CASE("where memory for the column is short, it is read with what lies between") {
  FailingDevice failing;
  const auto x = Tensor<2>::from_data(counted(256 * 1024), {256, 1024}, failing.device);
  const auto column = x.select(1, 5);
  failing.device.sync();
  column.sync();
  for (const std::uint64_t expected : {std::uint64_t{256}, std::uint64_t{255 * 1024 + 1}}) {
    failing.device.reset_statistics();
    CHECK(column.to_vector<float>()[2] == 2 * 1024 + 5);
    CHECK(bytes_read(failing.device) == 4 * expected);
    failing.backend->most_bytes = 16;  // the next one
  }
}

TEST_CASE("where memory for one of several is short, none is lost, whoever asks again") {
  FailingDevice failing;
  const auto x = Tensor<2>::from_data(counted(256 * 1024), {256, 1024}, failing.device);
  x.sync();
  const auto large = x * 2.0, sums = x.sum(1), other = x + 3.0;
  failing.backend->most_bytes = 4096;
  CHECK_THROWS_AS(sync({large, sums, other}), DeviceError);
  CHECK_THROWS_AS(sync({other, large}), DeviceError);
  failing.backend->most_bytes = ~std::size_t{0};
  std::thread([&] { sync({sums, large}); }).join();
  sync({large, sums, other});
  CHECK(large.to_vector<float>()[1023] == 2046);
  CHECK(sums.to_vector<float>()[0] == 523776);
  CHECK(other.to_vector<float>()[1] == 4);
}

}  // namespace sinter::testing
