// How deep lowering may call itself.
#pragma once

namespace sinter::plan {

// Elementwise chains of any depth are walked in a loop, but a pad of a pad of a pad calls itself.
inline constexpr int kMostNesting = 200;

/// Counts how deep a function has called itself.
class Deeper {
 public:
  explicit Deeper(int* depth) : depth_(depth) {
    if (depth_) ++*depth_;
  }
  ~Deeper() {
    if (depth_) --*depth_;
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int* depth_;
};

}  // namespace sinter::plan
