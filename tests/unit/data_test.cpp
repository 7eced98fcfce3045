// Data sets: valid and damaged IDX files, MNIST's folder, and the order of batches.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/data.h>
#include <sinter/error.h>

#include "tests/support/temporary_folder.h"

using namespace sinter;
using Bytes = std::vector<std::uint8_t>;

namespace {

Bytes idx(const std::vector<std::uint32_t>& sizes, std::size_t elements, std::uint8_t type = 8) {
  Bytes bytes{0, 0, type, static_cast<std::uint8_t>(sizes.size())};
  for (std::uint32_t size : sizes)
    for (int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<std::uint8_t>(size >> shift));
  for (std::size_t i = 0; i < elements; ++i) bytes.push_back(static_cast<std::uint8_t>(i % 10));
  return bytes;
}

void write(const std::filesystem::path& file, const Bytes& bytes) {
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Batches that are their indices.
struct Numbers {
  std::size_t count;
  std::size_t size() const { return count; }
  std::size_t get(std::size_t index) const { return index; }
};
struct Collect {
  std::vector<std::size_t> operator()(const Numbers& numbers, std::span<const std::size_t> indices) const {
    std::vector<std::size_t> batch;
    for (std::size_t index : indices) batch.push_back(numbers.get(index));
    return batch;
  }
};
// A range for the standard library's algorithms, though the header does not include <iterator>.
using Batches = decltype(std::declval<const data::DataLoader<Numbers, Collect>&>().epoch());
static_assert(std::input_iterator<decltype(std::declval<const Batches&>().begin())>);

}  // namespace

TEST_CASE("an IDX file is read as it was written") {
  TemporaryFolder folder;
  auto file = folder.path() / "good";
  write(file, idx({2, 3, 4}, 24));
  data::IdxArray array = data::read_idx(file);
  CHECK(array.shape == Shape{2, 3, 4});
  REQUIRE(array.values.size() == 24);
  CHECK(array.values[13] == 3);
  write(file, idx({0, 28}, 0));
  CHECK(data::read_idx(file).values.empty());
}

TEST_CASE("each kind of damage to an IDX file has its message") {
  TemporaryFolder folder;
  auto file = folder.path() / "bad-file";
  auto error = [&](const Bytes& bytes) {
    write(file, bytes);
    return error_of([&] { data::read_idx(file); });
  };
  CHECK(
      contains(error(idx({2, 3}, 5)), "bad-file\": the sizes (2, 3) need 6 bytes of elements, there are 5"));
  CHECK(contains(error(idx({2, 3}, 7)), "there are 7"));
  CHECK(contains(error({}), "at least 4 bytes, this one has 0"));
  CHECK(contains(error({0, 0, 8, 3, 0, 0, 0}), "takes 16 bytes, the file has 7"));
  CHECK(contains(error({1, 0, 8, 1, 0, 0, 0, 0}), "starts with 0x00 0x00, this one with 0x01 0x00"));
  CHECK(contains(error(idx({1}, 4, 0x0d)), "0x0d, expected 0x08"));
  CHECK(contains(error({0, 0, 8, 0}), "dimensions is 0"));
  CHECK(contains(error({0, 0, 8, 200}), "dimensions is 200"));
  CHECK(contains(error({0x1f, 0x8b, 8, 0}), "gzip"));
  // Sizes whose product is 0 modulo 2^64: the reader must not allocate.
  CHECK(contains(error(idx({0x80000000, 0x80000000, 4}, 0)), "there are 0"));
  CHECK(contains(error(idx({0xffffffff, 0xffffffff, 0xffffffff}, 3)), "there are 3"));
  CHECK(contains(error_of([&] { data::read_idx(folder.path() / "none"); }), "no such file"));
  CHECK(contains(error_of([&] { data::read_idx(folder.path()); }), "not a regular file"));

  Bytes good = idx({2, 3}, 6);
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(error(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))) != "");
}

