// The emulated card that does nothing: what is planned and written for it is an H100's. What it computes
// nobody asks, so no test but this one runs there.
#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "src/runtime/device_core.h"
#include "src/runtime/explain/observe.h"

namespace sinter::testing {

TEST_CASE("programs are planned for an idle card as for an H100") {
  const Device device = Device::cuda();
  const ir::DeviceTraits& traits = device.core().traits();
  CHECK(traits.description == "idle H100");
  CHECK(traits.tensor_cores.has_groups);
  CHECK(traits.tensor_cores.compute_units == 132);
  CHECK(traits.row_cluster == 8);
  struct Tilings : runtime::TraceObserver {
    void runs(const runtime::TraceRun& run) override {
      for (const std::string& tiling : run.tilings) tiles += !tiling.empty();
    }
    int tiles = 0;
  } tilings;
  // 32 GiB, of which nothing is written.
  const AnyTensor x = AnyTensor::full({1 << 17, 1 << 17}, 0, DType::bf16, device);
  x.sync();
  runtime::add_observer(tilings);
  x.narrow(0, 0, 4096).matmul(x).sync();
  device.sync();
  runtime::remove_observer(tilings);
  CHECK(tilings.tiles == 1);
}

}  // namespace sinter::testing
