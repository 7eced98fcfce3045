// Deals stripes of scores out among threads. Each multiplies rows by columns, runs a kernel over the scores
// that come of it, and combines what columns have by the weights that this leaves.
#include "src/runtime/host/attention/stripes.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "jit/ir/held_bytes.h"
#include "src/runtime/host/attention/seen_columns.h"
#include "src/runtime/host/attention/stripe_products.h"
#include "src/runtime/host/buffer.h"
#include "src/runtime/host/interpreter/elementwise.h"

namespace sinter::runtime::host {
namespace {

// Of all lines of a stripe: with what columns have they are in a core's caches. Of its rows; panels of rows
// have twelve.
constexpr std::int64_t kLineBytes = 2 << 20, kMostRows = 96, kPanel = 12;
// Lines end so that the same columns of neighbouring rows are in different sets of a cache.
constexpr std::int64_t kVector = 16;

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Runs in the thread that calls. Never destroyed: tensors may be evaluated when static objects have ended.
ThreadPool& own_thread() {
  static ThreadPool& pool = *new ThreadPool(1);
  return pool;
}

class StripedProgram final : public HostExecutable {
 public:
  StripedProgram(Backend& backend, const ir::Kernel& kernel, ir::ScoreStripes stripes,
                 std::shared_ptr<HostExecutable> of_stripe)
      : backend_(backend),
        kernel_(kernel),
        stripes_(std::move(stripes)),
        of_stripe_(std::move(of_stripe)),
        seen_(kernel_),
        row_loop_(kernel.outer_rank - 1u) {
    of_stripe_->use_threads(1);
    for (const ir::Expr& e : kernel_.exprs)
      if (e.kind == ir::ExprKind::Row) longest_ = std::max<std::int64_t>(longest_, e.length);
  }

  std::string describe() const override { return "attention by stripes, " + of_stripe_->describe(); }
  std::string describe_launch(std::span<const std::int64_t> ints, std::size_t) const override {
    const Sizes s = sizes_of(ints);
    return "attention of " + std::to_string(s.batches) + " x " + std::to_string(s.rows) + " x " +
           std::to_string(s.columns) + ", by stripes of " + std::to_string(s.stripe) + " rows";
  }
  std::string how(std::span<const std::int64_t> ints, std::size_t) override {
    const Sizes s = sizes_of(ints);
    return "stripes of " + std::to_string(s.stripe) + " rows, " + of_stripe_->how(first_ints(ints, s), 1);
  }
  std::size_t held_bytes() const override {
    return sizeof *this + ir::held_bytes(kernel_) + ir::held_bytes(stripes_.kernel) +
           of_stripe_->held_bytes();
  }
  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t) const override {
    const Sizes s = sizes_of(ints);
    return threads(s.pieces()) * whole_units(memory_of(ints, s).bytes);
  }

  void run(Workers& workers, const LaunchArguments& arguments, std::uint32_t*) override {
    if (arguments.members != 1 || arguments.buffers.size() != kernel_.buffers.size() ||
        arguments.ints.size() != kernel_.ints || arguments.scalars.size() != kernel_.scalars.size())
      throw DeviceError(
          "[host] a kernel of attention of " + std::to_string(kernel_.buffers.size()) + " buffers, " +
          std::to_string(kernel_.ints) + " ints and " + std::to_string(kernel_.scalars.size()) +
          " scalars was launched for " + std::to_string(arguments.members) + " members with " +
          std::to_string(arguments.buffers.size()) + ", " + std::to_string(arguments.ints.size()) + " and " +
          std::to_string(arguments.scalars.size()));
    const Sizes s = sizes_of(arguments.ints);
    if (s.pieces() == 0) return;
    const Memory memory = memory_of(arguments.ints, s);
    const std::size_t used = workers.threads(s.pieces());
    const Workers::PerThread each = workers.take_each(used, memory.bytes);
    workers.pool().run(static_cast<std::size_t>(s.pieces()), [&](std::size_t piece, std::size_t thread) {
      run_stripe(arguments, s, memory, {each.of(thread), memory.bytes}, static_cast<std::int64_t>(piece));
    });
  }

 private:
  struct Sizes {
    std::int64_t batches = 1, rows = 0, columns = 0;
    std::int64_t line = 0;    // elements
    std::int64_t stripe = 1;  // rows
    std::int64_t stripes() const { return divide_up(rows, stripe); }
    std::int64_t pieces() const { return batches * stripes(); }
  };

