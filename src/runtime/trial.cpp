// Operands at random, results compared, launches timed: each with the device's lock for as long as it takes,
// so that other threads use the device in between.
#include "src/runtime/trial.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <sinter/error.h>

#include "jit/plan/lower/tiles/tiling.h"
#include "jit/tune/scratch.h"
#include "src/runtime/executor.h"

namespace sinter::runtime {
namespace {

// Of a result so much is compared: all of it, or parts from the first to the last element.
constexpr std::size_t kComparedBytes = std::size_t{4} << 20;
constexpr std::size_t kParts = 64;
// Scratch buffers take no more of the device's memory than one in so many bytes.
constexpr std::size_t kMemoryShare = 4;
constexpr std::size_t kAlignment = 256;

class BackendTrial final : public tune::Trial {
 public:
  BackendTrial(Backend& backend, Executor& executor, Compilations& compilations,
               std::vector<ir::Kernel> variants, TrialArguments arguments)
      : backend_(backend),
        executor_(executor),
        kernel_(variants.front()),
        arguments_(std::move(arguments)),
        depth_(plan::product_sizes(kernel_, arguments_.ints).depth) {
    for (ir::Kernel& variant : variants) {
      tilings_.push_back(variant.tiling);
      compilations_.push_back(compilations.begin(std::move(variant)));
    }
  }

  ~BackendTrial() override {
    for (const auto& compilation : compilations_) compilation->release();
  }

  void make_operands(tune::Time deadline) {
    const std::vector<tune::Touched> touched = tune::touched_by(kernel_, arguments_.ints);
    std::size_t all = 0;
    for (std::size_t b = 0; b < touched.size(); ++b) {
      const std::size_t size = size_of(kernel_.buffers[b].dtype);
      Scratch& scratch = scratch_.emplace_back();
      scratch.before = up(static_cast<std::size_t>(-touched[b].low) * size);
      scratch.bytes = static_cast<std::size_t>(touched[b].end) * size;
      all += scratch.before + scratch.bytes;
    }
    if (const std::size_t most = backend_.traits().memory_bytes / kMemoryShare; most > 0 && all > most)
      throw DeviceError("[tune] variants are not tried on " + std::to_string(all) +
                        " bytes of scratch memory; the most are " + std::to_string(most));
    for (std::size_t b = 0; b < scratch_.size(); ++b) {
      Scratch& scratch = scratch_[b];
      const ir::BufferInfo& info = kernel_.buffers[b];
      if (info.read) scratch.content = tune::pattern_of(info.dtype, amplitude(b), b + 1);
      scratch.buffer = allocate(scratch.before + scratch.bytes);
      if (info.read) fill(scratch, 0, scratch.before + scratch.bytes, deadline);
      if (info.written) scratch.parts = parts_of(scratch, size_of(info.dtype));
    }
  }

  void wait(tune::Time deadline) override {
    for (const auto& compilation : compilations_) compilation->wait(deadline);
  }
  State state(std::size_t variant) override { return compilations_[variant]->state(); }
  std::string failure(std::size_t variant) override { return compilations_[variant]->failure(); }

  std::string compare(std::size_t variant) override {
    prepare_results();
    launch(variant);
    for (std::size_t b = 0; b < scratch_.size(); ++b) {
      Scratch& scratch = scratch_[b];
      if (scratch.parts.empty()) continue;
      const DType dtype = kernel_.buffers[b].dtype;
      std::vector<std::vector<std::byte>> results;
      for (const Part& part : scratch.parts) {
        results.emplace_back(part.bytes);
        const auto lock = executor_.lock();
        backend_.download(view(scratch, part.from), results.back());
      }
      if (variant == 0) {
        scratch.greatest = 0;
        for (const auto& result : results)
          scratch.greatest = std::max(scratch.greatest, tune::greatest_of(dtype, result));
        scratch.reference = std::move(results);
        continue;
      }
      tune::Comparison comparison(dtype, tune::tolerance_of(kernel_, tilings_[variant], depth_),
                                  scratch.greatest);
      for (std::size_t p = 0; p < results.size(); ++p) comparison.add(scratch.reference[p], results[p]);
      if (std::string verdict = comparison.verdict(); !verdict.empty()) return verdict;
    }
    return "";
  }

  double time(std::size_t variant) override {
    const ExecutableRef executable = executable_of(variant);
    const auto views = all_views();
    const auto lock = executor_.lock();
    return backend_.time_launch(*executable, launch_arguments(views), needs_of(*executable));
  }

