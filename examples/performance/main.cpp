// What is stored, what waits, what is planned and compiled: each claim of docs/performance.md as a few lines,
// with what the planner makes of them. Most of it runs on the null device, which plans like a GPU and
// computes nothing.
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <sinter/sinter.h>

namespace sn = sinter;
using Matrix = sn::Tensor<2>;

namespace {

/// Prints the launches that `program` becomes: their operations, the values that they write, and why they are
/// not one; and what became of values that are held but were not asked for.
template <class Program>
void show(const std::string& title, Program program) {
  std::cout << title << "\n";
  const sn::Report report = sn::explain(program);
  for (const sn::ReportTrace& trace : report.traces) {
    for (const sn::ReportLaunch& launch : trace.launches) {
      std::cout << (launch.kind == sn::ReportLaunch::Kind::Kernel ? "  kernel " : "  library");
      for (const std::string& op : launch.ops) std::cout << " " << op;
      for (const sn::ReportAccess& access : launch.accesses) {
        if (!access.written) continue;
        std::cout << ", writes " << access.op << " " << sn::to_string(access.shape);
        if (!access.over.empty()) std::cout << " in place";
      }
      std::cout << "\n";
    }
    for (const sn::ReportHeld& held : trace.held)
      if (held.reason != "asked for")
        std::cout << "  held " << held.op << (held.stored ? ", stored: " : ", not stored: ") << held.reason
                  << "\n";
    for (const sn::ReportCut& cut : trace.cuts) std::cout << "  cut: " << cut.reason << "\n";
  }
}

/// What a device counted while `program` ran.
template <class Program>
sn::Statistics counted(const sn::Device& device, Program program) {
  device.sync();
  device.reset_statistics();
  program();
  device.sync();
  return device.statistics();
}

}  // namespace

void what_is_stored(const sn::Device& device) {
  const auto x = Matrix::zeros({1024, 1024}, device), other = Matrix::zeros({1024, 1024}, device),
             column = Matrix::zeros({1024, 1}, device);
  device.flush();

  show("a local that is gone at the flush", [&] {
    const auto y = (x * 2.0).exp();
    return y + 1.0;
  });
  Matrix named;
  show("a value that still has a name", [&] {
    named = (x * 2.0).exp();
    return named + 1.0;
  });
  show("one that comes of rows", [&] {
    named = x - x.mean(1);
    return (named * named).mean(1);
  });
  show("the same, asked for with what came of it", [&] {
    named = x - x.mean(1);
    const auto squares = (named * named).mean(1);
    sn::sync({named, squares});
    return squares;
  });
  show("one that comes of two inputs as large as it", [&] {
    named = x + other;
    return named.sum(1);
  });
  show("cheap, and needed by two kernels", [&] {
    const auto e = x.exp();
    return std::pair(e.sum(0), e.sum(1));
  });
  show("cheap, and needed by many elements", [&] { return x * column.exp(); });
  show("costly, and needed by many elements", [&] { return x * column.exp().sin().tanh().log(); });
}

void what_fuses(const sn::Device& device) {
  const auto x = Matrix::zeros({1024, 1024}, device), w = Matrix::zeros({1024, 1024}, device);
  device.flush();

  show("views, padding and joining", [&] {
    return Matrix::cat({x.transpose(0, 1) * 2.0, x.narrow(0, 0, 16)}, 0).flip({1}).exp();
  });
  show("reductions over the same dimension, and what follows", [&] {
    const auto e = (x - x.max(1)).exp();
    return e / e.sum(1);
  });
  show("reductions over different dimensions", [&] { return x.sum(1).max(0); });
  show("a product", [&] { return sn::gelu(x.matmul(w) + 1.0); });
  const auto half_x = x.cast(sn::DType::bf16), half_w = w.cast(sn::DType::bf16);
  device.flush();
  show("a product of 16-bit floats, on tensor cores", [&] { return sn::gelu(half_x.matmul(half_w) + 1.0); });
  {
    const sn::MatmulPrecisionScope rounded(sn::MatmulPrecision::High);
    show("a product of f32 that may be rounded, on tensor cores",
         [&] { return sn::gelu(x.matmul(w) + 1.0); });
  }
}

void sums_by_an_index(const sn::Device& device) {
  const auto values = Matrix::zeros({200'000, 64}, device);
  const auto rows = sn::Tensor<1, sn::Int>::zeros({200'000}, device);
  device.flush();

  const auto added = [&] { return Matrix::zeros({100'000, 64}, device).index_add(0, rows, values); };
  show("in the order of their positions", added);
  const sn::SumOrderScope any(sn::SumOrder::Any);
  show("in any order", added);
}

void what_is_written_in_place(const sn::Device& device) {
  auto x = Matrix::zeros({1024, 1024}, device), y = Matrix::zeros({1024, 1024}, device);
  const auto other = y;
  device.flush();

  show("the old handle is gone", [&] { x = x * 2.0 + 1.0; });
  show("somebody else holds the old value", [&] { y = y * 2.0 + 1.0; });
  show("other elements are read than written", [&] { x = x + x.transpose(0, 1); });
}

void what_waits(const sn::Device& host) {
  const auto x = sn::Tensor<1>::ones({1000}, host);
  const sn::Statistics often = counted(host, [&] {
    double sum = 0;
    for (int step = 0; step < 4; ++step) sum += (x * step).mean().item();
  });
  const sn::Statistics together = counted(host, [&] {
    std::vector<sn::Tensor<0>> means;
    for (int step = 0; step < 4; ++step) means.push_back((x * step).mean());
    sn::read(means);
  });
  const sn::Statistics once = counted(host, [&] {
    auto sum = sn::Tensor<0>::full({}, 0, host);
    for (int step = 0; step < 4; ++step) sum = sum + (x * step).mean();
    sum.item();
  });
  std::cout << "four means read one by one: " << often.traces << " flushes\n";
  std::cout << "four means read together: " << together.traces << " flush\n";
  std::cout << "their sum read at the end: " << once.traces << " flush\n";
  const auto matrix = sn::Tensor<2>::ones({1000, 1000}, host);
  host.sync();
  const sn::Statistics column = counted(host, [&] { matrix.select(1, 3).to_vector<float>(); });
  std::cout << "a column of them read: " << column.bytes_from_device << " bytes\n";
}

void what_compiles(const sn::Device& host) {
  const auto step = [&](std::int64_t batch, double rate) {
    const auto x = Matrix::ones({batch, 64}, host);
    (sn::softmax(x, 1) * rate).sum().item();
  };
  const auto report = [&](const char* title, const sn::Statistics& counts) {
    std::cout << title << ": plans found " << counts.plans_found << ", made " << counts.plans_built
              << "; kernels made " << counts.kernels_compiled + counts.kernels_from_disk << "\n";
  };
  step(32, 0.1);
  report("another scalar", counted(host, [&] { step(32, 0.2); }));
  report("another batch size", counted(host, [&] { step(48, 0.2); }));
  report("both again", counted(host, [&] { step(32, 0.3), step(48, 0.3); }));

  // From here on whatever is not known yet is an error.
  const sn::ForbidCompilation guard;
  step(32, 0.4);
  try {
    step(64, 0.4);
  } catch (const sn::Error& error) {
    std::cout << error.what() << "\n";
  }
}

int main() {
  what_is_stored(sn::Device::null());
  what_fuses(sn::Device::null());
  sums_by_an_index(sn::Device::null());
  what_is_written_in_place(sn::Device::null());
  what_waits(sn::Device::host());
  what_compiles(sn::Device::host());
}
