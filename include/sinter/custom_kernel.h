// Operations whose kernels a program brings along, in CUDA C++, GLSL and C++.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/function.h>

namespace sinter {

/// What the host's function of a custom kernel reads and writes: tensors without gaps, in row-major order.
class SINTER_API KernelArguments {
 public:
  struct Buffer {
    void* data;
    std::size_t count;
    DType dtype;
  };
  KernelArguments(std::span<const Buffer> inputs, std::span<const Buffer> outputs,
                  std::span<const std::int64_t> sizes)
      : inputs_(inputs), outputs_(outputs), sizes_(sizes) {}

  /// Throws DTypeError where T is not the C++ type of the tensor's dtype, Error for a number out of range.
  template <class T>
  std::span<const T> input(std::size_t number) const {
    const Buffer& buffer = checked(inputs_, number, dtype_of<T>);
    return {static_cast<const T*>(buffer.data), buffer.count};
  }
  template <class T>
  std::span<T> output(std::size_t number) const {
    const Buffer& buffer = checked(outputs_, number, dtype_of<T>);
    return {static_cast<T*>(buffer.data), buffer.count};
  }
  std::int64_t size(std::size_t number) const;

 private:
  static const Buffer& checked(std::span<const Buffer> buffers, std::size_t number, DType dtype);
  std::span<const Buffer> inputs_, outputs_;
  std::span<const std::int64_t> sizes_;
};

/// What a custom kernel is. GPUs run `source`, or the one in their own language, once for each thread, as the
/// body of a function that knows
///   x(i)     element i of the tensor called x; y(i) = ... writes one of the output called y
///   n        the size called n, an integer of type Index
///   thread   the thread's number, from 0 on, an integer of type Index
/// and may return. Index has a sign in CUDA C++ (64 bits) and none in GLSL (32 bits). The host calls `host`
/// with a range of threads, several at a time from threads of its own.
///
/// Tensors arrive in the dtype that they are computed in: f32 for 16- and 8-bit floats, i32 and i64 for other
/// integers (sinter::arithmetic_of); what the kernel writes is cast back. Bools are cast by the caller.
struct CustomKernelSource {
  std::string name;                  // of the operation, in messages and explanations
  std::vector<std::string> inputs;   // 1 to 16
  std::vector<std::string> outputs;  // 1 to 8
  std::vector<std::string> sizes;    // numbers from 0 to 2^31 - 1
  std::string source = {};           // in what CUDA C++ and GLSL have in common
  std::string cuda = {}, glsl = {};  // instead of it
  std::string functions = {};  // that the body calls, in the common language: SN_FN float f(float x) { ... }
  Function<void(const KernelArguments& arguments, std::int64_t begin, std::int64_t end)> host = {};
};

/// An operation like others, but for what it computes: recorded, planned around, explained; operands that are
/// not without gaps are copied for it. It has no gradient: call it inside of a CustomFunction that has one.
///
///   static const sn::CustomKernel axpy({.name = "axpy", .inputs = {"x", "y"}, .outputs = {"z"}, .sizes = {},
///                                       .source = "z(thread) = 2.0 * x(thread) + y(thread);", .host = ...});
///   const sn::AnyTensor z = axpy({x, y}, {.outputs = {{x.shape(), sn::DType::f32}}, .threads =
///   x.numel()})[0];
class SINTER_API CustomKernel {
 public:
  /// A name stands for one kernel until the process ends: another object of equal texts is the same one, with
  /// the first one's host function. Throws Error where a name is taken by other texts or is no identifier.
  explicit CustomKernel(CustomKernelSource source);

  struct Output {
    Shape shape;
    DType dtype;
  };
  struct Launch {
    std::vector<Output> outputs;
    std::int64_t threads;
    std::vector<std::int64_t> sizes = {};
  };
  /// Each element of each output has to be written. Throws Error where numbers of tensors or sizes are not
  /// the kernel's, DTypeError for bools, DeviceError where the device has no source for it.
  std::vector<AnyTensor> operator()(const std::vector<AnyTensor>& inputs, const Launch& launch,
                                    Location where = Location::current()) const;

 private:
  const void* kind_;
};

}  // namespace sinter
