// What the node cases of ONNX are made of: graphs of nodes, and tensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/record/record.h>

namespace sinter::testing::onnx {

/// Empty where the element type has no dtype here (strings, complex numbers).
struct TensorFile {
  std::string name;
  std::optional<record::Record::Entry> entry;
};

struct Attribute {
  double number = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  TensorFile tensor;
  bool is_graph = false;  // of an If, a Loop or a Scan
};

struct Node {
  std::string kind;
  std::vector<std::string> inputs, outputs;  // an empty name: left out
  std::map<std::string, Attribute> attributes;
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<TensorFile> constants;
  std::vector<std::string> inputs, outputs;
};

/// Throw DataError for bytes that are none.
Graph read_model(std::string_view bytes);
TensorFile read_tensor(std::string_view bytes);
/// The dtype of ONNX's number of an element type.
std::optional<DType> dtype_of_number(std::int64_t number);

}  // namespace sinter::testing::onnx
