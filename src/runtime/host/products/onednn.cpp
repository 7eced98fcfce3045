// oneDNN's matrix products and convolutions, each on one thread; the host's own pool deals out slices.
//
// Two pools of threads on the same cores would wait for each other's spinning, so oneDNN is never let use its
// own. A slice is a stretch of rows, columns, batches or images of fixed size: results do not depend on the
// number of threads.
#include "src/runtime/host/products/onednn.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "src/runtime/host/buffer.h"
#include "src/runtime/host/products/conv2d.h"
#include "src/runtime/host/products/matmul.h"
#include "src/runtime/host/products/onednn_exit.h"

namespace sinter::runtime::host {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Direction = library::Conv2dOp::Direction;
constexpr auto kF32 = memory::data_type::f32;

constexpr double kSliceWork = 6e6;  // floating-point operations that are worth a slice
constexpr double kWorthSlicing = 3e6;
constexpr std::int64_t kMostSlices = 32;
// A primitive with its machine code, about; oneDNN does not tell.
constexpr std::size_t kPrimitive = 96 * 1024;

const dnnl::engine& engine() {
  // Never destroyed: threads may compute after the end of static objects.
  static const dnnl::engine& instance = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return instance;
}

/// Keeps OpenMP in the calling thread as long as this lives; the caller's own setting comes back afterwards.
/// The functions are there iff oneDNN was built with OpenMP.
class OneThread {
 public:
  OneThread() {
    if (set_threads() == nullptr || most_threads() == nullptr) return;
    before_ = most_threads()();
    if (before_ != 1) set_threads()(1);
  }
  ~OneThread() {
    if (before_ > 1) set_threads()(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  using Set = void (*)(int);
  using Get = int (*)();
  static Set set_threads() {
    static const Set function = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    return function;
  }
  static Get most_threads() {
    static const Get function = reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    return function;
  }
  int before_ = 0;
};

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr result;
  // Scratch memory of ours: one primitive then runs in several threads at once.
  result.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return result;
}

using Arguments = std::unordered_map<int, memory>;

std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

memory at(const memory::desc& desc, const void* data) {
  return memory(desc, engine(), const_cast<void*>(data));
}

// Has no destructor: a thread's tensors may be computed after its stream has ended.
thread_local bool stream_has_ended = false;

struct Stream {
  dnnl::stream stream{engine()};
  ~Stream() { stream_has_ended = true; }
};

void execute_on(dnnl::stream& stream, const dnnl::primitive& primitive, const Arguments& arguments) {
  primitive.execute(stream, arguments);
  stream.wait();
}

void execute(const dnnl::primitive& primitive, const Arguments& arguments) {
  if (stream_has_ended) {
    dnnl::stream late(engine());
    return execute_on(late, primitive, arguments);
  }
  thread_local Stream own;
  execute_on(own.stream, primitive, arguments);
}

/// Slices of `size` into equal parts; the last may be smaller.
struct Slices {
  std::int64_t size = 0, each = 0, count = 0;
  Slices() = default;
  Slices(std::int64_t whole, double work, std::int64_t multiple) : size(whole) {
    const std::int64_t least = work < kWorthSlicing ? 1 : 4;
    const std::int64_t wanted =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(work / kSliceWork), least, kMostSlices);
    each = std::max<std::int64_t>((whole + wanted - 1) / wanted, 1);
    each = std::min((each + multiple - 1) / multiple * multiple, whole);
    count = (whole + each - 1) / each;
  }
  std::int64_t begin(std::int64_t slice) const { return slice * each; }
  std::int64_t length(std::int64_t slice) const { return std::min(each, size - slice * each); }
};

/// Runs f(slice, thread) for all slices.
template <class F>
void run_slices(Workers& workers, std::int64_t count, F&& f) {
  workers.pool().run(static_cast<std::size_t>(count), [&](std::size_t slice, std::size_t thread) {
    const OneThread one_thread;
    f(static_cast<std::int64_t>(slice), thread);
  });
}

// ---- matrix product

class OneDnnMatMul final : public HostExecutable {
 public:
  explicit OneDnnMatMul(const library::MatMulOp& op) : op_(op) {
    const OneThread one_thread;
    const double work = 2.0 * static_cast<double>(op.batch) * static_cast<double>(op.m) *
                        static_cast<double>(op.n) * static_cast<double>(op.k);
    along_ = op.batch >= 4 ? Along::Batch : op.m >= op.n ? Along::Rows : Along::Columns;
    slices_ = Slices(along_ == Along::Batch  ? op.batch
                     : along_ == Along::Rows ? op.m
                                             : op.n,
                     work, along_ == Along::Batch ? 1 : 16);
    whole_.emplace(make(slices_.length(0)));
    if (const std::int64_t last = slices_.length(slices_.count - 1); last != slices_.each)
      rest_.emplace(make(last));
  }

