// Plans of products of 16-bit floats for a device with tensor cores that need not be there.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <sinter/sinter.h>

#include "jit/emit/dialects/table.h"
#include "jit/emit/emit.h"
#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/plan/plan.h"
#include "src/runtime/explain/observe.h"

namespace sinter::testing {

/// What the tests ask of a plan.
struct Planned {
  plan::Plan plan;
  std::size_t libraries = 0, tiled = 0;
  const ir::Kernel* kernel = nullptr;  // the one with tiles
  std::vector<std::int64_t> ints;      // its arguments

  explicit Planned(plan::Plan made) : plan(std::move(made)) {
    for (const plan::Launch& launch : plan.launches) {
      const auto* number = std::get_if<std::uint32_t>(&launch.what);
      if (!number) {
        ++libraries;
      } else if (plan.kernels[*number]->tiling.any()) {
        ++tiled;
        kernel = &*plan.kernels[*number];
        ints.assign(launch.ints.begin(), launch.ints.end());
      }
    }
  }
  bool has_cut(const std::string& reason) const {
    for (const plan::PlanCut& cut : plan.cuts)
      if (cut.reason.find(reason) != std::string::npos) return true;
    return false;
  }
};

inline ir::DeviceTraits with_tensor_cores() {
  ir::DeviceTraits traits;
  traits.grid_reductions = true;
  traits.tensor_cores = {132, std::size_t{227} << 10};
  traits.lone_rows = true;
  traits.launch_bytes = 64.0 * 1024 * 132;
  traits.wait_bytes = traits.launch_bytes / 8;
  return traits;
}

/// Of which workgroups share tiles in clusters besides: an H200 whose driver knows of these.
inline ir::DeviceTraits with_clusters() {
  ir::DeviceTraits traits = with_tensor_cores();
  traits.tensor_cores.cluster = 8;
  return traits;
}

/// Of cards whose subgroups multiply by themselves: an A100, an RTX 4090.
inline ir::DeviceTraits with_subgroups(int compute_units, std::size_t shared_kib, double products) {
  ir::DeviceTraits traits = with_tensor_cores();
  traits.tensor_cores = {compute_units, shared_kib << 10, false, products};
  traits.launch_bytes = 64.0 * 1024 * compute_units;
  traits.wait_bytes = traits.launch_bytes / 8;
  return traits;
}
inline ir::DeviceTraits ampere() { return with_subgroups(108, 163, 1024); }
inline ir::DeviceTraits ada() { return with_subgroups(128, 99, 512); }

/// The trace of what `program` computes, whose operands are in memory.
inline trace::Trace traced(const std::function<std::vector<AnyTensor>(const Device&)>& program) {
  struct LastTrace : runtime::TraceObserver {
    void runs(const runtime::TraceRun& run) override { trace = run.trace; }
    trace::Trace trace;
  } last;
  const Device device = Device::null();
  runtime::add_observer(last);
  const std::vector<AnyTensor> held = program(device);
  device.sync();
  runtime::remove_observer(last);
  return std::move(last.trace);
}

inline Planned planned(const std::function<std::vector<AnyTensor>(const Device&)>& program,
                       const ir::DeviceTraits& traits = with_tensor_cores()) {
  return Planned(plan::make_plan(traced(program), traits, {}));
}

inline AnyTensor input(const Shape& shape, const Device& device, DType dtype = DType::bf16) {
  const AnyTensor x = AnyTensor::full(shape, 0, dtype, device);
  x.sync();
  return x;
}

inline Planned product(const Shape& a, const Shape& b, bool transpose_a = false, bool transpose_b = false,
                       DType dtype = DType::bf16, const ir::DeviceTraits& traits = with_tensor_cores()) {
  return planned(
      [&](const Device& device) {
        AnyTensor x = input(a, device, dtype), y = input(b, device, dtype);
        if (transpose_a) x = x.transpose(-2, -1);
        if (transpose_b) y = y.transpose(-2, -1);
        return std::vector{x.matmul(y)};
      },
      traits);
}

/// Of 8-bit floats, (m, k) times (n, k) transposed or (k, n), as f32.
struct Float8Product {
  DType a = DType::f8_e4m3, b = DType::f8_e4m3;
  MatmulPrecision precision = MatmulPrecision::Highest;
  bool transposed = true;
  std::int64_t m = 512, n = 256, k = 384;
  DType cast = DType::f32;

  Planned plan(const ir::DeviceTraits& traits = with_tensor_cores()) const {
    return planned(
        [&](const Device& device) {
          const MatmulPrecisionScope scope(precision);
          const AnyTensor x = input({m, k}, device, a),
                          y = input(transposed ? Shape{n, k} : Shape{k, n}, device, b), wide = y.cast(cast);
          return std::vector{x.cast(cast).matmul(transposed ? wide.transpose(0, 1) : wide)};
        },
        traits);
  }
};

/// The tiles that may be tried for it.
enum class Of { Result, Image, Weight };

/// The kernel of a convolution of x {.., channels, ..} with a weight, or of one of its gradients.
inline Planned convolution(const Shape& x, const Shape& weight, const Conv2dOptions& options, Of of,
                           DType dtype, const ir::DeviceTraits& traits = with_tensor_cores()) {
  return planned(
      [&](const Device& device) {
        const MatmulPrecisionScope scope(MatmulPrecision::High);
        const AnyTensor image = input(x, device.autodiff(), dtype).require_grad(),
                        kernel = input(weight, device.autodiff(), dtype).require_grad();
        const AnyTensor y = image.conv2d(kernel, options);
        if (of == Of::Result) return std::vector{y};
        const AnyTensor product = AnyTensor::mul(y, input(y.shape(), device, dtype));
        const Gradients gradients = product.sum({0, 1, 2, 3}).reshape({}).backward();
        return std::vector{*gradients.get(of == Of::Image ? image : kernel)};
      },
      traits);
}

inline std::vector<ir::Tiling> tilings_of(const Planned& p, const ir::DeviceTraits& traits) {
  return plan::ranked_tilings(*p.kernel, p.ints, plan::limits_of(traits));
}

inline emit::Target cuda_target(const ir::DeviceTraits& traits) {
  emit::Target target(emit::dialect("cuda"));
  target.tensor_units = traits.tensor_cores.compute_units;
  return target;
}
inline emit::Target hopper() { return cuda_target(with_tensor_cores()); }

}  // namespace sinter::testing
