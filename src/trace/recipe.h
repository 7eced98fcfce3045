// Recipes: values that somebody holds and no trace has stored, as the ops that compute them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "src/trace/draft.h"
#include "src/trace/value.h"

namespace sinter::trace {

/// The recipes of one recorder, by the values that they read. Has a lock of its own, inside of all others:
/// the last handle to a value, and with it its recipe, may go in any thread.
class RecipeBook {
 public:
  /// Handles to the values whose recipes read `input`, in the order in which the recipes were made. Without
  /// those that nobody owns any more.
  std::vector<ValueRef> readers_of(Value* input);

  /// Around a fork, by the thread that forks.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  friend class Recipe;
  std::mutex mutex_;
  std::uint64_t made_ = 0;
  absl::flat_hash_map<Value*, std::map<std::uint64_t, Value*>> readers_;  // of each input, by age
};

/// How to compute one value: a few ops over values that are in memory. It keeps these, and none of the values
/// on the way. Guarded by its recorder's lock.
class Recipe {
 public:
  /// `unstored` of a trace that has just run.
  Recipe(RecipeBook& book, const Flushed& from, const Unstored& unstored);
  ~Recipe();
  Recipe(const Recipe&) = delete;
  Recipe& operator=(const Recipe&) = delete;

  /// Appends the ops to a draft, the last of them as what computes `value`. Its number there.
  ValueId record(Draft& draft, Value* value) const;

 private:
  explicit Recipe(RecipeBook& book) : book_(book) {}

  RecipeBook& book_;
  std::uint64_t number_ = 0;
  std::vector<Value*> inputs_;  // pinned
  // Operands below inputs_.size() are inputs, the others the results of ops_, in their order.
  std::vector<OpRecord> ops_;
  std::vector<TensorType> types_;  // of the results
  std::vector<std::int64_t> ints_;
  std::vector<Scalar> scalars_;
};

}  // namespace sinter::trace
