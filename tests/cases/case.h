// A case of a function of tensors: operands and attributes, as tests/cases/make_cases.py wrote them.
#pragma once

#include <array>
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
  /// Operands of floats are given as `dtype`.
  Case(const record::Record& record, const std::string& key, DType dtype, const Device& device)
      : attributes_(nlohmann::json::parse(*record.find_text(key))), dtype_(dtype), device_(device) {
    for (int i = 0; record.find(key + "/in" + std::to_string(i)) != nullptr; ++i) {
      // Uploaded as they are and cast by the host: some devices have no f64.
      const AnyTensor given = record.tensor(key + "/in" + std::to_string(i), Device::host());
      const bool real = is_float(given.dtype());
      const AnyTensor cast = real ? given.cast(dtype) : given;
      const AnyTensor here = cast.to_device(device);
      operands_.push_back(real && device.is_autodiff() ? here.require_grad() : here);
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
  AnyComplex complex() const { return {in(0), in(1)}; }
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

 private:
  template <std::size_t N>
  std::array<std::int64_t, N> alike(const char* name) const {
    std::array<std::int64_t, N> values{};
    values.fill(integer(name));
    return values;
  }

  nlohmann::json attributes_;
  DType dtype_;
  Device device_;
  std::vector<AnyTensor> operands_;
};

}  // namespace sinter::testing
