// Finds or makes a kernel's code for the sizes at hand.
#include "src/runtime/host/program.h"

#include <algorithm>
#include <string>
#include <variant>

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
  text += std::string(") lanes ") + (code.lanes_inner ? "inner" : "outer") + ", blocks of " +
          std::to_string(code.blocks.block) + (code.resident ? ", rows kept" : "") +
          (code.split ? ", split" : "");
  return text + ", " + std::to_string(kernel_.exprs.size()) + " expressions";
}

std::string describe(const ir::LibraryOp& op) {
  auto sizes = [](std::initializer_list<std::int64_t> values) {
    std::string text;
    for (std::int64_t value : values) text += (text.empty() ? "" : "x") + std::to_string(value);
    return text;
  };
  if (const auto* m = std::get_if<ir::MatMulOp>(&op))
    return "matmul " + sizes({m->batch, m->m, m->k}) + " * " + sizes({m->k, m->n});
  const auto& c = std::get<ir::Conv2dOp>(op);
  const char* names[] = {"conv2d ", "conv2d backward input ", "conv2d backward weight "};
  return names[static_cast<std::size_t>(c.direction)] + sizes({c.n, c.c_in, c.h, c.w}) + " * " +
         sizes({c.c_out, c.c_in / c.groups, c.kh, c.kw}) +
         (c.x_last && c.y_last ? " channels last"
          : c.x_last           ? " x channels last"
          : c.y_last           ? " y channels last"
                               : "");
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