  /// Narrow slices copy too much: oneDNN then takes up to three times as long as the host's own kernel.
  bool slices_well() const {
    return slices_.count == 1 || along_ == Along::Batch || (along_ == Along::Rows && slices_.each >= 64);
  }

  std::string describe() const override { return op_.describe() + " by oneDNN"; }
  std::size_t held_bytes() const override { return sizeof *this + (rest_ ? 2 : 1) * kPrimitive; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return this->threads(slices_.count) * whole_units(scratch_bytes());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const base::ExitGate::Entry entry(gate());
    if (!entry) return run_at_exit(*make_matmul(op_), most_threads(), workers.pool(), arguments);
    const RenewAfterFirst renew(has_run_);
    const Workers::PerThread own = workers.take_each(workers.threads(slices_.count), scratch_bytes());
    const float* a = reinterpret_cast<const float*>(data_of(arguments.buffers[0]));
    const float* b = reinterpret_cast<const float*>(data_of(arguments.buffers[1]));
    float* c = reinterpret_cast<float*>(data_of(arguments.buffers[2]));
    run_slices(workers, slices_.count, [&](std::int64_t slice, std::size_t thread) {
      const std::int64_t begin = slices_.begin(slice);
      const Product& p = slices_.length(slice) == slices_.each ? *whole_ : *rest_;
      std::int64_t from_a = 0, from_b = 0, to = 0;
      switch (along_) {
        case Along::Batch:
          from_a = begin * op_.a_batch, from_b = begin * op_.b_batch, to = begin * op_.m * op_.n;
          break;
        case Along::Rows: from_a = begin * op_.a_row, to = begin * op_.n; break;
        case Along::Columns: from_b = begin * op_.b_column, to = begin; break;
      }
      execute(p.primitive, {{DNNL_ARG_SRC, at(p.a, a + from_a)},
                            {DNNL_ARG_WEIGHTS, at(p.b, b + from_b)},
                            {DNNL_ARG_DST, at(p.c, c + to)},
                            {DNNL_ARG_SCRATCHPAD, at(p.scratch, own.of(thread))}});
    });
  }

 private:
  std::size_t scratch_bytes() const {
    return std::max(whole_->scratch.get_size(), rest_ ? rest_->scratch.get_size() : 0);
  }

  enum class Along { Batch, Rows, Columns };
  struct Product {
    dnnl::matmul primitive;
    memory::desc a, b, c, scratch;
  };

  Product make(std::int64_t length) const {
    const std::int64_t batch = along_ == Along::Batch ? length : op_.batch;
    const std::int64_t m = along_ == Along::Rows ? length : op_.m,
                       n = along_ == Along::Columns ? length : op_.n;
    const memory::desc a = matrix(batch, m, op_.k, op_.a_batch, op_.a_row, op_.a_column);
    // An operand that all batches share is a batch of one to oneDNN.
    const memory::desc b =
        matrix(op_.b_batch == 0 ? 1 : batch, op_.k, n, op_.b_batch, op_.b_row, op_.b_column);
    const memory::desc c = matrix(batch, m, n, op_.m * op_.n, op_.n, 1);
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc description(engine(), a, b, c, attributes());
#else
    const dnnl::matmul::primitive_desc description({a, b, c}, attributes(), engine());
#endif
    return {dnnl::matmul(description), a, b, c, description.scratchpad_desc()};
  }

