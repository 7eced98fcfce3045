// Batched launches: one launch must compute the same as a launch for each member.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <sinter/error.h>

#include "tests/conformance/backend_conformance.h"
#include "tests/conformance/conformance_runner.h"

namespace sinter::testing {
namespace {

/// The same kernel with smaller loops: members of one launch differ in size.
Bindings shortened(const KernelCase& c, std::int64_t divisor) {
  Bindings bindings = c.bindings;
  for (std::size_t k = 0; k < c.kernel.outer_rank; ++k) {
    std::int64_t& extent = bindings.ints[c.kernel.extents[k].index];
    extent = divisor == 0 ? 0 : (extent + divisor - 1) / divisor;
  }
  return bindings;
}

std::string check_members(runtime::Backend& backend, runtime::Executable& executable,
                          const ir::Kernel& kernel, const std::vector<Bindings>& members,
                          const Precision& precision) {
  std::vector<std::unique_ptr<GuardedBuffers>> buffers;
  std::vector<runtime::BufferView> views;
  std::vector<std::int64_t> ints;
  std::vector<runtime::ScalarValue> scalars;
  std::vector<ReferenceResult> want;
  std::vector<std::uint32_t> faults;
  for (const Bindings& member : members) {
    buffers.push_back(std::make_unique<GuardedBuffers>(backend, member.buffers));
    const auto& own = buffers.back()->views();
    views.insert(views.end(), own.begin(), own.end());
    ints.insert(ints.end(), member.ints.begin(), member.ints.end());
    scalars.insert(scalars.end(), member.scalars.begin(), member.scalars.end());
    want.push_back(evaluate(kernel, member, precision));
    faults.insert(faults.end(), want.back().faults.begin(), want.back().faults.end());
  }
  const runtime::FaultReportRef report =
      run_alone(backend, executable, kernel, {views, ints, scalars, members.size()});
  if (const std::string d = difference(words_of(report, faults.size()), faults); !d.empty()) return d;
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto got = buffers[m]->read();
    for (std::size_t b = 0; b < got.size(); ++b) {
      const std::string d =
          difference(kernel.buffers[b].dtype, got[b], want[m].buffers[b], want[m].errors[b]);
      if (!d.empty()) return "member " + std::to_string(m) + ", buffer " + std::to_string(b) + ": " + d;
    }
  }
  return "";
}

}  // namespace

void check_kernels_of_members(runtime::Backend& backend, std::vector<KernelCase> cases,
                              const ConformanceOptions& options) {
  if (backend.traits().batch_bytes == 0) return;
  std::erase_if(cases, [&](const KernelCase& c) {
    return !runs_on(backend, c.kernel) || !ir::may_have_members(c.kernel);
  });
  Failures failures;
  for (KernelCase& c : cases) c.kernel.members = 8;
  std::vector<const ir::Kernel*> kernels;
  for (const KernelCase& c : cases) kernels.push_back(&c.kernel);
  const std::vector<runtime::ExecutableRef> executables = backend.compile(kernels);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const KernelCase& c = cases[i];
    const std::vector<Bindings> members = {shortened(c, 3), c.bindings, shortened(c, 0), shortened(c, 2),
                                           c.bindings};
    std::string wrong;
    try {
      wrong = check_members(backend, *executables[i], c.kernel, members, options.precision);
    } catch (const std::exception& e) {
      wrong = std::string("threw: ") + e.what();
    }
    if (!wrong.empty()) failures.add(c.name + ": " + wrong + "\n" + ir::to_string(c.kernel));
  }
  failures.report(std::to_string(cases.size()) + " kernels for several members");
}

}  // namespace sinter::testing
