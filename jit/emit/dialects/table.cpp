// Finds dialects by name.
#include "jit/emit/dialects/table.h"

#include <stdexcept>
#include <string>

#include "jit/emit/dialects/cuda/cuda.h"
#include "jit/emit/dialects/glsl/glsl.h"

namespace sinter::emit {

namespace {

struct Row {
  std::string_view name;
  const Dialect& (*dialect)();
};

constexpr Row kTable[] = {
    {"cuda", cuda_dialect},
    {"glsl", glsl_dialect},
};

}  // namespace

const Dialect& dialect(std::string_view name) {
  std::string known;
  for (const Row& row : kTable) {
    if (row.name == name) return row.dialect();
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw std::invalid_argument("[emit] there is no dialect \"" + std::string(name) + "\", but " + known);
}

std::vector<const Dialect*> dialects() {
  std::vector<const Dialect*> all;
  for (const Row& row : kTable) all.push_back(&row.dialect());
  return all;
}

}  // namespace sinter::emit
