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
SINTER_API std::vector<TensorData> read(const std::vector<AnyTensor>& tensors,
                                        Location where = Location::current());
/// A list of tensors of one rank and kind.
namespace detail {
SINTER_API std::vector<TensorData> read_all(const AnyTensor* tensors, std::size_t count,
                                            const Location& where);
}
template <std::size_t Rank, class Kind>
std::vector<KindData<Kind>> read(const std::vector<Tensor<Rank, Kind>>& tensors,
                                 Location where = Location::current()) {
  std::vector<AnyTensor> handles;
  for (const Tensor<Rank, Kind>& tensor : tensors) handles.push_back(tensor.dynamic());
  std::vector<KindData<Kind>> data;
  for (TensorData& each : detail::read_all(handles.data(), handles.size(), where))
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

template <class T>
concept Readable = requires {
  typename DataOf<T>::type;
};

template <class... T, std::size_t... I>
std::tuple<typename DataOf<T>::type...> as_tuple(std::vector<TensorData> data, std::index_sequence<I...>) {
  return {typename DataOf<T>::type(std::move(data[I]))...};
}
template <class... T>
std::tuple<typename DataOf<T>::type...> read_tuple(const Location& where, const T&... tensors) {
  const AnyTensor handles[] = {DataOf<T>::handle(tensors)...};
  return as_tuple<T...>(read_all(handles, sizeof...(T), where), std::index_sequence_for<T...>());
}

}  // namespace detail

/// Of tensors of any ranks and kinds, typed or not:
///
///   const auto [loss, correct, weights] = sn::read(mean_loss, count, model.out.weight);
///   std::cout << loss.item() << " " << correct.item() << " " << weights.span<float>().size() << "\n";
///
/// Up to eight; more are read as a list. (A pack of tensors would leave no place for the caller's line.)
template <detail::Readable A>
auto read(const A& a, Location where = Location::current()) {
  return detail::read_tuple(where, a);
}
template <detail::Readable A, detail::Readable B>
auto read(const A& a, const B& b, Location where = Location::current()) {
  return detail::read_tuple(where, a, b);
}
template <detail::Readable A, detail::Readable B, detail::Readable C>
auto read(const A& a, const B& b, const C& c, Location where = Location::current()) {
  return detail::read_tuple(where, a, b, c);
}
template <detail::Readable A, detail::Readable B, detail::Readable C, detail::Readable D>
auto read(const A& a, const B& b, const C& c, const D& d, Location where = Location::current()) {
  return detail::read_tuple(where, a, b, c, d);
}
template <detail::Readable A, detail::Readable B, detail::Readable C, detail::Readable D, detail::Readable E>
auto read(const A& a, const B& b, const C& c, const D& d, const E& e, Location where = Location::current()) {
  return detail::read_tuple(where, a, b, c, d, e);
}
template <detail::Readable A, detail::Readable B, detail::Readable C, detail::Readable D, detail::Readable E,
          detail::Readable F>
auto read(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f,
          Location where = Location::current()) {
  return detail::read_tuple(where, a, b, c, d, e, f);
}
template <detail::Readable A, detail::Readable B, detail::Readable C, detail::Readable D, detail::Readable E,
          detail::Readable F, detail::Readable G>
auto read(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g,
          Location where = Location::current()) {
  return detail::read_tuple(where, a, b, c, d, e, f, g);
}
template <detail::Readable A, detail::Readable B, detail::Readable C, detail::Readable D, detail::Readable E,
          detail::Readable F, detail::Readable G, detail::Readable H>
auto read(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f, const G& g, const H& h,
          Location where = Location::current()) {
  return detail::read_tuple(where, a, b, c, d, e, f, g, h);
}

}  // namespace sinter
