// Long lines, one after the other: whole lines to each thread, or all threads to one.
#include <algorithm>
#include <memory>
#include <utility>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/fourier/line.h"
#include "src/runtime/host/fourier/program.h"

namespace sinter::runtime::host::fourier {
namespace {

using library::AlongAxis;
using library::Fourier;

/// Numbers that a piece of a line has at least.
constexpr std::int64_t kPiece = 1 << 13;
/// Longer ones do not fit into the caches of one processor core, so that all work on one.
constexpr std::int64_t kLongestOwn = 1 << 17;

template <class T>
class Along final : public FourierProgram {
 public:
  explicit Along(const library::FourierOp& op) : FourierProgram(op), matrix_(size_, factor()) {
    if (is_halved_) mirror_ = std::make_unique<const Mirror<T>>(size_);
  }

  std::size_t held_bytes() const override {
    return sizeof *this + matrix_.held_bytes() + (mirror_ ? mirror_->held_bytes() : 0);
  }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    // Which of both it is depends on the number of threads; no result does.
    const std::size_t most = most_threads();
    return has_own_lines(most) ? most * (whole_units(line_bytes()) + whole_units(buffer_bytes()))
                               : whole_units(line_bytes()) + most * whole_units(buffer_bytes());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    if (op_.lines() == 0) return;
    const std::size_t most = most_threads();
    const bool own = has_own_lines(most);
    const auto memory = workers.take_each(own ? most : 1, line_bytes());
    const auto buffers = workers.take_each(most, buffer_bytes());
    const auto buffers_of = [&](std::size_t thread) {
      return RowBuffers<T>::of(reinterpret_cast<T*>(buffers.of(thread)), matrix_.buffer_rows());
    };
    if (own) {
      const auto transform_line = [&](std::size_t line, std::size_t thread) {
        const auto each = [&](std::int64_t count, std::int64_t, const auto& work) {
          for (std::int64_t i = 0; i < count; ++i) work(i, buffers_of(thread));
        };
        transform(arguments, static_cast<std::int64_t>(line), memory.of(thread), each);
      };
      const auto count = static_cast<std::size_t>(op_.lines());
      if (is_shared()) return workers.pool().run(count, transform_line);
      for (std::size_t line = 0; line < count; ++line) transform_line(line, 0);
      return;
    }
    const auto each = [&](std::int64_t count, std::int64_t numbers, const auto& work) {
      const std::int64_t grouped = std::max<std::int64_t>(1, kPiece / numbers);
      workers.pool().run(static_cast<std::size_t>((count + grouped - 1) / grouped),
                         [&](std::size_t piece, std::size_t thread) {
                           const std::int64_t first = static_cast<std::int64_t>(piece) * grouped;
                           for (std::int64_t i = first; i < std::min(first + grouped, count); ++i)
                             work(i, buffers_of(thread));
                         });
    };
    for (std::int64_t line = 0; line < op_.lines(); ++line) transform(arguments, line, memory.of(0), each);
  }

 private:
  bool has_own_lines(std::size_t most) const {
    if (!is_shared() || most == 1) return true;
    return size_ <= kLongestOwn && op_.lines() >= static_cast<std::int64_t>(2 * most);
  }

  // The memory of a line: between columns and rows, then both parts of what is read and of what is written,
  // where these are no operands and no results.
  std::int64_t part() const {
    return rounded_up(std::max(size_, op_.length_in()) + 1 + 2 * Mirror<T>::around(),
                      std::int64_t{kMemoryUnit / sizeof(T)});
  }
  std::size_t line_bytes() const {
    return static_cast<std::size_t>(matrix_.between() + 4 * part()) * sizeof(T);
  }
  std::size_t buffer_bytes() const {
    return static_cast<std::size_t>(RowBuffers<T>::size(matrix_.buffer_rows())) * sizeof(T);
  }

  static const T* operand(const BufferView& view, const AlongAxis& at, std::int64_t line) {
    return reinterpret_cast<const T*>(data_of(view)) + line * at.outer_stride;
  }
  T* result(const BufferView& view, std::int64_t line) const {
    return reinterpret_cast<T*>(data_of(view)) + line * op_.length_out();
  }

