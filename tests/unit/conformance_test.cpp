// The conformance suite itself: a correct backend passes, a backend with a single error does not.
#include <algorithm>
#include <limits>
#include <optional>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "src/runtime/members.h"
#include "tests/conformance/backend_conformance.h"
#include "tests/conformance/conformance_runner.h"

namespace sinter::testing {
namespace {

enum class Defect {
  None,
  NoRounding,
  LostFault,
  StickyFault,    // a report also has the words of the run before
  OneFaultWord,   // all LoadAt of a launch share its first word
  FaultOfOthers,  // all members set the words of the first
  StrayWrite,
  OtherBits,
  WrongConvolution
};

struct Report : runtime::FaultReport {
  explicit Report(std::vector<std::uint32_t> w) : all(std::move(w)) {}
  bool done() override { return true; }
  std::span<const std::uint32_t> words() override { return all; }
  std::vector<std::uint32_t> all;
};

struct HostBuffer : runtime::Buffer {
  HostBuffer(runtime::Backend& backend, std::size_t size, std::size_t& in_use)
      : Buffer(backend, size), data(size), in_use(in_use) {
    in_use += size;
  }
  ~HostBuffer() override { in_use -= bytes(); }
  std::vector<std::byte> data;
  std::size_t& in_use;
};

struct Work : runtime::Executable {
  std::optional<ir::Kernel> kernel;
  Evaluate library;  // where there is no kernel
  DType dtype = DType::f32;
  DType operand_dtypes[3] = {};
  bool convolves = false;
};

// Evaluates everything by the oracle, synchronously.
class OracleBackend : public runtime::Backend {
 public:
  explicit OracleBackend(Defect defect) : defect_(defect) {
    traits_.name = "oracle";
    traits_.batch_bytes = 1024;
  }

  const ir::DeviceTraits& traits() const override { return traits_; }

  runtime::BufferRef allocate(std::size_t bytes) override {
    if (bytes > (std::size_t{1} << 40)) throw DeviceError("out of memory");
    auto buffer = std::make_shared<HostBuffer>(*this, bytes, statistics_.bytes_in_use);
    statistics_.peak_bytes_in_use = std::max(statistics_.peak_bytes_in_use, statistics_.bytes_in_use);
    return buffer;
  }
  void upload(const runtime::BufferView& to, std::span<const std::byte> data) override {
    std::copy(data.begin(), data.end(), at(to));
  }
  void download(const runtime::BufferView& from, std::span<std::byte> data) override {
    std::copy_n(at(from), data.size(), data.begin());
  }
  std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    std::vector<runtime::ExecutableRef> all;
    for (const ir::Kernel* kernel : kernels) {
      auto work = std::make_shared<Work>();
      work->kernel = *kernel;
      all.push_back(work);
    }
    return all;
  }
  runtime::ExecutableRef prepare(const library::LibraryOp& op) override {
    auto work = std::make_shared<Work>();
    work->library = reference_table().prepare(traits_.name, op);
    work->dtype = op.dtype;
    for (std::size_t k = 0; k < 3; ++k) work->operand_dtypes[k] = op.dtype_of_operand(k);
    work->convolves = &op.kind() != &library::matmul();
    return work;
  }
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    const auto& work = static_cast<const Work&>(executable);
    if (!running_) throw std::logic_error("a launch outside of a run");
    if (work.kernel)
      launch_members(*work.kernel, arguments);
    else
      launch_library(work, arguments);
    ++statistics_.launches;
  }
  void begin(std::unique_ptr<runtime::PlanState>*, const runtime::RunNeeds& needs) override {
    if (std::exchange(running_, true)) throw std::logic_error("a run begins before another one has ended");
    faults_.resize(needs.faults);
    if (defect_ != Defect::StickyFault) std::fill(faults_.begin(), faults_.end(), 0);
  }
  runtime::FaultReportRef submit() override {
    running_ = false;
    return faults_.empty() ? nullptr : std::make_shared<Report>(faults_);
  }
  void abandon() noexcept override { running_ = false; }
  void synchronize() override {}
  runtime::BackendStatistics statistics() const override { return statistics_; }

 private:
  static std::vector<std::byte>::iterator at(const runtime::BufferView& view) {
    return static_cast<HostBuffer*>(view.buffer)->data.begin() +
           static_cast<std::ptrdiff_t>(view.byte_offset);
  }

  void launch_members(const ir::Kernel& kernel, const runtime::LaunchArguments& arguments) {
    for (std::size_t m = 0; m < arguments.members; ++m) {
      runtime::LaunchArguments own = runtime::arguments_of(kernel, arguments, m);
      own.first_fault = arguments.first_fault;
      if (defect_ != Defect::FaultOfOthers) own.first_fault += static_cast<std::uint32_t>(m * kernel.faults);
      launch_kernel(kernel, own);
    }
  }

