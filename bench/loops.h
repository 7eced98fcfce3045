// Elementwise work beside hand-written loops that move the same bytes.
#pragma once

#include <vector>

#include <sinter/tensor.h>

#include "workload.h"

namespace bench {

/// Rows whose number is the time of a program of ops over that of a loop in one thread, both measured in turn
/// within each repetition.
std::vector<Workload> loop_rows();

/// The programs, also rows of their own.
sinter::Tensor<1> gelu_by_ops(const sinter::Tensor<1>& x);
sinter::Tensor<1> chain(const sinter::Tensor<1>& x, const sinter::Tensor<1>& a, const sinter::Tensor<1>& b);
struct AdamState {
  sinter::Tensor<1> p, m, v;
};
void adam_by_ops(AdamState& state, const sinter::Tensor<1>& g);

}  // namespace bench
