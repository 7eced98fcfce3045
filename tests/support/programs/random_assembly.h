// The generator's steps that assemble tensors: assignment, concatenation, repetition, rotation.
#pragma once

#include "tests/support/programs/program_pool.h"

namespace sinter::testing {

class RandomAssembly : public ProgramPool {
 public:
  using ProgramPool::ProgramPool;

 protected:
  void assemble();
  /// Reads from a tensor or adds to it at places that another one says.
  void by_index();
  Range random_range(std::int64_t size);
  int index_of(const Shape& of, std::int64_t size);
  /// A handle of that shape and dtype, or a new input.
  int of_shape(const Shape& wanted, DType dtype);

 private:
  void assign(int x);
  void join(int x);
  void repeat(int x);
  void roll(int x);
  void add_by_index();
};

}  // namespace sinter::testing
