#include "src/tensor/matrix/host.h"

#include <algorithm>
#include <span>

namespace sinter::tensor {

HostMatrices read_matrices(const AnyTensor& x, const Location& where) {
  const Shape& shape = x.shape();
  const std::size_t rank = shape.rank();
  HostMatrices matrices;
  matrices.batch = Shape(Dims(std::span(shape.begin(), rank - 2)));
  matrices.rows = shape[rank - 2];
  matrices.columns = shape[rank - 1];
  matrices.elements.resize(static_cast<std::size_t>(shape.numel()));
  if (x.dtype() == DType::f64) {
    x.read_bytes(std::as_writable_bytes(std::span(matrices.elements)), where);
  } else {  // devices need not have f64
    std::vector<float> narrow(matrices.elements.size());
    x.read_bytes(std::as_writable_bytes(std::span(narrow)), where);
    std::copy(narrow.begin(), narrow.end(), matrices.elements.begin());
  }
  return matrices;
}

AnyTensor upload(const HostMatrices& matrices, DType dtype, bool as_vectors, const Device& device,
                 const Location& where) {
  Shape shape = matrices.batch;
  shape.push_back(matrices.rows);
  if (!as_vectors) shape.push_back(matrices.columns);
  if (dtype == DType::f64)
    return AnyTensor::from_bytes(std::as_bytes(std::span(matrices.elements)), shape, dtype, device, where);
  const std::vector<float> narrow(matrices.elements.begin(), matrices.elements.end());
  return AnyTensor::from_bytes(std::as_bytes(std::span(narrow)), shape, dtype, device, where);
}

}  // namespace sinter::tensor
