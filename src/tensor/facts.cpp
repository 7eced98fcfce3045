// Properties of a handle's value, and copies of it to the host or another device.
#include <cstddef>
#include <utility>
#include <vector>

#include <sinter/functions/read.h>
#include <sinter/functions/sync.h>

#include "src/autodiff/node.h"
#include "src/runtime/device_core.h"
#include "src/runtime/reading.h"
#include "src/tensor/check.h"
#include "src/trace/recorder.h"

namespace sinter {

namespace {

/// The value behind a handle. Properties are queried everywhere, so they take no location.
const trace::Value& known(const char* what, const AnyTensor& tensor) {
  if (!tensor.defined())
    throw Error(std::string("[") + what +
                "] the tensor is empty: it was declared, or moved from, and never given a value");
  return *tensor.value();
}

}  // namespace

const Shape& AnyTensor::shape() const { return known("shape", *this).shape; }
DType AnyTensor::dtype() const { return known("dtype", *this).dtype; }
Device AnyTensor::device() const { return Device(known("device", *this).device, autodiff_); }

void AnyTensor::read_bytes(std::span<std::byte> out, Location where) const {
  tensor::value_of("read", *this, where);
  const std::size_t needed = static_cast<std::size_t>(numel()) * size_of(dtype());
  if (out.size() != needed)
    throw ShapeError("[read] a tensor of shape " + to_string(shape()) + " and dtype " +
                         std::string(name_of(dtype())) + " has " + std::to_string(needed) +
                         " bytes, the memory given has " + std::to_string(out.size()),
                     where);
  const runtime::ReadRequest request{value_.get(), out};
  runtime::read({&request, 1}, where);
}

TensorData AnyTensor::to_data(Location where) const { return std::move(sinter::read({this, 1}, where)[0]); }

std::vector<TensorData> read(const std::vector<AnyTensor>& tensors, Location where) {
  return read(std::span(tensors), where);
}

std::vector<TensorData> detail::read_all(const AnyTensor* tensors, std::size_t count, const Location& where) {
  return read({tensors, count}, where);
}

std::vector<TensorData> read(std::span<const AnyTensor> tensors, Location where) {
  std::vector<TensorData> data;
  for (const AnyTensor& tensor : tensors) {
    const trace::Value& value = tensor::value_of("read", tensor, where);
    data.emplace_back(value.shape, value.dtype);
  }
  std::vector<runtime::ReadRequest> requests;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    requests.push_back({tensors[i].value().get(), data[i].bytes()});
  runtime::read(requests, where);
  return data;
}

void sync(std::initializer_list<detail::Listed> tensors, Location where) {
  std::vector<AnyTensor> handles;
  for (const detail::Listed& each : tensors) handles.push_back(each.tensor());
  sync(std::span<const AnyTensor>(handles), where);
}

void sync(std::span<const AnyTensor> tensors, Location where) {
  std::vector<trace::Value*> values;
  for (const AnyTensor& tensor : tensors) {
    tensor::value_of("sync", tensor, where);
    values.push_back(tensor.value().get());
  }
  runtime::compute(std::move(values));
}

void AnyTensor::sync(Location where) const {
  tensor::value_of("sync", *this, where);
  trace::materialise(*value_);
}

AnyTensor AnyTensor::to_device(const Device& device, Location where) const {
  tensor::value_of("to_device", *this, where);
  if (&device.core() == value_->device)
    return AnyTensor(value_, device.is_autodiff() ? node_ : nullptr, device.is_autodiff());
  tensor::check_supported("to_device", dtype(), device, where);
  std::vector<std::byte> bytes(static_cast<std::size_t>(numel()) * size_of(dtype()));
  read_bytes(bytes, where);
  const AnyTensor copy(device.core().upload(bytes, shape(), dtype()), nullptr, device.is_autodiff());
  if (!node_ || !device.is_autodiff()) return copy;
  autodiff::Node* const operands[] = {node_.get()};
  auto back = [source = this->device().inner(), where](const NodeRef&, std::vector<AnyTensor> gradients,
                                                       bool differentiable) -> std::vector<AnyTensor> {
    return {gradients[0].to_device(differentiable ? source.autodiff() : source, where)};
  };
  const NodeRef call = autodiff::track_call("to_device", operands, {&copy, 1}, std::move(back), where);
  return call ? autodiff::result_of_call(call, 0, copy.value()) : copy;
}

}  // namespace sinter
