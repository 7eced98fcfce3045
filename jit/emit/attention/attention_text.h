// What the texts of attention have in common, whoever multiplies.
#pragma once

#include <string>
#include <string_view>

#include "jit/emit/attention/scores.h"
#include "jit/emit/emit.h"

namespace sinter::emit {

/// Writes a kernel into its template, part by part.
class AttentionText : protected ScoresText {
 protected:
  AttentionText(const ir::Kernel& kernel, const Target& target, std::string_view source);

  /// The template up to its next line of three dashes, from where the last call ended.
  std::string next_part();
  /// The same, with what `write` puts there, so many levels deep.
  template <class Write>
  std::string then(int depth, Write write) {
    return next_part() + lines_at(depth, e_.out, write);
  }
  /// Sizes of the loops, and tiles of rows.
  void write_head();
  /// Which rows the workgroup has that is the number `item` of a launch's.
  void write_item();
  /// The whole text, of what stands before the kernel and what is in it.
  Source whole(const std::string& functions, const std::string& body) const;

 private:
  std::string_view rest_;
};

/// By groups of subgroups.
Source emit_group_attention(const ir::Kernel& kernel, const Target& target);
/// By each subgroup for itself.
Source emit_subgroup_attention(const ir::Kernel& kernel, const Target& target);
/// By ordinary lanes.
Source emit_lane_attention(const ir::Kernel& kernel, const Target& target);
/// By cooperative matrices of a known layout, and of another one.
Source emit_laid_attention(const ir::Kernel& kernel, const Target& target);
Source emit_exchanged_attention(const ir::Kernel& kernel, const Target& target);

}  // namespace sinter::emit
