// The numbers of a program, which others of its structure have others in place of.
#pragma once

#include <cstdint>
#include <vector>

#include <absl/container/flat_hash_map.h>

namespace sinter::plan {

/// The numbers of one program (sizes, strides and positions), and what they are in another. One to one; 0, 1
/// and -1 stay themselves, since the planner looks at them.
class Numbers {
 public:
  using Id = std::uint32_t;
  static constexpr Id kNone = 0xffffffff;

  Numbers();
  /// The number of the first program, which may be new.
  Id id_of(std::int64_t number);
  /// kNone for one that the first program does not have.
  Id find(std::int64_t number) const;

  /// Begins with another program.
  void start();
  /// False where the number is something else there already.
  bool set(Id id, std::int64_t number) {
    Now& now = now_[id];
    if (now.program == program_) return now.number == number;
    now = {number, program_};
    return true;
  }
  /// False where two numbers have become one.
  bool one_to_one() const;
  /// Of a number that was set.
  std::int64_t now(Id id) const { return now_[id].number; }
  bool is_set(Id id) const { return now_[id].program == program_; }

 private:
  struct Now {
    std::int64_t number;
    std::uint64_t program;  // that it was set in
  };
  absl::flat_hash_map<std::int64_t, Id> ids_;
  std::vector<Now> now_;
  std::uint64_t program_ = 0;  // programs that were begun
};

}  // namespace sinter::plan
