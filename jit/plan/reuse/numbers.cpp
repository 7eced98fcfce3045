// Numbers by what they were in the first program.
#include "jit/plan/reuse/numbers.h"

#include <algorithm>

namespace sinter::plan {

Numbers::Numbers() {
  for (const std::int64_t fixed : {0, 1, -1}) id_of(fixed);
}

Numbers::Id Numbers::id_of(std::int64_t number) {
  const auto [known, added] = ids_.try_emplace(number, static_cast<Id>(now_.size()));
  if (added) now_.push_back({number, 0});
  return known->second;
}

Numbers::Id Numbers::find(std::int64_t number) const {
  const auto known = ids_.find(number);
  return known == ids_.end() ? kNone : known->second;
}

void Numbers::start() {
  ++program_;
  for (const std::int64_t fixed : {0, 1, -1}) set(find(fixed), fixed);
}

bool Numbers::one_to_one() const {
  std::vector<std::int64_t> set;
  for (const Now& now : now_)
    if (now.program == program_) set.push_back(now.number);
  std::sort(set.begin(), set.end());
  return std::adjacent_find(set.begin(), set.end()) == set.end();
}

}  // namespace sinter::plan
