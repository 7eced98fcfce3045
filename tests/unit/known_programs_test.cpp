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

namespace {

struct Layers {
  std::vector<Tensor<2>> weights;
  std::vector<Tensor<1>> biases;
};

struct StepCounts {
  std::uint64_t launches, bytes_in_place, bytes_read, plans_built;
};

/// A step over 300 parameters of eight shapes, in its steady state; `after` may follow it.
template <class After = decltype([](const Layers&) {})>
StepCounts counts_of_step(optim::Optimizer optimizer, bool matrices_only = false, After after = {}) {
  const Device training = device.autodiff();
  Layers model;
  for (int i = 0; i < (matrices_only ? 300 : 150); ++i)
    model.weights.push_back(Tensor<2>::ones({8 + i % 5, 16}, training).require_grad());
  for (int i = 0; i < 150 && !matrices_only; ++i)
    model.biases.push_back(Tensor<1>::ones({8 + i % 3}, training).require_grad());
  for (int i = 0; i < 4; ++i) {
    auto loss = Tensor<0>::full({}, 0.0, training);
    for (const auto& weight : model.weights) loss = loss + weight.square().sum();
    for (const auto& bias : model.biases) loss = loss + bias.square().sum();
    Gradients gradients = loss.backward();
    loss = Tensor<0>();
    device.sync();
    device.reset_statistics();
    optimizer.step(1e-3 / (i + 1), model, std::move(gradients));
    after(model);
  }
  device.sync();
  const Statistics counts = device.statistics();
  return {counts.launches, counts.bytes_in_place, counts.bytes_from_device, counts.plans_built};
}

}  // namespace

TEST_CASE("each optimizer's step over hundreds of parameters is a few launches, in place") {
  using namespace optim;
  constexpr std::uint64_t kBytes = 150 * (10 * 16 + 9) * sizeof(float);  // of the parameters
  struct Row {
    const char* name;
    Optimizer optimizer;
    std::uint64_t most_launches;
    std::uint64_t states;  // of a parameter's size
  };
  const Row rows[] = {
      {"sgd", SgdConfig{}.init(), 2, 0},
      {"momentum", SgdConfig{.momentum = 0.9}.init(), 2, 1},
      {"adam", AdamConfig{}.init(), 2, 2},
      {"adamw", AdamWConfig{}.init(), 2, 2},
      {"adamw, amsgrad", AdamWConfig{.amsgrad = true}.init(), 2, 3},
      {"adamax", AdaMaxConfig{}.init(), 2, 2},
      {"radam", RAdamConfig{}.init(), 2, 2},
      {"adadelta", AdaDeltaConfig{}.init(), 2, 2},
      {"rmsprop", RmsPropConfig{}.init(), 2, 1},
      {"rmsprop, centered", RmsPropConfig{.momentum = 0.9, .centered = true}.init(), 2, 3},
      {"adagrad", AdaGradConfig{}.init(), 2, 1},
      {"adan", AdanConfig{}.init(), 5, 3},
      {"lion", LionConfig{}.init(), 2, 1},
      {"adafactor", AdafactorConfig{}.init(), 5, 0},
      {"adam, clipped", AdamConfig{.options = {.clip_norm = 1}}.init(), 8, 2},
  };
  for (const Row& row : rows) {
    const StepCounts counts = counts_of_step(row.optimizer);
    CAPTURE(row.name);
    CHECK(counts.launches <= row.most_launches);
    CHECK(counts.launches > 0);
    CHECK(counts.bytes_in_place >= (1 + row.states) * kBytes);
    CHECK(counts.bytes_read == 0);
    CHECK(counts.plans_built == 0);
  }
  // Three products for each of five iterations are those of all matrices of a shape; all else is a few
  // launches.
  CHECK(counts_of_step(MuonConfig{}.init(), true).launches <= 5 * 5 * 3 + 20);
}

TEST_CASE("averages of hundreds of weights are a launch or two beside their step") {
  for (const bool fades : {true, false}) {
    auto average = fades ? optim::EmaConfig{}.init() : optim::SwaConfig{}.init();
    const StepCounts counts = counts_of_step(optim::AdamConfig{}.init(), false,
                                             [&](const Layers& model) { average.update(model); });
    CHECK(counts.launches <= 4);
    CHECK(counts.bytes_read == 0);
    CHECK(counts.plans_built == 0);
  }
}

namespace {

/// Most launches by which each kind of recurrent layer takes more for 24 steps than for 8.
struct MostLaunches {
  std::int64_t lstm, gru, rnn;
};

/// `run`: what is done with a layer and its input.
template <class Run>
void check_launches(const Device& on, Run run, const MostLaunches& most) {
  const auto launches = [&](const nn::Recurrent& layer, std::int64_t length) {
    const auto x = Tensor<3>::zeros({32, length, 64}, device) + 0.0;
    device.sync();
    device.reset_statistics();
    const auto found = run(layer, x);
    device.sync();
    return static_cast<std::int64_t>(device.statistics().launches);
  };
  const auto more = [&](const nn::Recurrent& layer) { return launches(layer, 24) - launches(layer, 8); };
  CHECK(more(nn::LstmConfig{.d_in = 64, .d_hidden = 128}.init(on)) <= most.lstm);
  CHECK(more(nn::GruConfig{.d_in = 64, .d_hidden = 128}.init(on)) <= most.gru);
  CHECK(more(nn::RnnConfig{.d_in = 64, .d_hidden = 128}.init(on)) <= most.rnn);
}

}  // namespace

TEST_CASE("a step of a recurrent layer is a kernel beside its product") {
  // One more joins the outputs, of which there are more.
  check_launches(device, [](const nn::Recurrent& layer, const Tensor<3>& x) { return layer.forward(x); },
                 {16 * 2 + 1, 16 * 2 + 1, 16 * 2 + 1});
}

TEST_CASE("so is a step of its gradient") {
  const Autocast half(DType::bf16);
  // Forward as well, and a few more that join what there is more of.
  check_launches(
      device.autodiff(),
      [](const nn::Recurrent& layer, const Tensor<3>& x) { return layer.forward(x).output.sum().backward(); },
      {16 * 4 + 6, 16 * 4 + 6, 16 * 2 + 6});
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
