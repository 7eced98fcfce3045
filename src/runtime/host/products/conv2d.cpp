// Convolutions as matrix products. Images are unfolded (im2col) chunk by chunk, each chunk just before it is
// multiplied.
#include "src/runtime/host/products/conv2d.h"

#include <algorithm>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/products/gemm.h"
#include "src/runtime/host/products/matmul.h"

namespace sinter::runtime::host {
namespace {

using Direction = library::Conv2dOp::Direction;

constexpr std::int64_t kUnfolded =
    64 * 1024;  // elements of an unfolded chunk: a quarter of a second-level cache
constexpr std::int64_t kMostPartials = 16;  // partial sums of the weight's gradient, each over some images
constexpr std::int64_t kPartialElements = std::int64_t{4} << 20;

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

/// c[m, columns] = packed a[m, k] times b[k, columns]; rows of b are `b_row` apart and padded to whole
/// panels.
template <class T>
void multiply(const std::vector<std::int64_t>& panels, const T* a, std::int64_t k, const T* b,
              std::int64_t b_row, std::int64_t columns, T* c, std::int64_t c_row) {
  const std::int64_t width = panel_columns<T>();
  for (std::int64_t j = 0; j < columns; j += width)
    for (std::int64_t p = 0; p < k; p += kPanelDepth)
      for (std::int64_t row = 0; std::int64_t rows : panels) {
        multiply_panel(rows, std::min(width, columns - j), std::min(kPanelDepth, k - p),
                       a + row * k + p * rows, b + p * b_row + j, b_row, c + row * c_row + j, c_row, p > 0);
        row += rows;
      }
}

template <class T>
class Conv2dProgram final : public HostExecutable {
 public:
  explicit Conv2dProgram(const library::Conv2dOp& op)
      : op_(op),
        co_(op.c_out / op.groups),
        ci_(op.c_in / op.groups),
        window_(op.kh * op.kw),
        width_(panel_columns<T>()) {}

  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }

  void run(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>&) override {
    const T* first = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const T* second = reinterpret_cast<const T*>(data_of(arguments.buffers[1]));
    T* out = reinterpret_cast<T*>(data_of(arguments.buffers[2]));
    // This kernel computes channels first and transposes channels-last images before and after. Plans choose
    // channels last for oneDNN; this kernel runs where oneDNN has no implementation.
    const Image x{op_.c_in, op_.h * op_.w, op_.x_last}, y{op_.c_out, op_.oh * op_.ow, op_.y_last};
    const bool forward = op_.direction == Direction::Forward;
    T* room = reinterpret_cast<T*>(workers.partials().reserve(
        static_cast<std::size_t>((x.last ? op_.n * x.size() : 0) + (y.last ? op_.n * y.size() : 0)) *
        sizeof(T)));
    if (op_.direction == Direction::BackwardWeight) {
      const T* plain = channels_first(workers, x, first, room);
      backward_weight(workers, plain, channels_first(workers, y, second, room), out);
      return;
    }
    first = channels_first(workers, forward ? x : y, first, room);
    const Image& result = forward ? y : x;
    by_image(workers, first, second, result.last ? room : out);
    if (result.last) transpose(workers, room, result.channels, result.points, out);
  }

 private:
  struct Image {
    std::int64_t channels, points;
    bool last;  // channels last
    std::int64_t size() const { return channels * points; }
  };

  /// The images, channels first. A transposed copy is made at `room`, which then advances past it.
  const T* channels_first(Workers& workers, const Image& image, const T* from, T*& room) const {
    if (!image.last) return from;
    T* to = room;
    transpose(workers, from, image.points, image.channels, to);
    room += op_.n * image.size();
    return to;
  }

  /// Transposes each image's `rows` by `columns` matrix.
  void transpose(Workers& workers, const T* from, std::int64_t rows, std::int64_t columns, T* to) const {
    const std::int64_t size = rows * columns;
    share(workers, op_.n, static_cast<double>(op_.n * size), [&](std::int64_t image, std::size_t) {
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
          to[image * size + j * rows + i] = from[image * size + i * columns + j];
    });
  }

