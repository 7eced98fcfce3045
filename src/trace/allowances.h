// What the scopes of a thread allow, to be kept and to be in force again.
#pragma once

#include <sinter/precision.h>

namespace sinter::trace {

/// Of the scopes in which it is made.
struct Allowances {
  MatmulPrecision products = matmul_precision();
  SumOrder sums = sum_order();
};

/// While it lives, they are in force.
class AllowanceScope {
 public:
  explicit AllowanceScope(Allowances allowed) : products_(allowed.products), sums_(allowed.sums) {}

 private:
  MatmulPrecisionScope products_;
  SumOrderScope sums_;
};

}  // namespace sinter::trace
