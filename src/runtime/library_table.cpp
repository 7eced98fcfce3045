// What is said about a missing row.
#include "src/runtime/library_table.h"

namespace sinter::runtime {

std::string cannot_compute(const library::Kind& kind, const std::string& device) {
  return "[" + kind.name() + "] this device (" + device +
         ") cannot compute it: nobody has added a way to prepare it there";
}

}  // namespace sinter::runtime
