// Reads ModelProto, GraphProto, NodeProto, AttributeProto and TensorProto of onnx.proto3.
#include "tests/onnx/model.h"

#include <utility>

#include "src/base/element_type.h"
#include "tests/onnx/protobuf.h"

namespace sinter::testing::onnx {

std::optional<DType> dtype_of_number(std::int64_t number) {
  switch (number) {
    case 1: return DType::f32;
    case 2: return DType::u8;
    case 3: return DType::i8;
    case 4: return DType::u16;
    case 5: return DType::i16;
    case 6: return DType::i32;
    case 7: return DType::i64;
    case 9: return DType::boolean;
    case 10: return DType::f16;
    case 11: return DType::f64;
    case 12: return DType::u32;
    case 13: return DType::u64;
    case 16: return DType::bf16;
    default: return std::nullopt;
  }
}

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

template <class T>
void append(std::vector<std::byte>& to, T value) {
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), from, from + sizeof value);
}

/// An element of a TensorProto's lists, in which 16-bit floats are their bits.
void append_integer(std::vector<std::byte>& to, DType dtype, std::int64_t value) {
  base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_half(dtype_of<T>))
      append(to, static_cast<std::uint16_t>(value));
    else
      append(to, static_cast<T>(value));
  });
}

}  // namespace

TensorFile read_tensor(std::string_view bytes) {
  TensorFile file;
  Dims sizes;
  std::int64_t type = 0;
  std::vector<std::int64_t> integers;
  std::vector<std::byte> data;
  for (Fields fields(bytes); fields.next();) {
    switch (fields.number()) {
      case 1:
        fields.integers([&](std::int64_t size) {
          if (size < 0 || sizes.rank() == kMaxRank)
            throw DataError("[onnx] a tensor has a shape that is none");
          sizes.push_back(size);
        });
        break;
      case 2: type = fields.integer(); break;
      case 4: fields.numbers<float>([&](float number) { append(data, number); }); break;
      case 5:
      case 7:
      case 11: fields.integers([&](std::int64_t number) { integers.push_back(number); }); break;
      case 8: file.name = fields.bytes(); break;
      case 9: {
        const std::string_view raw = fields.bytes();
        data.assign(reinterpret_cast<const std::byte*>(raw.data()),
                    reinterpret_cast<const std::byte*>(raw.data()) + raw.size());
        break;
      }
      case 10: fields.numbers<double>([&](double number) { append(data, number); }); break;
      default: break;
    }
  }
  const std::optional<DType> dtype = dtype_of_number(type);
  if (!dtype) return file;
  for (const std::int64_t number : integers) append_integer(data, *dtype, number);
  const auto count = detail::numel_of(sizes);
  if (!count || *count > kMostElements || data.size() != static_cast<std::size_t>(*count) * size_of(*dtype))
    throw DataError("[onnx] a tensor has " + std::to_string(data.size()) + " bytes for the shape " +
                    to_string(sizes));
  file.entry = record::Record::Entry{*dtype, Shape(sizes), record::Bytes(std::move(data))};
  return file;
}

namespace {

std::pair<std::string, Attribute> read_attribute(std::string_view bytes) {
  std::string name;
  Attribute attribute;
  for (Fields fields(bytes); fields.next();) {
    switch (fields.number()) {
      case 1: name = fields.bytes(); break;
      case 2: attribute.number = static_cast<double>(fields.fixed<float>()); break;
      case 3: attribute.integer = fields.integer(); break;
      case 4: attribute.text = fields.bytes(); break;
      case 5: attribute.tensor = read_tensor(fields.bytes()); break;
      case 6: attribute.is_graph = true; break;
      case 7:
        fields.numbers<float>(
            [&](float number) { attribute.numbers.push_back(static_cast<double>(number)); });
        break;
      case 8: fields.integers([&](std::int64_t number) { attribute.integers.push_back(number); }); break;
      default: break;
    }
  }
  return {std::move(name), std::move(attribute)};
}

Node read_node(std::string_view bytes) {
  Node node;
  for (Fields fields(bytes); fields.next();) {
    switch (fields.number()) {
      case 1: node.inputs.emplace_back(fields.bytes()); break;
      case 2: node.outputs.emplace_back(fields.bytes()); break;
      case 4: node.kind = fields.bytes(); break;
      case 5: node.attributes.insert(read_attribute(fields.bytes())); break;
      default: break;
    }
  }
  return node;
}

/// The name of a ValueInfoProto.
std::string name_of_value(std::string_view bytes) {
  std::string name;
  for (Fields fields(bytes); fields.next();)
    if (fields.number() == 1) name = fields.bytes();
  return name;
}

Graph read_graph(std::string_view bytes) {
  Graph graph;
  for (Fields fields(bytes); fields.next();) {
    switch (fields.number()) {
      case 1: graph.nodes.push_back(read_node(fields.bytes())); break;
      case 5: graph.constants.push_back(read_tensor(fields.bytes())); break;
      case 11: graph.inputs.push_back(name_of_value(fields.bytes())); break;
      case 12: graph.outputs.push_back(name_of_value(fields.bytes())); break;
      default: break;
    }
  }
  return graph;
}

}  // namespace

Graph read_model(std::string_view bytes) {
  std::optional<Graph> graph;
  for (Fields fields(bytes); fields.next();)
    if (fields.number() == 7) graph = read_graph(fields.bytes());
  if (!graph) throw DataError("[onnx] the model has no graph");
  return *std::move(graph);
}

}  // namespace sinter::testing::onnx
