// Convolutions as matrix products. Images are unfolded (im2col) chunk by chunk, each chunk just before it is
// multiplied.
#include "src/runtime/host/products/conv2d.h"

#include <algorithm>
#include <array>

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
class Conv2dProgram final : public ProductProgram {
 public:
  explicit Conv2dProgram(const library::Conv2dOp& op)
      : op_(op),
        co_(op.c_out / op.groups),
        ci_(op.c_in / op.groups),
        window_(op.kh * op.kw),
        width_(panel_columns<T>()) {}

  std::string describe() const override { return op_.describe() + " by a kernel of the host"; }
  std::size_t held_bytes() const override { return sizeof *this; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    const bool sums = op_.direction == Direction::BackwardWeight;
    const auto [shared, each, pieces] = sums ? Memory(sums_of_images()) : Memory(unfolding());
    return bytes_of(room_elements()) + bytes_of(shared) + this->threads(pieces) * bytes_of(each);
  }

  void compute(Workers& workers, const ProductData& data) override {
    const T* first = reinterpret_cast<const T*>(data[0]);
    const T* second = reinterpret_cast<const T*>(data[1]);
    T* out = reinterpret_cast<T*>(data[2]);
    // This kernel computes channels first. Operands with their channels last are transposed before; of a
    // result, each chunk as soon as it is computed.
    const Image x = image_x(), y = image_y();
    const bool forward = op_.direction == Direction::Forward;
    T* room = take(workers, room_elements());
    if (op_.direction == Direction::BackwardWeight) {
      const T* plain = channels_first(workers, x, first, room);
      backward_weight(workers, plain, channels_first(workers, y, second, room), out);
      return;
    }
    by_image(workers, channels_first(workers, forward ? x : y, first, room), second, out);
  }

 private:
  struct Image {
    std::int64_t channels, points;
    bool last;  // channels last
    std::int64_t size() const { return channels * points; }
  };
  Image image_x() const { return {op_.c_in, op_.h * op_.w, op_.x_last}; }
  Image image_y() const { return {op_.c_out, op_.oh * op_.ow, op_.y_last}; }

  // ---- working memory

  static std::size_t bytes_of(std::int64_t elements) {
    return whole_units(static_cast<std::size_t>(elements) * sizeof(T));
  }
  static T* take(Workers& workers, std::int64_t elements) {
    return reinterpret_cast<T*>(workers.take(static_cast<std::size_t>(elements) * sizeof(T)));
  }

  /// Elements that all threads share, elements of each thread, and pieces that threads share.
  struct Memory {
    std::int64_t shared = 0, each = 0, pieces = 1;
  };

  /// Of transposed copies of operands with their channels last.
  std::int64_t room_elements() const {
    const Image x = image_x(), y = image_y();
    return (x.last && op_.direction != Direction::BackwardInput ? op_.n * x.size() : 0) +
           (y.last && op_.direction != Direction::Forward ? op_.n * y.size() : 0);
  }

  /// How `by_image` divides its work: a product of `m` rows and depth `k` for each chunk of each image.
  struct Unfolding : Memory {
    std::int64_t m = 0, k = 0, points = 0, chunk = 1, chunks = 0;
    bool last = false;  // the result lies with its channels last
    double work = 0;
  };
  Unfolding unfolding() const {
    const bool forward = op_.direction == Direction::Forward;
    Unfolding u;
    u.m = forward ? co_ : ci_;
    u.k = (forward ? ci_ : co_) * window_;
    u.points = forward ? op_.oh * op_.ow : op_.h * op_.w;
    u.last = forward ? op_.y_last : op_.x_last;
    if (op_.n == 0 || u.m == 0 || u.points == 0 || u.k == 0) return u;
    u.chunk = std::clamp(kUnfolded / u.k / width_ * width_, width_, round_up(u.points, width_));
    u.chunks = (u.points + u.chunk - 1) / u.chunk;
    u.work = 2.0 * static_cast<double>(u.m * u.k) * static_cast<double>(u.points) *
             static_cast<double>(op_.n * op_.groups);
    u.shared = op_.groups * u.m * u.k;
    u.each = (u.k + (u.last ? u.m : 0)) * u.chunk;
    u.pieces = shared_pieces(op_.n * op_.groups * u.chunks, u.work);
    return u;
  }

