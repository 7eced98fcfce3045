// Views of a tensor with rank and kind, and tensors put together from parts.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/typed.h>
#include <sinter/sizes.h>

namespace sinter::detail {

/// A base of Tensor<Rank, Kind>: what sees its elements in another order, or assembles them.
template <std::size_t Rank, class Kind>
class TensorViews {
  using Same = Tensor<Rank, Kind>;
  using Mask = Tensor<Rank, Bool>;
  static constexpr bool kFloat = std::same_as<Kind, Float>;
  static constexpr bool kInt = std::same_as<Kind, Int>;
  static constexpr bool kBool = std::same_as<Kind, Bool>;

 public:
  // ---- views: no element is copied
  /// The braces say the rank: x.reshape({batch, -1}); x.reshape({}) has rank 0.
  template <std::size_t N>
  Tensor<N, Kind> reshape(const std::int64_t (&sizes)[N], Location where = Location::current()) const {
    return {trusted, here().reshape(dims(sizes), where)};
  }
  Tensor<0, Kind> reshape(const Sizes<0>&, Location where = Location::current()) const {
    return {trusted, here().reshape({}, where)};
  }
  template <std::size_t N>
  Tensor<N, Kind> reshape_as(const Shape& shape, Location where = Location::current()) const {
    return Tensor<N, Kind>(here().reshape(shape, where), where);
  }
  Same permute(const std::int64_t (&axes)[Rank ? Rank : 1], Location where = Location::current()) const
      requires(Rank > 0) {
    return made(here().permute(Axes(dims(axes)), where));
  }
  Same transpose(std::int64_t a, std::int64_t b, Location where = Location::current()) const {
    return made(here().transpose(a, b, where));
  }
  /// Swaps the last two axes.
  Same t(Location where = Location::current()) const requires(Rank >= 2) {
    return made(here().transpose(-2, -1, where));
  }
  /// Repeats axes of size 1, and adds leading ones; -1 keeps a size.
  template <std::size_t N>
  requires(N >= Rank) Tensor<N, Kind> expand(const std::int64_t (&sizes)[N],
                                             Location where = Location::current())
  const { return {trusted, here().expand(dims(sizes), where)}; }
  Same expand_as(const Same& other, Location where = Location::current()) const {
    return made(here().expand(other.shape(), where));
  }
  Tensor<(Rank ? Rank - 1 : 0), Kind> squeeze(std::int64_t axis, Location where = Location::current()) const
      requires(Rank >= 1) {
    return {trusted, here().squeeze(axis, where)};
  }
  /// The braces say how many axes go: x.squeeze({0, 2}).
  template <std::size_t N>
  requires(N <= Rank) Tensor<Rank - N, Kind> squeeze(const std::int64_t (&axes)[N],
                                                     Location where = Location::current())
  const { return {trusted, here().squeeze(Axes(dims(axes)), where)}; }
  Tensor<Rank + 1, Kind> unsqueeze(std::int64_t axis, Location where = Location::current()) const {
    return {trusted, here().unsqueeze(axis, where)};
  }
  Tensor<1, Kind> flatten(Location where = Location::current()) const {
    return {trusted, here().reshape({here().numel()}, where)};
  }
  /// Keeps the first N - 1 axes and makes the others one: x.flatten<2>() of (b, c, h, w) is (b, c * h * w).
  template <std::size_t N>
  requires(N >= 1 && N <= Rank) Tensor<N, Kind> flatten(Location where = Location::current())
  const { return {trusted, here().reshape(flattened_sizes(here().shape(), N), where)}; }
  /// x.slice({s(1, 3), all, s_from(-2)}): one range for each leading axis.
  Same slice(std::initializer_list<Range> ranges, Location where = Location::current()) const {
    return made(here().slice(ranges, where));
  }
  Same narrow(std::int64_t axis, std::int64_t start, std::int64_t length,
              Location where = Location::current()) const {
    return made(here().narrow(axis, start, length, where));
  }
  /// The part at one index of an axis, which goes; a negative index counts from the end.
  Tensor<(Rank ? Rank - 1 : 0), Kind> select(std::int64_t axis, std::int64_t index,
                                             Location where = Location::current()) const requires(Rank >= 1) {
    return {trusted, here().select(axis, index, where)};
  }
  Same flip(const Axes& axes, Location where = Location::current()) const {
    return made(here().flip(axes, where));
  }
  Tensor<Rank + 1, Kind> windows(std::int64_t axis, std::int64_t size, std::int64_t step,
                                 Location where = Location::current()) const {
    return {trusted, here().windows(axis, size, step, where)};
  }
  Same pad(const Sizes<Rank>& before, const Sizes<Rank>& after, Number<Kind> value,
           Location where = Location::current()) const {
    return made(
        here().pad(static_cast<const Shape&>(before), static_cast<const Shape&>(after), value.value, where));
  }

