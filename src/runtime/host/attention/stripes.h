// Attention and its gradients on the host: scores stay in a thread's caches, a stripe of rows at a time.
#pragma once

#include <memory>

#include "jit/ir/scores/score_stripes.h"
#include "src/runtime/host/program.h"

namespace sinter::runtime::host {

/// A program for a kernel with Attention::By::Stripes. `of_stripe` is that of `stripes.kernel`.
std::shared_ptr<HostExecutable> make_striped(Backend& backend, const ir::Kernel& kernel,
                                             ir::ScoreStripes stripes,
                                             std::shared_ptr<HostExecutable> of_stripe);

}  // namespace sinter::runtime::host