  /// How `backward_weight` divides its work: `partials` sums of `images` images each.
  struct SumsOfImages : Memory {
    std::int64_t points = 0, k = 0, size = 0, images = 1, partials = 0, chunk = 1;
    double work = 0;
  };
  SumsOfImages sums_of_images() const {
    SumsOfImages s;
    s.points = op_.oh * op_.ow;
    s.k = ci_ * window_;
    s.size = op_.groups * co_ * s.k;
    if (s.size == 0 || op_.n == 0 || s.points == 0) return s;
    const std::int64_t most = std::clamp<std::int64_t>(kPartialElements / s.size, 2, kMostPartials);
    s.images = std::max<std::int64_t>((op_.n + most - 1) / most, 1);
    s.partials = (op_.n + s.images - 1) / s.images;
    s.chunk =
        std::clamp<std::int64_t>(kUnfolded / (s.k + co_), std::min<std::int64_t>(16, s.points), s.points);
    s.work = 2.0 * static_cast<double>(s.size) * static_cast<double>(s.points) * static_cast<double>(op_.n);
    s.shared = s.partials * s.size;
    s.each = (s.k + co_) * s.chunk + width_ * kPanelDepth;
    s.pieces = shared_pieces(s.partials * op_.groups, s.work);
    return s;
  }

  /// The images, channels first. A transposed copy is made at `room`, which then advances past it.
  const T* channels_first(Workers& workers, const Image& image, const T* from, T*& room) const {
    if (!image.last) return from;
    T* to = room;
    transpose(workers, from, image.points, image.channels, to);
    room += op_.n * image.size();
    return to;
  }

  /// Transposes each image's `rows` by `columns` matrix, some columns at a time: their lines stay in the
  /// cache until they are full.
  void transpose(Workers& workers, const T* from, std::int64_t rows, std::int64_t columns, T* to) const {
    constexpr std::int64_t kColumns = 16;
    const std::int64_t size = rows * columns, pieces = (columns + kColumns - 1) / kColumns;
    share(workers, op_.n * pieces, static_cast<double>(op_.n * size), [&](std::int64_t piece, std::size_t) {
      const std::int64_t image = piece / pieces * size, column = piece % pieces * kColumns;
      pack_panel(to + image + column * rows, from + image + column, columns, 1, rows, rows,
                 std::min(kColumns, columns - column));
    });
  }

