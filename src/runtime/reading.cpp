// Reads values: asks recorders for what is pending, begins all copies, and waits for them.
#include "src/runtime/reading.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "jit/ir/traits.h"
#include "src/runtime/backend.h"
#include "src/runtime/device_core.h"
#include "src/trace/recorder.h"

namespace sinter::runtime {
namespace {

// Below this the elements between those that a view shows cost less than a kernel.
constexpr std::size_t kSmallSpan = std::size_t{64} << 10;

/// Copies a strided array at `from` to `out`, row-major.
void copy_strided(std::span<std::byte> out, const std::byte* from, const Shape& shape, const Dims& strides,
                  std::size_t size) {
  // The innermost dims that have no gaps between them are copied as one piece.
  std::size_t outer = shape.rank();
  std::int64_t piece = 1;
  while (outer > 0 && (shape[outer - 1] == 1 || strides[outer - 1] == piece)) piece *= shape[--outer];
  const std::size_t piece_bytes = static_cast<std::size_t>(piece) * size;
  Dims at = Dims::filled(outer, 0);
  const std::byte* source = from;
  for (std::size_t done = 0; done < out.size(); done += piece_bytes) {
    std::memcpy(out.data() + done, source, piece_bytes);
    for (std::size_t d = outer; d-- > 0;) {
      source += strides[d] * static_cast<std::ptrdiff_t>(size);
      if (++at[d] < shape[d]) break;
      source -= strides[d] * shape[d] * static_cast<std::ptrdiff_t>(size);
      at[d] = 0;
    }
  }
}

/// The part of its buffer that a value with elements lies in, in elements.
struct Extent {
  std::int64_t low = 0, count = 0;
};
Extent extent_of(const trace::Value& value) {
  std::int64_t low = value.stored().layout.offset, high = low;
  for (std::size_t d = 0; d < value.shape.rank(); ++d) {
    const std::int64_t reach = value.stored().layout.strides[d] * (value.shape[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high - low + 1};
}

/// The copy of one value that is in memory.
class Reading {
 public:
  Reading(const ReadRequest& request, const Location& where) : value_(*request.value), out_(request.out) {
    if (out_.empty()) return;
    DeviceCore& device = *value_.device;
    const Extent extent = extent_of(value_);
    const std::size_t spanned = static_cast<std::size_t>(extent.count) * size_;
    const BufferView begin = at(value_, extent.low);
    if (spanned == out_.size() && trace::is_contiguous(value_.shape, {value_.stored().layout.strides, 0})) {
      transfer_ = device.begin_download(begin, out_);
    } else if (const std::byte* memory = device.host_memory(begin, spanned)) {
      from_ = memory + static_cast<std::size_t>(value_.stored().layout.offset - extent.low) * size_;
      device.count_from_device(out_.size());
    } else if (spanned > std::max(2 * out_.size(), kSmallSpan) && store_copy(device, where)) {
      transfer_ = device.begin_download(at(*copy_, copy_->stored().layout.offset), out_);
    } else {
      staging_.resize(spanned);
      from_ = staging_.data() + static_cast<std::size_t>(value_.stored().layout.offset - extent.low) * size_;
      transfer_ = device.begin_download(begin, staging_);
    }
  }

  void finish() {
    if (transfer_) transfer_->finish();  // without the lock: other threads can use the device
    trace::require_good(value_);
    if (from_) copy_strided(out_, from_, value_.shape, value_.stored().layout.strides, size_);
  }

 private:
  BufferView at(const trace::Value& value, std::int64_t element) const {
    return {value.stored().buffer.get(), static_cast<std::size_t>(element) * size_};
  }

  /// The device gathers what a view shows, so that the gaps need not be copied. False where it cannot, for
  /// want of memory or because nothing may be compiled: then they are.
  bool store_copy(DeviceCore& device, const Location& where) {
    try {
      copy_ = device.recorder().copy_of(value_, where);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  trace::Value& value_;
  const std::span<std::byte> out_;
  const std::size_t size_ = size_of(value_.dtype);
  trace::ValueRef copy_;
  const std::byte* from_ = nullptr;  // where the first element is, if the host gathers them
  std::vector<std::byte> staging_;
  std::unique_ptr<Transfer> transfer_;  // ends first: what it copies into is above
};

}  // namespace

void compute(std::vector<trace::Value*> values) {
  for (const trace::Value* value : values) value->device->require_present();
  // The host computes when it is asked to: by then the others have their work.
  std::stable_partition(values.begin(), values.end(),
                        [](const trace::Value* value) { return !value->device->traits().is_cpu; });
  trace::materialise(values);
}

void read(std::span<const ReadRequest> requests, const Location& where) {
  std::vector<trace::Value*> values;
  for (const ReadRequest& request : requests) values.push_back(request.value);
  compute(std::move(values));
  std::vector<std::unique_ptr<Reading>> readings;
  for (const ReadRequest& request : requests) readings.push_back(std::make_unique<Reading>(request, where));
  for (const auto& reading : readings) reading->finish();
}

}  // namespace sinter::runtime
