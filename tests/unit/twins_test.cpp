// Methods and free functions do the same, with and without a rank in the type; tests/twins.py compares their
// names.
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

namespace sinter::testing {
namespace {

using List = std::vector<AnyTensor>;

List parts(const AnyTensor& tensor) { return {tensor}; }
template <std::size_t Rank, class Kind>
List parts(const Tensor<Rank, Kind>& tensor) {
  return {tensor.dynamic()};
}
template <class T>
List parts(const std::vector<T>& tensors) {
  List list;
  for (const T& tensor : tensors) list.push_back(parts(tensor).front());
  return list;
}
template <class A>
List parts(const std::pair<A, A>& pair) {
  return {parts(pair.first).front(), parts(pair.second).front()};
}
List parts(const AnyIndexed& found) { return {found.values, found.indices}; }
template <std::size_t Rank, class Kind>
List parts(const Indexed<Rank, Kind>& found) {
  return {found.values.dynamic(), found.indices.dynamic()};
}
List parts(const AnyUnique& found) { return {found.values, found.inverse, found.counts}; }
template <std::size_t Rank, class Kind>
List parts(const Unique<Rank, Kind>& found) {
  return {found.values.dynamic(), found.inverse.dynamic(), found.counts.dynamic()};
}
template <class T>
List parts(const HistogramOf<T>& found) {
  return {parts(found.counts).front(), parts(found.edges).front()};
}
List parts(const Difference& found) {
  return {AnyTensor::full({}, found.largest, DType::f64, Device::host())};
}

/// Shapes, dtypes and bytes.
template <class T>
std::string bits(const T& result) {
  std::string text;
  for (const AnyTensor& part : parts(result)) {
    const TensorData data = part.to_data();
    text += to_string(data.shape()) + std::string(name_of(data.dtype()));
    text.append(reinterpret_cast<const char*>(data.bytes().data()), data.bytes().size());
  }
  return text;
}

/// The arguments as tensors without a rank have them.
template <class T>
const T& without_rank(const T& argument) {
  return argument;
}
template <std::size_t Rank, class Kind>
AnyTensor without_rank(const Tensor<Rank, Kind>& argument) {
  return argument.dynamic();
}

struct Operands {
  const Device device = Device::host();
  const Tensor<1> v = Tensor<1>::from_data({0.5, -1.5, 2.25, 0.75, -0.25, 1.5}, device);
  const Tensor<2> x = Tensor<2>::from_data({{0.5, -1.5, 2.25}, {0.75, -0.25, 1.5}, {-2, 1, 0.125}}, device);
  const Tensor<2> y = Tensor<2>::from_data({{1.5, 0.5, 0.25}, {3, 0.5, 2}, {0.75, 1.25, 1}}, device);
  const Tensor<1> w = Tensor<1>::from_data({0.25, 1, 0.5}, device);
  const Tensor<1> sorted = Tensor<1>::from_data({-1, 0.5, 1}, device);
  const Tensor<2, Int> n = Tensor<2, Int>::from_data({{1, 0, 2}, {2, 1, 0}, {0, 2, 1}}, device);
  const Tensor<1, Int> places = Tensor<1, Int>::from_data({2, 0, 1}, device);
  const Tensor<2, Bool> mask =
      Tensor<2, Bool>::from_data({{true, false, true}, {false, false, true}, {true, true, true}}, device);
  const Tensor<4> image = v.reshape({1, 1, 2, 3});
  const Tensor<4> weight = x.reshape({1, 1, 3, 3});
};

}  // namespace

// With a rank, without one, and each as a method and as a function.
#define TWINS(x, name, ...)                                                  \
  do {                                                                       \
    INFO(#x "." #name "(" #__VA_ARGS__ ")");                                 \
    const std::string expected = bits(name(x __VA_OPT__(, ) __VA_ARGS__));   \
    CHECK(bits(x.name(__VA_ARGS__)) == expected);                            \
    const auto call = [&](const auto&... arguments) {                        \
      return std::pair(bits(x.dynamic().name(without_rank(arguments)...)),   \
                       bits(name(x.dynamic(), without_rank(arguments)...))); \
    };                                                                       \
    const auto [method, function] = call(__VA_ARGS__);                       \
    CHECK(method == expected);                                               \
    CHECK(function == expected);                                             \
  } while (false)
// Where only the forms with a rank take these arguments.
#define TYPED_TWINS(x, name, ...)                                                 \
  do {                                                                            \
    INFO(#x "." #name "(" #__VA_ARGS__ ")");                                      \
    CHECK(bits(x.name(__VA_ARGS__)) == bits(name(x __VA_OPT__(, ) __VA_ARGS__))); \
  } while (false)

TEST_CASE("elementwise methods are the functions of their names") {
  const Operands o;
  const auto &x = o.x, &y = o.y;
  const auto& n = o.n;
  TWINS(x, frac);
  TWINS(x, deg2rad);
  TWINS(x, rad2deg);
  TWINS(x, sinc);
  TWINS(x.sigmoid(), logit);
  TWINS(x, nan_to_num, 1.0, 2.0, 3.0);
  TWINS(x, logaddexp, y);
  TWINS(x, xlogy, y);
  TWINS(x, lerp, y, 0.25);
  TWINS(x, clamp, -0.5, 1.0);
  TWINS(x, clamp_min, 0.25);
  TWINS(x, clamp_max, 0.25);
  TWINS(x, floor_divide, y);
  TWINS(n, floor_divide, 2);
  TWINS(x, add, y);
  TWINS(x, sub, y);
  TWINS(x, mul, y);
  TWINS(x, div, y);
  TWINS(x, remainder, y);
  TWINS(x, fmod, y);
  TWINS(y, pow, x);
  TWINS(x, atan2, y);
  TWINS(x, hypot, y);
  TWINS(x, maximum, y);
  TWINS(x, minimum, y);
  TWINS(x, equal, y);
  TWINS(x, not_equal, y);
  TWINS(x, less, y);
  TWINS(x, less_equal, y);
  TWINS(x, greater, y);
  TWINS(x, greater_equal, y);
  TWINS(n, shift_left, 2);
  TWINS(n, shift_right, 1);
  TWINS(n, logical_and, 1);
  TWINS(n, logical_or, 1);
  TWINS(n, logical_xor, 1);
  TWINS(x, is_close, y, 0.5, 0.25, true);
  TWINS(x, all_close, y, 0.5, 0.25, true);
}

TEST_CASE("activations as methods") {
  const Operands o;
  const auto& x = o.x;
  TWINS(x, relu);
  TWINS(x, relu6);
  TWINS(x, selu);
  TWINS(x, gelu);
  TWINS(x, gelu_tanh);
  TWINS(x, silu);
  TWINS(x, mish);
  TWINS(x, hard_sigmoid);
  TWINS(x, hard_swish);
  TWINS(x, log_sigmoid);
  TWINS(x, softsign);
  TWINS(x, tanhshrink);
  TWINS(x, leaky_relu, 0.25);
  TWINS(x, elu, 0.5);
  TWINS(x, celu, 0.5);
  TWINS(x, softplus, 2.0);
  TWINS(x, hard_shrink, 0.75);
  TWINS(x, soft_shrink, 0.75);
  TWINS(x, shrink, 0.75, 0.25);
  TWINS(x, hardtanh, -0.5, 0.75);
  TWINS(x, threshold, 0.5, 3.0);
  TWINS(x, prelu, o.w);
  TWINS(o.v, glu, 0);
  TWINS(o.v, swiglu, 0);
  TWINS(x, softmax, 0);
  TWINS(x, log_softmax, 0);
  TWINS(x, softmin, 0);
  TWINS(x, quiet_softmax, 0);
}

TEST_CASE("products, convolutions and images as methods") {
  const Operands o;
  const auto &x = o.x, &y = o.y;
  TWINS(x, matmul, y);
  TWINS(o.w, dot, o.sorted);
  TWINS(o.w, outer, o.sorted);
  TWINS(x, matvec, o.w);
  TWINS(x, diagonal, 1);
  TWINS(x, diag_embed, 1);
  TWINS(x, cross, y, 0);
  TWINS(x, kron, y);
  TWINS(x, cosine_similarity, y, 0, 0.5);
  const auto signal = o.v.reshape({1, 1, 6}), kernel = o.w.reshape({1, 1, 3});
  TWINS(signal, conv1d, kernel, ConvOptions<1>{.stride = {2}, .padding = {1}});
  TWINS(signal, conv_transpose1d, kernel, ConvTransposeOptions<1>{.stride = {2}});
  TWINS(o.image, conv2d, o.weight, ConvOptions<2>{.stride = {1, 2}, .padding = {1, 1}});
  TWINS(o.image, conv_transpose2d, o.weight, ConvTransposeOptions<2>{.stride = {1, 2}});
  const auto volume = o.image.unsqueeze(0), cube = o.weight.unsqueeze(0);
  TWINS(volume, conv3d, cube, ConvOptions<3>{.stride = {1, 1, 2}, .padding = {1, 1, 1}});
  TWINS(volume, conv_transpose3d, cube, ConvTransposeOptions<3>{.stride = {1, 1, 2}});
  const WindowOptions windows{.kernel = {2, 2}, .stride = {1, 1}};
  TWINS(o.image, unfold, windows);
  const auto columns = unfold(o.image, windows);
  TWINS(columns, fold, (std::array<std::int64_t, 2>{2, 3}), windows);
  const auto deep = o.v.narrow(0, 0, 4).reshape({1, 4, 1, 1});
  TWINS(deep, pixel_shuffle, 2);
  TWINS(o.weight.narrow(2, 0, 2).narrow(3, 0, 2), pixel_unshuffle, 2);
  TYPED_TWINS(o.image, interpolate, {4, 5}, Interpolation::Linear, true);
  TWINS(o.image, grid_sample_2d, x.narrow(1, 0, 2).reshape({1, 3, 1, 2}), Interpolation::Nearest,
        OutsideImage::Border, true);
}

TEST_CASE("scans, sorts, indexed writes and counts as methods") {
  const Operands o;
  const auto &x = o.x, &y = o.y;
  const auto& n = o.n;
  const ScanOptions backwards{.reverse = true};
  TWINS(x, cumsum, 0, backwards);
  TWINS(x, cumprod, 0, backwards);
  TWINS(x, logcumsumexp, 0, backwards);
  TWINS(x, cummax, 0, backwards);
  TWINS(x, cummin, 0, backwards);
  TWINS(x, scatter, 0, n, y);
  TWINS(x, scatter_fill, 0, n, 7.0);
  TWINS(x, scatter_reduce, 0, n, y, ScatterReduction::Max, false);
  TWINS(x, scatter_add, 0, n, y);
  TWINS(x, index_copy, 0, o.places, y);
  TWINS(x, index_fill, 0, o.places, 7.0);
  TWINS(x, index_reduce, 0, o.places, y, ScatterReduction::Prod, false);
  TWINS(x, index_add, 0, o.places, y);
  TWINS(x, index_select, 0, o.places);
  TWINS(x, gather, 0, n);
  TWINS(x, take, o.places);
  TWINS(x, take_along_dim, n, 0);
  TWINS(x, sort, 0, true);
  TWINS(x, argsort, 0, true);
  TWINS(x, topk, 2, 0, false);
  TWINS(x, kthvalue, 2, 0);
  TWINS(x, median, 0);
  TWINS(x, median);
  TWINS(x, quantile, 0.25, 0);
  TWINS(x, max_with_indices, 0);
  TWINS(x, min_with_indices, 0);
  TWINS(o.sorted, searchsorted, x, true);
  TWINS(x, bucketize, o.sorted, true);
  TWINS(n, nonzero);
  TWINS(n, argwhere);
  TWINS(x, mask_select, o.mask);
  TWINS(n, unique);
  TWINS(o.places, bincount, 5);
  TWINS(o.places, bincount, o.w, 5);
  TWINS(x, histc, 4, -1.0, 1.0);
  TWINS(x, histogram, 4, -1.0, 1.0);
  Generator a(3), b(3), c(3), d(3);
  CHECK(bits(x.shuffle(0, a)) == bits(shuffle(x, 0, b)));
  CHECK(bits(x.dynamic().shuffle(0, c)) == bits(shuffle(x.dynamic(), 0, d)));
  CHECK(bits(x.categorical(0, a)) == bits(categorical(x, 0, b)));
  CHECK(bits(y.multinomial(2, false, a)) == bits(multinomial(y, 2, false, b)));
}

TEST_CASE("reductions as methods and functions") {
  const Operands o;
  const auto& x = o.x;
  TWINS(x, sum, 0);
  TWINS(x, prod, 0);
  TWINS(x, mean, 0);
  TWINS(x, max, 0);
  TWINS(x, min, 0);
  TWINS(x, var, 0, 0.0);
  TWINS(x, argmax, 0);
  TWINS(x, argmin, 0);
  TWINS(o.mask, any, 0);
  TYPED_TWINS(x, sum);
  TYPED_TWINS(x, sum, 0, drop);
  TYPED_TWINS(x, sum, {0, 1}, drop);
  TYPED_TWINS(x, argmax, 0, drop);
  TYPED_TWINS(x, var);
  CHECK(any(o.mask).item());
  TWINS(x, logsumexp, 0);
  TWINS(x, max_abs, 0);
  TWINS(x, count_nonzero, 0);
  TWINS(x, nansum, 0);
  TWINS(x, nanmean, 0);
  TYPED_TWINS(x, logsumexp);
  TWINS(x, var_mean, 0, 0.0);
  TWINS(x, std_mean, 0, 0.0);
  TWINS(x, norm, 3.0, 0);
  TYPED_TWINS(x, norm, 3.0);
  TWINS(x, normalize, 3.0, 0, 0.5);
  TWINS(x, contains_nan);
  TWINS(x, cov, 0.0);
  TWINS(x, corrcoef);
}

TEST_CASE("views and assemblies as functions") {
  const Operands o;
  const auto &x = o.x, &y = o.y;
  TWINS(x, t);
  TWINS(x, flatten);
  TWINS(x, zeros_like);
  TWINS(x, ones_like);
  TWINS(x, full_like, 3.0);
  TWINS(x, unsqueeze, 1);
  TWINS(x, flip, 0);
  TWINS(x.narrow(0, 1, 1), expand_as, y);
  TWINS(o.n, one_hot, 3);
  TWINS(x, tril, 1);
  TWINS(x, triu, 1);
  TWINS(x, transpose, 0, 1);
  TWINS(o.image, movedim, 0, 2);
  TWINS(x, select, 0, -1);
  TWINS(x, split, 2, 0);
  TWINS(x, chunk, 2, 0);
  TWINS(x, roll, 1, 0);
  TWINS(x, narrow, 1, 0, 2);
  TWINS(x, windows, 1, 2, 1);
  TWINS(x, mask_where, o.mask, y);
  TWINS(x, mask_fill, o.mask, 3.0);
  TYPED_TWINS(x, reshape, {9});
  TYPED_TWINS(x.narrow(0, 1, 1), expand, {3, 3});
  TYPED_TWINS(x, permute, {1, 0});
  TYPED_TWINS(o.image, squeeze, 0);
  TYPED_TWINS(o.image, squeeze, {0, 1});
  TYPED_TWINS(x, repeat, {2, 1});
  TYPED_TWINS(x, pad, {1, 0}, {0, 2}, 3.0);
  TYPED_TWINS(x, pad, {1, 0}, {0, 2}, PadMode::Reflect);
  TYPED_TWINS(x, slice, {s(0, 2), all});
  TYPED_TWINS(x, slice_assign, {all, s(0, 3)}, y);
  TYPED_TWINS(x, slice_fill, {s(0, 2)}, 3.0);
  TYPED_TWINS(x, split, {1, 2}, 0);
  CHECK(bits(flatten<1>(x)) == bits(x.flatten<1>()));
  CHECK(bits(where(o.mask, x, y)) == bits(where(o.mask.dynamic(), x.dynamic(), y.dynamic())));
}

#undef TWINS
#undef TYPED_TWINS

}  // namespace sinter::testing