  /// `each(count, numbers, work)`: calls work(i, buffers) for i < count, each of which takes so many numbers.
  template <class Each>
  void transform(const LaunchArguments& arguments, std::int64_t line, std::byte* memory,
                 const Each& each) const {
    const auto& views = arguments.buffers;
    T* const between = reinterpret_cast<T*>(memory);
    T* const parts = between + matrix_.between() + Mirror<T>::around();
    const Line<T> read{parts, parts + part()}, written{parts + 2 * part(), parts + 3 * part()};
    const T* const real = operand(views[0], op_.real, line);
    switch (op_.transform) {
      case Fourier::Complex: {
        const T* const imaginary = op_.has_imaginary ? operand(views[1], op_.imaginary, line) : nullptr;
        const std::size_t at = op_.has_imaginary ? 2 : 1;
        const Line<const T> from{without_gaps(real, op_.real.stride, read.re, each),
                                 without_gaps(imaginary, op_.imaginary.stride, read.im, each)};
        return through_matrix(from, between, {result(views[at], line), result(views[at + 1], line)}, each);
      }
      case Fourier::FromReal: {
        const Line<const T> from{without_gaps(real, op_.real.stride, read.re, each), nullptr, is_halved_};
        through_matrix(from, between, written, each);
        return finish_half(written, {result(views[1], line), result(views[2], line)}, each);
      }
      case Fourier::ToReal:
        begin_half(real, operand(views[1], op_.imaginary, line), read, each);
        if (!is_halved_) {
          through_matrix({read.re, read.im, false, true}, between, {written.re, written.im, false, true},
                         each);
          return copy(written.re, 1, op_.length, result(views[2], line), each);
        }
        each_mirrored(each, [&](Blocks blocks) {
          join_mirrored(*mirror_, {read.re, read.im}, written, blocks);
        });
        return through_matrix({written.re, written.im, false, true}, between,
                              {result(views[2], line), nullptr, true, true}, each);
    }
  }

  template <class Each>
  void through_matrix(const Line<const T>& from, T* between, const Line<T>& to, const Each& each) const {
    const std::int64_t width = lanes<T>();
    each(matrix_.column_blocks(), matrix_.first() * width,
         [&](std::int64_t block, const RowBuffers<T>& buffers) {
           columns_of_line(matrix_, from, block, between, buffers);
         });
    each(matrix_.row_blocks(), matrix_.second() * width,
         [&](std::int64_t block, const RowBuffers<T>& buffers) {
           rows_of_line(matrix_, between, block, to, buffers);
         });
  }

  template <class Each>
  static void copy(const T* from, std::int64_t stride, std::int64_t count, T* to, const Each& each) {
    each((count + kPiece - 1) / kPiece, kPiece, [&](std::int64_t piece, const RowBuffers<T>&) {
      const std::int64_t first = piece * kPiece, end = std::min(first + kPiece, count);
      if (stride == 1) {
        std::copy(from + first, from + end, to + first);
        return;
      }
      for (std::int64_t i = first; i < end; ++i) to[i] = from[i * stride];
    });
  }
  template <class Each>
  const T* without_gaps(const T* from, std::int64_t stride, T* to, const Each& each) const {
    if (from == nullptr || stride == 1) return from;
    copy(from, stride, op_.length_in(), to, each);
    return to;
  }

  template <class Each, class Work>
  void each_mirrored(const Each& each, const Work& work) const {
    const std::int64_t blocks = mirror_->blocks(), grouped = kPiece / (2 * lanes<T>());
    each((blocks + grouped - 1) / grouped, kPiece, [&](std::int64_t piece, const RowBuffers<T>&) {
      work({piece * grouped, std::min((piece + 1) * grouped, blocks)});
    });
  }

  /// The first half of a spectrum, and all of it where the length is odd.
  template <class Each>
  void begin_half(const T* real, const T* imaginary, const Line<T>& to, const Each& each) const {
    copy(real, op_.real.stride, op_.length_in(), to.re, each);
    copy(imaginary, op_.imaginary.stride, op_.length_in(), to.im, each);
    to.im[0] = 0;
    if (is_halved_) {
      to.im[size_] = 0;
      return;
    }
    for (std::int64_t k = 1; k < op_.length_in(); ++k) {
      to.re[size_ - k] = to.re[k];
      to.im[size_ - k] = -to.im[k];
    }
  }
  template <class Each>
  void finish_half(const Line<T>& z, const Line<T>& to, const Each& each) const {
    if (!is_halved_) {
      copy(z.re, 1, op_.length_out(), to.re, each);
      copy(z.im, 1, op_.length_out(), to.im, each);
      return;
    }
    z.re[size_] = z.re[0], z.im[size_] = z.im[0];
    each_mirrored(each, [&](Blocks blocks) { part_mirrored(*mirror_, {z.re, z.im}, to, blocks); });
  }

  Matrix<T> matrix_;
  std::unique_ptr<const Mirror<T>> mirror_;
};

}  // namespace

template <class T>
std::shared_ptr<HostExecutable> make_along(const library::FourierOp& op) {
  return std::make_shared<Along<T>>(op);
}
template std::shared_ptr<HostExecutable> make_along<float>(const library::FourierOp& op);
template std::shared_ptr<HostExecutable> make_along<double>(const library::FourierOp& op);

}  // namespace sinter::runtime::host::fourier
