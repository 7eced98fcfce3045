// Several lines at once, in the lanes of vectors: short lines, and those that have others beside them.
#include <algorithm>
#include <utility>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/fourier/lanes.h"
#include "src/runtime/host/fourier/passes.h"
#include "src/runtime/host/fourier/program.h"
#include "src/runtime/host/fourier/roots.h"

namespace sinter::runtime::host::fourier {
namespace {

using library::AlongAxis;
using library::Fourier;

/// Numbers that a piece of work has at least.
constexpr std::int64_t kPiece = 1 << 13;
/// As many slices are shared as they are: lines beside each other share cache lines.
constexpr std::int64_t kManySlices = 32;

template <class T>
class Across final : public FourierProgram {
 public:
  explicit Across(const library::FourierOp& op)
      : FourierProgram(op),
        width_(lanes<T>()),
        passes_(size_),
        is_beside_(op.inner >= width_ / 2 && op.inner > 1),
        blocks_each_(is_beside_ ? (op.inner + width_ - 1) / width_ : 0),
        blocks_(is_beside_ ? op.outer * blocks_each_ : (op.lines() + width_ - 1) / width_),
        blocks_a_piece_(std::max<std::int64_t>(1, kPiece / (size_ * width_))) {
    if (is_beside_ && op.outer >= kManySlices) blocks_a_piece_ = rounded_up(blocks_a_piece_, blocks_each_);
    if (is_halved_)
      for (std::int64_t k = 0; 2 * k <= size_; ++k) append(turns_, root_of_unity(k, 2 * size_));
  }

  std::size_t held_bytes() const override {
    return sizeof *this + passes_.held_bytes() + turns_.capacity() * sizeof(T);
  }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return threads(pieces()) * whole_units(buffer_bytes());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    if (op_.lines() == 0) return;
    const auto memory = workers.take_each(workers.threads(pieces()), buffer_bytes());
    const auto transform_piece = [&](std::size_t piece, std::size_t thread) {
      const auto buffers = RowBuffers<T>::of(reinterpret_cast<T*>(memory.of(thread)), size_ + 1);
      const std::int64_t first = static_cast<std::int64_t>(piece) * blocks_a_piece_;
      for (std::int64_t block = first; block < std::min(first + blocks_a_piece_, blocks_); ++block)
        transform(arguments, block, buffers);
    };
    const auto count = static_cast<std::size_t>(pieces());
    if (is_shared())
      workers.pool().run(count, transform_piece);
    else
      for (std::size_t piece = 0; piece < count; ++piece) transform_piece(piece, 0);
  }

 private:
  std::int64_t pieces() const { return (blocks_ + blocks_a_piece_ - 1) / blocks_a_piece_; }
  std::size_t buffer_bytes() const {
    return static_cast<std::size_t>(RowBuffers<T>::size(size_ + 1)) * sizeof(T);
  }

  /// Those of a block. Lines beside each other do not reach into the next slice.
  template <class To>
  Lines<To> lines_of(const BufferView& view, const AlongAxis& at, std::int64_t block) const {
    const std::int64_t first =
        is_beside_ ? block / blocks_each_ * op_.inner + block % blocks_each_ * width_ : block * width_;
    const std::int64_t end = is_beside_ ? (block / blocks_each_ + 1) * op_.inner : op_.lines();
    Lines<To> lines;
    lines.count = std::min(width_, end - first);
    lines.step = at.stride;
    lines.lie_together = is_beside_ ? at.inner_stride == 1 : op_.inner == 1 && at.outer_stride == 1;
    auto* const data = reinterpret_cast<To*>(data_of(view));
    for (std::int64_t lane = 0; lane < width_; ++lane) {
      const std::int64_t line = first + std::min(lane, lines.count - 1);
      lines.first[static_cast<std::size_t>(lane)] =
          data + line / op_.inner * at.outer_stride + line % op_.inner * at.inner_stride;
    }
    return lines;
  }
  Lines<T> results(const BufferView& view, std::int64_t block) const {
    const AlongAxis at{op_.outer, op_.length_out(), op_.inner, op_.length_out() * op_.inner, op_.inner, 1};
    return lines_of<T>(view, at, block);
  }

  void transform(const LaunchArguments& arguments, std::int64_t block, const RowBuffers<T>& buffers) const {
    const auto& views = arguments.buffers;
    const Lines<const T> real = lines_of<const T>(views[0], op_.real, block);
    switch (op_.transform) {
      case Fourier::Complex: {
        const Lines<const T> imaginary =
            op_.has_imaginary ? lines_of<const T>(views[1], op_.imaginary, block) : Lines<const T>();
        const std::size_t result = op_.has_imaginary ? 2 : 1;
        return transform_complex(real, imaginary, results(views[result], block),
                                 results(views[result + 1], block), buffers);
      }
      case Fourier::FromReal:
        return transform_real(real, results(views[1], block), results(views[2], block), buffers);
      case Fourier::ToReal:
        return invert_to_real(real, lines_of<const T>(views[1], op_.imaginary, block),
                              results(views[2], block), buffers);
    }
  }

