// The static functions of Tensor<Rank, Kind>, which make tensors of numbers, of random numbers and of other
// tensors.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/typed.h>
#include <sinter/functions/creation.h>
#include <sinter/random.h>
#include <sinter/sizes.h>

namespace sinter {

/// The base of Tensor<Rank, Kind>, whose static functions these are: Tensor<2>::zeros({2, 3}, device).
template <std::size_t Rank, class Kind>
class TensorCreation {
  using Made = Tensor<Rank, Kind>;
  static constexpr bool kFloat = std::same_as<Kind, Float>;
  static constexpr bool kInt = std::same_as<Kind, Int>;
  static constexpr bool kBool = std::same_as<Kind, Bool>;

 public:
  // ---- creation
  static Made full(const Sizes<Rank>& sizes, Number<Kind> value, const Device& device,
                   DType dtype = default_dtype<Kind>, Location where = Location::current()) {
    check_kind(dtype, where);
    return made(AnyTensor::full(sizes, value.value, dtype, device, where));
  }
  static Made zeros(const Sizes<Rank>& sizes, const Device& device, DType dtype = default_dtype<Kind>,
                    Location where = Location::current()) {
    check_kind(dtype, where);
    return made(AnyTensor::full(sizes, 0, dtype, device, where));
  }
  static Made ones(const Sizes<Rank>& sizes, const Device& device, DType dtype = default_dtype<Kind>,
                   Location where = Location::current()) {
    check_kind(dtype, where);
    return made(AnyTensor::full(sizes, 1, dtype, device, where));
  }
  /// For a value that is not looked at: zeros.
  static Made empty(const Sizes<Rank>& sizes, const Device& device, DType dtype = default_dtype<Kind>,
                    Location where = Location::current()) {
    return zeros(sizes, device, dtype, where);
  }
  /// From braces: Tensor<2>::from_data({{1, 2}, {3, 4}}, device).
  static Made from_data(const typename detail::Nested<Rank, Kind>::type& data, const Device& device,
                        DType dtype = default_dtype<Kind>, Location where = Location::current()) {
    check_kind(dtype, where);
    Dims sizes;
    detail::Nested<Rank, Kind>::sizes(data, sizes);
    detail::Braces braces;
    detail::Nested<Rank, Kind>::flatten(data, sizes.begin(), braces, where);
    return made(braces.made(sizes, dtype, device, where));
  }
  /// From a vector, array or span in row-major order; its element type gives the dtype.
  template <class C>
  requires requires(const C& c) { dtype_of<std::remove_cvref_t<decltype(*c.data())>>; }
  static Made from_data(const C& data, const Sizes<Rank>& sizes, const Device& device,
                        Location where = Location::current()) {
    using T = std::remove_cvref_t<decltype(*data.data())>;
    static_assert(fits_kind<Kind>(dtype_of<T>), "the element type does not belong to the tensor's kind");
    return made(
        detail::from_elements(data.data(), data.size() * sizeof(T), sizes, dtype_of<T>, device, where));
  }
  static Made arange(std::int64_t start, std::int64_t stop, std::int64_t step, const Device& device,
                     DType dtype = DType::i64,
                     Location where = Location::current()) requires(Rank == 1 && kInt) {
    check_kind(dtype, where);
    return made(AnyTensor::arange(start, stop, step, dtype, device, where));
  }
  static Made arange(std::int64_t start, std::int64_t stop, const Device& device, DType dtype = DType::i64,
                     Location where = Location::current()) requires(Rank == 1 && kInt) {
    return arange(start, stop, 1, device, dtype, where);
  }
  static Made arange(double start, double stop, double step, const Device& device, DType dtype = DType::f32,
                     Location where = Location::current()) requires(Rank == 1 && kFloat) {
    check_kind(dtype, where);
    return made(sinter::arange(start, stop, step, dtype, device, where));
  }
  static Made linspace(double start, double stop, std::int64_t count, const Device& device,
                       DType dtype = DType::f32,
                       Location where = Location::current()) requires(Rank == 1 && kFloat) {
    check_kind(dtype, where);
    return made(sinter::linspace(start, stop, count, dtype, device, where));
  }
  static Made logspace(double start, double stop, std::int64_t count, const Device& device, double base = 10,
                       DType dtype = DType::f32,
                       Location where = Location::current()) requires(Rank == 1 && kFloat) {
    check_kind(dtype, where);
    return made(sinter::logspace(start, stop, count, base, dtype, device, where));
  }
  /// The unit matrix.
  static Made eye(std::int64_t size, const Device& device, DType dtype = default_dtype<Kind>,
                  Location where = Location::current()) requires(Rank == 2) {
    check_kind(dtype, where);
    return made(sinter::eye(size, size, dtype, device, where));
  }

