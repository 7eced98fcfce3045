// The node cases of ONNX: graphs of one or a few operators with inputs and outputs, as Debian's package
// libonnx-testdata has them. Operators are functions by the tables of tests/onnx; what is not mapped stands
// there, too, with the reason.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/onnx/operators.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

namespace fs = std::filesystem;
using onnx::Unmapped;

const fs::path kCases = "/usr/share/libonnx-testdata/data/node";
/// Of those of version 1.12. A function that is no longer found by its name makes them fewer.
constexpr int kMapped = 649;

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void require_dtype(const onnx::TensorFile& file, const Device& device) {
  if (!file.entry) throw Unmapped("strings and complex numbers are no dtypes");
  if (!has_dtype(device, file.entry->dtype))
    throw Unmapped("the device has no " + std::string(name_of(file.entry->dtype)));
}

/// The tensors of FOLDER/input_0.pb and so on.
std::vector<onnx::TensorFile> tensors(const fs::path& folder, const std::string& name, const Device& device) {
  std::vector<onnx::TensorFile> list;
  for (int i = 0;; ++i) {
    const fs::path path = folder / (name + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return list;
    try {
      list.push_back(onnx::read_tensor(bytes_of_file(path)));
    } catch (const DataError&) {
      throw Unmapped("an operand is a list, or none");
    }
    require_dtype(list.back(), device);
  }
}

std::map<std::string, AnyTensor> run(const onnx::Graph& graph, const std::vector<onnx::TensorFile>& inputs,
                                     const Device& device) {
  std::map<std::string, AnyTensor> values;
  for (const onnx::TensorFile& constant : graph.constants)
    values[constant.name] = tensor_of(constant, device);
  for (std::size_t i = 0; i < inputs.size(); ++i) values[graph.inputs.at(i)] = tensor_of(inputs[i], device);
  for (const onnx::Node& node : graph.nodes) {
    const auto found = onnx::operators().find(node.kind);
    if (found == onnx::operators().end()) {
      const auto reason = onnx::unmapped_operators().find(node.kind);
      if (reason == onnx::unmapped_operators().end()) FAIL("no table names the operator " << node.kind);
      throw Unmapped(reason->second);
    }
    std::vector<AnyTensor> operands;
    for (const std::string& name : node.inputs)
      operands.push_back(name.empty() ? AnyTensor() : values.at(name));
    const onnx::Results results = found->second(onnx::Call(node, std::move(operands), device));
    for (std::size_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
      values[node.outputs[i]] = results[i];
  }
  return values;
}

std::vector<double> numbers_of(const AnyTensor& tensor) {
  const TensorData data = tensor.to_device(Device::host()).cast(DType::f64).to_data();
  const auto numbers = data.span<double>();
  return {numbers.begin(), numbers.end()};
}

/// The cases were computed in the dtype itself.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return 1e-6;  // some of their constants are f32
    case DType::f16: return 0x1p-9;
    case DType::bf16: return 0x1p-6;
    default: return 1e-5;
  }
}

void compare(const AnyTensor& got, const onnx::TensorFile& file) {
  const AnyTensor want = tensor_of(file, Device::host());
  REQUIRE(got.shape() == want.shape());
  CHECK(got.dtype() == want.dtype());
  const std::vector<double> a = numbers_of(got), b = numbers_of(want);
  double largest = 0;
  for (const double number : b)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  const double tolerance = is_float(want.dtype()) ? tolerance_of(want.dtype()) : 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double most = tolerance * (std::abs(b[i]) + 0.1 * largest);
    CHECK_MESSAGE(std::abs(a[i] - b[i]) <= most, "element ", i, " is ", a[i], ", not ", b[i]);
    if (!(std::abs(a[i] - b[i]) <= most)) return;
  }
}

}  // namespace

TEST_CASE("the node cases of ONNX") {
  if (!fs::is_directory(kCases)) {
    MESSAGE("skipped: the package libonnx-testdata is not installed, there is no " << kCases.string());
    return;
  }
  const Device device = test_device();
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kCases)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::map<std::string, int> reasons;
  int mapped = 0, refused = 0;
  for (const fs::path& folder : folders) {
    CAPTURE(folder.filename().string());
    try {
      for (const auto& [part, reason] : onnx::unmapped_cases())
        if (folder.filename().string().find(part) != std::string::npos) throw Unmapped(reason);
      const onnx::Graph graph = onnx::read_model(bytes_of_file(folder / "model.onnx"));
      for (const auto& set : fs::directory_iterator(folder)) {
        if (!set.is_directory()) continue;
        const auto outputs = tensors(set.path(), "output", device);
        const auto values = run(graph, tensors(set.path(), "input", device), device);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          const auto found = values.find(graph.outputs.at(i));
          if (found == values.end()) throw Unmapped("a result that the function does not give");
          compare(found->second, outputs[i]);
        }
      }
      ++mapped;
    } catch (const Unmapped& reason) {
      ++reasons[reason.what()];
    } catch (const std::exception& error) {
      const std::string what = error.what();
      // The oracle reads at no position that rounding decides.
      if (what == "an index that is not certain")
        ++refused;
      else
        FAIL_CHECK(what);
    }
  }
  std::string text = std::to_string(mapped) + " of " + std::to_string(folders.size()) + " node cases";
  for (const auto& [reason, count] : reasons) text += "\n  " + std::to_string(count) + ": " + reason;
  MESSAGE(text);
  if (has_dtype(device, DType::f64) && has_dtype(device, DType::f16)) CHECK(mapped + refused >= kMapped);
}

}  // namespace sinter::testing
