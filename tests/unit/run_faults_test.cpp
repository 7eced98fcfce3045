// Values in doubt: what a run says of itself and of the runs that its inputs come of.
#include "src/runtime/run_faults.h"

#include <memory>

#include <doctest/doctest.h>

#include "jit/plan/plan.h"

using namespace sinter;

TEST_CASE("each run is asked once, by however many ways it is reached") {
  // Two inputs of each run come of the one before: 2^60 ways to the first.
  const auto plan = std::make_shared<const plan::Plan>();
  using runtime::RunFaults;
  using Inputs = std::vector<RunFaults::Input>;
  auto last = std::make_shared<RunFaults>(plan, std::vector<runtime::FaultReportRef>{}, Inputs{},
                                          std::vector<RunFaults::Place>{});
  for (int run = 0; run < 60; ++run)
    last = std::make_shared<RunFaults>(plan, std::vector<runtime::FaultReportRef>{},
                                       Inputs{{0, last, 0}, {1, last, 1}}, std::vector<RunFaults::Place>{});
  CHECK(last->done());
}