  // ---- random numbers: of the thread's stream on the device, or of a generator
  /// In [low, high).
  static Made uniform(const Sizes<Rank>& sizes, double low, double high, const Device& device,
                      DType dtype = DType::f32, Location where = Location::current()) requires kFloat {
    check_kind(dtype, where);
    return made(AnyTensor::uniform(sizes, low, high, dtype, device, where));
  }
  static Made uniform(const Sizes<Rank>& sizes, double low, double high, const Device& device,
                      Generator& generator, DType dtype = DType::f32,
                      Location where = Location::current()) requires kFloat {
    const DrawFrom draws(generator);
    return uniform(sizes, low, high, device, dtype, where);
  }
  static Made normal(const Sizes<Rank>& sizes, double mean, double deviation, const Device& device,
                     DType dtype = DType::f32, Location where = Location::current()) requires kFloat {
    check_kind(dtype, where);
    return made(AnyTensor::normal(sizes, mean, deviation, dtype, device, where));
  }
  static Made normal(const Sizes<Rank>& sizes, double mean, double deviation, const Device& device,
                     Generator& generator, DType dtype = DType::f32,
                     Location where = Location::current()) requires kFloat {
    const DrawFrom draws(generator);
    return normal(sizes, mean, deviation, device, dtype, where);
  }
  /// Uniform in [0, 1).
  static Made rand(const Sizes<Rank>& sizes, const Device& device, DType dtype = DType::f32,
                   Location where = Location::current()) requires kFloat {
    return uniform(sizes, 0, 1, device, dtype, where);
  }
  static Made rand(const Sizes<Rank>& sizes, const Device& device, Generator& generator,
                   DType dtype = DType::f32, Location where = Location::current()) requires kFloat {
    return uniform(sizes, 0, 1, device, generator, dtype, where);
  }
  /// Standard normal.
  static Made randn(const Sizes<Rank>& sizes, const Device& device, DType dtype = DType::f32,
                    Location where = Location::current()) requires kFloat {
    return normal(sizes, 0, 1, device, dtype, where);
  }
  static Made randn(const Sizes<Rank>& sizes, const Device& device, Generator& generator,
                    DType dtype = DType::f32, Location where = Location::current()) requires kFloat {
    return normal(sizes, 0, 1, device, generator, dtype, where);
  }
  /// Integers low, .., high - 1, each as likely as the others.
  static Made randint(const Sizes<Rank>& sizes, std::int64_t low, std::int64_t high, const Device& device,
                      DType dtype = DType::i64, Location where = Location::current()) requires kInt {
    return made(AnyTensor::randint(sizes, low, high, dtype, device, where));
  }
  static Made randint(const Sizes<Rank>& sizes, std::int64_t low, std::int64_t high, const Device& device,
                      Generator& generator, DType dtype = DType::i64,
                      Location where = Location::current()) requires kInt {
    const DrawFrom draws(generator);
    return randint(sizes, low, high, device, dtype, where);
  }
  /// True with a probability; see the other kinds' cast for zeros and ones of theirs.
  static Made bernoulli(const Sizes<Rank>& sizes, double probability, const Device& device,
                        Location where = Location::current()) requires kBool {
    return made(sinter::bernoulli(sizes, probability, device, where));
  }
  static Made bernoulli(const Sizes<Rank>& sizes, double probability, const Device& device,
                        Generator& generator, Location where = Location::current()) requires kBool {
    const DrawFrom draws(generator);
    return bernoulli(sizes, probability, device, where);
  }

  // ---- parts put together
  /// Tensor<2>::cat({a, b, c}, 0)
  static Made cat(std::initializer_list<Made> pieces, std::int64_t axis,
                  Location where = Location::current()) {
    return made(AnyTensor::cat(handles(pieces), axis, where));
  }
  static Made cat(const std::vector<Made>& pieces, std::int64_t axis, Location where = Location::current()) {
    return made(AnyTensor::cat(handles(pieces), axis, where));
  }
  static Tensor<Rank + 1, Kind> stack(std::initializer_list<Made> pieces, std::int64_t axis,
                                      Location where = Location::current()) {
    return {detail::trusted, AnyTensor::stack(handles(pieces), axis, where)};
  }
  static Tensor<Rank + 1, Kind> stack(const std::vector<Made>& pieces, std::int64_t axis,
                                      Location where = Location::current()) {
    return {detail::trusted, AnyTensor::stack(handles(pieces), axis, where)};
  }

  // ---- triangles
  static Made tril_mask(const Sizes<2>& sizes, const Device& device, std::int64_t diagonal = 0,
                        Location where = Location::current()) requires(kBool&& Rank == 2) {
    const Shape& shape = sizes;
    return made(AnyTensor::tril_mask(shape[0], shape[1], diagonal, device, where));
  }
  static Made triu_mask(const Sizes<2>& sizes, const Device& device, std::int64_t diagonal = 0,
                        Location where = Location::current()) requires(kBool&& Rank == 2) {
    const Shape& shape = sizes;
    return made(AnyTensor::triu_mask(shape[0], shape[1], diagonal, device, where));
  }

  /// True on one diagonal.
  static Made diag_mask(const Sizes<2>& sizes, const Device& device, std::int64_t diagonal = 0,
                        Location where = Location::current()) requires(kBool&& Rank == 2) {
    const Shape& shape = sizes;
    return made(sinter::diag_mask(shape[0], shape[1], diagonal, device, where));
  }

  static void check_kind(DType dtype, const Location& where) {
    detail::check_dtype_of_kind(fits_kind<Kind>(dtype), dtype, name(), where);
  }

 private:
  static constexpr std::string_view name() { return detail::kind_name<Kind>; }
  static Made made(AnyTensor any) { return Made(detail::trusted, std::move(any)); }
  template <class List>
  static std::vector<AnyTensor> handles(const List& tensors) {
    std::vector<AnyTensor> result;
    for (const Made& tensor : tensors) result.push_back(tensor.dynamic());
    return result;
  }
};

}  // namespace sinter
