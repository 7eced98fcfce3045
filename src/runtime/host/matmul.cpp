// Cuts a matrix product into tiles: A is packed once for all threads, B panel by panel where it is used.
#include "src/runtime/host/matmul.h"

#include <algorithm>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/gemm.h"

namespace sinter::runtime::host {
namespace {

constexpr std::int64_t kPackedElements = std::int64_t{4} << 20;  // of A, at a time
constexpr double kWorthSharing = 1e6;                            // floating-point operations
constexpr double kTileWork = 4e6;

template <class T>
class MatMulProgram final : public HostExecutable {
 public:
  explicit MatMulProgram(const ir::MatMulOp& op)
      : op_(op), panels_(row_panels(op.m)), columns_(panel_columns<T>()) {
    for (std::int64_t row = 0; std::int64_t rows : panels_) {
      rows_before_.push_back(row);
      row += rows;
    }
    choose_tiles();
  }

  std::string describe() const override { return host::describe(op_) + " by a kernel of the host"; }

  void run(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>&) override {
    const T* a = reinterpret_cast<const T*>(data_of(arguments.buffers[0]));
    const T* b = reinterpret_cast<const T*>(data_of(arguments.buffers[1]));
    T* c = reinterpret_cast<T*>(data_of(arguments.buffers[2]));
    if (op_.batch == 0 || op_.m == 0 || op_.n == 0) return;
    if (op_.k == 0) {
      std::fill_n(c, op_.batch * op_.m * op_.n, T{0});
      return;
    }
    const std::int64_t depth =
        std::clamp<std::int64_t>(kPackedElements / op_.m, std::min(kPanelDepth, op_.k), op_.k);
    const std::int64_t batches = std::clamp<std::int64_t>(kPackedElements / (op_.m * depth), 1, op_.batch);
    for (std::int64_t first = 0; first < op_.batch; first += batches) {
      const std::int64_t count = std::min(batches, op_.batch - first);
      for (std::int64_t k = 0; k < op_.k; k += depth)
        run_stretch(workers, a + first * op_.a_batch + k * op_.a_column,
                    b + first * op_.b_batch + k * op_.b_row, c + first * op_.m * op_.n, count,
                    std::min(depth, op_.k - k), k > 0);
    }
  }

 private:
  /// Tiles of whole panels, small enough that there are some for every thread.
  void choose_tiles() {
    const std::int64_t m_panels = static_cast<std::int64_t>(panels_.size());
    const std::int64_t n_panels = (op_.n + columns_ - 1) / columns_;
    work_ = 2.0 * static_cast<double>(op_.m) * static_cast<double>(op_.n) * static_cast<double>(op_.k);
    const double wanted = std::clamp(work_ * static_cast<double>(op_.batch) / kTileWork, 1.0, 64.0);
    tile_m_ = std::clamp<std::int64_t>(m_panels, 1, 20);
    tile_n_ = std::clamp<std::int64_t>(n_panels, 1, 8);
    auto count = [&] {
      m_tiles_ = (m_panels + tile_m_ - 1) / tile_m_;
      n_tiles_ = (n_panels + tile_n_ - 1) / tile_n_;
      return static_cast<double>(op_.batch * m_tiles_ * n_tiles_);
    };
    while (count() < wanted && tile_n_ > 1) tile_n_ = (tile_n_ + 1) / 2;
    while (count() < wanted && tile_m_ > 4) tile_m_ = (tile_m_ + 1) / 2;
    count();
  }

