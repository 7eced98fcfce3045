// The generator's steps that assemble tensors: assignment, concatenation, repetition, rotation.
#pragma once

#include "tests/support/programs/program_pool.h"

namespace sinter::testing {

class RandomAssembly : public ProgramPool {
 public:
  using ProgramPool::ProgramPool;

 protected:
  void assemble();
  Range random_range(std::int64_t size);

 private:
  void assign(int x);
  void join(int x);
  void repeat(int x);
  void roll(int x);
  /// A handle of that shape and dtype, or a new input.
  int of_shape(const Shape& wanted, DType dtype);
};

}  // namespace sinter::testing
