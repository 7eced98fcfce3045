// Launches with guarded buffers, and the reporting of failures.
#include "tests/conformance/conformance_runner.h"

#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "tests/support/one_run.h"

namespace sinter::testing {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::byte kGuardByte{0xA5};

}  // namespace

GuardedBuffers::GuardedBuffers(runtime::Backend& backend, const std::vector<std::vector<std::byte>>& contents)
    : backend_(backend) {
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::size_t before = i % 2 == 0 ? 0 : kGuard;
    std::vector<std::byte> bytes(before + contents[i].size() + kGuard, kGuardByte);
    std::copy(contents[i].begin(), contents[i].end(), bytes.begin() + before);
    runtime::BufferRef buffer = backend.allocate(bytes.size());
    backend.upload({buffer.get(), 0}, bytes);
    sizes_.push_back(contents[i].size());
    views_.push_back({buffer.get(), before});
    buffers_.push_back(std::move(buffer));
  }
}

std::vector<std::vector<std::byte>> GuardedBuffers::read() const {
  std::vector<std::vector<std::byte>> contents;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const std::size_t before = views_[i].byte_offset;
    std::vector<std::byte> bytes(before + sizes_[i] + kGuard);
    backend_.download({views_[i].buffer, 0}, bytes);
    const auto is_guard = [](std::byte b) { return b == kGuardByte; };
    const auto begin = bytes.begin() + before, end = begin + sizes_[i];
    if (!std::all_of(bytes.begin(), begin, is_guard) || !std::all_of(end, bytes.end(), is_guard))
      throw std::runtime_error("bytes outside of buffer " + std::to_string(i) + " were changed");
    contents.emplace_back(begin, end);
  }
  return contents;
}

void KernelRunner::compile(const std::vector<KernelCase>& cases) {
  std::vector<std::string> texts;
  std::vector<const ir::Kernel*> kernels;
  for (const KernelCase& c : cases) {
    std::string text = ir::to_string(c.kernel);
    if (!executables_.try_emplace(text).second) continue;
    texts.push_back(std::move(text));
    kernels.push_back(&c.kernel);
  }
  constexpr std::size_t kAtOnce = 64;
  for (std::size_t from = 0; from < kernels.size(); from += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, kernels.size() - from);
    const auto compiled = backend_.compile(std::span(kernels).subspan(from, count));
    if (compiled.size() != count)
      throw std::runtime_error("compile gave another number of executables than kernels");
    for (std::size_t i = 0; i < count; ++i) executables_[texts[from + i]] = compiled[i];
  }
}

runtime::RunNeeds needs_of(const runtime::Executable& executable, const ir::Kernel& kernel,
                           const runtime::LaunchArguments& arguments) {
  return {executable.workspace_bytes(arguments.ints, arguments.members),
          static_cast<std::uint32_t>(kernel.faults * arguments.members)};
}

runtime::FaultReportRef run_alone(runtime::Backend& backend, runtime::Executable& executable,
                                  const ir::Kernel& kernel, const runtime::LaunchArguments& arguments) {
  return run_alone(backend, executable, arguments, needs_of(executable, kernel, arguments).faults);
}

std::vector<std::uint32_t> words_of(const runtime::FaultReportRef& report, std::size_t count) {
  if (report == nullptr && count > 0) throw std::runtime_error("a run with fault words gave no report");
  if (report == nullptr) return {};
  const std::span<const std::uint32_t> words = report->words();
  if (words.size() != count)
    throw std::runtime_error("a report of " + std::to_string(words.size()) + " fault words where there are " +
                             std::to_string(count));
  if (!report->done()) throw std::runtime_error("a run whose words are there has not ended");
  return {words.begin(), words.end()};
}

std::string difference(std::span<const std::uint32_t> got, std::span<const std::uint32_t> want) {
  for (std::size_t f = 0; f < want.size(); ++f)
    if (got[f] != want[f])
      return "fault word " + std::to_string(f) + " of " + std::to_string(want.size()) + " is " +
             std::to_string(got[f]) + ", expected " + std::to_string(want[f]);
  return "";
}

std::vector<std::vector<std::byte>> KernelRunner::run(const KernelCase& c,
                                                      std::vector<std::uint32_t>& faults) {
  const runtime::ExecutableRef executable = executables_.at(ir::to_string(c.kernel));
  if (!executable) throw std::runtime_error("was not compiled");
  const GuardedBuffers buffers(backend_, c.bindings.buffers);
  const runtime::FaultReportRef report =
      run_alone(backend_, *executable, c.kernel, {buffers.views(), c.bindings.ints, c.bindings.scalars});
  faults = words_of(report, c.kernel.faults);
  backend_.synchronize();
  return buffers.read();
}

bool runs_on(const runtime::Backend& backend, const ir::Kernel& kernel) {
  const ir::DeviceTraits& traits = backend.traits();
  if (kernel.buffers.size() > static_cast<std::size_t>(traits.max_buffers)) return false;
  const auto known = [&](DType dtype) { return traits.supports(dtype); };
  return std::all_of(kernel.buffers.begin(), kernel.buffers.end(),
                     [&](const auto& b) { return known(b.dtype); }) &&
         std::all_of(kernel.exprs.begin(), kernel.exprs.end(),
                     [&](const auto& e) { return known(e.dtype); }) &&
         std::all_of(kernel.scalars.begin(), kernel.scalars.end(), known);
}

void Failures::add(const std::string& text) {
  constexpr std::size_t kShown = 12;
  if (count_++ < kShown) text_ += "\n" + text;
}

void Failures::report(const std::string& what) const {
  CHECK_MESSAGE(count_ == 0, what << ": " << count_ << " failures" << text_);
}

}  // namespace sinter::testing
