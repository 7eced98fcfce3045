// The part of verify() that is about loops and forms: tiles, parts, products, attention, single rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// Its functions throw std::logic_error where a rule is broken.
class FormVerifier {
 protected:
  explicit FormVerifier(const Kernel& kernel)
      : k_(kernel), rank_(std::size_t{kernel.outer_rank} + kernel.inner_rank) {}

  void check_loops() const;

  [[noreturn]] void fail(const std::string& where, const std::string& why) const {
    throw std::logic_error("[kernel] " + where + ": " + why);
  }
  void require(bool holds, const std::string& where, const std::string& why) const {
    if (!holds) fail(where, why);
  }
  static std::string expr_name(ExprId id) { return "%" + std::to_string(id); }

  void check_int(const IntRef& ref, const std::string& where) const {
    if (ref.kind == IntRef::Kind::Argument && ref.index >= k_.ints)
      fail(where, "int argument " + std::to_string(ref.index) + " of " + std::to_string(k_.ints));
  }
  // Sizes and steps that something is divided by.
  void check_divisor(const IntRef& ref, const std::string& where) const {
    check_int(ref, where);
    require(!ref.is_zero(), where, "a constant 0 where a size or step is wanted");
  }

  const Kernel& k_;
  const std::size_t rank_;

 private:
  void check_parts() const;
  void check_tiling() const;
  void check_other_sums(const Tiling& t) const;
  void check_terms(const Tiling& t) const;
  /// Of a factor that is copied, a load by a tensor map like that of another.
  bool is_copied_like(ExprId factor, ExprId other) const;
  void check_few_rows(const Tiling& t) const;
  void check_matrices(const Tiling& t) const;
  void check_attention() const;
  void check_lone_rows() const;
  void check_factor(const TiledFactor& factor, std::uint32_t own, std::uint32_t other,
                    const std::vector<std::uint32_t>& loops) const;
};

}  // namespace sinter::ir
