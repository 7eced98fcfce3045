// Evaluates kernels element by element over copies of their buffers.
#include "tests/support/reference/oracle_backend.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <sinter/error.h>

#include "src/runtime/members.h"
#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {
namespace {

using runtime::BufferView;

std::atomic<std::size_t> bytes_in_use{0};

class OracleBuffer : public runtime::Buffer {
 public:
  // All bits set: NaN, -1, and a bool that is neither 0 nor 1.
  OracleBuffer(runtime::Backend& backend, std::size_t bytes)
      : Buffer(backend, bytes), memory(bytes, std::byte{0xff}) {
    bytes_in_use += bytes;
  }
  ~OracleBuffer() override { bytes_in_use -= bytes(); }
  std::vector<std::byte> memory;
};

std::span<std::byte> memory_of(const BufferView& view) {
  return std::span(static_cast<OracleBuffer*>(view.buffer)->memory).subspan(view.byte_offset);
}

struct OracleKernel : runtime::Executable {
  explicit OracleKernel(const ir::Kernel& k) : kernel(k) {}
  ir::Kernel kernel;
};
struct OracleLibraryOp : runtime::Executable {
  OracleLibraryOp(Evaluate e, const library::LibraryOp& op)
      : evaluate(std::move(e)), dtype(op.dtype_of_result(0)), results(op.kind().result_count()) {
    for (std::size_t k = 0; k < operand_dtypes.size(); ++k) operand_dtypes[k] = op.dtype_of_operand(k);
  }
  Evaluate evaluate;
  DType dtype;  // of the first result
  std::size_t results;
  std::array<DType, 3> operand_dtypes{};
};

/// Checks that written memory is bound once, and that the kernel reads only the elements of it that it
/// writes.
void check_aliases(const ir::Kernel& kernel, std::span<const BufferView> buffers) {
  for (const ir::Store& store : kernel.stores) {
    for (std::size_t b = 0; b < buffers.size(); ++b) {
      const BufferView &one = buffers[b], &other = buffers[store.buffer];
      if (b != store.buffer && one.buffer == other.buffer && one.byte_offset == other.byte_offset)
        throw std::logic_error("memory that a kernel writes is bound twice");
    }
    for (const ir::Expr& e : kernel.exprs)
      if (((e.kind == ir::ExprKind::Load && e.map != store.map) || e.kind == ir::ExprKind::LoadAt) &&
          e.buffer == store.buffer)
        throw std::logic_error("a kernel reads other elements of the memory that it writes");
  }
}

/// Checks that no member writes what another member of the launch reads or writes.
void check_members(const ir::Kernel& kernel, const runtime::LaunchArguments& arguments) {
  const std::size_t buffers = kernel.buffers.size();
  for (std::size_t i = 0; i < arguments.buffers.size(); ++i)
    for (std::size_t j = 0; j < arguments.buffers.size(); ++j) {
      const BufferView &one = arguments.buffers[i], &other = arguments.buffers[j];
      if (i / buffers != j / buffers && kernel.buffers[i % buffers].written && one.buffer == other.buffer &&
          one.byte_offset == other.byte_offset)
        throw std::logic_error("a member of a launch writes what another one is bound to");
    }
}

struct OracleReport : runtime::FaultReport {
  explicit OracleReport(std::vector<std::uint32_t> w) : all(std::move(w)) {}
  bool done() override { return true; }
  std::span<const std::uint32_t> words() override { return all; }
  std::vector<std::uint32_t> all;
};

template <class T>
void append_as(std::vector<double>& to, const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  to.push_back(static_cast<double>(value));
}

std::vector<double> numbers(DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> values;
  for (std::size_t at = 0; at + size_of(dtype) <= bytes.size(); at += size_of(dtype)) switch (dtype) {
      case DType::f32: append_as<float>(values, bytes.data() + at); break;
      case DType::f64: append_as<double>(values, bytes.data() + at); break;
      case DType::i32: append_as<std::int32_t>(values, bytes.data() + at); break;
      case DType::i64: append_as<std::int64_t>(values, bytes.data() + at); break;
      default: throw std::logic_error("a library op of " + std::string(name_of(dtype)));
    }
  return values;
}

template <class T>
std::byte* write_as(std::byte* to, double number) {
  T value;
  if constexpr (std::is_integral_v<T>)
    value = static_cast<T>(static_cast<std::int64_t>(number));  // wraps
  else
    value = static_cast<T>(number);
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

class OracleBackend : public runtime::Backend {
 public:
  explicit OracleBackend(std::size_t most_buffer_bytes) {
    traits_.name = "oracle";
    traits_.description = "evaluates kernels element by element";
    traits_.batch_bytes = 1024;
    // Makes the planner treat small programs like large ones.
    traits_.grid_reductions = true;
    traits_.groups = traits_.lanes = 1 << 20;
    traits_.shared_elements = 8;
    traits_.most_buffer_bytes = most_buffer_bytes;
    traits_.lone_rows = true;
    traits_.tensor_cores = {4, std::size_t{227} << 10};  // contractions are planned as for a GPU
  }

  const ir::DeviceTraits& traits() const override { return traits_; }
  runtime::BufferRef allocate(std::size_t bytes) override {
    if (traits_.most_buffer_bytes > 0 && bytes > traits_.most_buffer_bytes)
      throw DeviceError("[oracle] a buffer of " + std::to_string(bytes) + " bytes, where the most are " +
                        std::to_string(traits_.most_buffer_bytes));
    return std::make_shared<OracleBuffer>(*this, bytes);
  }
  void upload(const BufferView& to, std::span<const std::byte> data) override {
    std::copy(data.begin(), data.end(), memory_of(to).begin());
  }
  void download(const BufferView& from, std::span<std::byte> data) override {
    const std::span<std::byte> memory = memory_of(from);
    if (memory.size() < data.size()) throw std::logic_error("a download reaches over the end of its buffer");
    std::copy_n(memory.begin(), data.size(), data.begin());
  }

  std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    std::vector<runtime::ExecutableRef> result;
    for (const ir::Kernel* kernel : kernels) {
      ir::verify(*kernel);
      result.push_back(std::make_shared<OracleKernel>(*kernel));
    }
    return result;
  }
  bool computes(const library::Kind& kind) const override { return reference_table().has(kind); }
  runtime::ExecutableRef prepare(const library::LibraryOp& op) override {
    return std::make_shared<OracleLibraryOp>(reference_table().prepare(traits_.name, op), op);
  }

  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    if (!running_) throw std::logic_error("a launch outside of a run");
    ++statistics_.launches;
    if (auto* kernel = dynamic_cast<OracleKernel*>(&executable)) {
      if (arguments.members > kernel->kernel.members)
        throw std::logic_error("more members than the kernel is for");
      check_members(kernel->kernel, arguments);
      const std::size_t faults = kernel->kernel.faults;
      if (faults > 0 && arguments.first_fault + faults * arguments.members > faults_.size())
        throw std::logic_error("fault words that the run did not ask for");
      for (std::size_t m = 0; m < arguments.members; ++m)
        run(kernel->kernel, runtime::arguments_of(kernel->kernel, arguments, m),
            std::span(faults_).subspan(faults > 0 ? arguments.first_fault + m * faults : 0, faults));
    } else
      run(dynamic_cast<OracleLibraryOp&>(executable), arguments);
  }
  void begin(std::unique_ptr<runtime::PlanState>*, const runtime::RunNeeds& needs) override {
    if (std::exchange(running_, true)) throw std::logic_error("a run begins before another one has ended");
    faults_.assign(needs.faults, 0);
  }
  runtime::FaultReportRef submit() override {
    if (!std::exchange(running_, false)) throw std::logic_error("a run ends that has not begun");
    return faults_.empty() ? nullptr : std::make_shared<OracleReport>(std::exchange(faults_, {}));
  }
  void abandon() noexcept override { running_ = false; }
  void synchronize() override {}
  runtime::BackendStatistics statistics() const override {
    runtime::BackendStatistics statistics = statistics_;
    statistics.bytes_in_use = bytes_in_use;
    return statistics;
  }