  /// For each image and group. Forward: y[co, p] = weight[co, (ci, r, s)] times unfolded x. Backward: grad
  /// x[ci, p] = weight[ci, (co, r, s)] times unfolded grad y.
  void by_image(Workers& workers, const T* in, const T* weight, T* out) {
    const bool forward = op_.direction == Direction::Forward;
    const std::int64_t m = forward ? co_ : ci_, k = (forward ? ci_ : co_) * window_;
    const std::int64_t points = forward ? op_.oh * op_.ow : op_.h * op_.w;
    const std::int64_t in_size = (forward ? ci_ * op_.h * op_.w : co_ * op_.oh * op_.ow);
    if (op_.n == 0 || m == 0 || points == 0) return;
    if (k == 0) {
      std::fill_n(out, op_.n * op_.groups * m * points, T{0});
      return;
    }
    const std::vector<std::int64_t> panels = row_panels(m);
    T* packed = reinterpret_cast<T*>(
        workers.shared().reserve(static_cast<std::size_t>(op_.groups * m * k) * sizeof(T)));
    for (std::int64_t g = 0; g < op_.groups; ++g)
      pack_weight(panels, weight + g * co_ * ci_ * window_, packed + g * m * k);

    const std::int64_t chunk = std::clamp(kUnfolded / k / width_ * width_, width_, round_up(points, width_));
    const std::int64_t chunks = (points + chunk - 1) / chunk;
    const std::int64_t pieces = op_.n * op_.groups * chunks;
    share(workers, pieces,
          2.0 * static_cast<double>(m * k) * static_cast<double>(points * op_.n * op_.groups),
          [&](std::int64_t piece, std::size_t thread) {
            const std::int64_t image = piece / chunks, begin = (piece - image * chunks) * chunk;
            const std::int64_t end = std::min(begin + chunk, points), stride = round_up(end - begin, width_);
            const std::int64_t group = image % op_.groups;
            T* unfolded = reserve(workers, thread, k * stride);
            if (forward)
              unfold_input(op_, in + image * in_size, begin, end, unfolded, stride);
            else
              unfold_gradient(op_, in + image * in_size, begin, end, unfolded, stride);
            multiply(panels, packed + group * m * k, k, unfolded, stride, end - begin,
                     out + image * m * points + begin, points);
          });
  }

  void pack_weight(const std::vector<std::int64_t>& panels, const T* weight, T* to) const {
    for (std::int64_t row = 0; std::int64_t rows : panels) {
      if (op_.direction == Direction::Forward) {
        const std::int64_t k = ci_ * window_;
        pack_panel(to + row * k, weight + row * k, k, 1, rows, rows, k);
      } else {
        for (std::int64_t c = 0; c < co_; ++c)
          pack_panel(to + (row * co_ + c * rows) * window_, weight + (c * ci_ + row) * window_, window_, 1,
                     rows, rows, window_);
      }
      row += rows;
    }
  }