  Sizes sizes_of(std::span<const std::int64_t> ints) const {
    Sizes s;
    for (std::size_t loop = 0; loop < row_loop_; ++loop) s.batches *= value_of(kernel_.extents[loop], ints);
    s.rows = value_of(kernel_.extents[row_loop_], ints);
    s.columns = value_of(kernel_.extents[row_loop_ + 1], ints);
    s.line = divide_up(s.columns, kVector) * kVector + kVector;
    const std::int64_t bytes = s.line * static_cast<std::int64_t>(stripes_.lines * sizeof(float));
    const std::int64_t most = std::clamp(kLineBytes / bytes / kPanel * kPanel, kPanel, kMostRows);
    const std::int64_t stripes = std::max<std::int64_t>(divide_up(s.rows, most), 1);
    s.stripe = std::max<std::int64_t>(divide_up(divide_up(s.rows, stripes), kPanel) * kPanel, kPanel);
    return s;
  }

  /// What a thread has of a launch's memory: places of its parts.
  struct Memory {
    std::size_t lines, numbers, sums, ints, products, kernel;  // where they begin
    std::size_t kernel_bytes, bytes;
  };
  Memory memory_of(std::span<const std::int64_t> ints, const Sizes& s) const {
    const auto floats = [](std::int64_t n) {
      return whole_units(static_cast<std::size_t>(n) * sizeof(float));
    };
    Memory m{};
    const auto take = [&](std::size_t bytes) { return std::exchange(m.bytes, m.bytes + whole_units(bytes)); };
    m.lines = take(stripes_.lines * line_bytes(s));
    m.numbers = take(stripes_.numbers * number_bytes(s));
    m.sums = take(floats(s.stripe * longest_));
    m.ints = take(stripes_.kernel.ints * sizeof(std::int64_t));
    m.products = take(StripeProducts(s.stripe, longest_).bytes());
    m.kernel = m.bytes;
    m.kernel_bytes = s.pieces() == 0 ? 0 : of_stripe_->workspace_bytes(first_ints(ints, s), 1);
    take(m.kernel_bytes);
    return m;
  }
  static std::size_t line_bytes(const Sizes& s) {
    return whole_units(static_cast<std::size_t>(s.stripe * s.line) * sizeof(float));
  }
  static std::size_t number_bytes(const Sizes& s) {
    return whole_units(static_cast<std::size_t>(s.stripe) * sizeof(float));
  }

  std::vector<std::int64_t> first_ints(std::span<const std::int64_t> ints, const Sizes& s) const {
    const std::vector<std::int64_t> batch(row_loop_, 0);
    std::vector<std::int64_t> own(stripes_.kernel.ints);
    stripes_.fill_ints(ints, {batch, 0, std::min(s.stripe, s.rows), 0, s.columns, s.line}, own);
    return own;
  }

  /// The Row at these coordinates, and its neighbours along its own loop.
  Vectors vectors(const ir::Expr& row, const LaunchArguments& arguments,
                  std::span<const std::int64_t> coordinates, std::size_t loop) const {
    const ir::MapStep& step = kernel_.maps[row.map].steps.front();
    Vectors v{data_of(arguments.buffers[row.buffer]), row.dtype, value_of(step.strides[loop], arguments.ints),
              value_of(row.stride, arguments.ints), row.length};
    v.first += number_of(kernel_, row.map, coordinates, arguments.ints) *
               static_cast<std::int64_t>(size_of(row.dtype));
    return v;
  }
  bool is_of_rows(const ir::Expr& row) const {
    return !kernel_.maps[row.map].steps.front().strides[row_loop_].is_zero();
  }

  void run_stripe(const LaunchArguments& arguments, const Sizes& s, const Memory& memory,
                  std::span<std::byte> own, std::int64_t piece) const {
    std::vector<std::int64_t> at(row_loop_ + 2);  // coordinates
    ir::Stripe stripe;
    stripe.batch = std::span(at).first(row_loop_);
    stripe.first_row = piece % s.stripes() * s.stripe;
    stripe.rows = std::min(s.stripe, s.rows - stripe.first_row);
    stripe.line = s.line;
    std::int64_t batch = piece / s.stripes();
    for (std::size_t loop = row_loop_; loop-- > 0;) {
      const std::int64_t extent = value_of(kernel_.extents[loop], arguments.ints);
      at[loop] = batch % extent;
      batch /= extent;
    }
    const SeenColumns::Range seen = seen_.range(arguments, stripe, s.columns);
    stripe.first_column = seen.first;
    stripe.columns = seen.end - seen.first;
    at[row_loop_] = stripe.first_row;
    at[row_loop_ + 1] = stripe.first_column;

    const StripeProducts products(s.stripe, longest_);
    std::byte* const working = own.data() + memory.products;
    const auto lines = [&](std::size_t index) {
      return reinterpret_cast<float*>(own.data() + place_of_lines(memory, s, index));
    };
    for (const ir::ScoreStripes::Scores& scores : stripes_.scores) {
      const ir::Expr& dot = kernel_.exprs[scores.dot];
      const ir::Expr *a = &kernel_.exprs[dot.args[0]], *b = &kernel_.exprs[dot.args[1]];
      if (!is_of_rows(*a)) std::swap(a, b);
      products.multiply(stripe.rows, stripe.columns, vectors(*a, arguments, at, row_loop_),
                        vectors(*b, arguments, at, row_loop_ + 1), lines(scores.lines), s.line, working);
    }
    run_kernel(arguments, s, memory, own, stripe);
    for (const ir::ScoreStripes::Combined& combined : stripes_.combined) {
      const ir::Store& store = kernel_.stores[combined.store];
      const Vectors b =
          vectors(kernel_.exprs[kernel_.exprs[store.value].args[1]], arguments, at, row_loop_ + 1);
      float* const sums = reinterpret_cast<float*>(own.data() + memory.sums);
      products.combine(stripe.rows, stripe.columns, lines(combined.weights), s.line, b, sums, working);
      const float* scales = nullptr;
      if (combined.scale)
        scales = reinterpret_cast<float*>(own.data() + place_of_numbers(memory, s, *combined.scale));
      write(arguments, store, at, stripe.rows, b.length, sums, scales);
    }
  }

