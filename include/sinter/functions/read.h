// Reading several tensors at once.
#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/tensor.h>
#include <sinter/tensor_data.h>

namespace sinter {

/// The elements of tensors of any shapes, dtypes and devices: what they need is handed to the devices
/// together, and waited for once. Throws what went wrong with any of them, and then loses nothing.
SINTER_API std::vector<TensorData> read(std::span<const AnyTensor> tensors,
                                        Location where = Location::current());
inline std::vector<TensorData> read(const std::vector<AnyTensor>& tensors,
                                    Location where = Location::current()) {
  return read(std::span<const AnyTensor>(tensors), where);
}
/// A list of tensors of one rank and kind.
template <std::size_t Rank, class Kind>
std::vector<KindData<Kind>> read(const std::vector<Tensor<Rank, Kind>>& tensors,
                                 Location where = Location::current()) {
  std::vector<AnyTensor> handles;
  for (const Tensor<Rank, Kind>& tensor : tensors) handles.push_back(tensor.dynamic());
  std::vector<KindData<Kind>> data;
  for (TensorData& each : read(std::span<const AnyTensor>(handles), where))
    data.emplace_back(std::move(each));
  return data;
}

namespace detail {

template <class T>
struct DataOf;
template <>
struct DataOf<AnyTensor> {
  using type = TensorData;
  static const AnyTensor& handle(const AnyTensor& tensor) { return tensor; }
};
template <std::size_t Rank, class Kind>
struct DataOf<Tensor<Rank, Kind>> {
  using type = KindData<Kind>;
  static const AnyTensor& handle(const Tensor<Rank, Kind>& tensor) { return tensor.dynamic(); }
};

template <class... T, std::size_t... I>
std::tuple<typename DataOf<T>::type...> as_tuple(std::vector<TensorData> data, std::index_sequence<I...>) {
  return {typename DataOf<T>::type(std::move(data[I]))...};
}

}  // namespace detail

/// Of tensors of any ranks and kinds, typed or not:
///
///   const auto [loss, correct, weights] = sn::read(mean_loss, count, model.out.weight);
///   std::cout << loss.item() << " " << correct.item() << " " << weights.span<float>().size() << "\n";
template <class... T>
requires(sizeof...(T) > 0) && requires { (typename detail::DataOf<T>::type(), ...); }
std::tuple<typename detail::DataOf<T>::type...> read(const T&... tensors) {
  const AnyTensor handles[] = {detail::DataOf<T>::handle(tensors)...};
  return detail::as_tuple<T...>(read(std::span<const AnyTensor>(handles)), std::index_sequence_for<T...>());
}

}  // namespace sinter
