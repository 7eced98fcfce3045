// Finds or makes a kernel's code for the sizes at hand.
#include "src/runtime/host/program.h"

#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "src/runtime/members.h"

namespace sinter::runtime::host {
namespace {

// A kernel is generic in sizes; its code here is not. Few sizes take turns (a last, smaller batch; training
// and testing), but each member of a launch may have its own.
constexpr std::size_t kVariants = 8;

}  // namespace

const Code& KernelProgram::code_for(std::span<const std::int64_t> ints) {
  for (auto it = variants_.begin(); it != variants_.end(); ++it) {
    if (!std::equal(ints.begin(), ints.end(), it->ints.begin(), it->ints.end())) continue;
    if (it != variants_.begin()) variants_.splice(variants_.begin(), variants_, it);
    return variants_.front().code;
  }
  variants_.push_front({std::vector<std::int64_t>(ints.begin(), ints.end()), make_code(kernel_, ints)});
  if (variants_.size() > kVariants * kernel_.members) variants_.pop_back();
  return variants_.front().code;
}

std::string KernelProgram::describe() const {
  if (variants_.empty()) return "kernel";
  const Code& code = variants_.front().code;
  std::string text = "kernel over (";
  for (std::size_t k = 0; k < code.space.rank(); ++k)
    text += (k == code.space.outer ? "; " : k > 0 ? ", " : "") + std::to_string(code.space.extents[k]);
  text += ") lanes ";
  text += code.lanes_inner ? "inner" : "outer";
  text += ", blocks of " + std::to_string(code.blocks.block);
  if (code.resident) text += ", rows kept";
  if (code.split) text += ", split";
  return text + ", " + std::to_string(kernel_.exprs.size()) + " expressions";
}

void KernelProgram::run(Workers& workers, const LaunchArguments& arguments, std::atomic<bool>& fault) {
  const std::size_t members = arguments.members;
  if (members == 0 || members > kernel_.members ||
      arguments.buffers.size() != members * kernel_.buffers.size() ||
      arguments.ints.size() != members * kernel_.ints ||
      arguments.scalars.size() != members * kernel_.scalars.size())
    throw DeviceError("[host] a kernel of " + std::to_string(kernel_.buffers.size()) + " buffers, " +
                      std::to_string(kernel_.ints) + " ints and " + std::to_string(kernel_.scalars.size()) +
                      " scalars for up to " + std::to_string(kernel_.members) + " members was launched for " +
                      std::to_string(members) + " with " + std::to_string(arguments.buffers.size()) + ", " +
                      std::to_string(arguments.ints.size()) + " and " +
                      std::to_string(arguments.scalars.size()));
  for (std::size_t m = 0; m < members; ++m) run_member(workers, arguments_of(kernel_, arguments, m), fault);
}

}  // namespace sinter::runtime::host