  memory::desc matrix(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t batch_stride,
                      std::int64_t row, std::int64_t column) const {
    // The stride of a dim of size 1 may be anything, which oneDNN does not always see through.
    if (rows == 1) row = column == 1 ? columns : 1;
    if (columns == 1) column = row == 1 ? rows : 1;
    if (op_.batch == 1) return memory::desc({rows, columns}, kF32, {row, column});
    if (batch == 1) batch_stride = std::max(rows * row, columns * column);
    return memory::desc({batch, rows, columns}, kF32, {batch_stride, row, column});
  }

  library::MatMulOp op_;
  Along along_ = Along::Rows;
  Slices slices_;
  std::optional<Product> whole_, rest_;
  std::atomic<bool> has_run_{false};
};

// ---- convolution

/// One direction of a convolution over a fixed number of images. Where oneDNN's layout of a tensor is another
/// than the one it is given in, it is brought there and back slice by slice, while it is in the cache.
class SlicedConvolution {
 public:
  SlicedConvolution(const library::Conv2dOp& op, std::int64_t images, bool any_layout) {
    const bool grouped = op.groups > 1;
    const memory::dims x{images, op.c_in, op.h, op.w}, y{images, op.c_out, op.oh, op.ow};
    memory::dims w{op.c_out, op.c_in / op.groups, op.kh, op.kw};
    if (grouped) w = {op.groups, op.c_out / op.groups, op.c_in / op.groups, op.kh, op.kw};
    const Tag weight_tag = grouped ? Tag::goihw : Tag::oihw;
    given_ = {memory::desc(x, kF32, op.x_last ? Tag::nhwc : Tag::nchw), memory::desc(w, kF32, weight_tag),
              memory::desc(y, kF32, op.y_last ? Tag::nhwc : Tag::nchw)};
    auto wanted = [&](Tag images, Tag weight) {
      return std::array{memory::desc(x, kF32, images), memory::desc(w, kF32, weight),
                        memory::desc(y, kF32, images)};
    };
    // Images that come with their channels last stay so, unless there is only a plain loop for that.
    const bool last = op.x_last || op.y_last;
    if (last) create(op, wanted(Tag::nhwc, Tag::any));
    if (!last || implementation_.starts_with("ref"))
      create(op, any_layout ? wanted(Tag::any, Tag::any) : wanted(Tag::nchw, weight_tag));
    std::size_t bytes = padded(scratch_.get_size());
    for (std::size_t i = 0; i < 3; ++i) {
      if (own_[i] == given_[i]) continue;
      offsets_[i] = bytes;
      bytes += padded(own_[i].get_size());
      const bool out = i == out_;
      reorders_[i] = dnnl::reorder(dnnl::reorder::primitive_desc(
          engine(), out ? own_[i] : given_[i], engine(), out ? given_[i] : own_[i], dnnl::primitive_attr()));
    }
    bytes_ = bytes;
  }

  /// Of the memory that `run` works in.
  std::size_t bytes() const { return bytes_; }

  /// x, weight, y; the direction's result is written, the others are read.
  void run(std::byte* memory_of_slice, const std::array<float*, 3>& data) const {
    Arguments arguments{{DNNL_ARG_SCRATCHPAD, at(scratch_, memory_of_slice)}};
    for (std::size_t i = 0; i < 3; ++i) {
      const memory user = at(given_[i], data[i]);
      const memory own = reorders_[i] ? at(own_[i], memory_of_slice + offsets_[i]) : user;
      if (reorders_[i] && i != out_) execute(*reorders_[i], {{DNNL_ARG_FROM, user}, {DNNL_ARG_TO, own}});
      arguments.emplace(names_[i], own);
    }
    execute(primitive_, arguments);
    if (reorders_[out_]) {
      const memory own = at(own_[out_], memory_of_slice + offsets_[out_]),
                   user = at(given_[out_], data[out_]);
      execute(*reorders_[out_], {{DNNL_ARG_FROM, own}, {DNNL_ARG_TO, user}});
    }
  }

