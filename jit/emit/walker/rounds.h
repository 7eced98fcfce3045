// Loops over the inner points that a lane takes one after the other.
#pragma once

#include <functional>
#include <string>

#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/loop_text.h"
#include "jit/emit/walker/vectors/vectors.h"

namespace sinter::emit {

/// A float sum is blocked: each lane adds up to 32 values, a chunk, before it adds to its total: the error
/// grows with the chunk and the number of chunks, not with the number of values.
class Rounds : private LoopText {
 public:
  Rounds(Expressions& e, Accumulators& sums, const Vectors& vectors, ir::Schedule schedule)
      : LoopText(e), sums_(sums), vectors_(vectors), schedule_(schedule) {}

  /// A loop over j whose float sums go through parts. `body` writes one step; `elements` is how many parts a
  /// sum has.
  void write(const InnerWork& work, const std::string& first, const std::string& limit,
             const std::string& step, int elements, const std::function<void()>& body);

 private:
  /// Several rounds are taken at once, so that their loads are under way together.
  void write_rounds(const InnerWork& work, const std::string& first, const std::string& limit,
                    const std::string& step, int elements, const std::function<void()>& body);
  int rounds_at_once(const InnerWork& work, int elements) const;

  Accumulators& sums_;
  const Vectors& vectors_;
  const ir::Schedule schedule_;
};

}  // namespace sinter::emit