  void launch_kernel(const ir::Kernel& kernel, const runtime::LaunchArguments& arguments) {
    Bindings bindings;
    bindings.ints.assign(arguments.ints.begin(), arguments.ints.end());
    bindings.scalars.assign(arguments.scalars.begin(), arguments.scalars.end());
    for (const runtime::BufferView& view : arguments.buffers)
      bindings.buffers.emplace_back(at(view), static_cast<HostBuffer*>(view.buffer)->data.end());
    // The backend does not know where a buffer's elements end, so the last one may be a fragment.
    for (std::size_t b = 0; b < bindings.buffers.size(); ++b) {
      std::vector<std::byte>& bytes = bindings.buffers[b];
      bytes.resize(bytes.size() / size_of(kernel.buffers[b].dtype) * size_of(kernel.buffers[b].dtype));
    }
    const ReferenceResult result = evaluate(kernel, bindings, {.round_f32 = defect_ != Defect::NoRounding});
    if (defect_ != Defect::LostFault)
      for (std::size_t f = 0; f < result.faults.size(); ++f)
        faults_.at(arguments.first_fault + (defect_ == Defect::OneFaultWord ? 0 : f)) |= result.faults[f];
    for (std::size_t b = 0; b < bindings.buffers.size(); ++b) {
      if (!kernel.buffers[b].written) continue;
      std::copy(result.buffers[b].begin(), result.buffers[b].end(), at(arguments.buffers[b]));
      if (defect_ == Defect::StrayWrite)
        static_cast<HostBuffer*>(arguments.buffers[b].buffer)->data.back() = {};
    }
    if (defect_ == Defect::OtherBits && statistics_.launches % 2 == 1) disturb(kernel, arguments);
  }

  // Flips the lowest bit of the first f32 that the kernel writes.
  static void disturb(const ir::Kernel& kernel, const runtime::LaunchArguments& arguments) {
    for (std::size_t b = 0; b < kernel.buffers.size(); ++b)
      if (kernel.buffers[b].written && kernel.buffers[b].dtype == DType::f32)
        *at(arguments.buffers[b]) ^= std::byte{1};
  }

  void launch_library(const Work& work, const runtime::LaunchArguments& arguments) {
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i + 1 < arguments.buffers.size(); ++i) {
      std::vector<std::byte> bytes(at(arguments.buffers[i]),
                                   static_cast<HostBuffer*>(arguments.buffers[i].buffer)->data.end());
      bytes.resize(bytes.size() / 8 * 8);
      all.push_back(to_doubles(work.operand_dtypes[i], bytes));
    }
    const std::vector<std::span<const double>> operands(all.begin(), all.end());
    LibraryResult result = work.library(operands);
    if (defect_ == Defect::WrongConvolution && work.convolves && !result.values.empty())
      result.values.back() += 1;
    const std::vector<std::byte> bytes = to_bytes(work.dtype, result.values);
    std::copy(bytes.begin(), bytes.end(), at(arguments.buffers.back()));
  }

  Defect defect_;
  ir::DeviceTraits traits_;
  runtime::BackendStatistics statistics_;
  bool running_ = false;
  std::vector<std::uint32_t> faults_;
};

std::vector<KernelCase> small_set() {
  std::vector<KernelCase> cases;
  for (KernelCase& c : handmade_kernels())
    if (c.name.find("contraction") != std::string::npos || c.name.find("gather") != std::string::npos ||
        c.name.find("rank 6") != std::string::npos)
      cases.push_back(std::move(c));
  return cases;
}

void check_small_set(Defect defect) {
  OracleBackend backend(defect);
  check_kernels(backend, small_set(), {});
}

}  // namespace

TEST_CASE("the oracle conforms to itself") {
  OracleBackend backend(Defect::None);
  ConformanceOptions options;
  options.random_kernels = 50;
  check_backend(backend, options);
}

TEST_CASE("rounding at the end of a kernel is noticed" * doctest::should_fail()) {
  check_small_set(Defect::NoRounding);
}
TEST_CASE("a lost fault is noticed" * doctest::should_fail()) { check_small_set(Defect::LostFault); }
TEST_CASE("one fault word for several indices is noticed" * doctest::should_fail()) {
  check_small_set(Defect::OneFaultWord);
}
TEST_CASE("one fault word for several indices is noticed by the faults alone" * doctest::should_fail()) {
  OracleBackend backend(Defect::OneFaultWord);
  check_faults(backend, {});
}
TEST_CASE("a fault of another member is noticed" * doctest::should_fail()) {
  OracleBackend backend(Defect::FaultOfOthers);
  check_faults(backend, {});
}
TEST_CASE("a write outside of a buffer is noticed" * doctest::should_fail()) {
  check_small_set(Defect::StrayWrite);
}
TEST_CASE("other bits on a second run are noticed" * doctest::should_fail()) {
  check_small_set(Defect::OtherBits);
}

TEST_CASE("a fault that is told again is noticed" * doctest::should_fail()) {
  OracleBackend backend(Defect::StickyFault);
  check_faults(backend, {});
}

TEST_CASE("a wrong sum over a segment is noticed" * doctest::should_fail()) {
  OracleBackend backend(Defect::WrongConvolution);
  check_segments(backend, {});
}

TEST_CASE("a wrong convolution is noticed" * doctest::should_fail()) {
  OracleBackend backend(Defect::WrongConvolution);
  check_library_ops(backend, {});
}

}  // namespace sinter::testing
