// Finds or makes a kernel's code for the sizes at hand.
#include "src/runtime/host/program.h"

#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "jit/ir/held_bytes.h"
#include "src/runtime/members.h"

namespace sinter::runtime::host {
namespace {

// A kernel is generic in sizes; its code here is not. Few sizes take turns (a last, smaller batch; training
// and testing), but each member of a launch may have its own.
constexpr std::size_t kLasting = 8, kRecent = 8;

}  // namespace

KernelProgram::~KernelProgram() {
  // One by one: each would else end the next within its own destructor.
  for (std::unique_ptr<const Variant> first(lasting_.load()); first != nullptr;)
    first = std::move(const_cast<Variant&>(*first).next);
}

const Code* KernelProgram::find_lasting(std::span<const std::int64_t> ints) const {
  for (const Variant* v = lasting_.load(std::memory_order_acquire); v != nullptr; v = v->next.get())
    if (std::equal(ints.begin(), ints.end(), v->ints.begin(), v->ints.end())) return &v->code;
  return nullptr;
}

template <class Use>
void KernelProgram::with_code(std::span<const std::int64_t> ints, Use&& use) const {
  if (const Code* code = find_lasting(ints)) return use(*code);
  const auto same = [&](const std::shared_ptr<const Variant>& v) {
    return std::equal(ints.begin(), ints.end(), v->ints.begin(), v->ints.end());
  };
  std::shared_ptr<const Variant> variant;
  {
    std::lock_guard lock(mutex_);
    if (auto found = std::find_if(recent_.begin(), recent_.end(), same); found != recent_.end()) {
      recent_.splice(recent_.begin(), recent_, found);
      variant = recent_.front();
    }
  }
  if (variant == nullptr) {
    // Without a lock: two threads may both make the code for the same sizes, and one of the two is dropped.
    auto made = std::make_unique<Variant>();
    made->ints.assign(ints.begin(), ints.end());
    made->code = make_code(kernel_, ints);
    std::lock_guard lock(mutex_);
    if (find_lasting(ints) != nullptr) {
      // Another thread was faster.
    } else if (lasting_count_ < kLasting * kernel_.members) {
      ++lasting_count_;
      made->next.reset(lasting_.load(std::memory_order_relaxed));
      lasting_.store(made.release(), std::memory_order_release);
    } else {
      variant = std::move(made);
      std::erase_if(recent_, same);
      recent_.push_front(variant);
      if (recent_.size() > kRecent * kernel_.members) recent_.pop_back();
    }
  }
  use(variant != nullptr ? variant->code : *find_lasting(ints));
}

std::string KernelProgram::describe() const {
  return "kernel of " + std::to_string(kernel_.exprs.size()) + " expressions";
}

std::string KernelProgram::describe_launch(std::span<const std::int64_t> ints, std::size_t members) const {
  std::string text;
  with_code(ints.first(kernel_.ints), [&](const Code& code) {
    text = "kernel over (";
    for (std::size_t k = 0; k < code.space.rank(); ++k)
      text += (k == code.space.outer ? "; " : k > 0 ? ", " : "") + std::to_string(code.space.extents[k]);
    text += ") lanes ";
    text += code.lanes_inner ? "inner" : "outer";
    text += ", blocks of " + std::to_string(code.blocks.block);
    if (code.resident) text += ", rows kept";
    if (code.split) text += ", split";
  });
  text += ", " + std::to_string(kernel_.exprs.size()) + " expressions";
  if (members > 1) text += ", and " + std::to_string(members - 1) + " more";
  return text;
}

std::size_t KernelProgram::held_bytes() const {
  std::size_t bytes = sizeof *this + ir::held_bytes(kernel_);
  std::lock_guard lock(mutex_);
  for (const Variant* v = lasting_.load(std::memory_order_acquire); v != nullptr; v = v->next.get())
    bytes += sizeof(Variant) + ir::held_bytes(v->ints) + host::held_bytes(v->code);
  for (const auto& v : recent_)
    bytes += sizeof(Variant) + ir::held_bytes(v->ints) + host::held_bytes(v->code);
  return bytes;
}

std::size_t KernelProgram::member_bytes(std::span<const std::int64_t> ints, std::size_t most_threads) const {
  std::size_t bytes = 0;
  with_code(ints, [&](const Code& code) { bytes = working_bytes(code, most_threads); });
  return bytes;
}

std::size_t KernelProgram::workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const {
  std::size_t most = 0;  // one member after the other
  for (std::size_t m = 0; m < members; ++m)
    most = std::max(most, member_bytes(ints.subspan(m * kernel_.ints, kernel_.ints), most_threads()));
  return most;
}

void KernelProgram::run_member(Workers& workers, const LaunchArguments& arguments,
                               std::uint32_t* faults) const {
  with_code(arguments.ints, [&](const Code& code) { run_code(code, workers, arguments, faults); });
}

void KernelProgram::run(Workers& workers, const LaunchArguments& arguments, std::uint32_t* faults) {
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
  for (std::size_t m = 0; m < members; ++m)
    run_member(workers, arguments_of(kernel_, arguments, m), faults + m * kernel_.faults);
}

}  // namespace sinter::runtime::host