 private:
  struct Part {
    std::size_t from, bytes;
  };
  struct Scratch {
    BufferRef buffer;
    std::size_t before = 0, bytes = 0;  // of where maps count from, and behind that
    std::vector<std::byte> content;     // repeated
    std::vector<Part> parts;            // of a result, which are compared
    std::vector<std::vector<std::byte>> reference;
    double greatest = 0;
  };

  static std::size_t up(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  double amplitude(std::size_t buffer) const { return tune::amplitude_of(kernel_, buffer, depth_); }

  static BufferView view(const Scratch& scratch, std::size_t from) { return {scratch.buffer.get(), from}; }
  std::vector<BufferView> all_views() const {
    std::vector<BufferView> views;
    for (const Scratch& scratch : scratch_) views.push_back(view(scratch, scratch.before));
    return views;
  }

  BufferRef allocate(std::size_t bytes) {
    const auto lock = executor_.lock();
    return backend_.allocate(bytes);
  }

  /// Writes the content of [from, from + bytes).
  void fill(const Scratch& scratch, std::size_t from, std::size_t bytes, tune::Time deadline) {
    const std::size_t period = scratch.content.size();
    while (bytes > 0) {
      if (std::chrono::steady_clock::now() >= deadline)
        throw DeviceError("[tune] the budget ended while operands were made");
      const std::size_t at = from % period, now = std::min(bytes, period - at);
      const auto lock = executor_.lock();
      backend_.upload(view(scratch, from), std::span(scratch.content).subspan(at, now));
      from += now;
      bytes -= now;
    }
  }

  static std::vector<Part> parts_of(const Scratch& scratch, std::size_t element) {
    if (scratch.bytes <= kComparedBytes) return {{scratch.before, scratch.bytes}};
    std::vector<Part> parts;
    const std::size_t bytes = kComparedBytes / kParts, last = scratch.bytes - bytes;
    for (std::size_t p = 0; p < kParts; ++p)
      parts.push_back({scratch.before + last / (kParts - 1) * p / element * element, bytes});
    parts.back().from = scratch.before + last;
    return parts;
  }

  /// What a variant does not write is no number, and what it updates in place is as it was.
  void prepare_results() {
    const std::vector<std::byte> nothing(kComparedBytes, std::byte{0xff});
    for (const Scratch& scratch : scratch_)
      for (const Part& part : scratch.parts) {
        if (!scratch.content.empty()) {
          fill(scratch, part.from, part.bytes, tune::Time::max());
          continue;
        }
        const auto lock = executor_.lock();
        backend_.upload(view(scratch, part.from), std::span(nothing).first(part.bytes));
      }
  }

  ExecutableRef executable_of(std::size_t variant) {
    ExecutableRef executable = compilations_[variant]->executable();
    if (!executable) throw DeviceError("[tune] a variant is launched that is not compiled");
    backend_.wait_until_ready(*executable, arguments_.ints, 1);
    return executable;
  }
  RunNeeds needs_of(const Executable& executable) const {
    return {executable.workspace_bytes(arguments_.ints, 1), kernel_.faults};
  }
  LaunchArguments launch_arguments(const std::vector<BufferView>& views) const {
    return {views, arguments_.ints, arguments_.scalars};
  }

  void launch(std::size_t variant) {
    const ExecutableRef executable = executable_of(variant);
    const auto views = all_views();
    const auto lock = executor_.lock();
    Run run(backend_, nullptr, needs_of(*executable));
    backend_.launch(*executable, launch_arguments(views));
    run.submit();
  }

  Backend& backend_;
  Executor& executor_;
  const ir::Kernel kernel_;
  const TrialArguments arguments_;
  const std::int64_t depth_;
  std::vector<ir::Tiling> tilings_;  // of the variants
  std::vector<std::shared_ptr<Compilation>> compilations_;
  std::vector<Scratch> scratch_;  // of each buffer
};

}  // namespace

std::unique_ptr<tune::Trial> begin_trial(Backend& backend, Executor& executor, Compilations& compilations,
                                         std::vector<ir::Kernel> variants, TrialArguments arguments,
                                         tune::Time deadline) {
  auto trial = std::make_unique<BackendTrial>(backend, executor, compilations, std::move(variants),
                                              std::move(arguments));
  trial->make_operands(deadline);
  return trial;
}

}  // namespace sinter::runtime
