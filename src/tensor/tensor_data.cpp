// A tensor's elements in host memory.
#include <sinter/tensor_data.h>

namespace sinter {

TensorData::TensorData() = default;
TensorData::TensorData(const TensorData&) = default;
TensorData::TensorData(TensorData&&) noexcept = default;
TensorData& TensorData::operator=(const TensorData&) = default;
TensorData& TensorData::operator=(TensorData&&) noexcept = default;
TensorData::~TensorData() = default;

TensorData::TensorData(const Shape& shape, DType dtype)
    : shape_(shape), dtype_(dtype), bytes_(static_cast<std::size_t>(shape.numel()) * size_of(dtype)) {}

std::span<const std::byte> TensorData::bytes() const { return bytes_; }
std::span<std::byte> TensorData::bytes() { return bytes_; }

}  // namespace sinter
