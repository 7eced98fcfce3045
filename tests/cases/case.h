// A case of a function of tensors: operands and attributes, as tests/cases/make_cases.py wrote them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <sinter/sinter.h>

namespace sinter::testing {

class Case {
 public:
  /// Operands of floats are given as `dtype`; with `any_numbers` those of integers where there are no floats,
  /// and truth values where there are neither.
  Case(const record::Record& record, const std::string& key, DType dtype, const Device& device,
       bool any_numbers = false)
      : attributes_(nlohmann::json::parse(*record.find_text(key))),
        dtype_(dtype),
        device_(device),
        any_numbers_(any_numbers) {
    // Uploaded as they are and cast by the host: some devices have no f64.
    std::vector<AnyTensor> given;
    for (int i = 0; record.find(key + "/in" + std::to_string(i)) != nullptr; ++i)
      given.push_back(record.tensor(key + "/in" + std::to_string(i), Device::host()));
    const auto rank = [&](DType of) { return is_float(of) ? 2 : is_int(of) && any_numbers ? 1 : 0; };
    int highest = any_numbers ? 0 : 2;
    for (const AnyTensor& operand : given) highest = std::max(highest, rank(operand.dtype()));
    for (const AnyTensor& operand : given) {
      const bool is_cast = rank(operand.dtype()) == highest;
      const AnyTensor here = (is_cast ? operand.cast(dtype) : operand).to_device(device);
      operands_.push_back(is_cast && device.is_autodiff() ? here.require_grad() : here);
    }
  }

  std::string function() const { return attributes_.at("function"); }
  std::string description() const { return attributes_.dump(); }

  // ---- what rows of functions.def use
  const AnyTensor& in(std::size_t i) const { return operands_.at(i); }
  std::span<const AnyTensor> all() const { return operands_; }
  double number(const char* name) const {
    const nlohmann::json& value = attributes_.at(name);
    return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : value.get<double>();
  }
  /// A number of the dtype of the operands: without its fraction where they are integers.
  Scalar scalar(const char* name) const {
    if (is_float(dtype_) || !any_numbers_) return number(name);
    if (dtype_ == DType::boolean) return number(name) != 0;
    return static_cast<std::int64_t>(std::abs(number(name)));
  }
  std::int64_t integer(const char* name) const { return attributes_.at(name); }
  bool flag(const char* name) const { return attributes_.at(name); }
  std::string text(const char* name) const { return attributes_.at(name); }
  Dims dims(const char* name) const {
    return Dims(std::span<const std::int64_t>(attributes_.at(name).get<std::vector<std::int64_t>>()));
  }
  Axes axes(const char* name) const { return Axes(dims(name)); }
  /// Parts of a decomposition whose signs are free.
  template <class Parts>
  static std::vector<AnyTensor> magnitudes(const Parts& parts) {
    return std::apply([](const auto&... part) { return std::vector<AnyTensor>{part.abs()...}; }, parts);
  }
  /// Complex numbers without an order: their real and imaginary parts summed up in powers.
  static std::vector<AnyTensor> sorted(const AnyComplex& x) {
    const AnyComplex square = x * x;
    return {x.real.sum(-1), square.real.sum(-1), (square * x).real.sum(-1), abs(x).sum(-1)};
  }
  /// The operands from the i-th on: real and imaginary part.
  AnyComplex complex(std::size_t i = 0) const { return {in(i), in(i + 1)}; }
  /// f of two complex numbers, of which one may be real or the same everywhere.
  template <class F>
  AnyComplex of_two(F f) const {
    if (attributes_.contains("number")) {
      const std::array<double, 2> parts = attributes_.at("number");
      return f(complex(), ComplexNumber(parts[0], parts[1]));
    }
    if (!attributes_.contains("real")) return f(complex(), complex(2));
    return text("real") == "left" ? f(in(2), complex()) : f(complex(), in(2));
  }
  AnyComplex product() const {
    return attributes_.contains("real") ? complex().matmul(in(2)) : complex().matmul(complex(2));
  }
  AnyComplex power() const {
    return attributes_.contains("power") ? pow(complex(), number("power")) : pow(complex(), complex(2));
  }
  std::vector<Range> ranges() const {
    const Dims starts = dims("starts"), stops = dims("stops"), steps = dims("steps");
    std::vector<Range> ranges;
    for (std::size_t i = 0; i < starts.rank(); ++i) ranges.push_back({starts[i], stops[i], steps[i]});
    return ranges;
  }
  ScatterReduction reduction() const { return static_cast<ScatterReduction>(integer("reduction")); }
  FftNorm norm() const { return static_cast<FftNorm>(integer("norm")); }
  std::optional<std::int64_t> length() const {
    return attributes_.contains("length") ? std::optional(integer("length")) : std::nullopt;
  }
  std::array<std::int64_t, 2> pair(const char* name) const { return attributes_.at(name); }
  DType dtype() const { return dtype_; }
  const Device& device() const { return device_; }

  template <std::size_t N>
  ConvOptions<N> convolution() const {
    return {.stride = alike<N>("stride"),
            .padding = alike<N>("padding"),
            .dilation = alike<N>("dilation"),
            .groups = integer("groups")};
  }
  Conv2dOptions convolution2d() const {
    const ConvOptions<2> o = convolution<2>();
    return {.stride = o.stride, .padding = o.padding, .dilation = o.dilation, .groups = o.groups};
  }
  template <std::size_t N>
  ConvTransposeOptions<N> transposed() const {
    return {.stride = alike<N>("stride"),
            .padding = alike<N>("padding"),
            .output_padding = alike<N>("output_padding"),
            .dilation = alike<N>("dilation"),
            .groups = integer("groups")};
  }
  WindowOptions windows() const {
    return {.kernel = pair("kernel"),
            .stride = pair("stride"),
            .padding = pair("padding"),
            .dilation = pair("dilation")};
  }
  /// With windows of 3.
  template <class Pool>
  Pool pool() const {
    Pool pool;
    set(pool.kernel, 3);
    set(pool.stride.emplace(), integer("stride"));
    set(pool.padding, integer("padding"));
    pool.ceil_mode = flag("ceil_mode");
    return pool;
  }
  template <class Pool>
  Pool adaptive() const {
    Pool pool;
    set(pool.output, dims("output")[0]);
    return pool;
  }

 private:
  template <std::size_t N>
  static void set(std::array<std::int64_t, N>& sizes, std::int64_t value) {
    sizes.fill(value);
  }
  static void set(std::int64_t& size, std::int64_t value) { size = value; }
  template <std::size_t N>
  std::array<std::int64_t, N> alike(const char* name) const {
    std::array<std::int64_t, N> values{};
    values.fill(integer(name));
    return values;
  }

  nlohmann::json attributes_;
  DType dtype_;
  Device device_;
  bool any_numbers_;
  std::vector<AnyTensor> operands_;
};

}  // namespace sinter::testing