  /// grad weight[co, (ci, r, s)] = sum over images of grad y[co, p] times the transpose of unfolded x[(ci, r,
  /// s), p]. Each partial sum covers a fixed range of images; they are added in order.
  void backward_weight(Workers& workers, const T* x, const T* grad, T* out) {
    const std::int64_t points = op_.oh * op_.ow, k = ci_ * window_, size = op_.groups * co_ * k;
    if (size == 0) return;
    const std::int64_t most = std::clamp<std::int64_t>(kPartialElements / size, 2, kMostPartials);
    const std::int64_t images = std::max<std::int64_t>((op_.n + most - 1) / most, 1);
    const std::int64_t partials = (op_.n + images - 1) / images;
    if (op_.n == 0 || points == 0) {
      std::fill_n(out, size, T{0});
      return;
    }
    T* sums =
        reinterpret_cast<T*>(workers.shared().reserve(static_cast<std::size_t>(partials * size) * sizeof(T)));
    const double work = 2.0 * static_cast<double>(size) * static_cast<double>(points * op_.n);
    share(workers, partials * op_.groups, work, [&](std::int64_t piece, std::size_t thread) {
      const std::int64_t partial = piece / op_.groups, group = piece % op_.groups;
      T* sum = sums + partial * size + group * co_ * k;
      const std::int64_t last = std::min((partial + 1) * images, op_.n);
      for (std::int64_t image = partial * images; image < last; ++image)
        add_image(workers, thread, x + (image * op_.groups + group) * ci_ * op_.h * op_.w,
                  grad + (image * op_.groups + group) * co_ * points, sum, image > partial * images);
    });
    constexpr std::int64_t kBlock = 16 * 1024;
    share(workers, (size + kBlock - 1) / kBlock, static_cast<double>(size * partials),
          [&](std::int64_t piece, std::size_t) {
            const std::int64_t begin = piece * kBlock, end = std::min(begin + kBlock, size);
            std::copy(sums + begin, sums + end, out + begin);
            for (std::int64_t partial = 1; partial < partials; ++partial)
              for (std::int64_t i = begin; i < end; ++i) out[i] += sums[partial * size + i];
          });
  }

  void add_image(Workers& workers, std::size_t thread, const T* x, const T* grad, T* sum, bool accumulate) {
    const std::int64_t points = op_.oh * op_.ow, k = ci_ * window_;
    const std::vector<std::int64_t> panels = row_panels(co_);
    const std::int64_t chunk = std::clamp<std::int64_t>(kUnfolded / (k + co_), 16, points);
    T* unfolded = reserve(workers, thread, (k + co_) * chunk + width_ * kPanelDepth);
    T* packed = unfolded + k * chunk;  // of grad y
    T* panel = packed + co_ * chunk;   // of unfolded x, transposed
    for (std::int64_t begin = 0; begin < points; begin += chunk) {
      const std::int64_t count = std::min(chunk, points - begin);
      unfold_input(op_, x, begin, begin + count, unfolded, chunk);
      for (std::int64_t row = 0; std::int64_t rows : panels) {
        pack_panel(packed + row * count, grad + row * points + begin, points, 1, rows, rows, count);
        row += rows;
      }
      for (std::int64_t p = 0; p < count; p += kPanelDepth)
        for (std::int64_t j = 0; j < k; j += width_) {
          const std::int64_t columns = std::min(width_, k - j), depth = std::min(kPanelDepth, count - p);
          pack_panel(panel, unfolded + j * chunk + p, chunk, 1, columns, width_, depth);
          for (std::int64_t row = 0; std::int64_t rows : panels) {
            multiply_panel(rows, columns, depth, packed + row * count + p * rows, panel, width_,
                           sum + row * k + j, k, accumulate || begin > 0 || p > 0);
            row += rows;
          }
        }
    }
  }

  template <class F>
  static void share(Workers& workers, std::int64_t pieces, double work, F&& f) {
    if (work < 1e6) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) f(piece, std::size_t{0});
    } else {
      workers.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t piece, std::size_t thread) {
        f(static_cast<std::int64_t>(piece), thread);
      });
    }
  }
  static T* reserve(Workers& workers, std::size_t thread, std::int64_t elements) {
    return reinterpret_cast<T*>(
        workers.workspace(thread).reserve(static_cast<std::size_t>(elements) * sizeof(T)));
  }

  library::Conv2dOp op_;
  std::int64_t co_, ci_, window_;  // channels per group; elements per window
  std::int64_t width_;             // columns of a panel
};

}  // namespace

std::shared_ptr<HostExecutable> make_conv2d(const library::Conv2dOp& op) {
  if (op.dtype == DType::f32) return std::make_shared<Conv2dProgram<float>>(op);
  if (op.dtype == DType::f64) return std::make_shared<Conv2dProgram<double>>(op);
  throw DeviceError("[conv2d] the host convolves f32 and f64, not " + std::string(name_of(op.dtype)));
}

}  // namespace sinter::runtime::host
