// The interface of library ops: operations that are not generated but computed by a program of their own on
// each device, such as matrix products and convolutions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <sinter/dtype.h>
#include <sinter/error.h>
#include <sinter/precision.h>
#include <sinter/shape.h>

#include "src/trace/layout.h"
#include "src/trace/op.h"
#include "src/trace/tensor_type.h"

namespace sinter::library {

using trace::Layout;
using trace::TensorType;

class Kind;
struct Request;

/// A kind with its sizes: what a device prepares once and launches many times. Buffers of a launch are the
/// operands, then the results; results are contiguous unless the op says otherwise. Each kind derives from
/// this its own struct of sizes.
class LibraryOp {
 public:
  DType dtype = DType::f32;  // that it computes in; never of 16 bits

  virtual ~LibraryOp() = default;
  virtual const Kind& kind() const = 0;

  /// Of what it reads in `dtype` or, as indices are, in another.
  virtual DType dtype_of_operand(std::size_t /*operand*/) const { return dtype; }
  virtual DType dtype_of_result(std::size_t /*result*/) const { return dtype; }

  /// Ops of one kind with equal keys are the same work.
  virtual std::string key() const = 0;
  /// For logs and explanations: "matmul 1x64x32 * 32x8".
  virtual std::string describe() const = 0;

  /// Distinct elements of an operand that are read, and of a result that are written.
  virtual std::int64_t elements_read(std::size_t operand) const = 0;
  virtual std::int64_t elements_written(std::size_t result) const = 0;
};
using LibraryOpRef = std::shared_ptr<const LibraryOp>;

/// A product of two operands, which are read, and whose result is written, as they are stored: an f32 product
/// may have 16-bit floats on each side, and one of matrices i8 on the sides that are read. Devices are given
/// such products iff they say so (DeviceTraits::narrow_products).
struct ProductOp : LibraryOp {
  /// Of the operands and the result, where it is another one than `dtype`.
  std::array<std::optional<DType>, 3> stored;

  DType stored_dtype(std::size_t buffer) const { return stored[buffer].value_or(dtype); }
  DType dtype_of_operand(std::size_t operand) const override { return stored_dtype(operand); }
  DType dtype_of_result(std::size_t) const override { return stored_dtype(2); }
  bool is_stored_otherwise() const { return stored != decltype(stored){}; }

  /// Sets all dtypes as a request has them.
  void set_dtypes(const Request& request);
  /// " bf16 bf16 -> f32", for keys and for people; empty where everything is stored in `dtype`.
  std::string stored_text() const;
};

/// What an op is asked for, before it is known where anything lies.
struct Signature {
  std::vector<TensorType> operands, results;
  std::vector<std::int64_t> ints;                        // attributes
  MatmulPrecision precision = MatmulPrecision::Highest;  // of products of f32
};

/// A signature, and where everything lies.
struct Request : Signature {
  std::vector<Layout> layouts;      // of the operands, each from its own first element: the offset is 0
  std::vector<bool> channels_last;  // of the results: to be written as (n, h, w, c)
};

/// In which order the dims of an image (n, c, h, w) may lie in memory, always without gaps. Either: the op
/// works with the channels last, and would transpose another image. Indifferent: both orders cost it the
/// same.
enum class ImageOrder : std::uint8_t { NotAnImage, ChannelsFirst, Either, Indifferent };
inline bool takes_channels_last(ImageOrder order) {
  return order == ImageOrder::Either || order == ImageOrder::Indifferent;
}

/// What is known of an op without its sizes. There is one object for each kind, which lives until the process
/// ends. What a kind computes depends on operands and attributes alone.
class Kind {
 public:
  /// `name` stands in messages and explanations. A kind without a row in the op table is an Extension and has
  /// to be registered: add_kind in kinds.h.
  explicit Kind(std::string name, std::size_t results = 1, Op op = Op::Extension)
      : name_(std::move(name)), results_(results), op_(op) {}
  virtual ~Kind() = default;
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  const std::string& name() const { return name_; }
  std::size_t result_count() const { return results_; }
  Op op() const { return op_; }
  /// Of a registered Extension; -1 before.
  std::int64_t number() const { return number_; }

  /// Shapes and dtypes of the results, which `results` has room for. Throws ShapeError or DTypeError for
  /// operands and attributes that do not fit together.
  virtual void infer(std::span<const TensorType> operands, std::span<const std::int64_t> ints,
                     std::span<TensorType> results, const Location& where) const = 0;

  /// True iff the op can read operand `k` where it lies as `layout`, whatever its offset; else it is given a
  /// contiguous copy.
  virtual bool reads_in_place(const Signature& signature, std::size_t k, const Layout& layout) const;

  /// For operands and results that are images. Channels last is asked of a kind only on devices that gain by
  /// it (DeviceTraits::channels_last).
  virtual ImageOrder operand_order(const Signature&, std::size_t /*k*/) const {
    return ImageOrder::NotAnImage;
  }
  virtual ImageOrder result_order(const Signature&, std::size_t /*r*/) const {
    return ImageOrder::NotAnImage;
  }

  /// The op with its sizes. Layouts are contiguous or ones that the functions above said yes to.
  virtual LibraryOpRef make(const Request& request) const = 0;

 private:
  friend void add_kind(Kind& kind);
  std::string name_;
  std::size_t results_;
  Op op_;
  std::int64_t number_ = -1;
};

/// The op as the struct of its kind. Throws std::logic_error where it is of another one.
template <class T>
const T& as(const LibraryOp& op) {
  if (const auto* sized = dynamic_cast<const T*>(&op)) return *sized;
  throw std::logic_error("library: " + op.kind().name() + " was given to a function of another kind");
}

/// Numbers one after the other: "1 64 32".
std::string joined(std::initializer_list<std::int64_t> numbers, std::string_view between = " ");

/// True iff an image (n, c, h, w) lies as (n, h, w, c) without gaps, and not also as its dims stand. The
/// offset does not count.
bool is_channels_last(const Shape& shape, const Layout& layout);

// ---- checks that kinds share; `name` starts the message

/// The dtype of both operands. Throws DTypeError unless it is one of floats.
DType float_dtype_of(std::string_view name, std::span<const TensorType> operands, const Location& where);

}  // namespace sinter::library