  /// Surrounded by its own elements.
  Same pad(const Sizes<Rank>& before, const Sizes<Rank>& after, PadMode mode,
           Location where = Location::current()) const {
    return made(here().pad(static_cast<const Shape&>(before), static_cast<const Shape&>(after), mode, where));
  }

  // ---- parts put together
  /// x.slice_assign({s(1, 3), all}, value): the value broadcasts to the part.
  Same slice_assign(std::initializer_list<Range> ranges, const Same& value,
                    Location where = Location::current()) const {
    return made(here().slice_assign(ranges, value.dynamic(), where));
  }
  Same slice_fill(std::initializer_list<Range> ranges, Number<Kind> number,
                  Location where = Location::current()) const {
    return made(here().slice_fill(ranges, number.value, where));
  }
  /// x.split({2, 3, 4}, 0): pieces of these sizes; x.split(2, 0): pieces of 2.
  std::vector<Same> split(std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                          Location where = Location::current()) const {
    return typed(here().split(sizes, axis, where));
  }
  std::vector<Same> split(std::int64_t size, std::int64_t axis, Location where = Location::current()) const {
    return typed(here().split(size, axis, where));
  }
  std::vector<Same> chunk(std::int64_t count, std::int64_t axis, Location where = Location::current()) const {
    return typed(here().chunk(count, axis, where));
  }
  Same repeat(const Sizes<Rank>& counts, Location where = Location::current()) const {
    return made(here().repeat(static_cast<const Shape&>(counts), where));
  }
  /// The parts at each index of an axis, which goes.
  std::vector<Tensor<(Rank ? Rank - 1 : 0), Kind>> unbind(std::int64_t axis = 0,
                                                          Location where = Location::current()) const
      requires(Rank >= 1) {
    std::vector<Tensor<(Rank ? Rank - 1 : 0), Kind>> parts;
    for (AnyTensor& part : here().unbind(axis, where)) parts.push_back({trusted, std::move(part)});
    return parts;
  }
  Same roll(std::int64_t shift, std::int64_t axis, Location where = Location::current()) const {
    return made(here().roll(shift, axis, where));
  }
  Same movedim(std::int64_t from, std::int64_t to, Location where = Location::current()) const {
    return made(here().movedim(from, to, where));
  }
  Same mask_where(const Mask& mask, const Same& value, Location where = Location::current()) const {
    return made(here().mask_where(mask.dynamic(), value.dynamic(), where));
  }
  Same mask_fill(const Mask& mask, Number<Kind> number, Location where = Location::current()) const {
    return made(here().mask_fill(mask.dynamic(), number.value, where));
  }

 private:
  const AnyTensor& here() const { return static_cast<const Same&>(*this).dynamic(); }
  static Same made(AnyTensor any) { return Same(trusted, std::move(any)); }
  template <std::size_t N>
  static Dims dims(const std::int64_t (&values)[N]) {
    return axes_of(values, N);
  }
  static std::vector<Same> typed(std::vector<AnyTensor> tensors) {
    std::vector<Same> result;
    for (AnyTensor& tensor : tensors) result.push_back(made(std::move(tensor)));
    return result;
  }
};

}  // namespace sinter::detail