  void run_stretch(Workers& workers, const T* a, const T* b, T* c, std::int64_t batches, std::int64_t k,
                   bool accumulate) {
    const std::int64_t m_panels = static_cast<std::int64_t>(panels_.size());
    T* packed = reinterpret_cast<T*>(
        workers.shared().reserve(static_cast<std::size_t>(batches * op_.m * k) * sizeof(T)));
    auto pack = [&](std::size_t piece, std::size_t) {
      const std::int64_t batch = static_cast<std::int64_t>(piece) / m_panels;
      const std::size_t panel = static_cast<std::size_t>(static_cast<std::int64_t>(piece) % m_panels);
      const std::int64_t row = rows_before_[panel];
      pack_panel(packed + (batch * op_.m + row) * k, a + batch * op_.a_batch + row * op_.a_row, op_.a_row,
                 op_.a_column, panels_[panel], panels_[panel], k);
    };
    auto multiply = [&](std::size_t piece, std::size_t thread) {
      const std::int64_t tiles = m_tiles_ * n_tiles_;
      const std::int64_t batch = static_cast<std::int64_t>(piece) / tiles;
      const std::int64_t tile = static_cast<std::int64_t>(piece) % tiles;
      run_tile(workers.workspace(thread), packed + batch * op_.m * k, b + batch * op_.b_batch,
               c + batch * op_.m * op_.n, k, tile / n_tiles_, tile % n_tiles_, accumulate);
    };
    const std::size_t packs = static_cast<std::size_t>(batches * m_panels);
    const std::size_t tiles = static_cast<std::size_t>(batches * m_tiles_ * n_tiles_);
    if (work_ * static_cast<double>(batches) < kWorthSharing) {
      for (std::size_t i = 0; i < packs; ++i) pack(i, 0);
      for (std::size_t i = 0; i < tiles; ++i) multiply(i, 0);
    } else {
      workers.pool().run(packs, pack);
      workers.pool().run(tiles, multiply);
    }
  }

  void run_tile(Workspace& workspace, const T* a, const T* b, T* c, std::int64_t k, std::int64_t m_tile,
                std::int64_t n_tile, bool accumulate) {
    T* packed =
        reinterpret_cast<T*>(workspace.reserve(static_cast<std::size_t>(kPanelDepth * columns_) * sizeof(T)));
    const std::size_t first = static_cast<std::size_t>(m_tile * tile_m_);
    const std::size_t last = std::min(first + static_cast<std::size_t>(tile_m_), panels_.size());
    const std::int64_t end = std::min((n_tile + 1) * tile_n_ * columns_, op_.n);
    for (std::int64_t j = n_tile * tile_n_ * columns_; j < end; j += columns_) {
      const std::int64_t columns = std::min(columns_, op_.n - j);
      // With few panels of A there is little to win from a copy of B that lies side by side already.
      const bool direct = op_.b_column == 1 && columns == columns_ && last - first <= 2;
      for (std::int64_t p = 0; p < k; p += kPanelDepth) {
        const std::int64_t depth = std::min(kPanelDepth, k - p);
        const T* panel = b + p * op_.b_row + j * op_.b_column;
        std::int64_t row = op_.b_row;
        if (!direct) {
          pack_panel(packed, panel, op_.b_column, op_.b_row, columns, columns_, depth);
          panel = packed;
          row = columns_;
        }
        for (std::size_t i = first; i < last; ++i)
          multiply_panel(panels_[i], columns, depth, a + rows_before_[i] * k + p * panels_[i], panel, row,
                         c + rows_before_[i] * op_.n + j, op_.n, accumulate || p > 0);
      }
    }
  }

  ir::MatMulOp op_;
  std::vector<std::int64_t> panels_, rows_before_;
  std::int64_t columns_;
  std::int64_t tile_m_ = 1, tile_n_ = 1, m_tiles_ = 1, n_tiles_ = 1;  // panels in a tile; tiles
  double work_ = 0;                                                   // of one matrix
};

}  // namespace

std::shared_ptr<HostExecutable> make_matmul(const ir::MatMulOp& op) {
  if (op.dtype == DType::f32) return std::make_shared<MatMulProgram<float>>(op);
  if (op.dtype == DType::f64) return std::make_shared<MatMulProgram<double>>(op);
  throw DeviceError("[matmul] the host multiplies f32 and f64, not " + std::string(name_of(op.dtype)));
}

}  // namespace sinter::runtime::host