 private:
  void create(const library::Conv2dOp& op, const std::array<memory::desc, 3>& wanted) {
    const auto& [x, w, y] = wanted;
    const memory::dims stride{op.stride[0], op.stride[1]}, low{op.padding[0], op.padding[1]};
    const memory::dims dilation{op.dilation[0] - 1, op.dilation[1] - 1};
    // oneDNN wants the padding at the far side to be exactly what the sizes need, negative where input is
    // left over.
    auto far = [](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t step,
                  std::int64_t spread,
                  std::int64_t near) { return (out - 1) * step + (kernel - 1) * spread + 1 - in - near; };
    const memory::dims high{far(op.h, op.oh, op.kh, op.stride[0], op.dilation[0], op.padding[0]),
                            far(op.w, op.ow, op.kw, op.stride[1], op.dilation[1], op.padding[1])};
    constexpr auto kDirect = dnnl::algorithm::convolution_direct;
    constexpr auto kTraining = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::convolution_forward::primitive_desc forward(engine(), kTraining, kDirect, x, w, y, stride,
                                                            dilation, low, high, attributes());
#else
    const dnnl::convolution_forward::primitive_desc forward(
        {kTraining, kDirect, x, w, y, stride, dilation, low, high}, attributes(), engine());
#endif
    switch (op.direction) {
      case Direction::Forward:
        primitive_ = dnnl::convolution_forward(forward);
        own_ = {forward.src_desc(), forward.weights_desc(), forward.dst_desc()};
        scratch_ = forward.scratchpad_desc();
        implementation_ = forward.impl_info_str();
        names_ = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
        out_ = 2;
        return;
      case Direction::BackwardInput: {
#if DNNL_VERSION_MAJOR >= 3
        const dnnl::convolution_backward_data::primitive_desc d(engine(), kDirect, x, w, y, stride, dilation,
                                                                low, high, forward, attributes());
#else
        const dnnl::convolution_backward_data::primitive_desc d(
            {kDirect, x, w, y, stride, dilation, low, high}, attributes(), engine(), forward);
#endif
        primitive_ = dnnl::convolution_backward_data(d);
        own_ = {d.diff_src_desc(), d.weights_desc(), d.diff_dst_desc()};
        scratch_ = d.scratchpad_desc();
        implementation_ = d.impl_info_str();
        names_ = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST};
        out_ = 0;
        return;
      }
      case Direction::BackwardWeight: {
#if DNNL_VERSION_MAJOR >= 3
        const dnnl::convolution_backward_weights::primitive_desc d(
            engine(), kDirect, x, w, y, stride, dilation, low, high, forward, attributes());
#else
        const dnnl::convolution_backward_weights::primitive_desc d(
            {kDirect, x, w, y, stride, dilation, low, high}, attributes(), engine(), forward);
#endif
        primitive_ = dnnl::convolution_backward_weights(d);
        own_ = {d.src_desc(), d.diff_weights_desc(), d.diff_dst_desc()};
        scratch_ = d.scratchpad_desc();
        implementation_ = d.impl_info_str();
        names_ = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST};
        out_ = 1;
        return;
      }
    }
  }

  dnnl::primitive primitive_;
  std::string implementation_;
  std::array<memory::desc, 3> given_, own_;  // of x, weight, y: ours, and what the primitive works on
  std::array<std::optional<dnnl::reorder>, 3> reorders_;
  std::array<std::size_t, 3> offsets_{};  // of reordered tensors in the slice's memory
  std::array<int, 3> names_{};
  std::size_t out_ = 0;
  memory::desc scratch_;
  std::size_t bytes_ = 0;
};

class OneDnnConv2d final : public HostExecutable {
 public:
  explicit OneDnnConv2d(const library::Conv2dOp& op) : op_(op) {
    const OneThread one_thread;
    const double work = 2.0 * static_cast<double>(op.n * op.c_out * (op.c_in / op.groups)) *
                        static_cast<double>(op.kh * op.kw * op.oh * op.ow);
    slices_ = Slices(op.n, work, 1);
    // Blocked layouts win by far, except where one or two channels of a block of 16 would be used.
    const bool any_layout = op.c_in / op.groups >= 4 || op.direction == Direction::BackwardWeight;
    whole_.emplace(op, slices_.length(0), any_layout);
    if (const std::int64_t last = slices_.length(slices_.count - 1); last != slices_.each)
      rest_.emplace(op, last, any_layout);
  }