TEST_CASE("the folder of MNIST") {
  TemporaryFolder folder;
  auto path = [&](const std::string& name) { return folder.path() / name; };
  CHECK(contains(error_of([&] { data::Mnist::load(path("nowhere")); }), "there is no folder"));
  CHECK(contains(error_of([&] { data::Mnist::load(folder.path()); }), "train-images-idx3-ubyte"));
  CHECK_FALSE(data::Mnist::is_in(folder.path()));
  write(path("train-images-idx3-ubyte"), idx({12, 2, 3}, 72));
  write(path("train-labels-idx1-ubyte"), idx({12}, 12));
  write(path("t10k-images.idx3-ubyte"), idx({5, 2, 3}, 30));
  write(path("t10k-labels.idx1-ubyte"), idx({5}, 5));
  CHECK(data::Mnist::is_in(folder.path()));

  data::Mnist mnist = data::Mnist::load(folder.path());
  CHECK(mnist.train.size() == 12);
  CHECK(mnist.test.size() == 5);
  CHECK(mnist.train.height() == 2);
  CHECK(mnist.train.width() == 3);
  CHECK(mnist.train.get(11).label == 1);
  CHECK(mnist.train.get(2).pixels.size() == 6);
  CHECK(mnist.train.get(2).pixels[0] == 2);
  CHECK_THROWS_AS(mnist.train.get(12), DataError);
  CHECK(mnist.train.first(3).size() == 3);
  CHECK(mnist.train.first(100).size() == 12);

  auto load_error = [&] { return error_of([&] { data::Mnist::load(folder.path()); }); };
  write(path("train-labels-idx1-ubyte"), idx({11}, 11));
  CHECK(contains(load_error(), "has 12 images"));
  Bytes labels = idx({12}, 12);
  labels.back() = 10;
  write(path("train-labels-idx1-ubyte"), labels);
  CHECK(contains(load_error(), "label 11 is 10"));
  write(path("train-labels-idx1-ubyte"), idx({12, 1}, 12));
  CHECK(contains(load_error(), "expected (labels)"));
  write(path("train-labels-idx1-ubyte"), idx({12}, 12));
  write(path("train-images-idx3-ubyte"), idx({12, 6}, 72));
  CHECK(contains(load_error(), "expected (images, height, width)"));
}

TEST_CASE("images that do not fit their labels") {
  CHECK_THROWS_AS(data::LabelledImages(2, 2, Bytes(7), Bytes(2)), DataError);
  // Products that overflow to what the bytes are.
  CHECK_THROWS_AS(data::LabelledImages(std::int64_t{1} << 32, std::int64_t{1} << 32, {}, Bytes(2)),
                  DataError);
  CHECK_THROWS_AS(data::LabelledImages((std::int64_t{1} << 61) + 1, 8, Bytes(16), Bytes(2)), DataError);
  CHECK_THROWS_AS(data::LabelledImages(std::int64_t{1} << 60, 4, {}, Bytes(16)), DataError);
  CHECK(data::LabelledImages(0, std::int64_t{1} << 40, {}, Bytes(2)).size() == 2);
}

TEST_CASE("batches in order") {
  Numbers numbers{7};
  auto loader = data::DataLoaderConfig{.batch_size = 3}.init(numbers, Collect{});
  std::vector<std::vector<std::size_t>> batches;
  for (auto batch : loader.epoch()) batches.push_back(batch);
  CHECK(batches == std::vector<std::vector<std::size_t>>{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK(loader.batches() == 3);

  auto full = data::DataLoaderConfig{.batch_size = 3, .drop_last = true}.init(numbers, Collect{});
  CHECK(full.batches() == 2);
  std::size_t count = 0;
  for (auto batch : full.epoch()) {
    CHECK(batch.size() == 3);
    ++count;
  }
  CHECK(count == 2);
  CHECK((data::DataLoaderConfig{.batch_size = 8, .drop_last = true}.init(numbers, Collect{}).batches() == 0));
  CHECK_THROWS_AS(data::DataLoaderConfig{.batch_size = 0}.init(numbers, Collect{}), DataError);
}

TEST_CASE("shuffled batches") {
  Numbers numbers{1000};
  auto all = [&](std::uint64_t seed, std::uint64_t epoch) {
    std::vector<std::size_t> order;
    auto loader =
        data::DataLoaderConfig{.batch_size = 64, .shuffle = true, .seed = seed}.init(numbers, Collect{});
    for (auto batch : loader.epoch(epoch)) order.insert(order.end(), batch.begin(), batch.end());
    return order;
  };
  std::vector<std::size_t> order = all(1, 0);
  CHECK(std::set<std::size_t>(order.begin(), order.end()).size() == 1000);
  CHECK(order.size() == 1000);
  CHECK(order == all(1, 0));
  CHECK(order != all(1, 1));
  CHECK(order != all(2, 0));
  std::size_t in_place = 0, rising = 0;
  for (std::size_t i = 0; i < order.size(); ++i) in_place += order[i] == i;
  for (std::size_t i = 1; i < order.size(); ++i) rising += order[i] > order[i - 1];
  CHECK(in_place < 10);
  CHECK(rising > 400);
  CHECK(rising < 600);
  // Computed independently: a seed must give the same order with every compiler and every version.
  CHECK(data::make_order(8, true, 42) == std::vector<std::size_t>{3, 1, 6, 2, 4, 0, 7, 5});
  CHECK(data::make_order(0, true, 42).empty());
}