  /// For each image and group. Forward: y[co, p] = weight[co, (ci, r, s)] times unfolded x. Backward: grad
  /// x[ci, p] = weight[ci, (co, r, s)] times unfolded grad y.
  void by_image(Workers& workers, const T* in, const T* weight, T* out) {
    const bool forward = op_.direction == Direction::Forward;
    const Unfolding u = unfolding();
    const std::int64_t m = u.m, k = u.k, points = u.points, chunk = u.chunk, chunks = u.chunks;
    const std::int64_t in_size = (forward ? ci_ * op_.h * op_.w : co_ * op_.oh * op_.ow);
    if (op_.n == 0 || m == 0 || points == 0) return;
    if (k == 0) {
      std::fill_n(out, op_.n * op_.groups * m * points, T{0});
      return;
    }
    const std::vector<std::int64_t> panels = row_panels(m);
    T* packed = take(workers, u.shared);
    for (std::int64_t g = 0; g < op_.groups; ++g)
      pack_weight(panels, weight + g * co_ * ci_ * window_, packed + g * m * k);
    const Workers::PerThread own =
        workers.take_each(workers.threads(u.pieces), static_cast<std::size_t>(u.each) * sizeof(T));
    share(workers, op_.n * op_.groups * chunks, u.work, [&](std::int64_t piece, std::size_t thread) {
      const std::int64_t image = piece / chunks, begin = (piece - image * chunks) * chunk;
      const std::int64_t end = std::min(begin + chunk, points), stride = round_up(end - begin, width_);
      const std::int64_t group = image % op_.groups;
      T* unfolded = reinterpret_cast<T*>(own.of(thread));
      if (forward)
        unfold_input(op_, in + image * in_size, begin, end, unfolded, stride);
      else
        unfold_gradient(op_, in + image * in_size, begin, end, unfolded, stride);
      T* const result = u.last ? unfolded + k * chunk : out + image * m * points + begin;
      const std::int64_t row = u.last ? chunk : points;
      multiply(panels, packed + group * m * k, k, unfolded, stride, end - begin, result, row);
      if (!u.last) return;
      const std::int64_t channels = op_.groups * m;
      T* const to = out + (image / op_.groups * points + begin) * channels + group * m;
      for (std::int64_t p = 0; p < end - begin; ++p)
        for (std::int64_t c = 0; c < m; ++c) to[p * channels + c] = result[c * row + p];
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
    const SumsOfImages s = sums_of_images();
    const std::int64_t points = s.points, k = s.k, size = s.size, images = s.images, partials = s.partials;
    if (size == 0) return;
    if (op_.n == 0 || points == 0) {
      std::fill_n(out, size, T{0});
      return;
    }
    T* sums = take(workers, s.shared);
    const Workers::PerThread own =
        workers.take_each(workers.threads(s.pieces), static_cast<std::size_t>(s.each) * sizeof(T));
    const std::vector<std::int64_t> panels = row_panels(co_);
    share(workers, partials * op_.groups, s.work, [&](std::int64_t piece, std::size_t thread) {
      const std::int64_t partial = piece / op_.groups, group = piece % op_.groups;
      T* sum = sums + partial * size + group * co_ * k;
      const std::int64_t last = std::min((partial + 1) * images, op_.n);
      for (std::int64_t image = partial * images; image < last; ++image)
        add_image(s, panels, reinterpret_cast<T*>(own.of(thread)),
                  x + (image * op_.groups + group) * ci_ * op_.h * op_.w,
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

  void add_image(const SumsOfImages& s, const std::vector<std::int64_t>& panels, T* unfolded, const T* x,
                 const T* grad, T* sum, bool accumulate) const {
    const std::int64_t points = s.points, k = s.k, chunk = s.chunk;
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

  static std::int64_t shared_pieces(std::int64_t pieces, double work) { return work < 1e6 ? 1 : pieces; }

  template <class F>
  static void share(Workers& workers, std::int64_t pieces, double work, F&& f) {
    if (shared_pieces(pieces, work) == 1) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) f(piece, std::size_t{0});
    } else {
      workers.pool().run(static_cast<std::size_t>(pieces), [&](std::size_t piece, std::size_t thread) {
        f(static_cast<std::int64_t>(piece), thread);
      });
    }
  }

  library::Conv2dOp op_;
  std::int64_t co_, ci_, window_;  // channels per group; elements per window
  std::int64_t width_;             // columns of a panel
};

}  // namespace

std::shared_ptr<ProductProgram> make_conv2d(const library::Conv2dOp& op) {
  if (op.dtype == DType::f64 && !op.is_stored_otherwise()) return std::make_shared<Conv2dProgram<double>>(op);
  if (op.dtype != DType::f32)
    throw DeviceError("[conv2d] the host convolves f32 and f64, not " + std::string(name_of(op.dtype)) +
                      op.stored_text());
  return with_conversions(std::make_shared<Conv2dProgram<float>>(op), conversions_of(op));
}

std::array<Conversion, 3> conversions_of(const library::Conv2dOp& op) {
  std::array<Conversion, 3> conversions{};
  for (std::size_t i = 0; i < 3; ++i)
    if (op.stored[i]) conversions[i] = {*op.stored[i], i < 2 ? op.elements_read(i) : op.elements_written(0)};
  return conversions;
}

}  // namespace sinter::runtime::host