  std::string describe() const override { return op_.describe() + " by oneDNN"; }
  std::size_t held_bytes() const override { return sizeof *this + (rest_ ? 2 : 1) * kPrimitive; }

  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return whole_units(partial_bytes()) + this->threads(slices_.count) * whole_units(slice_bytes());
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    const base::ExitGate::Entry entry(gate());
    if (!entry) return run_at_exit(*make_conv2d(op_), most_threads(), workers.pool(), arguments);
    const RenewAfterFirst renew(has_run_);
    // The op names its operands by direction; here they are x, weight, y.
    std::array<std::size_t, 3> order{0, 1, 2};
    if (op_.direction == Direction::BackwardInput) order = {2, 1, 0};
    if (op_.direction == Direction::BackwardWeight) order = {0, 2, 1};
    std::array<float*, 3> data;
    for (std::size_t i = 0; i < 3; ++i)
      data[i] = reinterpret_cast<float*>(data_of(arguments.buffers[order[i]]));
    const std::int64_t weights = this->weights();
    const bool sums = has_sums();
    float* const partials = reinterpret_cast<float*>(workers.take(partial_bytes()));
    const Workers::PerThread own = workers.take_each(workers.threads(slices_.count), slice_bytes());
    run_slices(workers, slices_.count, [&](std::int64_t slice, std::size_t thread) {
      const std::int64_t first = slices_.begin(slice);
      const SlicedConvolution& part = slices_.length(slice) == slices_.each ? *whole_ : *rest_;
      part.run(own.of(thread),
               {data[0] + first * op_.c_in * op_.h * op_.w, sums ? partials + slice * weights : data[1],
                data[2] + first * op_.c_out * op_.oh * op_.ow});
    });
    if (!sums) return;
    constexpr std::int64_t kBlock = 16 * 1024;
    workers.pool().run(static_cast<std::size_t>((weights + kBlock - 1) / kBlock),
                       [&](std::size_t piece, std::size_t) {
                         const std::int64_t begin = static_cast<std::int64_t>(piece) * kBlock,
                                            end = std::min(begin + kBlock, weights);
                         float* out = data[1];
                         std::copy(partials + begin, partials + end, out + begin);
                         for (std::int64_t slice = 1; slice < slices_.count; ++slice)
                           for (std::int64_t i = begin; i < end; ++i) out[i] += partials[slice * weights + i];
                       });
  }

 private:
  std::int64_t weights() const { return op_.c_out * (op_.c_in / op_.groups) * op_.kh * op_.kw; }
  /// Each slice has a gradient of the weight of its own; they are added in order.
  bool has_sums() const { return op_.direction == Direction::BackwardWeight && slices_.count > 1; }
  std::size_t partial_bytes() const {
    return has_sums() ? static_cast<std::size_t>(slices_.count * weights()) * sizeof(float) : 0;
  }
  std::size_t slice_bytes() const { return std::max(whole_->bytes(), rest_ ? rest_->bytes() : 0); }

  library::Conv2dOp op_;
  Slices slices_;
  std::optional<SlicedConvolution> whole_, rest_;
  std::atomic<bool> has_run_{false};
};

bool usable(const library::MatMulOp& op) {
  return op.dtype == DType::f32 && op.batch > 0 && op.m > 0 && op.n > 0 && op.k > 0 &&
         (op.a_batch != 0 || op.batch == 1);
}
bool usable(const library::Conv2dOp& op) {
  for (std::int64_t size : {op.n, op.c_in, op.h, op.w, op.c_out, op.kh, op.kw, op.oh, op.ow})
    if (size <= 0) return false;
  // With so few channels the host's own kernel is faster.
  if (op.direction == Direction::Forward && op.c_in / op.groups < 4) return false;
  return op.dtype == DType::f32;
}

}  // namespace

// What this version has no implementation for, the host's own kernels take.
std::shared_ptr<HostExecutable> make_onednn_program(const library::MatMulOp& op) try {
  const base::ExitGate::Entry entry(gate());
  if (!entry || !usable(op)) return nullptr;
  auto program = std::make_shared<OneDnnMatMul>(op);
  return program->slices_well() ? program : nullptr;
} catch (const dnnl::error&) {
  return nullptr;
}

std::shared_ptr<HostExecutable> make_onednn_program(const library::Conv2dOp& op) try {
  const base::ExitGate::Entry entry(gate());
  return entry && usable(op) ? std::make_shared<OneDnnConv2d>(op) : nullptr;
} catch (const dnnl::error&) {
  return nullptr;
}

}  // namespace sinter::runtime::host