 private:
  void run(const ir::Kernel& kernel, const runtime::LaunchArguments& arguments,
           std::span<std::uint32_t> faults) {
    check_aliases(kernel, arguments.buffers);
    Bindings bindings;
    for (std::size_t b = 0; b < arguments.buffers.size(); ++b) {
      const std::span<std::byte> memory = memory_of(arguments.buffers[b]);
      bindings.buffers.emplace_back(memory.begin(), memory.end());
    }
    bindings.ints.assign(arguments.ints.begin(), arguments.ints.end());
    bindings.scalars.assign(arguments.scalars.begin(), arguments.scalars.end());
    // The oracle is exact to itself, so that every index and every predicate is certain.
    Precision exact;
    exact.division_ulps = exact.math_ulps = exact.pow_ulps = exact.wave_absolute = exact.normal_absolute = 0;
    exact.sum_relative = exact.sum_relative_f64 = exact.math_relative_f64 = 0;
    ReferenceResult result = evaluate(kernel, bindings, exact);
    for (std::size_t f = 0; f < faults.size(); ++f) faults[f] |= result.faults[f];
    // A binding extends to the end of its memory, over bytes that others have written: copies back only what
    // changed.
    for (std::size_t b = 0; b < arguments.buffers.size(); ++b) {
      const std::span<std::byte> memory = memory_of(arguments.buffers[b]);
      for (std::size_t i = 0; i < memory.size(); ++i)
        if (result.buffers[b][i] != bindings.buffers[b][i]) memory[i] = result.buffers[b][i];
    }
  }

  void run(const OracleLibraryOp& op, const runtime::LaunchArguments& arguments) {
    // Strides may be negative, so the whole buffer is available.
    std::vector<std::vector<double>> all;
    std::vector<std::span<const double>> operands;
    for (const BufferView& view : arguments.buffers.first(arguments.buffers.size() - op.results))
      all.push_back(numbers(op.operand_dtypes[all.size()], memory_of({view.buffer, 0})));
    for (std::size_t k = 0; k < all.size(); ++k)
      operands.push_back(
          std::span(all[k]).subspan(arguments.buffers[k].byte_offset / size_of(op.operand_dtypes[k])));
    const LibraryResult result = op.evaluate(operands);
    write(result.values, op.dtype, arguments.buffers[all.size()]);
    if (op.results > 1) write(result.second, result.second_dtype, arguments.buffers[all.size() + 1]);
  }

  void write(std::span<const double> values, DType dtype, const BufferView& view) {
    std::byte* to = memory_of(view).data();
    for (double value : values) switch (dtype) {
        case DType::f32: to = write_as<float>(to, value); break;
        case DType::i32: to = write_as<std::int32_t>(to, value); break;
        case DType::i64: to = write_as<std::int64_t>(to, value); break;
        default: to = write_as<double>(to, value);
      }
  }

  ir::DeviceTraits traits_;
  runtime::BackendStatistics statistics_;
  bool running_ = false;
  std::vector<std::uint32_t> faults_;  // of the run
};

}  // namespace

std::unique_ptr<runtime::Backend> make_oracle_backend(std::size_t most_buffer_bytes) {
  return std::make_unique<OracleBackend>(most_buffer_bytes);
}

}  // namespace sinter::testing
