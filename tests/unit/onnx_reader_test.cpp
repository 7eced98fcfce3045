// The reader of ONNX's node cases: what is in a model, and files that are cut short or damaged.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/onnx/model.h"
#include "tests/support/test_data.h"

namespace sinter::testing {
namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}
std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}
std::string text(int field, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(bytes.size()) + bytes;
}

/// f32 [2], of raw bytes.
std::string some_tensor() {
  return number(1, 2) + number(2, 1) + text(8, "x") + text(9, std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
}

/// y = Pad(x), with an attribute of each kind.
std::string some_model() {
  const std::string attributes = text(5, text(1, "mode") + text(4, "edge")) +
                                 text(5, text(1, "axis") + number(3, static_cast<std::uint64_t>(-1))) +
                                 text(5, text(1, "pads") + number(8, 1) + text(8, varint(2) + varint(300))) +
                                 text(5, text(1, "value") + text(5, some_tensor()));
  const std::string node = text(1, "x") + text(1, "") + text(2, "y") + text(4, "Pad") + attributes;
  const std::string graph =
      text(1, node) + text(5, some_tensor()) + text(11, text(1, "x")) + text(12, text(1, "y"));
  return number(1, 8) + text(7, graph);
}

}  // namespace

TEST_CASE("a model of one node is read") {
  const onnx::Graph graph = onnx::read_model(some_model());
  REQUIRE(graph.nodes.size() == 1);
  const onnx::Node& node = graph.nodes[0];
  CHECK(node.kind == "Pad");
  CHECK(node.inputs == std::vector<std::string>{"x", ""});
  CHECK(node.outputs == std::vector<std::string>{"y"});
  CHECK(node.attributes.at("mode").text == "edge");
  CHECK(node.attributes.at("axis").integer == -1);
  CHECK(node.attributes.at("pads").integers == std::vector<std::int64_t>{1, 2, 300});
  CHECK(node.attributes.at("value").tensor.entry->shape == Shape{2});
  CHECK(graph.inputs == std::vector<std::string>{"x"});
  CHECK(graph.outputs == std::vector<std::string>{"y"});
  const record::Record::Entry& constant = *graph.constants.at(0).entry;
  CHECK(constant.dtype == DType::f32);
  const auto* numbers = reinterpret_cast<const float*>(constant.bytes.data());
  CHECK(numbers[0] == 1);
  CHECK(numbers[1] == -2);
}

TEST_CASE("a tensor whose bytes do not fit its shape is an error") {
  CHECK_THROWS_AS(onnx::read_tensor(number(1, 3) + number(2, 1) + text(9, "12345678")), DataError);
  CHECK_THROWS_AS(onnx::read_tensor(number(1, static_cast<std::uint64_t>(-1)) + number(2, 1)), DataError);
  CHECK_THROWS_AS(onnx::read_tensor(number(1, std::uint64_t{1} << 62) + number(1, 4) + number(2, 1)),
                  DataError);
  CHECK_FALSE(onnx::read_tensor(number(1, 1) + number(2, 8) + text(6, "text")).entry.has_value());
}

TEST_CASE("a model that is cut short or damaged is read, or a DataError") {
  const std::string whole = some_model();
  const auto survives = [](const std::string& bytes) {
    try {
      onnx::read_model(bytes);
    } catch (const DataError&) {
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size) survives(whole.substr(0, size));
  CHECK_THROWS_AS(onnx::read_model(whole.substr(0, whole.size() - 1)), DataError);
  CHECK_THROWS_AS(onnx::read_model(""), DataError);
  TestData data(3);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (std::int64_t n = data.integer(1, 4); n > 0; --n)
      damaged[static_cast<std::size_t>(data.integer(0, static_cast<std::int64_t>(whole.size()) - 1))] =
          static_cast<char>(data.integer(0, 255));
    survives(damaged);
  }
}

}  // namespace sinter::testing
