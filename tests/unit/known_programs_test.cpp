// How the planner plans well-known programs: number of launches, and every kernel's text.
#include "tests/support/programs/known_programs.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "jit/plan/traffic.h"
#include "src/runtime/explain/observe.h"

using namespace sinter;
namespace fs = std::filesystem;

namespace {

const Device device = Device::null();

/// Stores the plan of the last trace.
class LastPlan : public runtime::TraceObserver {
 public:
  LastPlan() { add_observer(*this); }
  ~LastPlan() override { remove_observer(*this); }
  void runs(const runtime::TraceRun& run) override {
    plan = run.plan;
    text = summary(run);
  }
  plan::Plan plan;
  std::string text;

 private:
  /// Launches and cuts, without source lines, which change for reasons unrelated to the plan.
  static std::string summary(const runtime::TraceRun& run) {
    std::ostringstream out;
    const plan::Traffic traffic = traffic_of(run.plan, run.trace);
    out << run.trace.ops.size() << " ops, " << run.plan.launches.size() << " launches, "
        << run.plan.kernels.size() << " distinct kernels, " << run.plan.temporary_bytes()
        << " B of temporaries, " << run.plan.in_place_bytes << " B in place, peak " << run.plan.peak_bytes
        << " B, moves " << traffic.bytes_moved() << " B of at least " << traffic.least_bytes() << "\n";
    for (const plan::Launch& launch : run.plan.launches) {
      const auto* kernel = std::get_if<std::uint32_t>(&launch.what);
      out << (kernel ? "kernel " + std::to_string(*kernel) : "library");
      if (launch.members > 1) out << " x" << launch.members;
      for (std::uint32_t record : launch.records) out << " " << name_of(run.trace.ops[record].op);
      out << "\n";
    }
    for (const plan::PlanCut& cut : run.plan.cuts)
      out << "cut " << name_of(run.trace.ops[cut.producer].op) << " | "
          << name_of(run.trace.ops[cut.consumer].op) << ": " << cut.reason << " (" << cut.count << ")\n";
    return out.str();
  }
};

/// A step in its steady state: optimizers have their state, and parameters can be updated in place.
std::size_t steady_launches(const testing::KnownProgram& program) {
  const auto step = program.make(device);
  device.sync();
  std::size_t launches = 0;
  for (int i = 0; i < 3; ++i) {
    device.reset_statistics();
    const std::any kept = step();
    device.sync();
    launches = device.statistics().launches;
  }
  return launches;
}

std::string texts(const LastPlan& last, std::string_view dialect) {
  emit::Target target(emit::dialect(dialect));
  target.subgroup = 32;
  std::string all;
  for (std::size_t k = 0; k < last.plan.kernels.size(); ++k)
    all += "// ---- kernel " + std::to_string(k) + "\n" + emit::emit(last.plan.kernels[k], target).text;
  return all;
}

void compare(const fs::path& path, const std::string& text) {
  if (std::getenv("SINTER_UPDATE_GOLDEN")) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  std::stringstream kept;
  kept << file.rdbuf();
  CHECK_MESSAGE(kept.str() == text, path.string() << " differs; scripts/update-golden renews it");
}

}  // namespace

TEST_CASE("well-known programs become few launches") {
  for (const testing::KnownProgram& program : testing::known_programs()) {
    const std::size_t launches = steady_launches(program);
    CHECK_MESSAGE(launches <= program.most_launches,
                  program.name << ": " << launches << " launches, promised " << program.most_launches);
    CHECK(launches > 0);
  }
}

TEST_CASE("their plans and kernels are as they were") {
  const char* folder = std::getenv("SINTER_TESTS_FOLDER");
  REQUIRE_MESSAGE(folder, "SINTER_TESTS_FOLDER is not set");
  for (const testing::KnownProgram& program : testing::known_programs()) {
    LastPlan last;
    steady_launches(program);
    const fs::path base = fs::path(folder) / "golden" / "programs" / program.name;
    std::string plan = last.text;
    for (std::size_t k = 0; k < last.plan.kernels.size(); ++k)
      plan += "kernel " + std::to_string(k) + "\n" + ir::to_string(last.plan.kernels[k]);
    compare(base.string() + ".plan", plan);
    compare(base.string() + ".cu", texts(last, "cuda"));
    compare(base.string() + ".comp.glsl", texts(last, "glsl"));
  }
}