  static std::size_t place_of_lines(const Memory& memory, const Sizes& s, std::size_t index) {
    return memory.lines + index * line_bytes(s);
  }
  static std::size_t place_of_numbers(const Memory& memory, const Sizes& s, std::size_t index) {
    return memory.numbers + index * number_bytes(s);
  }

  void run_kernel(const LaunchArguments& arguments, const Sizes& s, const Memory& memory,
                  std::span<std::byte> own, const ir::Stripe& stripe) const {
    HostBuffer thread(backend_, own);
    std::vector<BufferView> buffers;
    for (const ir::ScoreStripes::Source& source : stripes_.sources) {
      using Kind = ir::ScoreStripes::Source::Kind;
      if (source.kind == Kind::Buffer)
        buffers.push_back(arguments.buffers[source.index]);
      else if (source.kind == Kind::Lines)
        buffers.push_back({&thread, place_of_lines(memory, s, source.index)});
      else
        buffers.push_back({&thread, place_of_numbers(memory, s, source.index)});
    }
    const std::span<std::int64_t> ints(reinterpret_cast<std::int64_t*>(own.data() + memory.ints),
                                       stripes_.kernel.ints);
    stripes_.fill_ints(arguments.ints, stripe, ints);
    LaunchArguments of_stripe;
    of_stripe.buffers = buffers;
    of_stripe.ints = ints;
    of_stripe.scalars = arguments.scalars;
    // Smaller stripes may be gone over otherwise.
    const std::size_t bytes = of_stripe_->workspace_bytes(ints, 1);
    std::vector<std::byte> more;
    std::span<std::byte> working = own.subspan(memory.kernel, memory.kernel_bytes);
    if (bytes > working.size()) {
      try {
        more.resize(bytes + kMemoryUnit);
      } catch (const std::bad_alloc&) {
        throw DeviceError("[host] no memory left for a stripe of attention, which works in " +
                          std::to_string(bytes) + " bytes");
      }
      void* aligned = more.data();
      std::size_t space = more.size();
      working = {static_cast<std::byte*>(std::align(kMemoryUnit, bytes, aligned, space)), bytes};
    }
    Workers alone(own_thread(), working);
    of_stripe_->run(alone, of_stripe, nullptr);
  }

  void write(const LaunchArguments& arguments, const ir::Store& store, std::vector<std::int64_t> at,
             std::int64_t rows, std::int64_t length, float* sums, const float* scales) const {
    const DType dtype = kernel_.buffers[store.buffer].dtype;
    const auto cast =
        block_functions().cast[static_cast<std::size_t>(DType::f32)][static_cast<std::size_t>(dtype)];
    std::byte* const data = data_of(arguments.buffers[store.buffer]);
    for (std::int64_t row = 0; row < rows; ++row, ++at[row_loop_]) {
      float* const of_row = sums + row * length;
      if (scales != nullptr)
        for (std::int64_t c = 0; c < length; ++c) of_row[c] *= scales[row];
      const std::int64_t place = number_of(kernel_, store.map, at, arguments.ints);
      std::byte* const to = data + place * static_cast<std::int64_t>(size_of(dtype));
      if (dtype == DType::f32)
        std::memcpy(to, of_row, static_cast<std::size_t>(length) * sizeof(float));
      else
        cast(to, of_row, nullptr, nullptr, static_cast<std::size_t>(length));
    }
  }

  Backend& backend_;
  const ir::Kernel kernel_;
  const ir::ScoreStripes stripes_;
  const std::shared_ptr<HostExecutable> of_stripe_;
  const SeenColumns seen_;
  const std::size_t row_loop_;
  std::int64_t longest_ = 0;  // Row
};

}  // namespace

std::shared_ptr<HostExecutable> make_striped(Backend& backend, const ir::Kernel& kernel,
                                             ir::ScoreStripes stripes,
                                             std::shared_ptr<HostExecutable> of_stripe) {
  return std::make_shared<StripedProgram>(backend, kernel, std::move(stripes), std::move(of_stripe));
}

}  // namespace sinter::runtime::host