  void store(const Lines<T>& re, const Lines<T>& im, std::int64_t count, const Rows<const T>& rows) const {
    const auto by = static_cast<T>(factor());
    store_lines(re, count, rows.re, rows.re_step, by);
    store_lines(im, count, rows.im, rows.im_step, by);
  }

  void transform_complex(const Lines<const T>& real, const Lines<const T>& imaginary, const Lines<T>& re,
                         const Lines<T>& im, const RowBuffers<T>& buffers) const {
    const bool has_imaginary = imaginary.count > 0;
    const auto is_direct = [&](const auto& lines) { return lines.lie_together && lines.count == width_; };
    Rows<const T> from{real.first[0], kZeros, real.step, 0};
    if (is_direct(real) && (!has_imaginary || is_direct(imaginary))) {
      if (has_imaginary) from.im = imaginary.first[0], from.im_step = imaginary.step;
    } else {
      const Rows<T> rows = RowBuffers<T>::rows(buffers.first);
      load_lines(real, size_, rows.re, rows.re_step);
      if (has_imaginary) load_lines(imaginary, size_, rows.im, rows.im_step);
      from = {rows.re, has_imaginary ? rows.im : kZeros, rows.re_step, has_imaginary ? rows.im_step : 0};
    }
    Rows<T> to;
    if (is_direct(re) && factor() == 1 && !passes_.passes().empty())
      to = {re.first[0], im.first[0], re.step, im.step};
    const Rows<const T> rows = transform_rows(passes_, from, buffers, to);
    if (to.re == nullptr) store(re, im, size_, rows);
  }

  void transform_real(const Lines<const T>& real, const Lines<T>& re, const Lines<T>& im,
                      const RowBuffers<T>& buffers) const {
    // Rows of pairs are those of real and of imaginary parts in turns.
    load_lines(real, op_.length, buffers.first, width_);
    if (!is_halved_)
      return store(re, im, op_.length_out(),
                   transform_rows<T>(passes_, {buffers.first, kZeros, width_, 0}, buffers, {}));
    const Rows<const T> rows = transform_rows<T>(passes_, RowBuffers<T>::rows(buffers.first), buffers, {});
    part_mirrored(rows.re == buffers.first ? buffers.first : buffers.second, size_, turns_.data());
    store(re, im, op_.length_out(), rows);
  }

  void invert_to_real(const Lines<const T>& real, const Lines<const T>& imaginary, const Lines<T>& to,
                      const RowBuffers<T>& buffers) const {
    const Rows<T> given = RowBuffers<T>::rows(buffers.first);
    load_lines(real, op_.length_in(), given.re, given.re_step);
    load_lines(imaginary, op_.length_in(), given.im, given.im_step);
    const auto by = static_cast<T>(factor());
    if (!is_halved_) {
      std::fill_n(given.im, width_, T{0});
      for (std::int64_t k = 1; k < op_.length_in(); ++k)
        for (std::int64_t lane = 0; lane < width_; ++lane) {
          given.re[(size_ - k) * given.re_step + lane] = given.re[k * given.re_step + lane];
          given.im[(size_ - k) * given.im_step + lane] = -given.im[k * given.im_step + lane];
        }
      const Rows<const T> rows = transform_rows<T>(passes_, given.exchanged(), buffers, {}).exchanged();
      return store_lines(to, size_, rows.re, rows.re_step, by);
    }
    join_mirrored(buffers.first, size_, turns_.data());
    // Ends with real parts before imaginary ones, which are pairs again.
    T* const last = passes_.passes().size() % 2 == 0 ? buffers.first : buffers.second;
    transform_rows<T>(passes_, given.exchanged(), buffers, RowBuffers<T>::rows(last).exchanged());
    store_lines(to, op_.length, last, width_, by);
  }

  static constexpr T kZeros[kMostLanes<T>] = {};

  std::int64_t width_;
  Passes<T> passes_;
  bool is_beside_;
  std::int64_t blocks_each_;  // of a slice, where lines lie beside each other
  std::int64_t blocks_, blocks_a_piece_;
  std::vector<T> turns_;
};

}  // namespace

template <class T>
std::shared_ptr<HostExecutable> make_across(const library::FourierOp& op) {
  return std::make_shared<Across<T>>(op);
}
template std::shared_ptr<HostExecutable> make_across<float>(const library::FourierOp& op);
template std::shared_ptr<HostExecutable> make_across<double>(const library::FourierOp& op);

}  // namespace sinter::runtime::host::fourier
